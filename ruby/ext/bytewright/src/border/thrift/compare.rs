//! `==` of objects, and of all that they hold, without a call of Ruby's for each.
//!
//! Nothing here needs dropping, so that what raises may leave from anywhere. What is not known (other
//! classes, numbers against each other) is asked of Ruby, and so is what is nested beyond a bound, which
//! Ruby bounds itself.

use std::ffi::c_int;

use rb_sys::{VALUE, ruby_value_type};

use super::codec::{Codec, Layout};
use super::gem_classes::{GemClass, HASH, known, variable};
use super::{NIL, Variable, class_of};

/// Maximum depth of objects that are compared here.
const DEPTH_MAX: u32 = 128;

/// Comparing by one codec.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a> {
    codec: &'a Codec,
    depth: u32,
}

/// All of these are called under Ruby with objects that are kept alive.
impl<'a> Comparison<'a> {
    pub(super) fn new(codec: &'a Codec) -> Self {
        Comparison { codec, depth: DEPTH_MAX }
    }

    fn deeper(self) -> Option<Self> {
        Some(Comparison { depth: self.depth.checked_sub(1)?, ..self })
    }

    /// Returns true if two objects of the layout's class have equal fields.
    pub(super) unsafe fn fields_are_equal(self, one: VALUE, other: VALUE, layout: &Layout) -> bool {
        // SAFETY: as for all.
        unsafe {
            if layout.making.is_union() {
                return layout.set_field.of(one) == layout.set_field.of(other)
                    && self.variables_are_equal(one, other, layout.value);
            }
            layout.fields.iter().all(|field| self.variables_are_equal(one, other, field.variable))
        }
    }

    #[inline]
    unsafe fn variables_are_equal(self, one: VALUE, other: VALUE, variable: Variable) -> bool {
        // SAFETY: as for all.
        unsafe { self.are_equal(variable.of(one), variable.of(other)) }
    }

    #[inline]
    unsafe fn are_equal(self, one: VALUE, other: VALUE) -> bool {
        if rb_sys::SPECIAL_CONST_P(one) && rb_sys::SPECIAL_CONST_P(other) {
            // Two that differ may be equal where one is a Float.
            return one == other || {
                // SAFETY: as for all.
                unsafe { is_float(one) != is_float(other) && rb_equal(one, other) }
            };
        }
        // SAFETY: as for all.
        unsafe { self.are_equal_objects(one, other) }
    }

    unsafe fn are_equal_objects(self, one: VALUE, other: VALUE) -> bool {
        // SAFETY: as for all; both have the type that was asked for.
        unsafe {
            let Some(type_of) = same_type(one, other) else { return rb_equal(one, other) };
            let Some(deeper) = self.deeper() else { return rb_equal(one, other) };
            match type_of {
                ruby_value_type::RUBY_T_STRING => rb_sys::rb_str_equal(one, other) == TRUE,
                ruby_value_type::RUBY_T_ARRAY => deeper.arrays_are_equal(one, other),
                ruby_value_type::RUBY_T_HASH => deeper.hashes_are_equal(one, other),
                ruby_value_type::RUBY_T_OBJECT if class_of(one) == class_of(other) => {
                    if is_set(one) {
                        let hash = variable(GemClass::Set, HASH);
                        let (one, other) = (hash.of(one), hash.of(other));
                        return same_type(one, other) == Some(ruby_value_type::RUBY_T_HASH)
                            && deeper.hashes_are_equal(one, other);
                    }
                    match self.codec.layout_of(class_of(one) as u64) {
                        Some(layout) => one == other || deeper.fields_are_equal(one, other, layout),
                        None => rb_equal(one, other),
                    }
                }
                _ => rb_equal(one, other),
            }
        }
    }

    unsafe fn arrays_are_equal(self, one: VALUE, other: VALUE) -> bool {
        // SAFETY: both are Arrays; past the end of one that Ruby code makes shorter is nil.
        unsafe {
            let len = rb_sys::RARRAY_LEN(one);
            one == other
                || len == rb_sys::RARRAY_LEN(other)
                    && (0..len).all(|at| {
                        self.are_equal(
                            rb_sys::rb_ary_entry(one, at),
                            rb_sys::rb_ary_entry(other, at),
                        )
                    })
        }
    }

    unsafe fn hashes_are_equal(self, one: VALUE, other: VALUE) -> bool {
        // SAFETY: both are Hashes; the callback takes its last argument for a pointer to `Against`.
        unsafe {
            if one == other {
                return true;
            }
            if rb_sys::rb_hash_size_num(one) != rb_sys::rb_hash_size_num(other) {
                return false;
            }
            let mut against = Against { comparison: self, other, is_equal: true };
            let pointer = std::ptr::from_mut(&mut against) as VALUE;
            rb_sys::rb_hash_foreach(one, Some(entry_is_equal), pointer);
            against.is_equal
        }
    }
}

const TRUE: VALUE = rb_sys::Qtrue as VALUE;
const CONTINUE: c_int = rb_sys::st_retval::ST_CONTINUE as c_int;
const STOP: c_int = rb_sys::st_retval::ST_STOP as c_int;

/// A Hash that another is compared with.
struct Against<'a> {
    comparison: Comparison<'a>,
    other: VALUE,
    is_equal: bool,
}

unsafe extern "C" fn entry_is_equal(key: VALUE, value: VALUE, against: VALUE) -> c_int {
    // SAFETY: see `hashes_are_equal`.
    unsafe {
        let against = &mut *(against as *mut Against<'_>);
        let found = rb_sys::rb_hash_lookup2(against.other, key, rb_sys::Qundef as VALUE);
        against.is_equal =
            found != rb_sys::Qundef as VALUE && against.comparison.are_equal(value, found);
        if against.is_equal { CONTINUE } else { STOP }
    }
}

/// The type that both have, where neither is a special constant.
#[inline]
unsafe fn same_type(one: VALUE, other: VALUE) -> Option<ruby_value_type> {
    if rb_sys::SPECIAL_CONST_P(one) || rb_sys::SPECIAL_CONST_P(other) {
        return None;
    }
    // SAFETY: neither is a special constant.
    let (one, other) = unsafe { (rb_sys::RB_BUILTIN_TYPE(one), rb_sys::RB_BUILTIN_TYPE(other)) };
    (one == other).then_some(one)
}

/// Returns true for a Set that has its elements as the keys of a Hash.
#[inline]
pub(super) unsafe fn is_set(object: VALUE) -> bool {
    // SAFETY: as the caller promises, an object.
    known(GemClass::Set) != 0 && unsafe { class_of(object) } == known(GemClass::Set) as VALUE
}

#[inline]
unsafe fn is_float(object: VALUE) -> bool {
    // SAFETY: as the caller promises, an object.
    object != NIL && unsafe { rb_sys::RB_FLOAT_TYPE_P(object) }
}

unsafe fn rb_equal(one: VALUE, other: VALUE) -> bool {
    // SAFETY: as the caller promises, objects.
    unsafe { rb_sys::rb_equal(one, other) == TRUE }
}
