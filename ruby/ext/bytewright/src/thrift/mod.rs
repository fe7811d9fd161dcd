//! Thrift messages as objects of generated classes. What a class's messages hold is found in
//! `ruby/lib`, which describes it to [`Codec`]; the objects are made and read in `border::thrift`.

mod codec;
mod columns;
mod idl;
mod known;
mod refill;
mod scratch;

pub(crate) use codec::{Codec, Layout, Making, Ways};
pub(crate) use columns::encoding_named;
pub(crate) use known::{
    HASH, INDEX, Known, PROTOCOL, READ_BYTES, READS, TRANSPORT, WRITES, WRITTEN_BYTES, generation,
    known, variable,
};
pub(crate) use refill::complete;
pub(crate) use scratch::{Scratch, with_scratch};

use magnus::{Error, Ruby};

/// Defines the classes of this folder and their methods.
pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    codec::init(ruby)?;
    columns::init(ruby)
}
