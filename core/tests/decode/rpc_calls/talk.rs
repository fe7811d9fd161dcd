//! Messages and connections that carry them.

use bytewright::rpc::{Call, Framing, Protocol, Rpc, RpcOptions};
use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, MessageForm, MessageKind, Strictness, WireType, Write,
};

use crate::generate::segment::{ACK, SYN, Segment, back, there};

const BINARY: MessageForm = MessageForm::Packed(Encoding::Binary);
const COMPACT: MessageForm = MessageForm::Packed(Encoding::Compact);

pub(crate) const PROTOCOLS: [Protocol; 9] = [
    Protocol { form: BINARY, framing: Framing::Unframed },
    Protocol { form: BINARY, framing: Framing::Framed },
    Protocol { form: COMPACT, framing: Framing::Unframed },
    Protocol { form: COMPACT, framing: Framing::Framed },
    Protocol { form: BINARY, framing: Framing::Header },
    Protocol { form: COMPACT, framing: Framing::Header },
    Protocol { form: MessageForm::Json, framing: Framing::Unframed },
    Protocol { form: MessageForm::Json, framing: Framing::Framed },
    Protocol { form: MessageForm::Json, framing: Framing::Header },
];

/// Contents of a message: method, kind, sequence id, and its struct.
#[derive(Debug, Clone)]
pub(crate) struct Said<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: MessageKind,
    pub(crate) sequence_id: i32,
    /// The id and the text of the only field, if there is one.
    pub(crate) field: Option<(i16, Vec<u8>)>,
}

pub(crate) fn asked(name: &str, sequence_id: i32) -> Said<'_> {
    Said { name, kind: MessageKind::CALL, sequence_id, field: Some((1, b"argument".to_vec())) }
}

pub(crate) fn answered(name: &str, sequence_id: i32) -> Said<'_> {
    Said { name, kind: MessageKind::REPLY, sequence_id, field: Some((0, b"result".to_vec())) }
}

impl Said<'_> {
    pub(crate) fn kind(mut self, kind: MessageKind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn field(mut self, field: Option<(i16, &[u8])>) -> Self {
        self.field = field.map(|(id, text)| (id, text.to_vec()));
        self
    }

    /// Its bytes, with a frame where the protocol has them.
    pub(crate) fn bytes(&self, protocol: Protocol) -> Vec<u8> {
        let message = match protocol.form {
            BINARY => self.written(&mut BinaryWriter::new(Strictness::Strict)),
            COMPACT => self.written(&mut CompactWriter::new()),
            MessageForm::Json => self.text(),
        };
        match protocol.framing {
            Framing::Unframed => message,
            Framing::Header => framed(&header_frame(protocol.form, &[], &message)),
            _ => framed(&message),
        }
    }

    /// Its bytes, deflated if that is to be so and the protocol can say it.
    pub(crate) fn sent(&self, protocol: Protocol, is_deflated: bool) -> Vec<u8> {
        match protocol.framing {
            Framing::Header if is_deflated => self.deflated(protocol.form),
            _ => self.bytes(protocol),
        }
    }

    /// Its bytes in a frame of THeader, deflated.
    pub(crate) fn deflated(&self, form: impl Into<MessageForm>) -> Vec<u8> {
        let form = form.into();
        let message = self.bytes(Protocol { form, framing: Framing::Unframed });
        framed(&header_frame(form, &[1], &zlib_stored(&message)))
    }

    /// The bytes of its struct.
    pub(crate) fn body(&self, form: impl Into<MessageForm>) -> Vec<u8> {
        let body = |writer: &mut dyn FnMut()| writer();
        let mut binary = BinaryWriter::new(Strictness::Strict);
        let mut compact = CompactWriter::new();
        match form.into() {
            BINARY => body(&mut || self.write_struct(&mut binary)),
            COMPACT => body(&mut || self.write_struct(&mut compact)),
            MessageForm::Json => return self.struct_text(),
        }
        [binary.bytes(), compact.bytes()].concat()
    }

    fn written(&self, writer: &mut impl Write) -> Vec<u8> {
        writer.message(self.name.as_bytes(), self.kind, self.sequence_id).unwrap();
        self.write_struct(writer);
        writer.bytes().to_vec()
    }

    /// The message in JSON.
    fn text(&self) -> Vec<u8> {
        let header = format!("[1,\"{}\",{},{},", self.name, self.kind.0, self.sequence_id);
        [header.as_bytes(), &self.struct_text(), b"]"].concat()
    }

    fn struct_text(&self) -> Vec<u8> {
        let Some((id, bytes)) = &self.field else { return b"{}".to_vec() };
        let mut text = format!("{{\"{id}\":{{\"str\":\"").into_bytes();
        for byte in bytes {
            match byte {
                b'"' | b'\\' => text.extend([b'\\', *byte]),
                0..0x20 => text.extend(format!("\\u{byte:04x}").bytes()),
                _ => text.push(*byte),
            }
        }
        text.extend(b"\"}}");
        text
    }

    fn write_struct(&self, writer: &mut impl Write) {
        writer.struct_begin().unwrap();
        if let Some((id, text)) = &self.field {
            writer.field(WireType::STRING, *id);
            writer.string(text).unwrap();
        }
        writer.struct_end();
    }
}

/// These bytes behind their length.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_be_bytes()[..], message].concat()
}

/// A frame of THeader without its length: a header with a pair of texts, and the payload.
pub(crate) fn header_frame(
    form: impl Into<MessageForm>,
    transforms: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let protocol = match form.into() {
        BINARY => 0,
        MessageForm::Json => 1,
        COMPACT => 2,
    };
    let information = b"\x01\x01\x03key\x05value";
    let mut header = [&[protocol, transforms.len() as u8], transforms, information].concat();
    header.resize(header.len().next_multiple_of(4), 0);
    let words = (header.len() / 4) as u16;
    [b"\x0f\xff\0\0\0\0\0\x07", &words.to_be_bytes()[..], &header, payload].concat()
}

/// These bytes as a stream of zlib, as they are (RFC 1950, RFC 1951).
pub(crate) fn zlib_stored(bytes: &[u8]) -> Vec<u8> {
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    let mut stream = b"\x78\x01".to_vec();
    let mut pieces = bytes.chunks(0xffff).peekable();
    while let Some(piece) = pieces.next() {
        let len = piece.len() as u16;
        stream.push(u8::from(pieces.peek().is_none()));
        stream.extend([len.to_le_bytes(), (!len).to_le_bytes()].concat());
        stream.extend(piece);
    }
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

/// A connection that goes on from segment to segment.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) segments: Vec<Segment>,
    next: [u32; 2],
    clock: i64,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let mut talk = Self::without_syn();
        talk.segments.push(there(SYN, 99, 0, b""));
        talk.segments.push(back(SYN | ACK, 499, 100, b""));
        talk
    }

    pub(crate) fn without_syn() -> Self {
        Talk { segments: Vec::new(), next: [100, 500], clock: 0 }
    }

    /// The client says these bytes in one segment, a second after the last one.
    pub(crate) fn there(mut self, bytes: &[u8]) -> Self {
        self.clock += 1;
        self.segments.push(there(ACK, self.next[0], self.next[1], bytes).at(self.clock));
        self.next[0] = self.next[0].wrapping_add(bytes.len() as u32);
        self
    }

    /// The server does.
    pub(crate) fn back(mut self, bytes: &[u8]) -> Self {
        self.clock += 1;
        self.segments.push(back(ACK, self.next[1], self.next[0], bytes).at(self.clock));
        self.next[1] = self.next[1].wrapping_add(bytes.len() as u32);
        self
    }

    /// The last segment is not in the capture.
    pub(crate) fn lost(mut self) -> Self {
        self.segments.pop();
        self
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls_with(RpcOptions::default())
    }

    pub(crate) fn calls_with(&self, options: RpcOptions) -> Vec<Call> {
        calls(&self.segments, options)
    }

    /// The calls, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.calls().iter().map(line).collect()
    }
}

pub(crate) fn calls(segments: &[Segment], options: RpcOptions) -> Vec<Call> {
    let mut rpc = Rpc::new(options);
    let mut calls = Vec::new();
    for segment in segments {
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut |call| calls.push(call));
    }
    let counts = rpc.finish(&mut |call| calls.push(call));
    assert_eq!(counts.seen, counts.in_messages + counts.outside, "each byte went somewhere");
    calls
}

/// Method, number, outcome, seconds.
pub(crate) fn line(call: &Call) -> String {
    let seconds = call.latency.map(|latency| format!(" {}s", latency / 1_000_000_000));
    let (outcome, seconds) = (call.outcome.name(), seconds.unwrap_or_default());
    format!("{} {} {outcome}{seconds}", call.method, call.sequence_id)
}
