//! The messages of one direction of a connection: bytes and gaps in, messages out.
//!
//! No more than a header is kept, whatever the messages are as long as: the struct behind it is walked, or
//! counted where a frame says its length. Whoever wants structs says so, and they are kept up to a bound.

use super::call::Protocol;
use super::header::{self, Found, HEADER_MAX, Header};
use super::ledger::Ledger;
use crate::thrift::{Encoding, Extent, Limits, MessageKind, Progress};

/// Bytes of a message without a frame, above which it is none.
const MESSAGE_MAX: u64 = 1 << 30;

/// Bytes that may be walked in vain for each byte of a piece: what looks like a message and fails far on is looked
/// through again for others, so that hostile bytes would else cost the square of their number.
const VAIN_PER_BYTE: usize = 4;

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
    /// The id of the first field of its struct: 0 of a result, another of an exception. Without any field it is
    /// 0, too; `None` where too little of it is there.
    pub(super) first_field: Option<i32>,
    /// Its struct, if it was to be kept and all of it is there.
    pub(super) body: Option<Vec<u8>>,
}

impl Message {
    /// Whether one of them may be the answer of the other: they have one number and one name.
    pub(super) fn is_like(&self, other: &Message) -> bool {
        self.sequence_id == other.sequence_id && self.name == other.name
    }
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
    /// Bytes of the message that are missing.
    missing: u64,
    /// Whether it was found between other bytes, so that it may be none as long as it is not walked to its end.
    is_guess: bool,
    /// The first bytes of the struct.
    first: [u8; 4],
    first_len: usize,
}

/// What the connection knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The protocol, once it is sure.
    pub(super) protocol: Option<Protocol>,
    /// Bytes of a struct that is kept; 0: none is.
    pub(super) keep_max: usize,
}

/// A piece of a stream.
#[derive(Debug, Clone, Copy)]
struct Piece<'p> {
    bytes: &'p [u8],
    /// When it was captured.
    ts: Option<i64>,
    /// Bytes that may have been walked in vain when it is over, of all that ever were.
    vain_max: u64,
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

/// What waiting bytes of a header are with those that follow.
enum Seam {
    /// So many more bytes belong to it.
    Takes(usize),
    /// They begin no message.
    Nothing,
}

impl Messages {
    /// Takes the next bytes.
    pub(super) fn bytes(
        &mut self,
        mut bytes: &[u8],
        ts: Option<i64>,
        known: Known,
        ledger: &mut Ledger,
        out: &mut Vec<Message>,
    ) {
        ledger.counts.seen += bytes.len() as u64;
        let vain = bytes.len().max(HEADER_MAX) * VAIN_PER_BYTE;
        let vain_max = ledger.counts.walked_in_vain.saturating_add(vain as u64);
        while self.body.is_none() && !self.carry.is_empty() && !bytes.is_empty() {
            match self.search_over_seam(bytes, known, ledger) {
                Seam::Takes(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Seam::Nothing => {
                    // Behind its first byte, what was kept may have a message in it, if anything may.
                    let kept = std::mem::take(&mut self.carry);
                    let passed = self.pass_to_candidate(&kept, known, ledger);
                    let rest = kept.get(passed..).unwrap_or_default();
                    self.piece(
                        Piece { bytes: rest, ts: self.carry_ts, vain_max },
                        known,
                        ledger,
                        out,
                    );
                }
            }
        }
        self.piece(Piece { bytes, ts, vain_max }, known, ledger, out);
    }

    /// Takes bytes with no beginning of a header before them.
    fn piece(
        &mut self,
        mut piece: Piece<'_>,
        known: Known,
        ledger: &mut Ledger,
        out: &mut Vec<Message>,
    ) {
        while !piece.bytes.is_empty() {
            let passed = match self.body.take() {
                None => self.search(piece, known, ledger),
                Some(body) => self.go_on(body, piece, known, ledger, out),
            };
            piece.bytes = piece.bytes.get(passed..).unwrap_or_default();
        }
    }

    /// Takes note of missing bytes. A frame tells where it ends, a struct does not.
    pub(super) fn gap(
        &mut self,
        len: u64,
        known: Known,
        ledger: &mut Ledger,
        out: &mut Vec<Message>,
    ) {
        ledger.counts.missing += len;
        match self.body.take() {
            Some(mut body) if body.left.is_some_and(|left| left >= len) && self.is_sure => {
                self.carry.clear();
                body.lose(len, ledger);
                if body.left == Some(0) {
                    body.tell(ledger, out);
                } else {
                    self.body = Some(body);
                }
            }
            body => {
                self.cut(body, known, ledger, out);
                self.is_sure = false;
                self.is_lost = known.protocol.is_some();
            }
        }
    }

    /// Tells the message that the end of the connection cuts.
    pub(super) fn end(&mut self, known: Known, ledger: &mut Ledger, out: &mut Vec<Message>) {
        let body = self.body.take();
        self.cut(body, known, ledger, out);
    }

    /// Drops what was kept of a message, and tells it if it surely is one.
    fn cut(
        &mut self,
        body: Option<Box<Body>>,
        known: Known,
        ledger: &mut Ledger,
        out: &mut Vec<Message>,
    ) {
        let Some(mut body) = body else {
            ledger.counts.outside += self.carry.len() as u64;
            return self.carry.clear();
        };
        // What is kept at the end of a piece was counted as the struct's.
        self.carry.clear();
        if known.protocol == Some(body.message.protocol) && !body.is_guess {
            body.cut(ledger);
            body.tell(ledger, out);
        } else {
            body.refuse(ledger);
        }
    }

    /// Looks for a header; answers how many bytes are not looked at again.
    fn search(&mut self, piece: Piece<'_>, known: Known, ledger: &mut Ledger) -> usize {
        let Piece { bytes, ts, vain_max } = piece;
        if ledger.counts.walked_in_vain >= vain_max {
            ledger.counts.outside += bytes.len() as u64;
            ledger.counts.not_searched += bytes.len() as u64;
            (self.is_sure, self.is_lost) = (false, true);
            return bytes.len();
        }
        match header::find(bytes, known.protocol) {
            Found::Header(header) => self.begin(&header, ts, known, ledger),
            Found::Part => {
                self.carry.extend_from_slice(bytes);
                self.carry_ts = ts;
                bytes.len()
            }
            Found::Nothing => self.pass_to_candidate(bytes, known, ledger),
        }
    }

    /// The same where a header may have begun in an earlier piece.
    fn search_over_seam(&mut self, bytes: &[u8], known: Known, ledger: &mut Ledger) -> Seam {
        let before = self.carry.len();
        let room = HEADER_MAX.saturating_sub(before).min(bytes.len());
        self.carry.extend_from_slice(bytes.get(..room).unwrap_or_default());
        let carry = std::mem::take(&mut self.carry);
        match header::find(&carry, known.protocol) {
            // It does not end in what was kept, which was found to be a part of one.
            Found::Header(header) => {
                let len = self.begin(&header, self.carry_ts, known, ledger);
                Seam::Takes(len.saturating_sub(before))
            }
            Found::Part if carry.len() < HEADER_MAX => {
                self.carry = carry;
                Seam::Takes(room)
            }
            _ => {
                self.carry = carry;
                self.carry.truncate(before);
                Seam::Nothing
            }
        }
    }

    /// Begins a message; answers how many bytes its header has.
    fn begin(
        &mut self,
        header: &Header<'_>,
        ts: Option<i64>,
        known: Known,
        ledger: &mut Ledger,
    ) -> usize {
        let body = Body::begin(header, ts, self, known);
        ledger.levels(0, body.extent.as_ref().map_or(0, Extent::memory_bytes));
        self.body = Some(Box::new(body));
        header.len
    }

    /// How many bytes to pass before a message may begin, of bytes that do not begin with one.
    fn pass_to_candidate(&mut self, bytes: &[u8], known: Known, ledger: &mut Ledger) -> usize {
        self.is_sure = false;
        self.is_lost |= known.protocol.is_some();
        let passed = next_candidate(bytes, known);
        ledger.counts.outside += passed as u64;
        passed
    }

    /// Goes on with a struct; answers how many bytes are not looked at again.
    fn go_on(
        &mut self,
        mut body: Box<Body>,
        piece: Piece<'_>,
        known: Known,
        ledger: &mut Ledger,
        out: &mut Vec<Message>,
    ) -> usize {
        let Piece { bytes, ts, .. } = piece;
        let is_over_seam = !self.carry.is_empty();
        let passed_before = body.extent.as_ref().map_or(0, Extent::passed);
        let walked = body.walk(bytes, &mut self.carry, ledger);
        let passed = match walked {
            Walk::Ends(len) => len,
            // Over a seam, some bytes only were looked at.
            Walk::GoesOn if body.extent.is_some() && is_over_seam => bytes.len().min(SEAM_LEN),
            Walk::GoesOn => bytes.len(),
            Walk::Fails => 0,
        };
        let is_over = matches!(walked, Walk::Ends(_));
        let fits = body.has_room(passed as u64, is_over);
        if matches!(walked, Walk::Fails) || !fits {
            let walked = body.extent.as_ref().map_or(0, Extent::passed);
            ledger.counts.walked_in_vain += walked.saturating_sub(passed_before) as u64;
            return self.fail(*body, bytes, known, ledger);
        }
        body.take(bytes.get(..passed).unwrap_or_default(), ts, known, ledger);
        if is_over {
            self.carry.clear();
            self.is_sure = true;
            self.is_lost = false;
            body.finish(ledger);
            body.tell(ledger, out);
        } else {
            self.body = Some(body);
        }
        passed
    }

    /// What was taken for a struct is none. Nothing can be said of where the next message begins, so that all is looked
    /// at again; unless nothing says that there are messages.
    fn fail(&mut self, body: Body, bytes: &[u8], known: Known, ledger: &mut Ledger) -> usize {
        body.refuse(ledger);
        self.carry.clear();
        self.is_sure = false;
        self.is_lost = known.protocol.is_some();
        if self.is_lost {
            return 0;
        }
        ledger.counts.outside += bytes.len() as u64;
        bytes.len()
    }
}

/// How many bytes to pass before a message of the known protocol may begin, at least one; all if none is known.
fn next_candidate(bytes: &[u8], known: Known) -> usize {
    let Some(protocol) = known.protocol else { return bytes.len() };
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
    fn begin(header: &Header<'_>, ts: Option<i64>, messages: &Messages, known: Known) -> Self {
        let fits = header.body_len.is_none_or(|len| len <= known.keep_max as u64);
        // A frame is counted where the frame before it was right.
        let is_counted = messages.is_sure && known.protocol.is_some() && header.body_len.is_some();
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
            missing: 0,
            is_guess: messages.is_lost,
            first: [0; 4],
            first_len: 0,
        }
    }

    /// Walks on over the next bytes, or counts them.
    fn walk(&mut self, bytes: &[u8], carry: &mut Vec<u8>, ledger: &mut Ledger) -> Walk {
        let Some(extent) = &mut self.extent else {
            return match self.left {
                Some(left) if left <= bytes.len() as u64 => Walk::Ends(left as usize),
                _ => Walk::GoesOn,
            };
        };
        let before = extent.memory_bytes();
        let walked = match carry.is_empty() {
            true => walk(extent, bytes, carry),
            false => walk_over_seam(extent, bytes, carry),
        };
        match ledger.levels(before, extent.memory_bytes()) {
            true => walked,
            false => Walk::Fails,
        }
    }

    /// Whether its frame, and what a message may have, have room for so many more bytes, and for no others if it is over.
    fn has_room(&self, more: u64, is_over: bool) -> bool {
        let fits = match self.left {
            Some(left) if is_over => left == more,
            Some(left) => left >= more,
            None => true,
        };
        fits && self.message.len + more <= MESSAGE_MAX
    }

    /// Takes bytes of the struct.
    fn take(&mut self, bytes: &[u8], ts: Option<i64>, known: Known, ledger: &mut Ledger) {
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
    fn lose(&mut self, len: u64, ledger: &mut Ledger) {
        self.left = self.left.map(|left| left.saturating_sub(len));
        self.message.len += len;
        self.missing += len;
        self.cut(ledger);
    }

    /// Some of it is missing.
    fn cut(&mut self, ledger: &mut Ledger) {
        self.end_walk(ledger);
        self.message.is_whole = false;
        ledger.forget(&mut self.message.body);
    }

    /// It is over.
    fn finish(&mut self, ledger: &mut Ledger) {
        self.message.is_checked = self.extent.is_some() && self.message.is_whole;
        ledger.shrink(&mut self.message.body);
    }

    /// Hands the message over.
    fn tell(mut self, ledger: &mut Ledger, out: &mut Vec<Message>) {
        self.end_walk(ledger);
        self.message.first_field = self.first_field();
        ledger.counts.in_messages += self.seen();
        out.push(self.message);
    }

    /// It is no message.
    fn refuse(mut self, ledger: &mut Ledger) {
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
        let (kind, rest) = first.split_first()?;
        if *kind == 0 {
            return Some(0);
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
