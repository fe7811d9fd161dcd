//! Defines methods of one arity or another.

use std::ffi::{CStr, c_int};

use magnus::RClass;
use magnus::rb_sys::AsRawValue;
use rb_sys::VALUE;

use super::AnyMethod;

pub(super) type NoArgument = unsafe extern "C" fn(VALUE) -> VALUE;
pub(super) type OneArgument = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
pub(super) type TwoArguments = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
/// Method that takes the number of its arguments, a pointer to them, and self.
pub(super) type Arguments = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;

pub(super) fn none(class: RClass, name: &CStr, method: NoArgument) {
    // SAFETY: the type is erased because Ruby takes methods of any arity; this one takes self.
    let method = unsafe { std::mem::transmute::<NoArgument, AnyMethod>(method) };
    // SAFETY: it takes as many arguments as it is defined with.
    unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 0) };
}

pub(super) fn one(class: RClass, name: &CStr, method: OneArgument) {
    // SAFETY: as above; this one takes self and one more.
    let method = unsafe { std::mem::transmute::<OneArgument, AnyMethod>(method) };
    // SAFETY: as above.
    unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 1) };
}

pub(super) fn two(class: RClass, name: &CStr, method: TwoArguments) {
    // SAFETY: as above; this one takes self and two more.
    let method = unsafe { std::mem::transmute::<TwoArguments, AnyMethod>(method) };
    // SAFETY: as above.
    unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 2) };
}

pub(super) fn any(class: RClass, name: &CStr, method: Arguments) {
    // SAFETY: as above; this one takes the number of arguments, where they are, and self.
    let method = unsafe { std::mem::transmute::<Arguments, AnyMethod>(method) };
    // SAFETY: as above; -1 stands for that.
    unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), -1) };
}
