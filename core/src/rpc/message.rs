//! One message of a stream: what is known of it, and its struct as far as it came.

use super::call::Protocol;
use super::header::RpcHeader;
use super::ledger::Ledger;
use crate::thrift::{Encoding, Limits, MessageForm, MessageKind, Progress, StructExtent};

/// Longest message without a frame, in bytes.
const MESSAGE_MAX: u64 = 1 << 30;

/// Longest message without a frame that only its own bytes show to be one: text that holds a message may claim any
/// length, and would take all that comes behind it.
const GUESS_MAX: u32 = 1 << 20;

/// Bytes that are put behind the rest of the last piece, to walk over the seam: more than any one number
/// or header takes.
pub(super) const SEAM_LEN: usize = 64;

/// A message, as far as it was seen.
#[derive(Debug)]
pub(super) struct RpcMessage {
    pub(super) protocol: Protocol,
    pub(super) name: Box<str>,
    pub(super) kind: MessageKind,
    pub(super) sequence_id: i32,
    /// When its first and its last byte were captured.
    pub(super) first_ts: Option<i64>,
    pub(super) last_ts: Option<i64>,
    /// Its bytes with its frame.
    pub(super) len: u64,
    /// True if all of its bytes were there.
    pub(super) is_whole: bool,
    /// True if its struct was walked from its first byte to its last.
    pub(super) is_checked: bool,
    /// The id of the first field of its struct: 0 of a result, another of an exception. Without any field it is
    /// 0, too; `None` where too little of it is there.
    pub(super) first_field: Option<i32>,
    /// Its struct, if it was to be kept and all of it is there.
    pub(super) body: Option<Vec<u8>>,
}

impl RpcMessage {
    /// Returns true if one of them may be the answer of the other: they have one number and one name.
    pub(super) fn is_like(&self, other: &RpcMessage) -> bool {
        self.sequence_id == other.sequence_id && self.name == other.name
    }
}

/// Known protocol of a connection, and the bound of structs that are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownProtocol {
    /// The protocol, once it is sure.
    pub(super) protocol: Option<Protocol>,
    /// Bytes of a struct that is kept; 0: none is.
    pub(super) keep_max: usize,
}

/// Confidence that a message starts at the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum StartConfidence {
    /// With a piece, if anywhere: nothing says that there are messages.
    #[default]
    Start,
    /// Behind one that was walked or counted to its end, so that a frame's length can be relied on.
    Sure,
    /// Anywhere: some bytes are missing, or were none of a message.
    Lost,
}

/// A message whose struct is not over.
#[derive(Debug)]
pub(super) struct MessageBody {
    pub(super) message: RpcMessage,
    /// Bytes that are left, where a frame tells.
    pub(super) left: Option<u64>,
    /// The walk over the struct; none where its frame is counted only.
    pub(super) extent: Option<StructExtent>,
    /// Bytes of the message that are missing.
    missing: u64,
    /// True if it was found between other bytes, so that it may be no message as long as it is not walked to its end.
    pub(super) is_guess: bool,
    /// The first bytes of the struct.
    first: [u8; 4],
    first_len: usize,
}

/// Result of a walk over bytes of a struct.
pub(super) enum StructProgress {
    /// It ends behind so many bytes.
    Ends(usize),
    /// It goes on.
    GoesOn,
    /// It is not a message.
    Fails,
}

impl MessageBody {
    /// The struct behind a header whose first byte was captured at `ts`.
    pub(super) fn begin(
        header: &RpcHeader<'_>,
        ts: Option<i64>,
        start_confidence: StartConfidence,
        known: KnownProtocol,
    ) -> Self {
        let fits = header.body_len.is_none_or(|len| len <= known.keep_max as u64);
        // A frame is counted where the frame before it was right.
        let is_counted = start_confidence == StartConfidence::Sure
            && known.protocol.is_some()
            && header.body_len.is_some();
        let form = header.protocol.form;
        let is_guess = start_confidence == StartConfidence::Lost;
        let limits = match is_guess && header.body_len.is_none() {
            true => Limits { string_max: GUESS_MAX, ..Limits::default() },
            false => Limits::default(),
        };
        MessageBody {
            message: RpcMessage {
                protocol: header.protocol,
                name: header.name.into(),
                kind: header.kind,
                sequence_id: header.sequence_id,
                first_ts: ts,
                last_ts: ts,
                len: header.len as u64,
                is_whole: true,
                is_checked: false,
                first_field: None,
                body: (known.keep_max > 0 && fits).then(Vec::new),
            },
            left: header.body_len,
            extent: (!is_counted).then(|| StructExtent::behind_header(form, limits)),
            missing: 0,
            is_guess,
            first: [0; 4],
            first_len: 0,
        }
    }

    /// Memory for the open levels of its struct.
    pub(super) fn levels_bytes(&self) -> usize {
        self.extent.as_ref().map_or(0, StructExtent::memory_bytes)
    }

    /// Walks on over the next bytes, or counts them.
    pub(super) fn walk(
        &mut self,
        bytes: &[u8],
        carry: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> StructProgress {
        let Some(extent) = &mut self.extent else {
            return match self.left {
                Some(left) if left <= bytes.len() as u64 => StructProgress::Ends(left as usize),
                _ => StructProgress::GoesOn,
            };
        };
        let before = extent.memory_bytes();
        let walked = match carry.is_empty() {
            true => walk(extent, bytes, carry),
            false => walk_over_seam(extent, bytes, carry),
        };
        match ledger.levels(before, extent.memory_bytes()) {
            true => walked,
            false => StructProgress::Fails,
        }
    }

    /// Returns true if its frame and the bound of a message have room for `more` bytes; if `is_over`, the frame has to
    /// end with them.
    pub(super) fn has_room(&self, more: u64, is_over: bool) -> bool {
        let fits = match self.left {
            Some(left) if is_over => left == more,
            Some(left) => left >= more,
            None => true,
        };
        let is_bare_guess = self.is_guess && self.left.is_none();
        let len_max = if is_bare_guess { u64::from(GUESS_MAX) } else { MESSAGE_MAX };
        fits && self.message.len + more <= len_max
    }

    /// Takes bytes of the struct.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        ts: Option<i64>,
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) {
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        self.message.len += bytes.len() as u64;
        self.message.last_ts = ts.or(self.message.last_ts);
        if self.missing == 0 {
            for byte in bytes {
                let Some(place) = self.first.get_mut(self.first_len) else { break };
                *place = *byte;
                self.first_len += 1;
            }
        }
        ledger.keep(&mut self.message.body, bytes, known.keep_max);
    }

    /// So many bytes of it are missing, but its frame goes on.
    pub(super) fn lose(&mut self, len: u64, ledger: &mut Ledger) {
        self.left = self.left.map(|left| left.saturating_sub(len));
        self.message.len += len;
        self.missing += len;
        self.cut(ledger);
    }

    /// Some of it is missing.
    pub(super) fn cut(&mut self, ledger: &mut Ledger) {
        self.end_walk(ledger);
        self.message.is_whole = false;
        ledger.forget(&mut self.message.body);
    }

    /// It is over.
    pub(super) fn finish(&mut self, ledger: &mut Ledger) {
        self.message.is_checked = self.extent.is_some() && self.message.is_whole;
        if let (MessageForm::Json, Some(body)) =
            (self.message.protocol.form, &mut self.message.body)
        {
            // Behind the struct is the end of the message.
            let end = body.iter().rposition(|byte| *byte == b'}');
            body.truncate(end.map_or(0, |end| end + 1));
        }
        ledger.shrink(&mut self.message.body);
    }

    /// Hands the message over.
    pub(super) fn tell(mut self, ledger: &mut Ledger, out: &mut Vec<RpcMessage>) {
        self.end_walk(ledger);
        self.message.first_field = self.first_field();
        ledger.counts.in_messages += self.seen();
        out.push(self.message);
    }

    /// It is no message.
    pub(super) fn refuse(mut self, ledger: &mut Ledger) {
        self.cut(ledger);
        ledger.counts.outside += self.seen();
    }

    fn end_walk(&mut self, ledger: &mut Ledger) {
        if let Some(extent) = self.extent.take() {
            ledger.levels(extent.memory_bytes(), 0);
        }
    }

    /// Bytes of it that came.
    fn seen(&self) -> u64 {
        self.message.len.saturating_sub(self.missing)
    }

    /// The id of the first field, 0 if there is none; `None` where the first bytes do not tell.
    fn first_field(&self) -> Option<i32> {
        let first = self.first.get(..self.first_len)?;
        let encoding = match self.message.protocol.form {
            MessageForm::Packed(encoding) => encoding,
            MessageForm::Json => return first_id_of_json(first),
        };
        let (kind, rest) = first.split_first()?;
        if *kind == 0 {
            return Some(0);
        }
        match encoding {
            Encoding::Binary => {
                rest.first_chunk::<2>().map(|id| i32::from(i16::from_be_bytes(*id)))
            }
            // The upper half of the first byte counts on from 0, or is 0 before a zigzag varint.
            Encoding::Compact if kind >> 4 != 0 => Some(i32::from(kind >> 4)),
            Encoding::Compact => {
                let mut number = 0u32;
                for (place, byte) in rest.iter().enumerate() {
                    number |= u32::from(byte & 0x7f) << (7 * place);
                    if byte & 0x80 == 0 {
                        return Some((number >> 1) as i32 ^ -((number & 1) as i32));
                    }
                }
                None
            }
        }
    }
}

/// Returns the first digits of the id of the first field of a struct in JSON, 0 if there is none; `None` where the first bytes do
/// not tell.
fn first_id_of_json(first: &[u8]) -> Option<i32> {
    match first {
        [b'{', b'}', ..] => Some(0),
        [b'{', b'"', id @ ..] => {
            let digits = id.iter().take_while(|byte| **byte != b'"');
            let digits = digits.map(|byte| char::from(*byte)).collect::<String>();
            let sign = if digits == "-" { Some(-1) } else { None };
            sign.or_else(|| digits.parse().ok())
        }
        _ => None,
    }
}

/// Walks on over `bytes`; those at the end that are not enough go to `carry`.
fn walk(extent: &mut StructExtent, bytes: &[u8], carry: &mut Vec<u8>) -> StructProgress {
    match extent.pass_on(bytes) {
        Ok((passed, Progress::Complete(_))) => StructProgress::Ends(passed),
        Ok((passed, Progress::Needs(_))) => {
            carry.extend_from_slice(bytes.get(passed..).unwrap_or_default());
            StructProgress::GoesOn
        }
        Err(_) => StructProgress::Fails,
    }
}

/// Walks over the rest of the last piece and the first [`SEAM_LEN`] of `bytes` behind it.
fn walk_over_seam(extent: &mut StructExtent, bytes: &[u8], carry: &mut Vec<u8>) -> StructProgress {
    let before = carry.len();
    carry.extend_from_slice(bytes.get(..bytes.len().min(SEAM_LEN)).unwrap_or_default());
    match extent.pass_on(carry) {
        Ok((passed, Progress::Complete(_))) => StructProgress::Ends(passed.saturating_sub(before)),
        Ok((passed, Progress::Needs(_))) => {
            carry.drain(..passed.min(carry.len()));
            StructProgress::GoesOn
        }
        Err(_) => StructProgress::Fails,
    }
}
