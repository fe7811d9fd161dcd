//! Ruby's objects for values that hold no structs.

use std::ffi::c_int;

use bytewright::batch::notation;
use rb_sys::VALUE;

use super::super::tables::new_string;
use super::NIL;
use super::gem_classes::{GemClass, HASH, known, variable};

/// Elements that are put into an Array at once.
const BLOCK_LEN: usize = 64;

#[inline]
pub(super) fn boolean(truth: bool) -> VALUE {
    if truth { rb_sys::Qtrue as VALUE } else { rb_sys::Qfalse as VALUE }
}

#[inline]
pub(super) unsafe fn integer(number: i64) -> VALUE {
    if rb_sys::FIXABLE(number as _) {
        return (number as VALUE) << 1 | 1;
    }
    // SAFETY: it makes an Integer of any number.
    unsafe { rb_sys::rb_ll2inum(number) }
}

#[inline]
pub(super) unsafe fn utf8() -> c_int {
    // SAFETY: it answers a constant of the process.
    unsafe { rb_sys::rb_utf8_encindex() }
}

/// A String that there is once.
#[inline]
pub(super) unsafe fn interned(bytes: &[u8], encoding: *const rb_sys::OnigEncodingTypeST) -> VALUE {
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { rb_sys::rb_enc_interned_str(bytes.as_ptr().cast(), bytes.len() as _, encoding) }
}

/// An Array of values that are made of numbers, a block at a time.
#[inline]
pub(super) unsafe fn blocks(words: &[i64], object: impl Fn(&i64) -> VALUE) -> VALUE {
    // SAFETY: the values of a block are on the stack until they are in the Array.
    unsafe {
        let array = rb_sys::rb_ary_new_capa(words.len() as _);
        for block in words.chunks(BLOCK_LEN) {
            let mut values = [NIL; BLOCK_LEN];
            for (slot, word) in values.iter_mut().zip(block) {
                *slot = object(word);
            }
            rb_sys::rb_ary_cat(array, values.as_ptr(), block.len() as _);
        }
        array
    }
}

pub(super) unsafe fn set(elements: impl Iterator<Item = VALUE>) -> VALUE {
    // SAFETY: the Hash is on the stack while elements are made.
    unsafe {
        let hash = new_set_hash();
        for element in elements {
            rb_sys::rb_hash_aset(hash, element, rb_sys::Qtrue as VALUE);
        }
        set_of(hash)
    }
}

/// A Hash for the elements of a Set, which answers false for what it has not.
pub(super) unsafe fn new_set_hash() -> VALUE {
    // SAFETY: a new Hash.
    unsafe {
        let hash = rb_sys::rb_hash_new();
        rb_sys::rb_hash_set_ifnone(hash, rb_sys::Qfalse as VALUE);
        hash
    }
}

/// A Set of the keys of a Hash.
pub(super) unsafe fn set_of(hash: VALUE) -> VALUE {
    let class = known(GemClass::Set) as VALUE;
    // SAFETY: where the class is known, a Set is an object with its elements in a variable.
    unsafe {
        if class != 0 {
            let set = rb_sys::rb_obj_alloc(class);
            variable(GemClass::Set, HASH).set(set, hash);
            return set;
        }
        let class = rb_sys::rb_const_get(rb_sys::rb_cObject, super::intern(c"Set"));
        let keys = rb_sys::rb_funcallv(hash, super::intern(c"keys"), 0, std::ptr::null());
        rb_sys::rb_class_new_instance(1, &keys, class)
    }
}

/// The text of a uuid.
pub(super) unsafe fn uuid(bytes: &[u8]) -> VALUE {
    // SAFETY: it makes a String of what is on the stack.
    unsafe { new_string(&notation::uuid_text(bytes), utf8()) }
}

/// Makes the text of a uuid for callers that know magnus's values.
pub(crate) fn uuid_text(bytes: &[u8]) -> magnus::RString {
    super::super::string_of(&notation::uuid_text(bytes), super::super::encoding_index(None))
}
