//! Objects that a block has until it ends.

use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::{Error, Ruby, Value};
use rb_sys::VALUE;

/// Gives a new object, or to the block, where there is one, and closes it then, however the block ends.
///
/// Ruby handles interrupts wherever one of its methods returns, also a method of ours. So the method that opens an object
/// lends it, too: between the two there would be a place where what is open is nobody's to close.
pub(crate) fn lend(ruby: &Ruby, object: Value) -> Result<Value, Error> {
    unsafe extern "C" fn call_block(object: VALUE) -> VALUE {
        // SAFETY: called by `rb_ensure` below, in a method that has a block. Nothing of Rust is alive here.
        unsafe { rb_sys::rb_yield(object) }
    }
    unsafe extern "C" fn close(object: VALUE) -> VALUE {
        // SAFETY: as above; the name is a string that ends with a zero, and no argument is read.
        unsafe {
            rb_sys::rb_funcallv(object, rb_sys::rb_intern(c"close".as_ptr()), 0, std::ptr::null())
        }
    }
    if !ruby.block_given() {
        return Ok(object);
    }
    let object = object.as_raw();
    // SAFETY: what the block or the closing raise or throw goes from C to C up to `protect`, which makes an error of it:
    // no frame of Rust with something to drop is jumped over. `object` is on the stack of this frame meanwhile.
    let value =
        protect(|| unsafe { rb_sys::rb_ensure(Some(call_block), object, Some(close), object) })?;
    // SAFETY: it is what the block gave.
    Ok(unsafe { Value::from_raw(value) })
}
