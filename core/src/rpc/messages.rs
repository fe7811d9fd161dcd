//! The messages of one direction of a connection: bytes and gaps in, messages out.
//!
//! No more than a header is kept, whatever the messages are as long as: the struct behind it is walked, or
//! counted where a frame says its length. Whoever wants structs says so, and they are kept up to a bound.

use super::call::Protocol;
use super::header::{self, Found, HEADER_MAX, Header};
use crate::thrift::{Encoding, Extent, Limits, MessageKind, Progress};

/// Bytes of a message without a frame, above which it is none.
const MESSAGE_MAX: u64 = 1 << 30;

/// Bytes that are put behind the rest of the last piece, to walk over the seam: more than any one number
/// or header takes.
const SEAM_LEN: usize = 64;

/// A message, as far as it was seen.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) protocol: Protocol,
    pub(super) name: Box<str>,
    pub(super) kind: MessageKind,
    pub(super) sequence_id: i32,
    /// When its first and its last byte were captured.
    pub(super) first_ts: Option<i64>,
    pub(super) last_ts: Option<i64>,
    /// Its bytes with its frame.
    pub(super) len: u64,
    /// Whether all of its bytes were there.
    pub(super) is_whole: bool,
    /// Whether its struct was walked from its first byte to its last.
    pub(super) is_checked: bool,
    /// The id of the first field of its struct: 0 of a result, another of an exception.
    pub(super) first_field: Option<i32>,
    /// Its struct, if it was to be kept and all of it is there.
    pub(super) body: Option<Vec<u8>>,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Bytes that were not enough: the beginning of a header, or the end of a piece inside of a struct.
    carry: Vec<u8>,
    /// When the first of them was captured.
    carry_ts: Option<i64>,
    /// In a box, as most connections have none.
    body: Option<Box<Body>>,
    /// Whether the next message follows one that was walked, so that a frame's length can be relied on.
    is_sure: bool,
    /// Whether messages may begin anywhere, not with a piece only: some bytes are missing.
    is_lost: bool,
}

/// A message whose struct is not over.
#[derive(Debug)]
struct Body {
    message: Message,
    /// Bytes that are left, where a frame tells.
    left: Option<u64>,
    /// The walk over the struct; none where its frame is counted only.
    extent: Option<Extent>,
    /// The first bytes of the struct.
    first: [u8; 4],
    first_len: usize,
    keep_max: usize,
}

/// What the connection knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The protocol, once it is sure.
    pub(super) protocol: Option<Protocol>,
    /// Bytes of a struct that is kept; 0: none is.
    pub(super) keep_max: usize,
}

/// How far a struct went.
enum Walk {
    /// It ends behind so many bytes.
    Ends(usize),
    /// It goes on.
    GoesOn,
    /// It is none.
    Fails,
}

impl Messages {
    /// Takes the next bytes.
    pub(super) fn bytes(
        &mut self,
        mut bytes: &[u8],
        ts: Option<i64>,
        known: Known,
        out: &mut impl FnMut(Message),
    ) {
        while !bytes.is_empty() {
            let passed = match self.body.take() {
                None => self.search(bytes, ts, known),
                Some(body) => self.go_on(body, bytes, ts, out),
            };
            bytes = bytes.get(passed..).unwrap_or_default();
        }
    }

    /// Takes note of missing bytes. A frame tells where it ends, a struct does not.
    pub(super) fn gap(&mut self, len: u64, known: Known, out: &mut impl FnMut(Message)) {
        self.carry.clear();
        match self.body.take() {
            Some(mut body) if body.left.is_some_and(|left| left >= len) && self.is_sure => {
                body.lose(len);
                if body.left == Some(0) {
                    out(body.message);
                } else {
                    self.body = Some(body);
                }
            }
            body => {
                self.lose(known);
                self.tell_cut(body, known, out);
            }
        }
    }

    /// Tells the message that the end of the connection cuts.
    pub(super) fn end(&mut self, known: Known, out: &mut impl FnMut(Message)) {
        let body = self.body.take();
        self.tell_cut(body, known, out);
    }

    /// Tells a message of which the end is missing, if it surely is one.
    fn tell_cut(&self, body: Option<Box<Body>>, known: Known, out: &mut impl FnMut(Message)) {
        if let Some(mut body) = body
            && known.protocol == Some(body.message.protocol)
        {
            body.cut();
            out(body.message);
        }
    }

    /// Where messages begin is not known any more.
    fn lose(&mut self, known: Known) {
        self.carry.clear();
        self.is_sure = false;
        self.is_lost = known.protocol.is_some();
    }

    /// Looks for a header; answers how many bytes are not looked at again.
    fn search(&mut self, bytes: &[u8], ts: Option<i64>, known: Known) -> usize {
        if !self.carry.is_empty() {
            return self.search_over_seam(bytes, known);
        }
        match header::find(bytes, known.protocol) {
            Found::Header(header) => {
                let body = Body::begin(&header, ts, self.is_sure, known);
                self.body = Some(Box::new(body));
                header.len
            }
            Found::Part => {
                self.carry.extend_from_slice(bytes);
                self.carry_ts = ts;
                bytes.len()
            }
            Found::Nothing => {
                self.is_sure = false;
                self.is_lost |= known.protocol.is_some();
                self.next_candidate(bytes, known)
            }
        }
    }

    /// The same where a header may have begun in an earlier piece.
    fn search_over_seam(&mut self, bytes: &[u8], known: Known) -> usize {
        let before = self.carry.len();
        let room = HEADER_MAX.saturating_sub(before).min(bytes.len());
        self.carry.extend_from_slice(bytes.get(..room).unwrap_or_default());
        match header::find(&self.carry, known.protocol) {
            Found::Header(header) => {
                let passed = header.len.saturating_sub(before);
                let body = Body::begin(&header, self.carry_ts, self.is_sure, known);
                self.body = Some(Box::new(body));
                self.carry.clear();
                passed
            }
            Found::Part if self.carry.len() < HEADER_MAX => room,
            _ => {
                // The rest of what was kept may have another one in it, if anything may.
                self.is_sure = false;
                self.is_lost |= known.protocol.is_some();
                self.carry.truncate(before);
                let skipped = self.next_candidate(&self.carry, known).min(before);
                self.carry.drain(..skipped);
                0
            }
        }
    }

    /// How many bytes to pass before a message may begin, of bytes that do not begin with one.
    fn next_candidate(&self, bytes: &[u8], known: Known) -> usize {
        let Some(protocol) = known.protocol.filter(|_| self.is_lost) else { return bytes.len() };
        let first = header::first_byte(protocol);
        let mut at = 1;
        while let Some(rest) = bytes.get(at..)
            && let Some(ahead) = rest.iter().position(|byte| *byte == first)
        {
            at += ahead;
            let candidate = bytes.get(at..).unwrap_or_default();
            if !matches!(header::find(candidate, known.protocol), Found::Nothing) {
                return at;
            }
            at += 1;
        }
        bytes.len()
    }

    /// Goes on with a struct; answers how many bytes are not looked at again.
    fn go_on(
        &mut self,
        mut body: Box<Body>,
        bytes: &[u8],
        ts: Option<i64>,
        out: &mut impl FnMut(Message),
    ) -> usize {
        let before = self.carry.len();
        let walked = match (&mut body.extent, body.left) {
            (None, Some(left)) if left <= bytes.len() as u64 => Walk::Ends(left as usize),
            (None, _) => Walk::GoesOn,
            (Some(extent), _) if before == 0 => walk(extent, bytes, &mut self.carry),
            (Some(extent), _) => walk_over_seam(extent, bytes, &mut self.carry),
        };
        let passed = match walked {
            Walk::Ends(len) => len,
            // Over a seam, some bytes only were looked at.
            Walk::GoesOn if body.extent.is_some() && before > 0 => bytes.len().min(SEAM_LEN),
            Walk::GoesOn => bytes.len(),
            Walk::Fails => return self.fail(bytes),
        };
        let is_over = matches!(walked, Walk::Ends(_));
        let fits = body.take(bytes.get(..passed).unwrap_or_default(), ts);
        if !fits || (is_over && body.left.unwrap_or_default() != 0) {
            return self.fail(bytes);
        }
        if is_over {
            self.carry.clear();
            body.finish();
            self.is_sure = true;
            self.is_lost = false;
            out(body.message);
        } else {
            self.body = Some(body);
        }
        passed
    }

    /// What was taken for a struct is none. Nothing can be said of where the next message begins, so that
    /// all but the first byte is looked at again.
    fn fail(&mut self, bytes: &[u8]) -> usize {
        self.carry.clear();
        self.is_sure = false;
        self.is_lost = true;
        bytes.len().min(1)
    }
}

/// Walks on over `bytes`; those at the end that are not enough go to `carry`.
fn walk(extent: &mut Extent, bytes: &[u8], carry: &mut Vec<u8>) -> Walk {
    match extent.pass_on(bytes) {
        Ok((passed, Progress::Complete(_))) => Walk::Ends(passed),
        Ok((passed, Progress::Needs(_))) => {
            carry.extend_from_slice(bytes.get(passed..).unwrap_or_default());
            Walk::GoesOn
        }
        Err(_) => Walk::Fails,
    }
}

/// The same with the rest of the last piece before them; looks at the first [`SEAM_LEN`] of them only.
fn walk_over_seam(extent: &mut Extent, bytes: &[u8], carry: &mut Vec<u8>) -> Walk {
    let before = carry.len();
    carry.extend_from_slice(bytes.get(..bytes.len().min(SEAM_LEN)).unwrap_or_default());
    match extent.pass_on(carry) {
        Ok((passed, Progress::Complete(_))) => Walk::Ends(passed.saturating_sub(before)),
        Ok((passed, Progress::Needs(_))) => {
            carry.drain(..passed.min(carry.len()));
            Walk::GoesOn
        }
        Err(_) => Walk::Fails,
    }
}

impl Body {
    /// The struct behind a header whose first byte was captured at `ts`.
    fn begin(header: &Header<'_>, ts: Option<i64>, is_sure: bool, known: Known) -> Self {
        let fits = header.body_len.is_none_or(|len| len <= known.keep_max as u64);
        // A frame is counted where the frame before it was right.
        let is_counted = is_sure && known.protocol.is_some() && header.body_len.is_some();
        let encoding = header.protocol.encoding;
        Body {
            message: Message {
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
            extent: (!is_counted).then(|| Extent::new(encoding, Limits::default())),
            first: [0; 4],
            first_len: 0,
            keep_max: known.keep_max,
        }
    }

    /// Takes bytes of the struct; whether its frame has room for them.
    fn take(&mut self, bytes: &[u8], ts: Option<i64>) -> bool {
        if let Some(left) = &mut self.left {
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => *left = rest,
                None => return false,
            }
        }
        self.message.len += bytes.len() as u64;
        self.message.last_ts = ts.or(self.message.last_ts);
        for byte in bytes {
            let Some(place) = self.first.get_mut(self.first_len) else { break };
            *place = *byte;
            self.first_len += 1;
        }
        match &mut self.message.body {
            Some(kept) if kept.len() + bytes.len() <= self.keep_max => {
                kept.extend_from_slice(bytes);
            }
            kept => *kept = None,
        }
        self.message.len <= MESSAGE_MAX
    }

    /// So many bytes of it are missing, but its frame goes on.
    fn lose(&mut self, len: u64) {
        self.left = self.left.map(|left| left.saturating_sub(len));
        self.message.len += len;
        self.extent = None;
        self.cut();
    }

    /// Some of it is missing.
    fn cut(&mut self) {
        self.message.is_whole = false;
        self.message.body = None;
        self.message.first_field = self.first_field();
    }

    /// It is over.
    fn finish(&mut self) {
        self.message.is_checked = self.extent.is_some() && self.message.is_whole;
        self.message.first_field = self.first_field();
    }

    /// The id of the first field, as far as the first bytes tell; none if there is no field.
    fn first_field(&self) -> Option<i32> {
        let first = self.first.get(..self.first_len)?;
        let (kind, rest) = first.split_first()?;
        if *kind == 0 {
            return None;
        }
        match self.message.protocol.encoding {
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
