//! `==` and `hash` of objects, and of all that they hold, without a call of Ruby's for each.
//!
//! Nothing here needs dropping, so that what raises may leave from anywhere. What is not known (other
//! classes, numbers against each other) is asked of Ruby, and so is what is nested beyond a bound, which
//! Ruby bounds itself.

use std::ffi::c_int;

use rb_sys::{VALUE, ruby_value_type};

use super::{NIL, Variable, class_of};
use crate::thrift::{Codec, HASH, Known, Layout, known, variable};

/// How deep objects are compared here.
const DEPTH_MAX: u32 = 128;

/// What an odd number mixes well.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

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

    /// The layout of an object of one of the codec's classes.
    #[inline]
    unsafe fn layout(self, object: VALUE) -> Option<&'a Layout> {
        // SAFETY: as for all.
        let class = unsafe { class_of(object) };
        self.codec.layouts.iter().find(|layout| layout.class as VALUE == class)
    }

    /// Whether two objects of the layout's class have equal fields.
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
                        let hash = variable(Known::Set, HASH);
                        let (one, other) = (hash.of(one), hash.of(other));
                        return same_type(one, other) == Some(ruby_value_type::RUBY_T_HASH)
                            && deeper.hashes_are_equal(one, other);
                    }
                    match self.layout(one) {
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

    /// The hash of an object of the layout's class, which one has that equals it.
    pub(super) unsafe fn hash_of_fields(self, object: VALUE, layout: &Layout) -> u64 {
        let mut hash = mix(0, layout.fields.len() as u64);
        // SAFETY: as for all.
        unsafe {
            if layout.making.is_union() {
                hash = mix(hash, layout.set_field.of(object));
                return mix(hash, self.hash(layout.value.of(object)));
            }
            for field in &layout.fields {
                let value = field.variable.of(object);
                hash = mix(hash, self.hash(value));
            }
        }
        hash
    }

    #[inline]
    unsafe fn hash(self, object: VALUE) -> u64 {
        // SAFETY: as for all.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(object) && !is_float(object) {
                return mix(1, object);
            }
            self.hash_of_object(object)
        }
    }

    unsafe fn hash_of_object(self, object: VALUE) -> u64 {
        let Some(deeper) = self.deeper() else {
            // SAFETY: as for all.
            return unsafe { ruby_hash(object) };
        };
        // SAFETY: as for all; each has the type that was asked for.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(object) {
                return ruby_hash(object);
            }
            match rb_sys::RB_BUILTIN_TYPE(object) {
                ruby_value_type::RUBY_T_STRING => rb_sys::rb_str_hash(object) as u64,
                ruby_value_type::RUBY_T_ARRAY => (0..rb_sys::RARRAY_LEN(object))
                    .fold(2, |hash, at| mix(hash, deeper.hash(rb_sys::rb_ary_entry(object, at)))),
                ruby_value_type::RUBY_T_HASH => deeper.hash_of_hash(object),
                ruby_value_type::RUBY_T_OBJECT if is_set(object) => {
                    let hash = variable(Known::Set, HASH).of(object);
                    deeper.hash(hash)
                }
                ruby_value_type::RUBY_T_OBJECT => match self.layout(object) {
                    Some(layout) => deeper.hash_of_fields(object, layout),
                    None => ruby_hash(object),
                },
                _ => ruby_hash(object),
            }
        }
    }

    /// Of a Hash, in whatever order its entries are.
    unsafe fn hash_of_hash(self, hash: VALUE) -> u64 {
        let mut sum = Sum { comparison: self, sum: 3 };
        let pointer = std::ptr::from_mut(&mut sum) as VALUE;
        // SAFETY: the callback takes its last argument for a pointer to `Sum`.
        unsafe { rb_sys::rb_hash_foreach(hash, Some(add_entry), pointer) };
        sum.sum
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

/// The sum over a Hash.
struct Sum<'a> {
    comparison: Comparison<'a>,
    sum: u64,
}

unsafe extern "C" fn add_entry(key: VALUE, value: VALUE, sum: VALUE) -> c_int {
    // SAFETY: see `hash_of_hash`.
    unsafe {
        let sum = &mut *(sum as *mut Sum<'_>);
        let key = sum.comparison.hash(key);
        let entry = mix(key, sum.comparison.hash(value));
        sum.sum = sum.sum.wrapping_add(entry);
    }
    CONTINUE
}

#[inline]
fn mix(hash: u64, with: u64) -> u64 {
    let mixed = (hash ^ with).wrapping_mul(FACTOR);
    (mixed ^ mixed >> 32).rotate_left(5)
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

#[inline]
unsafe fn is_set(object: VALUE) -> bool {
    // SAFETY: as the caller promises, an object.
    known(Known::Set) != 0 && unsafe { class_of(object) } == known(Known::Set) as VALUE
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

/// What `hash` answers, as a number.
unsafe fn ruby_hash(object: VALUE) -> u64 {
    // SAFETY: as the caller promises, an object; the answer is a small Integer.
    unsafe { rb_sys::rb_hash(object) }
}
