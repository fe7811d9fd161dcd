//! Thrift messages as objects of generated classes. What a class's messages hold is found in
//! `ruby/lib`, which describes it to [`crate::border::Codec`]; the objects are made and read in `border::thrift`.

mod columns;
mod idl;

use magnus::{Error, Ruby};

use crate::border::define_codec;

/// Defines the classes of this folder and their methods.
pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    idl::define(define_codec(ruby)?)?;
    columns::init(ruby)
}
