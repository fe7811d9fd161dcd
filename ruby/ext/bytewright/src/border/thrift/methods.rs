//! The methods that Ruby calls: those of the gem's modules and classes, and those of
//! `Bytewright::Thrift`. What is not exactly as the gem made it goes to the gem's own method, which is
//! still there under another name.

use std::ffi::{CStr, c_int};
use std::hint::black_box;

use bytewright::thrift::{DEPTH_MAX, Encoding, Frames, Limits, ProtocolError, ProtocolErrorKind};
use magnus::rb_sys::AsRawValue;
use magnus::{Error, RClass, Symbol};
use rb_sys::{ID, VALUE};

use super::super::{AnyMethod, or_raise};
use super::build::{Decoded, Source, decode, pluck, set_defaults};
use super::compare::Comparison;
use super::encode::{Encoded, OutOfRange, encode};
use super::transport::{Kind, Place, encoding_of};
use super::{
    Held, NIL, bytes, class_of, codec, codec_of, intern, is_frozen, is_of, is_string,
    layouts_module, names, resume, value,
};
use crate::error::{to_ruby, to_thrift};
use crate::thrift::{Codec, Known, Making, complete, encoding_named, known};

/// Bytes that were read of a MemoryBufferTransport before it lets go of them, as in the gem.
const GARBAGE_LEN: usize = 4096;

/// Calls the gem's own method with the same arguments and block.
///
/// # Safety
/// Called from a method's function with its arguments, with nothing alive that needs dropping.
#[cold]
unsafe fn original(object: VALUE, name: ID, count: c_int, arguments: *const VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let keywords = rb_sys::rb_keyword_given_p();
        rb_sys::rb_funcall_passing_block_kw(object, name, count, arguments, keywords)
    }
}

/// Calls a private method of the module, which has the gem do it, with the same arguments.
///
/// # Safety
/// As for [`original`].
#[cold]
unsafe fn by_gem(module: VALUE, name: &CStr, count: c_int, arguments: *const VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let keywords = rb_sys::rb_keyword_given_p();
        rb_sys::rb_funcallv_kw(module, intern(name), count, arguments, keywords)
    }
}

/// Raises what the gem raises for bytes that are no message.
fn refuse(error: ProtocolError) -> ! {
    or_raise(move |ruby| Err(to_thrift(ruby, &error)))
}

/// Raises what Bytewright raises for them.
fn refuse_as_ours(error: ProtocolError) -> ! {
    or_raise(move |ruby| Err(to_ruby(ruby, error.error())))
}

fn refuse_range(found: OutOfRange) -> ! {
    or_raise(|ruby| {
        let (max, OutOfRange { number, bits }) = (i64::MAX >> (64 - found.bits), found);
        let message =
            format!("expected a number of {bits} bits, {} to {max}, found {number}", -max - 1);
        Err(Error::new(ruby.exception_range_error(), message))
    })
}

/// The bounds of a message, where a caller of the gem's `read` says how deep it may still be.
unsafe fn limits_of(count: c_int, arguments: *const VALUE) -> Option<Limits> {
    if count < 2 {
        return Some(Limits::default());
    }
    // SAFETY: there are so many arguments.
    let depth = unsafe { *arguments.add(1) };
    if !rb_sys::FIXNUM_P(depth) {
        return None;
    }
    // SAFETY: it is a small Integer.
    let depth = u32::try_from(unsafe { rb_sys::FIX2LONG(depth) }).ok()?;
    (1..=DEPTH_MAX).contains(&depth).then(|| Limits { depth_max: depth, ..Limits::default() })
}

/// `struct.read(protocol)`
unsafe extern "C" fn read(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments alive; so does the variable the codec.
    unsafe {
        let place = if count < 1 { None } else { Place::of(*arguments) };
        let limits = limits_of(count, arguments);
        if let (Some(place), Some(limits)) = (place, limits)
            && let Some(held) = codec_of(plain_class_of(object))
            && held.reads
            && read_at(&held, place, limits, object)
        {
            held.keep();
            return NIL;
        }
        original(object, names().original_read, count, arguments)
    }
}

/// The class of an object that has no methods of its own; 0 for another.
///
/// # Safety
/// `object` must be an object.
#[inline]
unsafe fn plain_class_of(object: VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let class = class_of(object);
        let is_singleton = class != 0
            && (*(class as *const rb_sys::RBasic)).flags
                & rb_sys::ruby_fl_type::RUBY_FL_SINGLETON as VALUE
                != 0;
        if is_singleton { 0 } else { class }
    }
}

/// Reads the next struct of a transport. Answers whether it could be done here.
///
/// # Safety
/// As for [`read`].
#[inline]
unsafe fn read_at(codec: &Codec, place: Place, limits: Limits, target: VALUE) -> bool {
    // SAFETY: as the caller promises. A String of a transport is read until it is parsed, and its
    // transport may then let go of it, as the variable here keeps it.
    unsafe {
        let mut is_complete = place.kind != Kind::Buffered;
        loop {
            let Some((string, index)) = place.unread() else { return false };
            if place.kind == Kind::Framed && index >= bytes(string).len() {
                rb_sys::rb_funcallv(place.transport, names().read_frame, 0, std::ptr::null());
                let Some((string, index)) = place.unread() else { return false };
                if index >= bytes(string).len() {
                    return false;
                }
                continue;
            }
            let encoding = place.encoding;
            let source =
                Source { encoding, string, offset: index, len_max: usize::MAX, limits, target };
            match decode(codec, source, |len| place.set_index(index + len)) {
                Decoded::Object(..) => {
                    if place.kind == Kind::Memory {
                        drop_garbage(place);
                    }
                    return true;
                }
                Decoded::Raised(state) => resume(state),
                Decoded::Refused(error)
                    if !is_complete && error.kind() == ProtocolErrorKind::Truncated =>
                {
                    drop(error);
                    let transport = place.transport;
                    or_raise(|ruby| complete(ruby, value(transport), encoding, limits));
                    is_complete = true;
                }
                Decoded::Refused(error) => refuse(error),
            }
        }
    }
}

/// Lets go of bytes that were read.
///
/// # Safety
/// As for [`read`].
#[inline]
unsafe fn drop_garbage(place: Place) {
    // SAFETY: as the caller promises.
    unsafe {
        if let Some((string, index)) = place.unread()
            && index >= GARBAGE_LEN
        {
            let left = bytes(string).len().saturating_sub(index);
            let rest = rb_sys::rb_str_subseq(string, index as _, left as _);
            rb_sys::rb_ivar_set(place.transport, names().buf, rest);
            place.set_index(0);
        }
    }
}

/// `struct.write(protocol)`
unsafe extern "C" fn write(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let place = if count != 1 { None } else { Place::of(*arguments) };
        let target = place.and_then(|place| Some((place, place.unwritten()?)));
        if let Some((place, target)) = target
            && let Some(held) = codec_of(plain_class_of(object))
            && held.writes
        {
            match encode(&held, place.encoding, object, target) {
                Encoded::Left => {}
                Encoded::Written(_) => {
                    held.keep();
                    return NIL;
                }
                other => fail(other),
            }
        }
        original(object, names().original_write, count, arguments)
    }
}

/// Raises why an object was not written.
///
/// # Safety
/// Nothing that needs dropping may be alive in the caller.
unsafe fn fail(encoded: Encoded) -> ! {
    match encoded {
        Encoded::Refused(error) => refuse(error),
        Encoded::OutOfRange(found) => refuse_range(found),
        // SAFETY: as the caller promises.
        Encoded::Raised(state) => unsafe { resume(state) },
        Encoded::Written(_) | Encoded::Left => or_raise(|ruby| {
            Err(Error::new(ruby.exception_runtime_error(), "expected an object to be written"))
        }),
    }
}

/// `struct == other`
unsafe extern "C" fn equal(object: VALUE, other: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let class = plain_class_of(object);
        if class != 0
            && class_of(other) == class
            && let Some(held) = codec_of(class)
            && held.compares
            && let Some(layout) = held.layouts.first()
        {
            let is_equal = Comparison::new(&held).fields_are_equal(object, other, layout);
            held.keep();
            return if is_equal { rb_sys::Qtrue as VALUE } else { rb_sys::Qfalse as VALUE };
        }
        original(object, names().original_equal, 1, &other)
    }
}

/// `struct.hash`
unsafe extern "C" fn hash(object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(held) = codec_of(plain_class_of(object))
            && held.compares
            && let Some(layout) = held.layouts.first()
        {
            let hash = Comparison::new(&held).hash_of_fields(object, layout);
            held.keep();
            // As many bits as a small Integer has.
            return ((hash as i64 >> 2) as VALUE) << 1 | 1;
        }
        original(object, names().original_hash, 0, std::ptr::null())
    }
}

/// `Struct.new` without arguments.
unsafe extern "C" fn initialize(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if count == 0
            && rb_sys::rb_block_given_p() == 0
            && let Some(held) = codec_of(plain_class_of(object))
            && let Some(layout) = held.layouts.first()
            && layout.making == Making::Allocated
        {
            set_defaults(object, layout, 0);
            held.keep();
            return NIL;
        }
        original(object, names().original_initialize, count, arguments)
    }
}

/// `serializer.serialize(object)`
unsafe extern "C" fn serialize(serializer: VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(encoding) = encoding_inside(serializer, Known::Serializer)
            && let Some(held) = codec_of(plain_class_of(object))
            && held.writes
            && held.root_writes
        {
            match encode(&held, encoding, object, NIL) {
                Encoded::Left => {}
                Encoded::Written(string) => {
                    held.keep();
                    return string;
                }
                other => fail(other),
            }
        }
        original(serializer, names().original_serialize, 1, &object)
    }
}

/// `deserializer.deserialize(object, bytes)`
unsafe extern "C" fn deserialize(deserializer: VALUE, object: VALUE, string: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(encoding) = encoding_inside(deserializer, Known::Deserializer)
            && is_string(string)
            && let Some(held) = codec_of(plain_class_of(object))
            && held.reads
            && held.root_reads
        {
            let source = Source { target: object, ..message_source(encoding, string) };
            match decode(&held, source, |_| {}) {
                Decoded::Object(object) => {
                    as_binary(string);
                    held.keep();
                    return object;
                }
                Decoded::Raised(state) => resume(state),
                Decoded::Refused(error) => refuse(error),
            }
        }
        let arguments = [object, string];
        original(deserializer, names().original_deserialize, 2, arguments.as_ptr())
    }
}

/// Marks a String as bytes, as the gem does with one that is not frozen.
///
/// # Safety
/// As for [`read`].
#[inline]
unsafe fn as_binary(string: VALUE) {
    // SAFETY: as the caller promises, a String.
    unsafe {
        if !is_frozen(string) && rb_sys::rb_enc_get_index(string) != 0 {
            rb_sys::rb_enc_associate_index(string, 0);
        }
    }
}

/// The protocol of a serializer or a deserializer that is exactly the gem's.
///
/// # Safety
/// As for [`read`].
#[inline]
unsafe fn encoding_inside(object: VALUE, which: Known) -> Option<Encoding> {
    // SAFETY: as the caller promises.
    unsafe {
        if !is_of(object, known(which)) {
            return None;
        }
        let transport = rb_sys::rb_attr_get(object, names().transport);
        let protocol = rb_sys::rb_attr_get(object, names().protocol);
        if !is_of(transport, known(Known::Memory))
            || rb_sys::rb_attr_get(protocol, names().trans) != transport
        {
            return None;
        }
        encoding_of(protocol)
    }
}

/// The encoding that the keyword `protocol` says, and the number of arguments before keywords.
///
/// # Safety
/// Called from a method's function with its arguments.
#[inline]
unsafe fn keywords(count: c_int, arguments: *const VALUE) -> (Encoding, usize) {
    // SAFETY: where keywords were given, the last argument is a Hash of them.
    unsafe {
        let count = count as usize;
        if count == 0 || rb_sys::rb_keyword_given_p() == 0 {
            return (Encoding::Binary, count);
        }
        let last = *arguments.add(count - 1);
        if rb_sys::rb_hash_size_num(last) == 1 {
            let symbol = |name| rb_sys::rb_id2sym(name);
            let given = rb_sys::rb_hash_lookup(last, symbol(names().protocol_keyword));
            if given == symbol(names().compact) {
                return (Encoding::Compact, count - 1);
            }
            if given == symbol(names().binary) {
                return (Encoding::Binary, count - 1);
            }
        }
        (or_raise(|ruby| encoding_named(ruby, value(last))), count - 1)
    }
}

/// Raises an ArgumentError unless there are so many arguments.
fn check_count(count: usize, expected: std::ops::RangeInclusive<usize>) {
    if expected.contains(&count) {
        return;
    }
    let (start, end) = (*expected.start(), *expected.end());
    or_raise(|ruby| {
        let expected = if end == usize::MAX { format!("{start}+") } else { start.to_string() };
        let message = format!("wrong number of arguments (given {count}, expected {expected})");
        Err::<(), _>(Error::new(ruby.exception_arg_error(), message))
    });
}

/// The codec of a class for reading; `None` where the gem has to do it.
///
/// # Safety
/// As for [`read`].
#[inline]
unsafe fn codec_to_read<'a>(class: VALUE) -> Option<Held<'a>> {
    // SAFETY: as the caller promises; what is no class has no codec.
    unsafe {
        if !rb_sys::RB_TYPE_P(class, rb_sys::ruby_value_type::RUBY_T_CLASS) {
            or_raise(|ruby| {
                let message = format!("expected a generated class, found {:?}", value(class));
                Err::<(), _>(Error::new(ruby.exception_type_error(), message))
            });
        }
        codec_of(class).filter(|held| held.reads && held.root_reads)
    }
}

/// # Safety
/// As for [`read`].
unsafe fn message_source(encoding: Encoding, string: VALUE) -> Source {
    // SAFETY: as the caller promises.
    unsafe {
        let string = super::super::tables::string(string);
        let limits = Limits::default();
        Source { encoding, string, offset: 0, len_max: usize::MAX, limits, target: NIL }
    }
}

/// `Bytewright::Thrift.decode(class, bytes, protocol: :binary)`
unsafe extern "C" fn decode_one(count: c_int, arguments: *const VALUE, module: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let (encoding, given) = keywords(count, arguments);
        check_count(given, 2..=2);
        let Some(held) = codec_to_read(*arguments) else {
            return by_gem(module, c"decode_by_gem", count, arguments);
        };
        let source = message_source(encoding, *arguments.add(1));
        match decode(&held, source, |_| {}) {
            Decoded::Object(object) => {
                held.keep();
                black_box(source.string);
                object
            }
            Decoded::Raised(state) => resume(state),
            Decoded::Refused(error) => refuse_as_ours(error),
        }
    }
}

/// `Bytewright::Thrift.pluck(class, bytes, *paths, protocol: :binary)`
unsafe extern "C" fn pluck_one(count: c_int, arguments: *const VALUE, _module: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let (encoding, given) = keywords(count, arguments);
        check_count(given, 2..=usize::MAX);
        let held = codec_to_pluck(*arguments);
        let source = message_source(encoding, *arguments.add(1));
        let paths = std::slice::from_raw_parts(arguments.add(2), given - 2);
        let plucked = or_raise(|ruby| {
            let paths = std::slice::from_raw_parts(paths.as_ptr().cast(), paths.len());
            let projection = held.projection(ruby, paths)?;
            // What it answers is plain, unless it is an error.
            match pluck(&held, &projection, source) {
                Decoded::Object(object) => Ok((object, 0)),
                Decoded::Raised(state) => Ok((NIL, state)),
                Decoded::Refused(error) => Err(to_ruby(ruby, error.error())),
            }
        });
        held.keep();
        black_box(source.string);
        match plucked {
            (object, 0) => object,
            (_, state) => resume(state),
        }
    }
}

/// The codec of a class whose fields are taken without its objects; it raises where there is none.
///
/// # Safety
/// As for [`read`].
unsafe fn codec_to_pluck<'a>(class: VALUE) -> Held<'a> {
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(held) = codec_to_read(class) {
            return held;
        }
        let name = intern(c"codec_in_any_case");
        let object = rb_sys::rb_funcallv(layouts_module(), name, 1, &class);
        Held { object, codec: codec(object) }
    }
}

/// `Bytewright::Thrift.encode(object, protocol: :binary)`
unsafe extern "C" fn encode_one(count: c_int, arguments: *const VALUE, module: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let (encoding, given) = keywords(count, arguments);
        check_count(given, 1..=1);
        let object = *arguments;
        if let Some(held) = codec_of(plain_class_of(object))
            && held.writes
            && held.root_writes
        {
            match encode(&held, encoding, object, NIL) {
                Encoded::Left => {}
                Encoded::Written(string) => {
                    held.keep();
                    return string;
                }
                Encoded::Refused(error) => refuse_as_ours(error),
                other => fail(other),
            }
        }
        by_gem(module, c"encode_by_gem", count, arguments)
    }
}

/// `Bytewright::Thrift.each_framed(class, bytes, protocol, start) { |object| }`: yields the messages
/// of whole frames, and answers how many bytes those had. `start` is where the bytes begin in the
/// input, for errors.
unsafe extern "C" fn each_framed(
    _module: VALUE,
    class: VALUE,
    string: VALUE,
    protocol: VALUE,
    start: VALUE,
) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let encoding = or_raise(|ruby| encoding_named(ruby, value(protocol)));
        let start = rb_sys::rb_num2ll(start) as u64;
        let mut offset = 0;
        loop {
            // Asked for each time, as the block may change anything.
            let held = codec_to_pluck(class);
            let Some((begin, len_max)) = next_frame(string, offset, start) else {
                return rb_sys::rb_ull2inum(offset as _);
            };
            let limits = Limits::default();
            let source = Source { encoding, string, offset: begin, len_max, limits, target: NIL };
            match decode(&held, source, |_| {}) {
                Decoded::Object(object) => rb_sys::rb_yield(object),
                Decoded::Raised(state) => resume(state),
                Decoded::Refused(error) => or_raise(move |ruby| {
                    let at = error.error().offset().unwrap_or_default();
                    let error = error.error().clone().at(start + begin as u64 + at);
                    Err(to_ruby(ruby, &error))
                }),
            };
            held.keep();
            black_box(string);
            offset = begin + len_max;
        }
    }
}

/// Where the message of the frame at `offset` begins, and its length; `None` where no frame is whole.
///
/// # Safety
/// As for [`read`].
unsafe fn next_frame(string: VALUE, offset: usize, start: u64) -> Option<(usize, usize)> {
    // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
    let rest = unsafe { bytes(string) }.get(offset..).unwrap_or_default();
    let mut frames = Frames::new(rest, start + offset as u64);
    match frames.next_frame() {
        Ok(frame) => frame.map(|frame| (offset + 4, frame.bytes.len())),
        Err(error) if error.kind() == ProtocolErrorKind::Truncated => None,
        Err(error) => refuse_as_ours(error),
    }
}

type Zero = unsafe extern "C" fn(VALUE) -> VALUE;
type One = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
type Two = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
type Four = unsafe extern "C" fn(VALUE, VALUE, VALUE, VALUE, VALUE) -> VALUE;
type Any = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;

/// Defines a method; `arity` arguments are what the function takes beside self, or any with -1.
///
/// # Safety
/// The function must be of the type that goes with the arity.
unsafe fn define(module: VALUE, name: &CStr, method: AnyMethod, arity: c_int) {
    // SAFETY: as the caller promises; Ruby takes methods of any arity.
    unsafe { rb_sys::rb_define_method(module, name.as_ptr(), Some(method), arity) }
}

/// `ThriftCodec.define_methods(module, name)`: gives a module or a class of ours or of the gem the
/// methods that are native.
unsafe extern "C" fn define_methods(_class: VALUE, module: VALUE, which: VALUE) -> VALUE {
    let name = or_raise(|_| {
        // SAFETY: Ruby keeps the arguments of a method alive.
        let symbol = unsafe { Symbol::from_value(value(which)) };
        Ok(symbol.map_or(0, methods_named))
    });
    // SAFETY: each function is of the type that is written before it, and its arity that of the type.
    unsafe {
        match name {
            STRUCT => {
                define(module, c"read", std::mem::transmute::<Any, AnyMethod>(read), -1);
                define(module, c"write", std::mem::transmute::<Any, AnyMethod>(write), -1);
                define(module, c"==", std::mem::transmute::<One, AnyMethod>(equal), 1);
                define(module, c"hash", std::mem::transmute::<Zero, AnyMethod>(hash), 0);
            }
            INITIALIZE => {
                let initialize = std::mem::transmute::<Any, AnyMethod>(initialize);
                define(module, c"initialize", initialize, -1);
            }
            SERIALIZER => {
                define(module, c"serialize", std::mem::transmute::<One, AnyMethod>(serialize), 1);
            }
            DESERIALIZER => {
                let deserialize = std::mem::transmute::<Two, AnyMethod>(deserialize);
                define(module, c"deserialize", deserialize, 2);
            }
            FUNCTIONS => {
                define(module, c"decode", std::mem::transmute::<Any, AnyMethod>(decode_one), -1);
                define(module, c"encode", std::mem::transmute::<Any, AnyMethod>(encode_one), -1);
                define(module, c"pluck", std::mem::transmute::<Any, AnyMethod>(pluck_one), -1);
                let each = std::mem::transmute::<Four, AnyMethod>(each_framed);
                define(module, c"each_framed", each, 4);
            }
            _ => {}
        }
    }
    NIL
}

const STRUCT: u8 = 1;
const INITIALIZE: u8 = 2;
const SERIALIZER: u8 = 3;
const DESERIALIZER: u8 = 4;
const FUNCTIONS: u8 = 5;

/// Which methods a name is for.
fn methods_named(symbol: Symbol) -> u8 {
    match symbol.name().as_deref() {
        Ok("struct") => STRUCT,
        Ok("initialize") => INITIALIZE,
        Ok("serializer") => SERIALIZER,
        Ok("deserializer") => DESERIALIZER,
        Ok("functions") => FUNCTIONS,
        _ => 0,
    }
}

/// Defines what defines the methods.
pub(crate) fn define_thrift(class: RClass) {
    // SAFETY: the function takes self and two arguments.
    unsafe {
        let method = std::mem::transmute::<Two, AnyMethod>(define_methods);
        let name = c"define_methods".as_ptr();
        rb_sys::rb_define_singleton_method(class.as_raw(), name, Some(method), 2);
    }
}
