//! The methods of `Bytewright::Thrift` that are native: messages without the gem's protocols.

use std::ffi::{CStr, c_int};
use std::hint::black_box;

use bytewright::thrift::{DEPTH_USUAL, Encoding, Frames, Limits, ProtocolError, ProtocolErrorKind};
use magnus::Error;
use rb_sys::VALUE;

use super::super::or_raise;
use super::build::{Decoded, Source, decode, pluck};
use super::codec::{Codec, encoding_named};
use super::encode::{Encoded, encode};
use super::methods::{fail, plain_class_of};
use super::transport::is_true;
use super::{Held, NIL, bytes, codec, codec_of, intern, layouts_module, names, resume, value};
use crate::error::{raised, refusal, to_ruby};

/// Calls a private method of the module, which has the gem do it.
///
/// # Safety
/// Called from a method's function, with nothing alive that needs dropping.
#[cold]
unsafe fn by_gem(module: VALUE, name: &CStr, arguments: &[VALUE]) -> VALUE {
    // SAFETY: as the caller promises; the pointer and the count are those of a slice.
    unsafe {
        let count = arguments.len() as c_int;
        rb_sys::rb_funcallv(module, intern(name), count, arguments.as_ptr())
    }
}

/// Raises what Bytewright raises for them.
fn refuse_as_ours(error: ProtocolError) -> ! {
    or_raise(move |ruby| Err(to_ruby(ruby, error.error())))
}

/// The encoding that a program names.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[inline]
unsafe fn encoding_given(given: VALUE) -> Encoding {
    // SAFETY: as the caller promises; these names are symbols for as long as the process.
    let symbol = |name| unsafe { rb_sys::rb_id2sym(name) };
    if given == symbol(names().binary) {
        return Encoding::Binary;
    }
    if given == symbol(names().compact) {
        return Encoding::Compact;
    }
    // SAFETY: as the caller promises.
    or_raise(|ruby| encoding_named(ruby, unsafe { value(given) }))
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
            let keyword = rb_sys::rb_id2sym(names().protocol_keyword);
            let given = rb_sys::rb_hash_lookup2(last, keyword, last);
            if given != last {
                return (encoding_given(given), count - 1);
            }
        }
        (or_raise(|ruby| encoding_named(ruby, value(last))), count - 1)
    }
}

/// Raises a TypeError for what is no class.
///
/// # Safety
/// As for [`read`](super::methods::read).
#[inline]
unsafe fn check_class(class: VALUE) {
    // SAFETY: as the caller promises.
    unsafe {
        if !rb_sys::RB_TYPE_P(class, rb_sys::ruby_value_type::RUBY_T_CLASS) {
            or_raise(|ruby| {
                Err::<(), _>(refusal(ruby, ruby.exception_type_error(), value(class), |found| {
                    format!("expected a generated class, found {found}")
                }))
            });
        }
    }
}

/// The codec of a class for reading; `None` where the gem has to do it.
///
/// # Safety
/// As for [`read`](super::methods::read).
#[inline]
unsafe fn codec_to_read<'a>(class: VALUE) -> Option<Held<'a>> {
    // SAFETY: as the caller promises.
    unsafe {
        check_class(class);
        codec_of(class).filter(|held| held.reads && held.root_reads)
    }
}

/// # Safety
/// As for [`read`](super::methods::read).
pub(super) unsafe fn message_source(codec: &Codec, encoding: Encoding, string: VALUE) -> Source {
    // SAFETY: as the caller promises.
    unsafe {
        let string = super::super::tables::string(string);
        let limits = codec.compat.limits();
        Source { encoding, string, offset: 0, len_max: usize::MAX, limits, target: NIL }
    }
}

/// `Bytewright::Thrift.decode_message(class, bytes, protocol)`
pub(super) unsafe extern "C" fn decode_one(
    module: VALUE,
    class: VALUE,
    string: VALUE,
    protocol: VALUE,
) -> VALUE {
    // SAFETY: Ruby keeps the arguments of a method alive; so does the variable the codec.
    unsafe {
        let encoding = encoding_given(protocol);
        let Some(held) = codec_to_read(class) else {
            return by_gem(module, c"decode_by_gem", &[class, string, protocol]);
        };
        let source = message_source(&held, encoding, string);
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
pub(super) unsafe extern "C" fn pluck_one(
    count: c_int,
    arguments: *const VALUE,
    _module: VALUE,
) -> VALUE {
    // SAFETY: Ruby keeps the arguments of a method alive; so does the variable the codec.
    unsafe {
        let (encoding, given) = keywords(count, arguments);
        if given < 2 {
            or_raise(|ruby| {
                let message = format!("wrong number of arguments (given {given}, expected 2+)");
                Err::<(), _>(Error::new(ruby.exception_arg_error(), message))
            });
        }
        let held = codec_to_pluck(*arguments);
        let source = message_source(&held, encoding, *arguments.add(1));
        let paths = std::slice::from_raw_parts(arguments.add(2), given - 2);
        let plucked = or_raise(|ruby| {
            let paths = std::slice::from_raw_parts(paths.as_ptr().cast(), paths.len());
            let projection = held.projection(ruby, paths)?;
            raised(ruby, projection.expect_no_rows())?;
            // The result is plain, unless it is an error.
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
/// As for [`read`](super::methods::read).
unsafe fn codec_to_pluck<'a>(class: VALUE) -> Held<'a> {
    // SAFETY: as the caller promises.
    unsafe {
        check_class(class);
        if let Some(held) = codec_of(class)
            && !held.layouts.is_empty()
        {
            return held;
        }
        let name = intern(c"codec_in_any_case");
        let object = rb_sys::rb_funcallv(layouts_module(), name, 1, &class);
        Held { object, codec: codec(object) }
    }
}

/// `ThriftCodec.of(class)`: its codec; it raises where there is none.
pub(super) unsafe extern "C" fn codec_of_class(_class: VALUE, class: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the arguments of a method alive; so does the variable the codec.
    unsafe { codec_to_pluck(class).object }
}

/// `Bytewright::Thrift.encode_message(object, protocol)`
pub(super) unsafe extern "C" fn encode_one(module: VALUE, object: VALUE, protocol: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the arguments of a method alive; so does the variable the codec.
    unsafe {
        let encoding = encoding_given(protocol);
        if let Some(held) = codec_of(plain_class_of(object))
            && held.writes
            && held.root_writes
        {
            match encode(&held, encoding, (object, NIL), DEPTH_USUAL) {
                Encoded::Left => {}
                Encoded::Written(string) => {
                    held.keep();
                    return string;
                }
                Encoded::Refused(error) => refuse_as_ours(error),
                other => fail(other),
            }
        }
        by_gem(module, c"encode_by_gem", &[object, protocol])
    }
}

/// `Bytewright::Thrift.each_message(class, bytes, protocol, start, framed, at_end) { |object| }`: yields the
/// messages that are whole, and answers how many bytes those had with their frames. `start` is where the bytes
/// begin in the input, for errors; one that is not whole is an error at the end of the input.
pub(super) unsafe extern "C" fn each_message(
    module: VALUE,
    class: VALUE,
    string: VALUE,
    protocol: VALUE,
    start: VALUE,
    framed: VALUE,
    at_end: VALUE,
) -> VALUE {
    // SAFETY: Ruby keeps the arguments of a method alive; so does the variable the codec.
    unsafe {
        let encoding = encoding_given(protocol);
        let start = rb_sys::rb_num2ll(start) as u64;
        let row = Row {
            unframed: if is_true(framed) { None } else { Some(encoding) },
            at_end: is_true(at_end),
        };
        let mut offset = 0;
        loop {
            let Some((begin, len_max)) = next_message(string, offset, start, row) else {
                return rb_sys::rb_ull2inum(offset as _);
            };
            // Asked for each time, as the block may change anything.
            let Some(held) = codec_to_read(class) else {
                let message = rb_sys::rb_str_subseq(string, begin as _, len_max as _);
                let object = by_gem(module, c"decode_by_gem", &[class, message, protocol]);
                rb_sys::rb_yield(object);
                offset = begin + len_max;
                continue;
            };
            let limits = held.compat.limits();
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

/// Layout of messages in the input.
#[derive(Clone, Copy)]
struct Row {
    /// Encoding of messages that have no frames.
    unframed: Option<Encoding>,
    /// True if the input ends behind the bytes that are there.
    at_end: bool,
}

/// Finds the message at `offset`, behind the length of its frame if it has one; returns its offset and length,
/// `None` if none is whole.
///
/// # Safety
/// As for [`read`](super::methods::read).
unsafe fn next_message(
    string: VALUE,
    offset: usize,
    start: u64,
    row: Row,
) -> Option<(usize, usize)> {
    // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
    let rest = unsafe { bytes(string) }.get(offset..).unwrap_or_default();
    let begin = start + offset as u64;
    let mut frames = match row.unframed {
        None => Frames::new(rest, begin),
        Some(encoding) => Frames::unframed(rest, begin, encoding, Limits::default()),
    };
    match frames.next_frame() {
        Ok(frame) => frame.map(|frame| ((frame.offset - start) as usize, frame.bytes.len())),
        Err(error) if !row.at_end && error.kind() == ProtocolErrorKind::Truncated => None,
        Err(error) => refuse_as_ours(error),
    }
}
