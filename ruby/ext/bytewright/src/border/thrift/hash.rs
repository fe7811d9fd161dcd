//! `hash` of objects: the same numbers that the gem's methods give, without a call of Ruby's for each value.
//! An object that was put into a Hash or a Set before the native methods were installed is found after it.
//!
//! ```text
//! struct   17, then for each field in the order of ids: total * 37 + value.hash, of 32 bits
//! union    [class.name, name of the field, value].hash
//! Array    start(length), add(a salt), add(hash of an element) …, end
//! Hash     start(count), add(a salt), then for each entry: ^ hash of (hash of the key, hash of the value), end
//! ```
//!
//! The steps in which Ruby hashes Arrays and Hashes are in `mixing.rs`.
//!
//! Nothing here needs dropping, so that what raises may leave from anywhere. What is nested beyond a bound is
//! left to the gem's method: Ruby's Arrays and Hashes stop at what holds itself.

use std::ffi::c_int;

use rb_sys::{VALUE, ruby_value_type};

use super::codec::{Codec, Layout};
use super::compare::is_set;
use super::gem_classes::{GemClass, HASH, variable};
use super::mixing::{Mixing, Sum, as_element};
use super::{class_of, names};

/// Maximum depth of objects that are hashed here.
const DEPTH_MAX: u32 = 128;

/// The total of a struct without fields.
const SEED: u32 = 17;

/// Factor of the total for each field.
const FACTOR: u32 = 37;

/// Hashing by one codec.
#[derive(Clone, Copy)]
pub(super) struct Hashing<'a> {
    codec: &'a Codec,
    mixing: Mixing,
    depth: u32,
}

/// All of these are called under Ruby with objects that are kept alive. They answer `None` where the gem's
/// method has to do it.
impl<'a> Hashing<'a> {
    pub(super) unsafe fn new(codec: &'a Codec) -> Self {
        // SAFETY: as for all.
        Hashing { codec, mixing: unsafe { Mixing::get() }, depth: DEPTH_MAX }
    }

    fn deeper(self) -> Option<Self> {
        Some(Hashing { depth: self.depth.checked_sub(1)?, ..self })
    }

    /// Returns the result of `hash` for an object of the layout's class.
    pub(super) unsafe fn structure(self, object: VALUE, layout: &Layout) -> Option<i64> {
        // SAFETY: as for all.
        unsafe {
            if layout.making.is_union() {
                return self.union(object, layout);
            }
            let mut total = SEED;
            for number in &layout.by_id {
                let field = layout.fields.get(usize::from(*number))?;
                let hash = self.low_bits(field.variable.of(object))?;
                total = total.wrapping_mul(FACTOR).wrapping_add(hash);
            }
            Some(i64::from(total))
        }
    }

    unsafe fn union(self, object: VALUE, layout: &Layout) -> Option<i64> {
        // SAFETY: as for all; a class stays what it is.
        unsafe {
            let mut sum = self.mixing.of_array(3)?;
            sum.add(self.mixing.number(rb_sys::rb_mod_name(layout.class as VALUE)));
            sum.add(self.element(layout.set_field.of(object))?);
            sum.add(self.element(layout.value.of(object))?);
            Some(sum.end())
        }
    }

    /// The low bits of what `value.hash` answers, which are all that a struct takes.
    #[inline]
    unsafe fn low_bits(self, value: VALUE) -> Option<u32> {
        // SAFETY: as for all.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(value) {
                return Some(self.mixing.number(value) as u32);
            }
            let class = class_of(value);
            if class == rb_sys::rb_cString {
                return Some(rb_sys::rb_str_hash(value) as u32);
            }
            if let Some(inside) = self.inside(value, class) {
                return inside.map(|hash| hash as u32);
            }
            if class == rb_sys::rb_cFloat || class == rb_sys::rb_cInteger {
                return Some(self.mixing.number(value) as u32);
            }
            // A large Integer counts with all its bits below zero, which the gem's method knows.
            let hash = rb_sys::rb_funcallv(value, names().hash, 0, std::ptr::null());
            rb_sys::FIXNUM_P(hash).then(|| rb_sys::FIX2LONG(hash) as u32)
        }
    }

    /// Returns the hash that an Array or a Hash takes for an element, as `rb_hash` returns it.
    #[inline]
    unsafe fn element(self, value: VALUE) -> Option<i64> {
        // SAFETY: as for all.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(value) {
                return Some(self.mixing.number(value));
            }
            match self.inside(value, class_of(value)) {
                Some(hash) => hash.map(as_element),
                None => Some(self.mixing.number(value)),
            }
        }
    }

    /// Returns the result of `value.hash` for a container or an object of a class that the codec has; `None` for
    /// another value, `Some(None)` if the gem's method has to do it.
    #[inline]
    unsafe fn inside(self, value: VALUE, class: VALUE) -> Option<Option<i64>> {
        // SAFETY: as for all; each has the class that was asked for.
        unsafe {
            if class == rb_sys::rb_cArray {
                let sum = self.mixing.of_array(rb_sys::RARRAY_LEN(value) as u64)?;
                return Some(self.deeper().and_then(|deeper| deeper.array(value, sum)));
            }
            if class == rb_sys::rb_cHash {
                let sum = self.mixing.of_hash(rb_sys::rb_hash_size_num(value) as u64)?;
                return Some(self.deeper().and_then(|deeper| deeper.hash(value, sum)));
            }
            if is_set(value) {
                let hash = variable(GemClass::Set, HASH).of(value);
                if !rb_sys::RB_TYPE_P(hash, ruby_value_type::RUBY_T_HASH) {
                    return None;
                }
                let sum = self.mixing.of_hash(rb_sys::rb_hash_size_num(hash) as u64)?;
                return Some(self.deeper().and_then(|deeper| deeper.hash(hash, sum)));
            }
            let layout = self.codec.layout_of(class)?;
            Some(self.deeper().and_then(|deeper| deeper.structure(value, layout)))
        }
    }

    unsafe fn array(self, array: VALUE, mut sum: Sum) -> Option<i64> {
        // SAFETY: it is an Array; the length is asked for anew with each element, as Ruby code may change it.
        unsafe {
            let mut at = 0;
            while at < rb_sys::RARRAY_LEN(array) {
                sum.add(self.element(rb_sys::rb_ary_entry(array, at))?);
                at += 1;
            }
        }
        Some(sum.end())
    }

    unsafe fn hash(self, hash: VALUE, sum: Sum) -> Option<i64> {
        let mut entries = Entries { hashing: self, sum: Some(sum) };
        let pointer = std::ptr::from_mut(&mut entries) as VALUE;
        // SAFETY: it is a Hash; the callback takes its last argument for a pointer to `Entries`.
        unsafe { rb_sys::rb_hash_foreach(hash, Some(add_entry), pointer) };
        entries.sum.map(Sum::end)
    }
}

/// The entries of a Hash.
struct Entries<'a> {
    hashing: Hashing<'a>,
    /// `None` once one was met that the gem's method has to do.
    sum: Option<Sum>,
}

unsafe extern "C" fn add_entry(key: VALUE, value: VALUE, entries: VALUE) -> c_int {
    const CONTINUE: c_int = rb_sys::st_retval::ST_CONTINUE as c_int;
    const STOP: c_int = rb_sys::st_retval::ST_STOP as c_int;
    // SAFETY: see `Hashing::hash`.
    unsafe {
        let entries = &mut *(entries as *mut Entries<'_>);
        let (key, value) = (entries.hashing.element(key), entries.hashing.element(value));
        entries.sum = match (entries.sum, key, value) {
            (Some(sum), Some(key), Some(value)) => Some(sum.with_entry(key, value)),
            _ => None,
        };
        if entries.sum.is_some() { CONTINUE } else { STOP }
    }
}
