//! The methods of the gem's modules and classes that are native. What is not exactly as the gem made it
//! goes to the gem's own method, which is still there under another name.

use std::ffi::c_int;

use bytewright::thrift::{
    DEPTH_MAX, DEPTH_USUAL, Encoding, Limits, ProtocolError, ProtocolErrorKind,
};
use magnus::Error;
use rb_sys::{ID, VALUE};

use super::super::or_raise;
use super::build::{Decoded, Source, decode, start_over};
use super::codec::{Codec, Compat, Making};
use super::compare::Comparison;
use super::defaults::set_defaults;
use super::encode::{Encoded, OutOfRange, encode};
use super::functions::message_source;
use super::gem_classes::{GemClass, PROTOCOL, TRANSPORT, known, variable};
use super::hash::Hashing;
use super::refill::complete;
use super::transport::{Place, known_protocol};
use super::{NIL, bytes, class_of, codec_of, is_frozen, is_of, is_string, names, resume, value};
use crate::error::{to_ruby, to_thrift};

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

/// Raises what the gem raises for bytes that are no message.
fn refuse(error: ProtocolError) -> ! {
    or_raise(move |ruby| Err(to_thrift(ruby, &error)))
}

fn refuse_range(found: OutOfRange) -> ! {
    or_raise(|ruby| {
        let (max, OutOfRange { number, bits }) = (i64::MAX >> (64 - found.bits), found);
        let message =
            format!("expected a number of {bits} bits, {} to {max}, found {number}", -max - 1);
        Err(Error::new(ruby.exception_range_error(), message))
    })
}

/// Returns the maximum depth of nested structs that a caller of the gem's `read` or `write` gave, or the usual one.
unsafe fn depth_of(count: c_int, arguments: *const VALUE, compat: Compat) -> Option<u32> {
    if count < 2 {
        return Some(DEPTH_USUAL);
    }
    if count > 2 || !compat.takes_depth {
        return None;
    }
    // SAFETY: there are so many arguments.
    let depth = unsafe { *arguments.add(1) };
    if !rb_sys::FIXNUM_P(depth) {
        return None;
    }
    // SAFETY: it is a small Integer.
    let depth = u32::try_from(unsafe { rb_sys::FIX2LONG(depth) }).ok()?;
    (1..=DEPTH_MAX).contains(&depth).then_some(depth)
}

/// `struct.read(protocol)`
pub(super) unsafe extern "C" fn read(
    count: c_int,
    arguments: *const VALUE,
    object: VALUE,
) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments alive; so does the variable the codec.
    unsafe {
        let place = if count < 1 { None } else { Place::of(*arguments) };
        if let Some(place) = place
            && let Some(held) = codec_of(plain_class_of(object))
            && held.reads
            && let Some(depth_max) = depth_of(count, arguments, held.compat)
            && read_at(&held, place, Limits { depth_max, ..held.compat.limits() }, object)
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
pub(super) unsafe fn plain_class_of(object: VALUE) -> VALUE {
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
        let mut is_complete = place.kind != GemClass::Buffered;
        loop {
            let Some((string, index)) = place.unread() else { return false };
            if place.kind == GemClass::Framed && index >= bytes(string).len() {
                start_over(codec, target);
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
                    if place.kind == GemClass::Memory {
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
            place.set_rest(rest);
        }
    }
}

/// `struct.write(protocol)`
pub(super) unsafe extern "C" fn write(
    count: c_int,
    arguments: *const VALUE,
    object: VALUE,
) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let place = if count < 1 { None } else { Place::of(*arguments) };
        let target = place.and_then(|place| Some((place, place.unwritten()?)));
        if let Some((place, target)) = target
            && let Some(held) = codec_of(plain_class_of(object))
            && held.writes
            && let Some(depth_max) = depth_of(count, arguments, held.compat)
        {
            match encode(&held, place.encoding, (object, target), depth_max) {
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
pub(super) unsafe fn fail(encoded: Encoded) -> ! {
    match encoded {
        Encoded::Refused(error) => refuse(error),
        Encoded::OutOfRange(found) => refuse_range(found),
        // SAFETY: as the caller promises.
        Encoded::Raised(state) => unsafe { resume(state) },
        Encoded::Written(_) | Encoded::Left => or_raise(|ruby| {
            Err(to_ruby(
                ruby,
                &bytewright::Error::internal("an object that can be written was not"),
            ))
        }),
    }
}

/// `struct == other`
pub(super) unsafe extern "C" fn equal(object: VALUE, other: VALUE) -> VALUE {
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
pub(super) unsafe extern "C" fn hash(object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(held) = codec_of(plain_class_of(object))
            && held.hashes
            && let Some(layout) = held.layouts.first()
            && let Some(hash) = Hashing::new(&held).structure(object, layout)
        {
            held.keep();
            return (hash as VALUE) << 1 | 1;
        }
        original(object, names().original_hash, 0, std::ptr::null())
    }
}

/// `Struct.new` without arguments.
pub(super) unsafe extern "C" fn initialize(
    count: c_int,
    arguments: *const VALUE,
    object: VALUE,
) -> VALUE {
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
pub(super) unsafe extern "C" fn serialize(serializer: VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(encoding) = encoding_inside(serializer, GemClass::Serializer)
            && let Some(held) = codec_of(plain_class_of(object))
            && held.writes
            && held.root_writes
        {
            match encode(&held, encoding, (object, NIL), DEPTH_USUAL) {
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
pub(super) unsafe extern "C" fn deserialize(
    deserializer: VALUE,
    object: VALUE,
    string: VALUE,
) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if let Some(encoding) = encoding_inside(deserializer, GemClass::Deserializer)
            && is_string(string)
            && let Some(held) = codec_of(plain_class_of(object))
            && held.reads
            && held.root_reads
        {
            let source = Source { target: object, ..message_source(&held, encoding, string) };
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
unsafe fn encoding_inside(object: VALUE, which: GemClass) -> Option<Encoding> {
    // SAFETY: as the caller promises.
    unsafe {
        if !is_of(object, known(which)) {
            return None;
        }
        let transport = variable(which, TRANSPORT).of(object);
        let protocol = variable(which, PROTOCOL).of(object);
        let (protocol_class, encoding) = known_protocol(protocol)?;
        let is_plain = is_of(transport, known(GemClass::Memory))
            && variable(protocol_class, TRANSPORT).of(protocol) == transport;
        is_plain.then_some(encoding)
    }
}
