//! The steps in which Ruby hashes Integers, Arrays and Hashes.
//!
//! ```text
//! Integer, nil, true, false   the halves of (start + the object's word + END) * FACTOR, ^ each other
//! Array    start + length, step(salt), step(hash of an element) …, end
//! Hash     start + count, step(salt), then for each entry ^ a hash of two words, end
//! ```
//!
//! `start` and the salts are other ones in each process: the salts are addresses of functions that Ruby keeps to
//! itself. A salt is told from the hash of an empty Array or Hash, by the same steps backwards. No documentation
//! promises these steps, so each is used only if it gives what Ruby's own methods give for samples. Where a Ruby
//! hashes in another way, or a program has changed the method, Ruby's method is called for every object.

use std::ffi::c_int;
use std::sync::OnceLock;

use rb_sys::VALUE;

use super::{NIL, names};

/// The smallest number that an Integer has in place.
const FIXNUM_MIN: i64 = i64::MIN / 2;

const WORD_ADDED: u64 = 0x830f_cab9;
const WORD_FACTOR: u64 = 0x2e0b_b864_e9ea_7df5;
const STEP_FACTORS: [u64; 2] = [0x87c3_7b91_1142_53d5, 0x4cf5_ad43_2745_937f];
const END_FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Number of elements by which an object grows to try a salt: wrong bits would show in one of its hashes.
const SAMPLE_COUNT: i64 = 32;

/// Values that hashes of this process start with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixing {
    start: u64,
    /// True if Integers are hashed so.
    words: bool,
    /// Salts added to the hashes of Arrays and of Hashes, if those are hashed so.
    array: Option<u64>,
    hash: Option<u64>,
}

/// The hash of an Array or a Hash, as far as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum(u64);

impl Mixing {
    /// # Safety
    /// Called under Ruby.
    #[inline]
    pub(super) unsafe fn get() -> Mixing {
        static MIXING: OnceLock<Mixing> = OnceLock::new();
        // SAFETY: as the caller promises.
        *MIXING.get_or_init(|| unsafe { Mixing::find() })
    }

    /// The beginning of the hash of an Array; `None` where Ruby's method has to be called.
    #[inline]
    pub(super) fn of_array(self, len: u64) -> Option<Sum> {
        Some(self.sum(len, self.array?))
    }

    /// The beginning of the hash of a Hash; `None` as for an Array.
    #[inline]
    pub(super) fn of_hash(self, count: u64) -> Option<Sum> {
        Some(self.sum(count, self.hash?))
    }

    #[inline]
    fn sum(self, count: u64, salt: u64) -> Sum {
        let mut sum = Sum(self.start.wrapping_add(count));
        sum.add(salt as i64);
        sum
    }

    /// Returns the result of `rb_hash` as a number: the hash of an element.
    ///
    /// # Safety
    /// Called under Ruby with an object, with nothing alive that needs dropping.
    #[inline]
    pub(super) unsafe fn number(self, object: VALUE) -> i64 {
        if self.words && is_word(object) {
            return self.word(object);
        }
        // SAFETY: as the caller promises.
        unsafe { asked_as_element(object) }
    }

    /// The hash of an Integer in place, nil, true or false.
    #[inline]
    fn word(self, object: VALUE) -> i64 {
        let sum = self.start.wrapping_add(object).wrapping_add(WORD_ADDED);
        let product = u128::from(sum) * u128::from(WORD_FACTOR);
        let hash = ((product >> 64) as u64 ^ product as u64) as i64;
        if hash > 0 { hash & !FIXNUM_MIN } else { hash | FIXNUM_MIN }
    }

    #[cold]
    unsafe fn find() -> Mixing {
        // SAFETY: as the caller promises; new objects, which are on the stack.
        unsafe {
            let start = rb_sys::rb_hash_start(0) as u64;
            let mut mixing = Mixing { start, words: false, array: None, hash: None };
            mixing.words = [NIL, rb_sys::Qtrue as VALUE, rb_sys::Qfalse as VALUE, integer(0)]
                .into_iter()
                .chain([integer(1), integer(-1), integer(FIXNUM_MIN), integer(!FIXNUM_MIN)])
                .all(|word| mixing.word(word) == asked_as_element(word));
            mixing.array = mixing.salt(rb_sys::rb_ary_new(), lengthen, hash_of_array);
            mixing.hash = mixing.salt(rb_sys::rb_hash_new(), enlarge, hash_of_hash);
            mixing
        }
    }

    /// The salt by which an object has the hash that it has, while it is empty and each time after `grow` has
    /// given it one element more.
    unsafe fn salt(
        self,
        object: VALUE,
        grow: unsafe fn(VALUE, i64),
        hash: unsafe fn(VALUE, Sum) -> i64,
    ) -> Option<u64> {
        // SAFETY: as the caller promises.
        unsafe {
            let end = asked(object)? as u64;
            // One of the high bits is not in the answer.
            let salts = [end, end ^ 1 << 62].map(|end| Sum::before_end(end).last_step(self.start));
            let mut fits = [true; 2];
            for count in 0..SAMPLE_COUNT {
                let expected = asked(object)?;
                for (fits, salt) in fits.iter_mut().zip(salts) {
                    *fits &= hash(object, self.sum(count as u64, salt)) == expected;
                }
                grow(object, count);
            }
            salts.into_iter().zip(fits).find_map(|(salt, fits)| fits.then_some(salt))
        }
    }
}

impl Sum {
    /// Adds an element of an Array.
    #[inline]
    pub(super) fn add(&mut self, hash: i64) {
        let word = (hash as u64).wrapping_add(self.0).wrapping_mul(STEP_FACTORS[0]);
        let mixed = (self.0 ^ word.rotate_left(33)).wrapping_mul(STEP_FACTORS[1]);
        self.0 = mixed.rotate_left(24);
    }

    /// With an entry of a Hash, which counts the same in whatever order they are. The hashes are mixed as the
    /// Integers that they are in Ruby.
    ///
    /// # Safety
    /// Called under Ruby.
    #[inline]
    pub(super) unsafe fn with_entry(self, key: i64, value: i64) -> Sum {
        let pair = [integer(key), integer(value)];
        // SAFETY: the pointer and the length are those of an array.
        let hash = unsafe { rb_sys::rb_st_hash(pair.as_ptr().cast(), size_of_val(&pair) as _, 0) };
        Sum(self.0 ^ hash as u64)
    }

    /// Returns the result of the method: the second highest bit has no place in an Integer.
    #[inline]
    pub(super) fn end(self) -> i64 {
        let first = (self.0 ^ self.0 >> 30).wrapping_mul(END_FACTORS[0]);
        let second = (first ^ first >> 27).wrapping_mul(END_FACTORS[1]);
        in_place((second ^ second >> 31) as i64)
    }

    /// Returns the sum that [`end`](Sum::end) was called on: no step of it loses anything.
    fn before_end(end: u64) -> Sum {
        let second = unshifted(end, 31).wrapping_mul(inverse(END_FACTORS[1]));
        let first = unshifted(second, 27).wrapping_mul(inverse(END_FACTORS[0]));
        Sum(unshifted(first, 30))
    }

    /// Returns the number that was added last, to a sum that was `before`.
    fn last_step(self, before: u64) -> u64 {
        let mixed = self.0.rotate_right(24).wrapping_mul(inverse(STEP_FACTORS[1])) ^ before;
        let word = mixed.rotate_right(33).wrapping_mul(inverse(STEP_FACTORS[0]));
        word.wrapping_sub(before)
    }
}

/// Returns the `word` that gave `mixed` as `word ^ word >> bits`.
fn unshifted(mixed: u64, bits: u32) -> u64 {
    (0..u64::BITS / bits).fold(mixed, |word, _| mixed ^ word >> bits)
}

/// The factor that undoes an odd one; each round doubles its right bits, of which there are three at first.
fn inverse(factor: u64) -> u64 {
    (0..5).fold(factor, |inverse, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(inverse)))
    })
}

/// An Integer in place.
#[inline]
fn integer(number: i64) -> VALUE {
    (number as VALUE) << 1 | 1
}

/// A number without the bit that an Integer in place has no room for.
#[inline]
fn in_place(number: i64) -> i64 {
    if number < 0 { number | FIXNUM_MIN } else { number & !FIXNUM_MIN }
}

/// The hash of an object as that of an element, which is 0 for none.
#[inline]
pub(super) fn as_element(hash: i64) -> i64 {
    if hash == 0 { FIXNUM_MIN } else { hash }
}

#[inline]
fn is_word(object: VALUE) -> bool {
    rb_sys::FIXNUM_P(object)
        || object == NIL
        || object == rb_sys::Qtrue as VALUE
        || object == rb_sys::Qfalse as VALUE
}

/// Returns the hash that Ruby takes for an element.
unsafe fn asked_as_element(object: VALUE) -> i64 {
    // SAFETY: as the caller promises, an object; the answer is an Integer in place.
    unsafe { rb_sys::FIX2LONG(rb_sys::rb_hash(object)) as i64 }
}

/// Returns the result of an object's method `hash`, if it is an Integer in place.
unsafe fn asked(object: VALUE) -> Option<i64> {
    // SAFETY: as the caller promises, an object.
    unsafe {
        let hash = rb_sys::rb_funcallv(object, names().hash, 0, std::ptr::null());
        rb_sys::FIXNUM_P(hash).then(|| rb_sys::FIX2LONG(hash) as i64)
    }
}

unsafe fn lengthen(array: VALUE, count: i64) {
    // SAFETY: as the caller promises, an Array.
    unsafe {
        let element = if count % 2 == 0 { integer(count) } else { rb_sys::rb_float_new(0.1) };
        rb_sys::rb_ary_push(array, element);
    }
}

unsafe fn enlarge(hash: VALUE, count: i64) {
    // SAFETY: as the caller promises, a Hash.
    unsafe { rb_sys::rb_hash_aset(hash, integer(count), rb_sys::rb_float_new(0.1)) };
}

unsafe fn hash_of_array(array: VALUE, mut sum: Sum) -> i64 {
    // SAFETY: as the caller promises, an Array.
    unsafe {
        for at in 0..rb_sys::RARRAY_LEN(array) {
            sum.add(asked_as_element(rb_sys::rb_ary_entry(array, at)));
        }
    }
    sum.end()
}

unsafe fn hash_of_hash(hash: VALUE, mut sum: Sum) -> i64 {
    unsafe extern "C" fn add(key: VALUE, value: VALUE, sum: VALUE) -> c_int {
        // SAFETY: see below.
        unsafe {
            let sum = &mut *(sum as *mut Sum);
            *sum = sum.with_entry(asked_as_element(key), asked_as_element(value));
        }
        rb_sys::st_retval::ST_CONTINUE as c_int
    }
    // SAFETY: as the caller promises, a Hash; the callback takes its last argument for a pointer to a sum.
    unsafe { rb_sys::rb_hash_foreach(hash, Some(add), std::ptr::from_mut(&mut sum) as VALUE) };
    sum.end()
}
