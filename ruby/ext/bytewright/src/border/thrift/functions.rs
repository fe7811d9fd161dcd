//! The methods of `Bytewright::Thrift` that are native: messages without the gem's protocols.

use std::ffi::{CStr, c_int};
use std::hint::black_box;

use bytewright::thrift::{
    DEPTH_USUAL, Encoding, Limits, MessageForm, MessageLayout, ProtocolError, ProtocolErrorKind,
    ProtocolResult, ReadableMessage, StructId, ThriftFrame,
};
use magnus::Error;
use magnus::rb_sys::AsRawValue;
use rb_sys::VALUE;

use super::super::or_raise;
use super::build::{Decoded, Source, decode, pluck};
use super::codec::{Codec, encoding_named, layout_named};
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

/// Raises what Bytewright raises for an error in a message that begins at `start` of the input.
fn refuse_at(error: ProtocolError, start: u64) -> ! {
    or_raise(move |ruby| {
        let at = error.error().offset().unwrap_or_default();
        Err(to_ruby(ruby, &error.error().clone().at(start + at)))
    })
}

/// A message that is read: its form, the string that has it, where it begins there and in the input, and its length.
#[derive(Clone, Copy)]
struct OpenedMessage {
    form: MessageForm,
    string: VALUE,
    offset: usize,
    start: u64,
    len_max: usize,
}

impl OpenedMessage {
    /// The message that a string is, or that is in its first frame.
    ///
    /// # Safety
    /// As for [`read`](super::methods::read).
    #[inline]
    unsafe fn of(layout: MessageLayout, string: VALUE) -> Self {
        let form = layout.form;
        if !layout.has_frame_headers {
            return OpenedMessage { form, string, offset: 0, start: 0, len_max: usize::MAX };
        }
        // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
        unsafe {
            let string = super::super::tables::string(string);
            let opened = layout.open_first(bytes(string)).map(ReadableMessage::into_owned);
            black_box(string);
            Self::copied(opened)
        }
    }

    /// The message in a frame of a string, which is at `start` of the input.
    ///
    /// # Safety
    /// As for [`read`](super::methods::read).
    #[inline]
    unsafe fn in_frame(
        layout: MessageLayout,
        string: VALUE,
        frame: (usize, usize),
        start: u64,
    ) -> Self {
        let (form, (offset, len_max)) = (layout.form, frame);
        let start = start + offset as u64;
        if !layout.has_frame_headers {
            return OpenedMessage { form, string, offset, start, len_max };
        }
        // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
        unsafe {
            let frame = bytes(string).get(offset..offset + len_max).unwrap_or_default();
            let opened = layout.open(ThriftFrame { offset: start, bytes: frame });
            Self::copied(opened.map(ReadableMessage::into_owned))
        }
    }

    /// The message of a frame, in a string of its own.
    fn copied(opened: ProtocolResult<ReadableMessage<'static>>) -> Self {
        or_raise(move |ruby| {
            let opened = opened.map_err(|error| to_ruby(ruby, error.error()))?;
            let string = ruby.str_from_slice(&opened.bytes).as_raw();
            let (form, start) = (opened.form, opened.offset);
            Ok(OpenedMessage { form, string, offset: 0, start, len_max: usize::MAX })
        })
    }

    /// The message as bytes that are read; those of a text are in a string of their own.
    ///
    /// # Safety
    /// As for [`read`](super::methods::read); the string is one of Ruby's.
    #[inline]
    unsafe fn source(self, codec: &Codec) -> Source {
        let (OpenedMessage { string, offset, len_max, .. }, target) = (self, NIL);
        let limits = codec.compat.limits();
        match self.form {
            MessageForm::Packed(encoding) => {
                Source { encoding, string, offset, len_max, limits, target }
            }
            // SAFETY: as the caller promises.
            MessageForm::Json => unsafe { self.transcoded(codec, limits) },
        }
    }

    /// # Safety
    /// As for [`Self::source`].
    #[cold]
    unsafe fn transcoded(self, codec: &Codec, limits: Limits) -> Source {
        or_raise(|ruby| {
            // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
            let text = unsafe { bytes(self.string) }.get(self.offset..).unwrap_or_default();
            let text = text.get(..self.len_max).unwrap_or(text);
            let (form, offset) = (self.form, self.start);
            let message = ReadableMessage { form, offset, bytes: text.into() };
            let packed = message.packed(&codec.plan, StructId(0), limits);
            let packed = packed.map_err(|error| to_ruby(ruby, error.error()))?;
            black_box(self.string);
            let string = ruby.str_from_slice(&packed.bytes).as_raw();
            let (encoding, len_max, target) = (packed.encoding, usize::MAX, NIL);
            Ok(Source { encoding, string, offset: 0, len_max, limits, target })
        })
    }

    /// The name of its protocol, for the gem.
    fn protocol(self) -> VALUE {
        let name = match self.form {
            MessageForm::Packed(Encoding::Binary) => names().binary,
            MessageForm::Packed(Encoding::Compact) => names().compact,
            MessageForm::Json => names().json,
        };
        // SAFETY: these names are symbols for as long as the process.
        unsafe { rb_sys::rb_id2sym(name) }
    }
}

/// The layout of the messages of a protocol that a program names.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[inline]
unsafe fn layout_given(given: VALUE) -> MessageLayout {
    // SAFETY: as the caller promises; these names are symbols for as long as the process.
    let symbol = |name| unsafe { rb_sys::rb_id2sym(name) };
    for (name, encoding) in
        [(names().binary, Encoding::Binary), (names().compact, Encoding::Compact)]
    {
        if given == symbol(name) {
            return layout_of(encoding);
        }
    }
    // SAFETY: as the caller promises.
    or_raise(|ruby| layout_named(ruby, unsafe { value(given) }))
}

/// The layout of messages in frames, without headers of THeader.
fn layout_of(encoding: Encoding) -> MessageLayout {
    let limits = Limits::default();
    MessageLayout { form: encoding.into(), is_framed: true, has_frame_headers: false, limits }
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

/// The layout of the messages of the protocol that the keyword `protocol` says, and the number of arguments before keywords.
///
/// # Safety
/// Called from a method's function with its arguments.
#[inline]
unsafe fn keywords(count: c_int, arguments: *const VALUE) -> (MessageLayout, usize) {
    // SAFETY: where keywords were given, the last argument is a Hash of them.
    unsafe {
        let count = count as usize;
        if count == 0 || rb_sys::rb_keyword_given_p() == 0 {
            return (layout_of(Encoding::Binary), count);
        }
        let last = *arguments.add(count - 1);
        if rb_sys::rb_hash_size_num(last) == 1 {
            let keyword = rb_sys::rb_id2sym(names().protocol_keyword);
            let given = rb_sys::rb_hash_lookup2(last, keyword, last);
            if given != last {
                return (layout_given(given), count - 1);
            }
        }
        (or_raise(|ruby| layout_named(ruby, value(last))), count - 1)
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
        let opened = OpenedMessage::of(layout_given(protocol), string);
        let Some(held) = codec_to_read(class) else {
            return by_gem(module, c"decode_by_gem", &[class, opened.string, opened.protocol()]);
        };
        let opened =
            OpenedMessage { string: super::super::tables::string(opened.string), ..opened };
        let source = opened.source(&held);
        match decode(&held, source, |_| {}) {
            Decoded::Object(object) => {
                held.keep();
                black_box(source.string);
                object
            }
            Decoded::Raised(state) => resume(state),
            Decoded::Refused(error) => refuse_at(error, opened.start),
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
        let (layout, given) = keywords(count, arguments);
        if given < 2 {
            or_raise(|ruby| {
                let message = format!("wrong number of arguments (given {given}, expected 2+)");
                Err::<(), _>(Error::new(ruby.exception_arg_error(), message))
            });
        }
        let held = codec_to_pluck(*arguments);
        let opened = OpenedMessage::of(layout, super::super::tables::string(*arguments.add(1)));
        let source = opened.source(&held);
        let paths = std::slice::from_raw_parts(arguments.add(2), given - 2);
        let plucked = or_raise(|ruby| {
            let paths = std::slice::from_raw_parts(paths.as_ptr().cast(), paths.len());
            let projection = held.projection(ruby, paths)?;
            raised(ruby, projection.expect_no_rows())?;
            // The result is plain, unless it is an error.
            match pluck(&held, &projection, source) {
                Decoded::Object(object) => Ok((object, 0)),
                Decoded::Raised(state) => Ok((NIL, state)),
                Decoded::Refused(error) => {
                    let at = opened.start + error.error().offset().unwrap_or_default();
                    Err(to_ruby(ruby, &error.error().clone().at(at)))
                }
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
        let layout = MessageLayout { is_framed: is_true(framed), ..layout_given(protocol) };
        let layout = or_raise(|ruby| raised(ruby, layout.checked()));
        let start = rb_sys::rb_num2ll(start) as u64;
        let at_end = is_true(at_end);
        let mut offset = 0;
        loop {
            let Some(frame) = next_message(string, offset, start, layout, at_end) else {
                return rb_sys::rb_ull2inum(offset as _);
            };
            let (begin, len) = frame;
            let opened = OpenedMessage::in_frame(layout, string, frame, start);
            // Asked for each time, as the block may change anything.
            let Some(held) = codec_to_read(class) else {
                let message_len = opened.len_max.min(bytes(opened.string).len() - opened.offset);
                let (offset_in, message_len) = (opened.offset as _, message_len as _);
                let message = rb_sys::rb_str_subseq(opened.string, offset_in, message_len);
                let arguments = [class, message, opened.protocol()];
                rb_sys::rb_yield(by_gem(module, c"decode_by_gem", &arguments));
                offset = begin + len;
                continue;
            };
            let source = opened.source(&held);
            match decode(&held, source, |_| {}) {
                Decoded::Object(object) => rb_sys::rb_yield(object),
                Decoded::Raised(state) => resume(state),
                Decoded::Refused(error) => refuse_at(error, opened.start),
            };
            held.keep();
            black_box((string, source.string));
            offset = begin + len;
        }
    }
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
    layout: MessageLayout,
    at_end: bool,
) -> Option<(usize, usize)> {
    // SAFETY: as the caller promises; nothing of Ruby's runs while the bytes are looked at.
    let rest = unsafe { bytes(string) }.get(offset..).unwrap_or_default();
    let begin = start + offset as u64;
    let mut frames = MessageLayout { limits: Limits::default(), ..layout }.messages(rest, begin);
    match frames.next_frame() {
        Ok(frame) => frame.map(|frame| ((frame.offset - start) as usize, frame.bytes.len())),
        Err(error) if !at_end && error.kind() == ProtocolErrorKind::Truncated => None,
        Err(error) => refuse_as_ours(error),
    }
}
