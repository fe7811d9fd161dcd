//! Ruby classes whose objects hold a Rust value: how each is defined, and found again.

use magnus::{Error, RClass, Ruby, TypedData, prelude::*};

use crate::error::module;

/// Defines `Bytewright::NAME`, the class that `T` names in its `class` attribute. Its objects are made
/// by us alone, so it has no allocator.
///
/// magnus looks the class up when the first object is made, by a Ruby method and inside of a lock of
/// its own. Another thread may run during a method; if it makes its first object too, it waits for
/// that lock while it holds Ruby's, and both wait for ever. So the lookup is made here, before
/// there is a method that makes objects.
pub(crate) fn define<T: TypedData>(ruby: &Ruby, name: &str) -> Result<RClass, Error> {
    let class = module(ruby).define_class(name, ruby.class_object())?;
    let found = T::class(ruby);
    if !found.equal(class)? {
        let message = format!("expected objects of {class}, found that they are of {found}");
        return Err(Error::new(ruby.exception_fatal(), message));
    }
    Ok(class)
}
