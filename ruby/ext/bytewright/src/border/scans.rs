//! The loops over the entries of a table: they yield them, or collect them in an Array or a Hash.

use std::ffi::c_int;
use std::hint::black_box;

use bytewright::host::table::EntryWalk;
use bytewright::panics;
use magnus::rb_sys::AsRawValue;
use magnus::{RClass, TypedData};
use rb_sys::VALUE;

use super::conversion::Conversion;
use super::tables::new_string;
use super::{AnyMethod, inside, or_raise};
use crate::error::{defect, raised};

/// Entries that are collected between two looks at what other threads and signals want.
const ENTRIES_UNCHECKED: u64 = 1024;

/// Interface that the loops need of the object that gives entries.
pub(crate) trait EntrySource: TypedData {
    /// The entries.
    fn walk(&self) -> &EntryWalk;

    /// Conversion of the entries to objects.
    fn conversion(&self) -> Conversion;
}

/// Makes something of the next entry's key and value, or of nothing at the end.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping. `make` runs no Ruby code.
#[inline]
unsafe fn next<T: Copy>(
    this: &impl EntrySource,
    make: impl FnOnce(&[u8], &[u8]) -> T,
) -> Option<T> {
    // SAFETY: a guard would be lost where making a String raises. Nobody else borrows it while Ruby's
    // lock is here and no Ruby code runs; what the scan shows stays until it is asked for more.
    let scan = unsafe { &mut *this.walk().scan().as_ptr() };
    let outcome = panics::catch(move || {
        // Moved, so that what it shows may leave the closure.
        let scan = scan;
        scan.as_mut().map_or(Ok(None), |scan| scan.advance())
    });
    match outcome {
        Ok(Ok(entry)) => entry.map(|(key, value)| make(key, value)),
        Ok(Err(error)) => or_raise(|ruby| raised(ruby, Err(error))),
        Err(panic) => or_raise(|ruby| Err(defect(ruby, &panic))),
    }
}

/// Two Strings, on the stack, where the garbage collector finds them.
#[derive(Clone, Copy)]
struct Pair(VALUE, VALUE);

/// The next entry as two new objects.
///
/// # Safety
/// As for [`next`]. It may run Ruby code that loads the value.
#[inline]
unsafe fn next_pair(this: &impl EntrySource) -> Option<Pair> {
    let conversion = this.conversion();
    // SAFETY: as the caller promises; making a String or an Integer runs no Ruby code.
    unsafe {
        let Pair(key, plain) = next(this, |key, value| {
            let key = new_string(key, conversion.encoding);
            black_box(Pair(key, conversion.plain_value(value)))
        })?;
        Some(black_box(Pair(key, conversion.loaded(plain))))
    }
}

/// # Safety
/// As for [`next`].
#[inline]
unsafe fn next_key(this: &impl EntrySource) -> Option<VALUE> {
    // SAFETY: as the caller promises.
    unsafe { next(this, |key, _| new_string(key, this.conversion().encoding)) }
}

/// # Safety
/// As for [`next_pair`].
#[inline]
unsafe fn next_value(this: &impl EntrySource) -> Option<VALUE> {
    let conversion = this.conversion();
    // SAFETY: as the caller promises.
    unsafe {
        let plain = next(this, |_, value| conversion.plain_value(value))?;
        Some(conversion.loaded(plain))
    }
}

/// Runs `step` until it gives nothing, and lets other threads run now and then.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
unsafe fn collect(mut step: impl FnMut() -> Option<VALUE>) {
    let mut count = 0_u64;
    while step().is_some() {
        count += 1;
        if count.is_multiple_of(ENTRIES_UNCHECKED) {
            // SAFETY: it may raise, and nothing needs dropping.
            unsafe { rb_sys::rb_thread_check_ints() };
        }
    }
}

/// Yields an Array of key and value for each entry.
unsafe extern "C" fn each_pair<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver alive; the block may raise, throw or break.
    unsafe {
        let this: &S = inside(object);
        while let Some(Pair(key, value)) = next_pair(this) {
            rb_sys::rb_yield(rb_sys::rb_assoc_new(key, value));
        }
    }
    object
}

/// Yields the key and value of each entry to a block of two arguments, without the Array.
unsafe extern "C" fn each_two<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above.
    unsafe {
        let this: &S = inside(object);
        while let Some(Pair(key, value)) = next_pair(this) {
            let arguments = [key, value];
            rb_sys::rb_yield_values2(2, arguments.as_ptr());
        }
    }
    object
}

unsafe extern "C" fn each_key<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above.
    unsafe {
        let this: &S = inside(object);
        while let Some(key) = next_key(this) {
            rb_sys::rb_yield(key);
        }
    }
    object
}

unsafe extern "C" fn each_value<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above.
    unsafe {
        let this: &S = inside(object);
        while let Some(value) = next_value(this) {
            rb_sys::rb_yield(value);
        }
    }
    object
}

unsafe extern "C" fn keys<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above; the Array keeps what it holds alive.
    unsafe {
        let (this, array): (&S, VALUE) = (inside(object), rb_sys::rb_ary_new());
        collect(|| next_key(this).map(|key| rb_sys::rb_ary_push(array, key)));
        array
    }
}

unsafe extern "C" fn values<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above.
    unsafe {
        let (this, array): (&S, VALUE) = (inside(object), rb_sys::rb_ary_new());
        collect(|| next_value(this).map(|value| rb_sys::rb_ary_push(array, value)));
        array
    }
}

unsafe extern "C" fn pairs<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above.
    unsafe {
        let (this, array): (&S, VALUE) = (inside(object), rb_sys::rb_ary_new());
        collect(|| {
            let Pair(key, value) = next_pair(this)?;
            Some(rb_sys::rb_ary_push(array, rb_sys::rb_assoc_new(key, value)))
        });
        array
    }
}

unsafe extern "C" fn hash<S: EntrySource>(object: VALUE) -> VALUE {
    // SAFETY: as above. A Hash takes a frozen key as it is, and would copy another.
    unsafe {
        let (this, hash): (&S, VALUE) = (inside(object), rb_sys::rb_hash_new());
        collect(|| {
            let Pair(key, value) = next_pair(this)?;
            Some(rb_sys::rb_hash_aset(hash, rb_sys::rb_obj_freeze(key), value))
        });
        hash
    }
}

/// The first entries, as many as `count`, as an Array of Arrays.
unsafe extern "C" fn first<S: EntrySource>(object: VALUE, count: VALUE) -> VALUE {
    // SAFETY: as above; what is no Integer raises.
    unsafe {
        let (this, count) = (inside::<S>(object), rb_sys::rb_num2long(count));
        let array = rb_sys::rb_ary_new();
        for _ in 0..count {
            let Some(Pair(key, value)) = next_pair(this) else { break };
            rb_sys::rb_ary_push(array, rb_sys::rb_assoc_new(key, value));
        }
        array
    }
}

/// Defines the loops as methods of `class`.
pub(crate) fn define_scan_loops<S: EntrySource>(class: RClass) {
    type Loop = unsafe extern "C" fn(VALUE) -> VALUE;
    type Counted = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
    let loops = [
        (c"each_pair", each_pair::<S> as Loop),
        (c"each_two", each_two::<S>),
        (c"each_key", each_key::<S>),
        (c"each_value", each_value::<S>),
        (c"keys", keys::<S>),
        (c"values", values::<S>),
        (c"pairs", pairs::<S>),
        (c"hash_of", hash::<S>),
    ];
    let define = |name: &std::ffi::CStr, function: AnyMethod, arity: c_int| {
        // SAFETY: Ruby calls a method with self and as many arguments as its arity says, which is what
        // the function takes; the type is erased because Ruby takes methods of any arity.
        unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(function), arity) }
    };
    for (name, function) in loops {
        // SAFETY: see `define`.
        define(name, unsafe { std::mem::transmute::<Loop, AnyMethod>(function) }, 0);
    }
    // SAFETY: see `define`.
    define(c"first", unsafe { std::mem::transmute::<Counted, AnyMethod>(first::<S>) }, 1);
}
