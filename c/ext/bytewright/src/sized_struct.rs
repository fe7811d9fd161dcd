//! Structs that begin with their size: those that a program fills and that calls read as options.
//!
//! A program may be compiled for another version of the library, in which such a struct has fewer or more fields. Its `size`
//! tells, which `BW_..._INIT` sets to `sizeof`. What counts is the rule of Linux's `copy_struct_from_user`
//! (include/linux/uaccess.h):
//!
//! - A shorter struct is an older program's: the fields that it does not have are zero.
//! - A longer one is a newer program's. It is taken where all that is behind the fields of this library is zero, and else
//!   refused: the program asks for what this library cannot do.
//!
//! So a field that is added stands last, and leaves no padding, whose bytes C sets to nothing that is known. It is zero in
//! `BW_..._INIT`, which means what the library did before it had the field.
//!
//! Never is a reference made to such a struct of the program, as it may be shorter than the type. Its bytes are copied.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use bytewright::{Error, ErrorKind, Result};

use crate::buffer::bw_slice;
use crate::host::bw_interrupted;
use crate::text::bw_names;

/// No struct is larger, in any version. What says so was not initialized, and as many bytes need not be there.
const SIZE_MAX: usize = 4096;

/// A struct that begins with its size. [`sized_struct!`] makes a type one.
///
/// # Safety
/// The first field is `size`, a `usize`, and the others are [`FieldType`]s. `FIELDS` has all of them, and `FIRST_SIZE` is above
/// the size of `size`.
pub(crate) unsafe trait SizedStruct: Copy {
    const NAME: &'static str;
    const FIELDS: &'static [&'static [Field]];
    /// Size in the version of the library that was the first to have it.
    const FIRST_SIZE: usize;
}

/// A field of a struct.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    name: &'static str,
    offset: usize,
    size: usize,
    is_flag: bool,
}

/// Type of a field.
///
/// # Safety
/// All bytes are a value of it, or `IS_FLAG` says that it is a `bool`.
pub(crate) unsafe trait FieldType: Copy {
    const IS_FLAG: bool = false;
}

// SAFETY: it says that it is one.
unsafe impl FieldType for bool {
    const IS_FLAG: bool = true;
}

// SAFETY: a number.
unsafe impl FieldType for usize {}
// SAFETY: a number.
unsafe impl FieldType for u32 {}
// SAFETY: a number.
unsafe impl FieldType for u64 {}
// SAFETY: a number.
unsafe impl FieldType for f64 {}
// SAFETY: a pointer, which may point anywhere.
unsafe impl FieldType for *const c_char {}
// SAFETY: a pointer, which may point anywhere.
unsafe impl FieldType for *mut c_void {}
// SAFETY: a pointer to a function, which may be null as it is an `Option`.
unsafe impl FieldType for bw_interrupted {}
// SAFETY: a pointer and a number.
unsafe impl FieldType for bw_names {}
// SAFETY: a pointer and a number.
unsafe impl FieldType for bw_slice {}

/// Describes a field, whose type is that of the answer of `of_struct`.
pub(crate) const fn field<S, F: FieldType>(
    name: &'static str,
    offset: usize,
    _of_struct: fn(&S) -> &F,
) -> Field {
    Field { name, offset, size: size_of::<F>(), is_flag: F::IS_FLAG }
}

/// Size of the struct `S` when it had no other fields than these, with the padding behind the last one.
pub(crate) const fn size_with<S>(fields: &[Field]) -> usize {
    let last = &fields[fields.len() - 1];
    (last.offset + last.size).next_multiple_of(align_of::<S>())
}

/// Returns true if fields that were added begin behind the struct as it was first, and reach to its end without padding.
pub(crate) const fn is_packed<S>(first: &[Field], added: &[Field]) -> bool {
    let mut end = size_with::<S>(first);
    let mut place = 0;
    while place < added.len() {
        if added[place].offset != end {
            return false;
        }
        end += added[place].size;
        place += 1;
    }
    end == size_of::<S>()
}

/// Makes a struct with `repr(C)` a [`SizedStruct`]. Its fields behind `size` are named in their order, those of its first version
/// apart from those that were added later:
///
/// ```text
/// sized_struct!(bw_idl { path, service, include } + {});
/// ```
macro_rules! sized_struct {
    ($type:ident { $($first:ident),+ } + { $($added:ident),* }) => {
        const _: () = {
            use std::mem::offset_of;

            use $crate::sized_struct::{Field, SizedStruct, field, is_packed, size_with};

            const FIRST: &[Field] =
                &[$(field(stringify!($first), offset_of!($type, $first), |all: &$type| &all.$first)),+];
            const ADDED: &[Field] =
                &[$(field(stringify!($added), offset_of!($type, $added), |all: &$type| &all.$added)),*];

            // A pattern without `..`, so that no field is missing above.
            const _: fn($type) -> usize = |all| {
                let $type { size, $($first: _,)+ $($added: _),* } = all;
                size
            };
            assert!(offset_of!($type, size) == 0 && size_with::<$type>(FIRST) > size_of::<usize>());
            assert!(is_packed::<$type>(FIRST, ADDED));

            // SAFETY: `field` takes nothing but a `FieldType`, and the lines above check the rest.
            unsafe impl SizedStruct for $type {
                const NAME: &'static str = stringify!($type);
                const FIELDS: &'static [&'static [Field]] = &[FIRST, ADDED];
                const FIRST_SIZE: usize = size_with::<$type>(FIRST);
            }
        };
    };
}
pub(crate) use sized_struct;

/// Copies the struct of a program; none for null.
///
/// # Safety
/// `pointer` is null or aligned, a `size` is there and, if it is one of a struct, as many bytes, all initialized.
pub(crate) unsafe fn copied<S: SizedStruct>(pointer: *const S) -> Result<Option<S>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let size = unsafe { size_at(pointer) }?;
    let (bytes, known) = (pointer.cast::<u8>(), size.min(size_of::<S>()));
    // SAFETY: `size` bytes are there and initialized, by the caller's promise.
    let beyond = unsafe { std::slice::from_raw_parts(bytes.add(known), size - known) };
    if beyond.iter().any(|byte| *byte != 0) {
        return Err(is_of_newer_program::<S>());
    }
    let mut copy = MaybeUninit::<S>::zeroed();
    // SAFETY: `known` bytes are there, by the caller's promise, and there is room for them.
    unsafe { copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes, known) };
    for flag in S::FIELDS.iter().copied().flatten().filter(|field| field.is_flag) {
        // SAFETY: the byte of a field is within the struct. It is the program's, or a zero.
        let byte = unsafe { copy.as_ptr().cast::<u8>().add(flag.offset).read() };
        if byte > 1 {
            let message =
                format!("expected true or false as {}.{}, found {byte}", S::NAME, flag.name);
            return Err(Error::new(ErrorKind::Argument, message));
        }
    }
    // SAFETY: all bytes are set; they are a value of each type of fields, as those of `bool` are 0 or 1.
    Ok(Some(unsafe { copy.assume_init() }))
}

/// The size of a struct as the program has it, where it is one that any version may have.
///
/// # Safety
/// `pointer` is aligned, and a `size` is there.
unsafe fn size_at<S: SizedStruct>(pointer: *const S) -> Result<usize> {
    // SAFETY: the caller's promise; the struct begins with it.
    let size = unsafe { pointer.cast::<usize>().read() };
    let is_of_struct =
        (S::FIRST_SIZE..=SIZE_MAX).contains(&size) && size.is_multiple_of(align_of::<S>());
    match is_of_struct && (size >= size_of::<S>() || is_of_older_version::<S>(size)) {
        true => Ok(size),
        false => Err(is_not_initialized::<S>(size)),
    }
}

/// Returns true if a version can have had as many bytes of the struct: all of the first one, and of those that were added,
/// whole fields.
#[cold]
fn is_of_older_version<S: SizedStruct>(size: usize) -> bool {
    let mut fields = S::FIELDS.iter().copied().flatten();
    size == S::FIRST_SIZE || fields.any(|field| field.offset + field.size == size)
}

#[cold]
fn is_not_initialized<S: SizedStruct>(size: usize) -> Error {
    let (name, initial) = (S::NAME, S::NAME.to_uppercase());
    let message =
        format!("expected a {name} initialized with {initial}_INIT, found the size {size}");
    Error::new(ErrorKind::Argument, message)
}

#[cold]
fn is_of_newer_program<S: SizedStruct>() -> Error {
    let (name, size, version) = (S::NAME, size_of::<S>(), env!("CARGO_PKG_VERSION"));
    let message = format!(
        "expected zeros behind the {size} bytes of a {name}, found an option of a later version: the library, version \
         {version}, is older than the program; install that version, or leave the option out"
    );
    Error::new(ErrorKind::Argument, message)
}

/// A struct of the program that a call writes to, as far as the program knows its fields.
pub(crate) struct SizedPlace<S> {
    place: NonNull<S>,
    size: usize,
}

impl<S: SizedStruct> SizedPlace<S> {
    /// # Safety
    /// `pointer` is null or aligned, a `size` is there and, if it is one of a struct, as many bytes, which can be written as
    /// long as the answer is used.
    pub(crate) unsafe fn at_or_none(pointer: *mut S) -> Result<Option<SizedPlace<S>>> {
        let Some(place) = NonNull::new(pointer) else { return Ok(None) };
        // SAFETY: the caller's promise.
        let size = unsafe { size_at(pointer) }?;
        Ok(Some(SizedPlace { place, size }))
    }

    /// Writes the fields that the program knows; `size` stays, and fields that only the program knows become zero.
    pub(crate) fn write(&self, value: S) {
        let (from, to) = ((&raw const value).cast::<u8>(), self.place.as_ptr().cast::<u8>());
        let (begin, known) = (size_of::<usize>(), self.size.min(size_of::<S>()));
        // SAFETY: `size` bytes can be written, by the promise to `at_or_none`, and both structs are longer than their `size`.
        unsafe {
            to.add(begin).copy_from_nonoverlapping(from.add(begin), known - begin);
            to.add(known).write_bytes(0, self.size - known);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;
    use crate::idl::bw_idl;

    /// A struct as its first version was.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct First {
        size: usize,
        is_on: bool,
        count: u64,
    }

    /// `First` after two fields were added.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Grown {
        size: usize,
        is_on: bool,
        count: u64,
        limit: u64,
        place: u64,
    }

    sized_struct!(First { is_on, count } + {});
    sized_struct!(Grown { is_on, count } + { limit, place });

    const FIRST: First = First { size: size_of::<First>(), is_on: true, count: 3 };
    const GROWN: Grown =
        Grown { size: size_of::<Grown>(), is_on: true, count: 3, limit: 0, place: 0 };

    /// Takes the struct that a program has as a `P` for an `S`; the message where it is refused.
    fn taken<S: SizedStruct, P: SizedStruct>(of_program: P) -> std::result::Result<S, String> {
        // Alone on the heap, where tools see what is read behind it.
        let alone = Box::new(of_program);
        // SAFETY: a struct with its size; the tests change that to sizes of no struct only.
        let copied = unsafe { copied::<S>((&raw const *alone).cast()) };
        copied.map_err(message).map(|copied| copied.unwrap_or_else(|| unreachable!("not null")))
    }

    fn message(refusal: Error) -> String {
        assert_eq!(refusal.kind(), ErrorKind::Argument);
        refusal.to_string()
    }

    #[test]
    fn fields_that_an_older_program_does_not_have_are_zero() {
        assert_eq!(taken::<Grown, First>(FIRST), Ok(Grown { size: FIRST.size, ..GROWN }));
    }

    #[test]
    fn a_newer_program_is_served_where_its_fields_are_zero() {
        assert_eq!(taken::<First, Grown>(GROWN), Ok(First { size: GROWN.size, ..FIRST }));
        for newer in [Grown { limit: 1, ..GROWN }, Grown { place: 1 << 63, ..GROWN }] {
            let refusal = taken::<First, Grown>(newer).err().unwrap_or_default();
            assert!(refusal.starts_with("expected zeros behind the 24 bytes of a First, found "));
            assert!(refusal.contains("is older than the program"), "{refusal}");
            assert_eq!(taken::<Grown, Grown>(newer), Ok(newer));
        }
    }

    #[test]
    fn a_size_that_no_version_has_is_refused() {
        for size in [0, 1, 16, 23, 25, 4104, usize::MAX - 7, usize::MAX] {
            let refusal =
                format!("expected a Grown initialized with GROWN_INIT, found the size {size}");
            assert_eq!(taken::<Grown, First>(First { size, ..FIRST }), Err(refusal));
            let mut place = First { size, ..FIRST };
            // SAFETY: a place with a size, which is one of no struct.
            assert!(unsafe { SizedPlace::at_or_none(&raw mut place) }.is_err());
        }
        assert!(is_of_older_version::<bw_idl>(24), "between its fields");
        assert!(!is_of_older_version::<bw_idl>(32), "within `include`");
        // SAFETY: null is allowed.
        assert!(unsafe { copied::<Grown>(std::ptr::null()) }.is_ok_and(|none| none.is_none()));
    }

    #[test]
    fn a_flag_is_true_or_false() {
        let mut bytes = Box::new(MaybeUninit::<First>::new(FIRST));
        // SAFETY: the place of the flag; what it is set to is read as bytes only.
        unsafe { bytes.as_mut_ptr().cast::<u8>().add(offset_of!(First, is_on)).write(2) };
        // SAFETY: a struct with its size.
        let refusal = unsafe { copied::<First>(bytes.as_ptr()) }.err().map(message);
        assert_eq!(refusal.as_deref(), Some("expected true or false as First.is_on, found 2"));
    }

    #[test]
    fn a_call_writes_the_fields_that_the_program_knows() {
        let (mut first, mut grown) = (FIRST, Grown { limit: 7, place: 8, ..GROWN });
        let found = Grown { size: 0, is_on: false, count: 5, limit: 6, place: 9 };
        write(found, (&raw mut first).cast());
        assert_eq!(first, First { is_on: false, count: 5, ..FIRST });
        write(First { size: 0, is_on: false, count: 5 }, (&raw mut grown).cast());
        assert_eq!(grown, Grown { is_on: false, count: 5, ..GROWN });
        write(found, &raw mut grown);
        assert_eq!(grown, Grown { size: GROWN.size, ..found });
    }

    fn write<S: SizedStruct>(value: S, to: *mut S) {
        // SAFETY: a struct with its size, of one version or the other.
        let place = unsafe { SizedPlace::at_or_none(to) };
        assert!(place.is_ok_and(|place| place.map(|place| place.write(value)).is_some()));
    }

    #[test]
    fn padding_is_found() {
        let field = |offset, size| Field { name: "", offset, size, is_flag: false };
        let first = &[field(8, 8), field(16, 8)];
        assert!(is_packed::<First>(first, &[]));
        assert!(is_packed::<Grown>(first, &[field(24, 8), field(32, 4), field(36, 4)]));
        let ends_in_word = &[field(8, 8), field(16, 1)];
        assert!(is_packed::<First>(ends_in_word, &[]));
        assert!(!is_packed::<First>(ends_in_word, &[field(20, 4)]), "in the first version's");
        assert!(!is_packed::<Grown>(first, &[field(24, 4), field(32, 8)]), "between fields");
        assert!(!is_packed::<Grown>(first, &[field(24, 8), field(32, 4)]), "at the end");
        assert!(!is_packed::<Grown>(first, &[field(32, 8), field(24, 8)]), "another order");
    }
}
