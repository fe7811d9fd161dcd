//! Values of an object's fields that a message does not have.

use rb_sys::VALUE;

use super::codec::Layout;
use super::{NIL, names};

/// Makes the fields of an object from before what they are in a new one. One that has no variables at all stays
/// so, as with the gem.
///
/// # Safety
/// Called under Ruby with nothing alive that needs dropping; `object` must be of the layout's class.
pub(super) unsafe fn reset(object: VALUE, layout: &Layout) {
    let mut had_any = false;
    // SAFETY: as the caller promises.
    unsafe {
        for field in &layout.fields {
            if field.variable.of(object) != NIL {
                field.variable.set(object, NIL);
                had_any = true;
            }
        }
        if !layout.defaults.is_empty() && (had_any || rb_sys::rb_ivar_count(object) > 0) {
            set_defaults(object, layout, 0);
        }
    }
}

/// Resets a union, which has no field then.
///
/// # Safety
/// As for [`reset`].
pub(super) unsafe fn reset_union(object: VALUE, layout: &Layout) {
    // SAFETY: as the caller promises.
    unsafe {
        rb_sys::rb_check_frozen(object);
        for variable in [layout.set_field, layout.value] {
            if variable.of(object) != NIL {
                variable.set(object, NIL);
            }
        }
    }
}

/// Gives an object the defaults of its class.
///
/// # Safety
/// Called under Ruby; `object` must be of the layout's class.
pub(super) unsafe fn set_defaults(object: VALUE, layout: &Layout, seen: u64) {
    for default in &layout.defaults {
        if default.bit == 0 || seen & default.bit == 0 {
            // SAFETY: as the caller promises.
            unsafe {
                default.variable.set(object, copy_of(default.value as VALUE));
            }
        }
    }
}

/// The defaults that have a bit and were not in the message.
///
/// # Safety
/// As for [`set_defaults`].
pub(super) unsafe fn set_missing_defaults(object: VALUE, layout: &Layout, seen: u64) {
    for default in &layout.defaults {
        if default.bit != 0 && seen & default.bit == 0 {
            // SAFETY: as the caller promises.
            unsafe {
                default.variable.set(object, copy_of(default.value as VALUE));
            }
        }
    }
}

/// A copy of a default, so that objects do not share it.
///
/// # Safety
/// Called under Ruby.
unsafe fn copy_of(object: VALUE) -> VALUE {
    if rb_sys::SPECIAL_CONST_P(object) {
        return object;
    }
    // SAFETY: as the caller promises; each function is called with what it copies.
    unsafe {
        match rb_sys::RB_BUILTIN_TYPE(object) {
            rb_sys::ruby_value_type::RUBY_T_STRING => rb_sys::rb_str_dup(object),
            rb_sys::ruby_value_type::RUBY_T_ARRAY => rb_sys::rb_ary_dup(object),
            rb_sys::ruby_value_type::RUBY_T_HASH => rb_sys::rb_hash_dup(object),
            rb_sys::ruby_value_type::RUBY_T_FLOAT => object,
            _ => rb_sys::rb_funcallv(object, names().dup, 0, std::ptr::null()),
        }
    }
}
