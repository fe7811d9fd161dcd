//! From objects to messages.
//!
//! A message is written to memory of ours and goes to the transport when it is whole. So whatever is
//! not as it should be (a value of another type, a subclass) is left to the gem from the beginning,
//! which does with it what it does.

use std::ffi::c_int;

use bytewright::thrift::{DEPTH_USUAL, Encoding, ProtocolError, Type, WireType, Write};
use rb_sys::{VALUE, ruby_value_type};

use super::super::tables::bytes;
use super::codec::{Codec, Layout};
use super::gem_classes::{GemClass, HASH, known, variable};
use super::scratch::with_scratch;
use super::{NIL, class_of, is_string, names, protected};

/// Outcome of writing an object.
pub(super) enum Encoded {
    /// The String that was added to, or a new one.
    Written(VALUE),
    /// The gem has to do it.
    Left,
    /// It cannot be written.
    Refused(ProtocolError),
    /// A number outside of the range of its field.
    OutOfRange(OutOfRange),
    /// Ruby code raised, which goes on with this state.
    Raised(c_int),
}

/// A number and the bits that there are for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutOfRange {
    pub(super) number: i64,
    pub(super) bits: u32,
}

/// Reason for which an object is not written.
enum Refusal {
    Left,
    Protocol(ProtocolError),
    OutOfRange(OutOfRange),
}

impl From<ProtocolError> for Refusal {
    fn from(error: ProtocolError) -> Self {
        Refusal::Protocol(error)
    }
}

type Outcome = Result<(), Refusal>;

/// An object on its way.
struct Job<'a, W> {
    walk: Walk<'a, W>,
    object: VALUE,
    layout: &'a Layout,
    /// A String to add to, nil for a new one.
    target: VALUE,
    outcome: Outcome,
}

/// State that writing needs everywhere. Nothing in it needs dropping.
struct Walk<'a, W> {
    codec: &'a Codec,
    writer: &'a mut W,
}

/// Writes an object of the codec's own class, in which structs are nested so deep at most, and adds it to the
/// other, a binary String, or to a new one where that is nil.
///
/// # Safety
/// Called under Ruby; all objects must be kept alive.
#[inline]
pub(super) unsafe fn encode(
    codec: &Codec,
    encoding: Encoding,
    (object, target): (VALUE, VALUE),
    depth_max: u32,
) -> Encoded {
    let Some(layout) = codec.layouts.first() else { return Encoded::Left };
    with_scratch(|scratch| {
        if depth_max != DEPTH_USUAL {
            scratch.binary.set_depth_max(depth_max);
            scratch.compact.set_depth_max(depth_max);
        }
        // SAFETY: as the caller promises.
        unsafe {
            match encoding {
                Encoding::Binary => {
                    finish(Walk { codec, writer: &mut scratch.binary }, object, layout, target)
                }
                Encoding::Compact => {
                    finish(Walk { codec, writer: &mut scratch.compact }, object, layout, target)
                }
            }
        }
    })
}

unsafe fn finish<W: Write>(
    walk: Walk<'_, W>,
    object: VALUE,
    layout: &Layout,
    target: VALUE,
) -> Encoded {
    let mut job = Job { walk, object, layout, target, outcome: Ok(()) };
    // SAFETY: as the caller promises; the writer and the outcome are dropped outside.
    let state = unsafe { protected(&mut job, run::<W>) };
    if state != 0 {
        return Encoded::Raised(state);
    }
    match job.outcome {
        Ok(()) => Encoded::Written(job.target),
        Err(Refusal::Left) => Encoded::Left,
        Err(Refusal::Protocol(error)) => Encoded::Refused(error),
        Err(Refusal::OutOfRange(found)) => Encoded::OutOfRange(found),
    }
}

/// Runs the job under protection.
unsafe extern "C" fn run<W: Write>(job: VALUE) -> VALUE {
    // SAFETY: `finish` calls it with a pointer to its job, which nothing else uses meanwhile.
    unsafe {
        let job = &mut *(job as *mut Job<'_, W>);
        job.outcome = job.walk.structure(job.object, job.layout);
        if let Err(Refusal::Left) = job.outcome
            && !job.walk.codec.compat.takes_depth
        {
            job.walk.writer.clear();
            job.outcome = job.walk.depth_of(job.object).and(Err(Refusal::Left));
        }
        if job.outcome.is_ok() {
            let written = job.walk.writer.bytes();
            let (start, len) = (written.as_ptr().cast(), written.len() as _);
            if job.target == NIL {
                job.target = rb_sys::rb_str_new(start, len);
            } else {
                rb_sys::rb_str_cat(job.target, start, len);
            }
        }
    }
    NIL
}

/// All of these are called under protection. Results that need dropping are made where nothing raises
/// any more.
impl<'a, W: Write> Walk<'a, W> {
    unsafe fn structure(&mut self, object: VALUE, layout: &Layout) -> Outcome {
        // SAFETY: the object is of the layout's class.
        unsafe {
            if layout.validates {
                rb_sys::rb_funcallv(object, names().validate, 0, std::ptr::null());
            }
            self.writer.struct_begin()?;
            if layout.making.is_union() {
                self.union_field(object, layout)?;
            } else {
                for number in &layout.by_id {
                    let Some(field) = layout.fields.get(usize::from(*number)) else { continue };
                    let value = field.variable.of(object);
                    if value != NIL {
                        self.writer.field(field.kind, field.id);
                        self.value(value, &field.value_type)?;
                    }
                }
            }
            self.writer.struct_end();
            Ok(())
        }
    }

    /// Refuses an object that is left to the gem where it is deeper than may be: some gems write any depth, which
    /// nobody reads, and end the process where an object holds itself.
    #[cold]
    unsafe fn depth_of(&mut self, value: VALUE) -> Outcome {
        // SAFETY: as for `structure`; each value has the type that was asked for.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(value) {
                return Ok(());
            }
            if rb_sys::RB_TYPE_P(value, ruby_value_type::RUBY_T_ARRAY) {
                self.writer.list(WireType::STRUCT, 0)?;
                let mut at = 0;
                while at < rb_sys::RARRAY_LEN(value) {
                    self.depth_of(rb_sys::rb_ary_entry(value, at))?;
                    at += 1;
                }
                self.writer.container_end();
            } else if rb_sys::RB_TYPE_P(value, ruby_value_type::RUBY_T_HASH) {
                self.writer.list(WireType::STRUCT, 0)?;
                let mut depths = Depths { walk: self, outcome: Ok(()) };
                let pointer = std::ptr::from_mut(&mut depths) as VALUE;
                rb_sys::rb_hash_foreach(value, Some(depth_of_entry::<W>), pointer);
                depths.outcome?;
                self.writer.container_end();
            } else if known(GemClass::Set) != 0 && class_of(value) == known(GemClass::Set) as VALUE
            {
                self.depth_of(variable(GemClass::Set, HASH).of(value))?;
            } else if let Some(layout) = self.layout_of_kind(value) {
                self.writer.struct_begin()?;
                if layout.making.is_union() {
                    self.depth_of(layout.value.of_any(value))?;
                }
                for field in layout.fields.iter().filter(|_| !layout.making.is_union()) {
                    self.depth_of(field.variable.of_any(value))?;
                }
                self.writer.struct_end();
            }
        }
        Ok(())
    }

    /// The layout of an object of one of the codec's classes or a class derived from one.
    unsafe fn layout_of_kind(&self, object: VALUE) -> Option<&'a Layout> {
        // SAFETY: as for `structure`.
        let is_kind = |layout: &&Layout| unsafe {
            rb_sys::rb_obj_is_kind_of(object, layout.class as VALUE) == rb_sys::Qtrue as VALUE
        };
        self.codec.layouts.iter().find(is_kind)
    }

    unsafe fn union_field(&mut self, object: VALUE, layout: &Layout) -> Outcome {
        // SAFETY: as for `structure`.
        unsafe {
            let set = layout.set_field.of(object);
            let value = layout.value.of(object);
            let field = layout.fields.iter().find(|field| field.symbol as VALUE == set);
            let Some(field) = field.filter(|_| value != NIL) else { return Err(Refusal::Left) };
            self.writer.field(field.kind, field.id);
            self.value(value, &field.value_type)
        }
    }

    #[inline]
    unsafe fn value(&mut self, value: VALUE, value_type: &Type) -> Outcome {
        // SAFETY: as for `structure`.
        unsafe {
            match value_type {
                Type::Bool => match value {
                    value if value == rb_sys::Qtrue as VALUE => self.writer.bool(true),
                    value if value == rb_sys::Qfalse as VALUE => self.writer.bool(false),
                    _ => return Err(Refusal::Left),
                },
                Type::Byte => self.writer.byte(number_in(value, 8)? as i8),
                Type::I16 => self.writer.i16(number_in(value, 16)? as i16),
                Type::I32 | Type::Enum(_) => self.writer.i32(number_in(value, 32)? as i32),
                Type::I64 => self.writer.i64(number_in(value, 64)?),
                Type::Double => self.writer.double(double(value)?),
                Type::String => {
                    let string = as_utf8(value)?;
                    self.writer.string(bytes(string))?;
                    std::hint::black_box(string);
                }
                Type::Binary => {
                    if !is_string(value) {
                        return Err(Refusal::Left);
                    }
                    self.writer.string(bytes(value))?;
                }
                Type::Uuid => self.writer.uuid(&uuid(value)?),
                Type::Struct(id) => {
                    let layout = self.codec.layout(*id).ok_or(Refusal::Left)?;
                    if class_of(value) != layout.class as VALUE {
                        return Err(Refusal::Left);
                    }
                    self.structure(value, layout)?;
                }
                Type::List(element) => self.list(value, element)?,
                Type::Set(element) => self.set(value, element)?,
                Type::Map(key, element) => self.map(value, key, element)?,
            }
        }
        Ok(())
    }

    unsafe fn list(&mut self, list: VALUE, element: &Type) -> Outcome {
        // SAFETY: as for `structure`; the length is asked for anew with each element.
        unsafe {
            if !rb_sys::RB_TYPE_P(list, ruby_value_type::RUBY_T_ARRAY) {
                return Err(Refusal::Left);
            }
            let count = rb_sys::RARRAY_LEN(list) as usize;
            self.writer.list(WireType::of(element), count)?;
            self.elements(list, count, element)
        }
    }

    /// The elements of a list or a set, and its end.
    unsafe fn elements(&mut self, list: VALUE, count: usize, element: &Type) -> Outcome {
        for at in 0..count {
            // SAFETY: as for `structure`; past the end of an Array that Ruby code made shorter is nil.
            unsafe {
                let value = rb_sys::rb_ary_entry(list, at as _);
                self.value(value, element)?;
            }
        }
        self.writer.container_end();
        Ok(())
    }

    /// A set may be a Set, an Array, or a Hash with the elements as keys.
    unsafe fn set(&mut self, set: VALUE, element: &Type) -> Outcome {
        let kind = WireType::of(element);
        // SAFETY: as for `structure`.
        unsafe {
            let mut elements = set;
            if known(GemClass::Set) != 0 && class_of(set) == known(GemClass::Set) as VALUE {
                elements = variable(GemClass::Set, HASH).of(set);
            }
            if rb_sys::RB_TYPE_P(elements, ruby_value_type::RUBY_T_HASH) {
                let count = rb_sys::rb_hash_size_num(elements) as usize;
                self.writer.set(kind, count)?;
                return self.entries(elements, count, element, None);
            }
            if rb_sys::RB_TYPE_P(elements, ruby_value_type::RUBY_T_ARRAY) {
                let count = rb_sys::RARRAY_LEN(elements) as usize;
                self.writer.set(kind, count)?;
                return self.elements(elements, count, element);
            }
        }
        Err(Refusal::Left)
    }

    unsafe fn map(&mut self, map: VALUE, key: &Type, value: &Type) -> Outcome {
        // SAFETY: as for `structure`.
        unsafe {
            if !rb_sys::RB_TYPE_P(map, ruby_value_type::RUBY_T_HASH) {
                return Err(Refusal::Left);
            }
            let count = rb_sys::rb_hash_size_num(map) as usize;
            self.writer.map(WireType::of(key), WireType::of(value), count)?;
            self.entries(map, count, key, Some(value))
        }
    }

    /// The keys of a Hash, each with its value where one is wanted, and its end.
    unsafe fn entries(
        &mut self,
        hash: VALUE,
        count: usize,
        key: &Type,
        value: Option<&Type>,
    ) -> Outcome {
        let mut entries = Entries { walk: self, key, value, left: count, outcome: Ok(()) };
        let pointer = std::ptr::from_mut(&mut entries) as VALUE;
        // SAFETY: the callback takes its last argument for a pointer to `Entries`, which is alone
        // meanwhile; what it holds needs no dropping before the outcome is set, and then it stops.
        unsafe { rb_sys::rb_hash_foreach(hash, Some(entry::<W>), pointer) };
        // Ruby code may have changed the Hash meanwhile.
        if entries.outcome.is_ok() && entries.left != 0 {
            return Err(Refusal::Left);
        }
        entries.outcome?;
        self.writer.container_end();
        Ok(())
    }
}

/// A Hash being written.
struct Entries<'a, 'w, W> {
    walk: &'a mut Walk<'w, W>,
    key: &'a Type,
    value: Option<&'a Type>,
    left: usize,
    outcome: Outcome,
}

unsafe extern "C" fn entry<W: Write>(key: VALUE, value: VALUE, entries: VALUE) -> c_int {
    const CONTINUE: c_int = rb_sys::st_retval::ST_CONTINUE as c_int;
    const STOP: c_int = rb_sys::st_retval::ST_STOP as c_int;
    // SAFETY: see `Walk::entries`.
    unsafe {
        let entries = &mut *(entries as *mut Entries<'_, '_, W>);
        let Some(left) = entries.left.checked_sub(1) else {
            entries.outcome = Err(Refusal::Left);
            return STOP;
        };
        entries.left = left;
        entries.outcome = entries.walk.value(key, entries.key);
        if let (Ok(()), Some(of)) = (&entries.outcome, entries.value) {
            entries.outcome = entries.walk.value(value, of);
        }
        if entries.outcome.is_ok() { CONTINUE } else { STOP }
    }
}

/// The entries of a Hash whose depth is looked at.
struct Depths<'a, 'w, W> {
    walk: &'a mut Walk<'w, W>,
    outcome: Outcome,
}

unsafe extern "C" fn depth_of_entry<W: Write>(key: VALUE, value: VALUE, depths: VALUE) -> c_int {
    // SAFETY: see `Walk::depth_of`.
    unsafe {
        let depths = &mut *(depths as *mut Depths<'_, '_, W>);
        depths.outcome = depths.walk.depth_of(key);
        if depths.outcome.is_ok() {
            depths.outcome = depths.walk.depth_of(value);
        }
        match depths.outcome {
            Ok(()) => rb_sys::st_retval::ST_CONTINUE as c_int,
            Err(_) => rb_sys::st_retval::ST_STOP as c_int,
        }
    }
}

/// An Integer of so many bits.
#[inline]
unsafe fn number_in(value: VALUE, bits: u32) -> Result<i64, Refusal> {
    // SAFETY: an Integer that is too large raises, with nothing alive that needs dropping.
    let number = unsafe {
        if rb_sys::FIXNUM_P(value) {
            rb_sys::FIX2LONG(value) as i64
        } else if rb_sys::RB_TYPE_P(value, ruby_value_type::RUBY_T_BIGNUM) {
            rb_sys::rb_num2ll(value)
        } else {
            return Err(Refusal::Left);
        }
    };
    if number >> (bits - 1) != number >> 63 {
        return Err(Refusal::OutOfRange(OutOfRange { number, bits }));
    }
    Ok(number)
}

#[inline]
unsafe fn double(value: VALUE) -> Result<f64, Refusal> {
    // SAFETY: each is called with what it takes.
    unsafe {
        if rb_sys::RB_FLOAT_TYPE_P(value) {
            Ok(rb_sys::rb_float_value(value))
        } else if rb_sys::FIXNUM_P(value) {
            Ok(rb_sys::FIX2LONG(value) as f64)
        } else {
            Err(Refusal::Left)
        }
    }
}

/// A String in UTF-8: itself, or another with the same text. It may raise, as encoding does.
#[inline]
unsafe fn as_utf8(value: VALUE) -> Result<VALUE, Refusal> {
    // SAFETY: as the caller promises, a value; nothing needs dropping where encoding raises.
    unsafe {
        if !is_string(value) {
            return Err(Refusal::Left);
        }
        let utf8 = rb_sys::rb_utf8_encindex();
        if rb_sys::rb_enc_get_index(value) == utf8 || rb_sys::rb_enc_str_asciionly_p(value) != 0 {
            return Ok(value);
        }
        let encoding = rb_sys::rb_enc_from_encoding(rb_sys::rb_utf8_encoding());
        Ok(rb_sys::rb_funcallv(value, names().encode, 1, &encoding))
    }
}

/// The bytes of a uuid's text.
unsafe fn uuid(value: VALUE) -> Result<[u8; 16], Refusal> {
    // SAFETY: a String's bytes, used while nothing of Ruby's runs.
    let text = unsafe {
        if !is_string(value) {
            return Err(Refusal::Left);
        }
        bytes(value)
    };
    let mut uuid = [0; 16];
    let mut digits = 0;
    for (at, byte) in text.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return Err(Refusal::Left);
            }
            continue;
        }
        let digit = char::from(*byte).to_digit(16).ok_or(Refusal::Left)?;
        let place = uuid.get_mut(digits / 2).ok_or(Refusal::Left)?;
        *place = *place << 4 | digit as u8;
        digits += 1;
    }
    if text.len() == 36 { Ok(uuid) } else { Err(Refusal::Left) }
}
