//! `Bytewright::Claim`: a file that one object of this process has, until it is released or collected.

use std::cell::RefCell;

use bytewright::table::file::Claim;
use magnus::{Error, RString, Ruby, function, method, prelude::*};

use crate::border::path_of;
use crate::class;
use crate::error::{module, raised};

/// A claim in a Ruby object.
#[derive(magnus::TypedData, Default)]
#[magnus(class = "Bytewright::Claim", free_immediately)]
pub(crate) struct ClaimObject {
    claim: RefCell<Option<Claim>>,
}

impl magnus::DataTypeFunctions for ClaimObject {}

impl ClaimObject {
    /// `Claim.new`: of no file yet. Who takes one has the object before, to release it wherever an interrupt comes.
    fn new() -> ClaimObject {
        ClaimObject::default()
    }

    /// `claim.take(path)`: a LockError where another object has the file.
    fn take(ruby: &Ruby, this: &Self, path: RString) -> Result<(), Error> {
        let claim = raised(ruby, Claim::of(&path_of(path)?))?;
        this.claim.replace(Some(claim));
        Ok(())
    }

    fn release(&self) {
        self.claim.take();
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<ClaimObject>(ruby, "Claim")?;
    class.define_singleton_method("new", function!(ClaimObject::new, 0))?;
    class.define_method("take", method!(ClaimObject::take, 1))?;
    class.define_method("release", method!(ClaimObject::release, 0))?;
    module(ruby).funcall::<_, _, magnus::Value>("private_constant", ("Claim",))?;
    Ok(())
}
