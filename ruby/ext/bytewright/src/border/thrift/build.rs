//! From a tape to objects.

use std::ffi::c_int;
use std::hint::black_box;

use bytewright::thrift::{
    Collection, Encoding, Limits, PATHS_MAX, ProtocolError, StructId, Tape, TapeCursor, TapeValue,
};
use rb_sys::VALUE;

use super::super::tables::{bytes, new_string};
use super::codec::{Codec, Layout, Making};
use super::defaults::{reset, reset_union, set_defaults, set_missing_defaults};
use super::scratch::{Scratch, with_scratch};
use super::values::{blocks, boolean, integer, interned, new_set_hash, set, set_of, utf8, uuid};
use super::{NIL, intern, module_of_compat, names, protected};

/// Fields that are mostly plucked, at most.
const FEW: usize = 8;

/// Outcome of reading a message.
pub(super) enum Decoded {
    /// An object.
    Object(VALUE),
    /// The bytes are no message.
    Refused(ProtocolError),
    /// Ruby code raised, which goes on with this state.
    Raised(c_int),
}

/// Place of a message, and the object that it becomes.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) encoding: Encoding,
    /// A String.
    pub(super) string: VALUE,
    /// Offset in it at which the message begins.
    pub(super) offset: usize,
    /// Maximum number of bytes of the message.
    pub(super) len_max: usize,
    pub(super) limits: Limits,
    /// The object that takes the fields; nil for a new one.
    pub(super) target: VALUE,
}

impl Source {
    /// The bytes of the message, and those behind it.
    ///
    /// # Safety
    /// As for [`bytes`].
    #[inline]
    unsafe fn message<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller promises.
        let rest = unsafe { bytes(self.string) }.get(self.offset..).unwrap_or_default();
        rest.get(..self.len_max).unwrap_or(rest)
    }
}

/// A tape and what is to be made of it.
struct Building<'a> {
    codec: &'a Codec,
    cursor: TapeCursor<'a>,
    target: VALUE,
    result: VALUE,
    made: unsafe fn(&mut Building<'_>) -> VALUE,
}

/// Reads a message of the codec's own class. `parsed` is told how many bytes it has before any object
/// is made; it may change an object of the transport, and may not raise.
///
/// # Safety
/// Called under Ruby; the String, the target and the codec's object must be kept alive.
#[inline]
pub(super) unsafe fn decode(codec: &Codec, source: Source, parsed: impl FnOnce(usize)) -> Decoded {
    with_scratch(|scratch| {
        let Scratch { tape, copy, .. } = scratch;
        // SAFETY: as the caller promises; only making the objects runs anything of Ruby's.
        let message = unsafe { source.message() };
        let decoded = codec.plan.decode(source.encoding, StructId(0), message, source.limits, tape);
        let len = match decoded {
            Ok(len) => len,
            // SAFETY: as the caller promises.
            Err(error) => match unsafe { forget(codec, source.target) } {
                0 => return Decoded::Refused(error),
                state => return Decoded::Raised(state),
            },
        };
        // SAFETY: as the caller promises.
        let building =
            unsafe { make(codec, tape, message, copy, source.target, structure_of_target) };
        parsed(len);
        match building() {
            (0, object) => {
                black_box(source.string);
                Decoded::Object(object)
            }
            (state, _) => Decoded::Raised(state),
        }
    })
}

/// Takes from an object that was to be read into what it has from before, where the gem does that before it reads.
/// Answers 0, or the state of what was raised, as for a frozen object.
///
/// # Safety
/// As for [`decode`].
#[cold]
unsafe fn forget(codec: &Codec, target: VALUE) -> c_int {
    if target == NIL {
        return 0;
    }
    unsafe extern "C" fn run(job: VALUE) -> VALUE {
        // SAFETY: it is called below, with a pointer to a job that nothing else uses meanwhile.
        unsafe {
            let (codec, target) = *(job as *const (&Codec, VALUE));
            start_over(codec, target);
        }
        NIL
    }
    // SAFETY: nothing that needs dropping is made under it.
    unsafe { protected(&mut (codec, target), run) }
}

/// Makes an object of the codec's own class what it is before it is read into: as new, where the gem does so.
///
/// # Safety
/// Called under Ruby with nothing alive that needs dropping; it may raise.
pub(super) unsafe fn start_over(codec: &Codec, target: VALUE) {
    let Some(layout) = codec.layouts.first() else { return };
    // SAFETY: as the caller promises; the object is of the layout's class.
    unsafe {
        if layout.making.is_union() {
            if codec.compat.resets_unions {
                reset_union(target, layout);
            }
        } else if codec.compat.resets_structs {
            reset(target, layout);
        }
    }
}

/// Makes the objects of a tape, when it is called: answers a state and an object.
///
/// # Safety
/// As for [`decode`]; `tape` is one of the codec's plan, read from `message`.
unsafe fn make<'a>(
    codec: &'a Codec,
    tape: &'a Tape,
    message: &'a [u8],
    copy: &'a mut Vec<u8>,
    target: VALUE,
    made: unsafe fn(&mut Building<'_>) -> VALUE,
) -> impl FnOnce() -> (c_int, VALUE) + 'a {
    let message = if codec.runs_ruby {
        // Ruby code could change the String while objects are made of it.
        copy.clear();
        copy.extend_from_slice(message);
        copy.as_slice()
    } else {
        message
    };
    move || {
        let cursor = tape.cursor(message);
        let mut building = Building { codec, cursor, target, result: NIL, made };
        // SAFETY: a cursor needs no dropping, and nothing else is made under it.
        let state = unsafe { protected(&mut building, run) };
        (state, building.result)
    }
}

/// Takes fields out of a message, and makes their values as an Array in the order of the paths.
///
/// # Safety
/// As for [`decode`].
pub(super) unsafe fn pluck(
    codec: &Codec,
    projection: &bytewright::thrift::Projection,
    source: Source,
) -> Decoded {
    with_scratch(|scratch| {
        let Scratch { tape, copy, .. } = scratch;
        // SAFETY: as the caller promises.
        let message = unsafe { source.message() };
        if let Err(error) = projection.pluck(source.encoding, message, source.limits, tape) {
            return Decoded::Refused(error);
        }
        let count = projection.paths().len();
        // SAFETY: as the caller promises; the target is the number of paths here.
        let building = unsafe { make(codec, tape, message, copy, count as VALUE, plucked_values) };
        match building() {
            (0, object) => {
                black_box(source.string);
                Decoded::Object(object)
            }
            (state, _) => Decoded::Raised(state),
        }
    })
}

/// Runs the job under protection.
unsafe extern "C" fn run(job: VALUE) -> VALUE {
    // SAFETY: `make` calls it with a pointer to its `Building`, which nothing else uses meanwhile.
    unsafe {
        let building = &mut *(job as *mut Building<'_>);
        building.result = (building.made)(building);
    }
    NIL
}

unsafe fn structure_of_target(building: &mut Building<'_>) -> VALUE {
    let value = building.cursor.value();
    let (TapeValue::Struct(id) | TapeValue::Union { id, .. }) = value else { return NIL };
    let Some(layout) = building.codec.layout(id) else { return NIL };
    let mut builder = Builder { codec: building.codec, cursor: building.cursor.clone() };
    // SAFETY: under protection, with nothing alive that needs dropping.
    unsafe {
        if building.target == NIL {
            return builder.structure(value, layout);
        }
        let target = building.target;
        start_over(building.codec, target);
        match value {
            TapeValue::Union { field_count, .. } => {
                builder.union_fields(target, layout, field_count)
            }
            _ => builder.fields(target, layout, false),
        }
        target
    }
}

unsafe fn plucked_values(building: &mut Building<'_>) -> VALUE {
    // SAFETY: under protection, with nothing alive that needs dropping.
    unsafe {
        match building.target as usize {
            ..=FEW => values_of::<FEW>(building),
            _ => values_of::<PATHS_MAX>(building),
        }
    }
}

/// The values of up to `N` fields as an Array. They are on the stack meanwhile, where the garbage collector
/// finds and keeps them.
unsafe fn values_of<const N: usize>(building: &mut Building<'_>) -> VALUE {
    let mut builder = Builder { codec: building.codec, cursor: building.cursor.clone() };
    builder.cursor.value();
    let mut values = [NIL; N];
    // SAFETY: under protection, with nothing alive that needs dropping; there are no more values than the
    // target says, N at most.
    unsafe {
        while let Some((number, value)) = builder.cursor.field() {
            let object = builder.object(value, false);
            if let Some(slot) = values.get_mut(number) {
                *slot = object;
            }
        }
        rb_sys::rb_ary_new_from_values(building.target as _, values.as_ptr())
    }
}

/// Makes objects while it goes over a tape. It has nothing that needs dropping.
struct Builder<'a> {
    codec: &'a Codec,
    cursor: TapeCursor<'a>,
}

/// All of these are called under protection, with nothing alive that needs dropping.
impl<'a> Builder<'a> {
    /// A new object for a struct or a union, with the fields that come next.
    #[inline]
    unsafe fn structure(&mut self, value: TapeValue<'a>, layout: &'a Layout) -> VALUE {
        // SAFETY: the class is the layout's, which the codec keeps.
        unsafe {
            let class = layout.class as VALUE;
            let object = match layout.making {
                Making::Allocated | Making::AllocatedUnion => rb_sys::rb_obj_alloc(class),
                Making::New | Making::NewUnion => {
                    rb_sys::rb_class_new_instance(0, std::ptr::null(), class)
                }
            };
            match value {
                TapeValue::Union { field_count, .. } => {
                    self.union_fields(object, layout, field_count)
                }
                _ => self.fields(object, layout, layout.making == Making::Allocated),
            }
            object
        }
    }

    /// Sets the fields that come next.
    #[inline]
    unsafe fn fields(&mut self, object: VALUE, layout: &'a Layout, is_new: bool) {
        let mut seen = 0;
        // SAFETY: the object is of the layout's class, so that any variable may be set.
        unsafe {
            if is_new && layout.defaults.len() > u64::BITS as usize {
                set_defaults(object, layout, u64::MAX);
            }
            while let Some((number, value)) = self.cursor.field() {
                let Some(field) = layout.fields.get(number) else {
                    self.cursor.skip(value);
                    continue;
                };
                let made = self.object(value, false);
                field.variable.set(object, made);
                seen |= field.default_bit;
            }
            if is_new && !layout.defaults.is_empty() {
                set_missing_defaults(object, layout, seen);
            }
            if layout.validates {
                rb_sys::rb_funcallv(object, names().validate, 0, std::ptr::null());
            }
        }
    }

    /// Sets the field of a union.
    unsafe fn union_fields(&mut self, object: VALUE, layout: &'a Layout, field_count: u8) {
        let (set_field, of) = (layout.set_field, layout.value);
        // SAFETY: as for `fields`.
        unsafe {
            if layout.making == Making::AllocatedUnion && set_field.of(object) == NIL {
                set_field.set(object, NIL);
                of.set(object, NIL);
            }
            if field_count > 1 {
                let name = intern(c"refuse_fields");
                rb_sys::rb_funcallv(module_of_compat(), name, 0, std::ptr::null());
            }
            while let Some((number, value)) = self.cursor.field() {
                let Some(field) = layout.fields.get(number) else {
                    self.cursor.skip(value);
                    continue;
                };
                let made = self.object(value, false);
                of.set(object, made);
                set_field.set(object, field.symbol as VALUE);
            }
            if layout.validates {
                rb_sys::rb_funcallv(object, names().validate, 0, std::ptr::null());
            }
        }
    }

    /// A value. A key of a Hash is one that the Hash need not copy.
    #[inline]
    unsafe fn object(&mut self, value: TapeValue<'a>, is_key: bool) -> VALUE {
        // SAFETY: each of these makes one object of plain values or of bytes that stay what they are.
        unsafe {
            match value {
                // As the gem takes an empty list of another element type.
                TapeValue::Null | TapeValue::Empty(_) => NIL,
                TapeValue::Bool(truth) => boolean(truth),
                TapeValue::Int(number) => integer(number),
                TapeValue::Double(number) => rb_sys::rb_float_new(number),
                TapeValue::String(bytes) if is_key => interned(bytes, rb_sys::rb_utf8_encoding()),
                TapeValue::String(bytes) => new_string(bytes, utf8()),
                TapeValue::Binary(bytes) if is_key => {
                    interned(bytes, rb_sys::rb_ascii8bit_encoding())
                }
                TapeValue::Binary(bytes) => {
                    rb_sys::rb_str_new(bytes.as_ptr().cast(), bytes.len() as _)
                }
                TapeValue::Uuid(bytes) => uuid(bytes),
                TapeValue::Struct(id) | TapeValue::Union { id, .. } => {
                    match self.codec.layout(id) {
                        Some(layout) => self.structure(value, layout),
                        None => NIL,
                    }
                }
                TapeValue::List(count) => self.array(count),
                TapeValue::Map(count) => self.hash(count),
                TapeValue::Set(count) => {
                    let hash = new_set_hash();
                    for _ in 0..count {
                        let value = self.cursor.value();
                        let element = self.object(value, true);
                        rb_sys::rb_hash_aset(hash, element, rb_sys::Qtrue as VALUE);
                    }
                    set_of(hash)
                }
                TapeValue::Ints(Collection::List, words) => blocks(words, |word| integer(*word)),
                TapeValue::Bools(Collection::List, words) => {
                    blocks(words, |word| boolean(*word != 0))
                }
                TapeValue::Doubles(Collection::List, words) => {
                    let array = rb_sys::rb_ary_new_capa(words.iter().len() as _);
                    for number in words.iter() {
                        rb_sys::rb_ary_push(array, rb_sys::rb_float_new(number));
                    }
                    array
                }
                TapeValue::Ints(Collection::Set, words) => {
                    set(words.iter().map(|word| integer(*word)))
                }
                TapeValue::Bools(Collection::Set, words) => {
                    set(words.iter().map(|word| boolean(*word != 0)))
                }
                TapeValue::Doubles(Collection::Set, words) => {
                    set(words.iter().map(|number| rb_sys::rb_float_new(number)))
                }
            }
        }
    }

    unsafe fn array(&mut self, count: usize) -> VALUE {
        // SAFETY: the Array is on the stack while its elements are made.
        unsafe {
            let array = rb_sys::rb_ary_new_capa(count as _);
            for _ in 0..count {
                let value = self.cursor.value();
                let element = self.object(value, false);
                rb_sys::rb_ary_push(array, element);
            }
            array
        }
    }

    unsafe fn hash(&mut self, count: usize) -> VALUE {
        // SAFETY: the Hash and the key are on the stack while the value is made.
        unsafe {
            let hash = rb_sys::rb_hash_new();
            for _ in 0..count {
                let value = self.cursor.value();
                let key = self.object(value, true);
                let value = self.cursor.value();
                let element = self.object(value, false);
                rb_sys::rb_hash_aset(hash, key, element);
            }
            hash
        }
    }
}
