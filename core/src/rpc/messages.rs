//! The messages of one direction of a connection: bytes and gaps in, messages out.
//!
//! No more than a header is kept, whatever the messages are as long as: the struct behind it is walked, or
//! counted where a frame says its length. Whoever wants structs says so, and they are kept up to a bound. A frame whose message
//! is deflated is kept, too.

use super::deflated::DeflatedFrame;
use super::header::{self, DeflatedHeader, HEADER_MAX, HeaderSearch, RpcHeader};
use super::ledger::Ledger;
use super::message::{
    KnownProtocol, MessageBody, RpcMessage, SEAM_LEN, StartConfidence, StructProgress,
};
use crate::thrift::StructExtent;

// Bound (Flows): bytes parsed for a message that turns out to be none = 4 for each byte of a piece, and once to its
// end.
/// Bytes that look like a message and fail far on are looked through again for others, so that hostile bytes would else cost
/// the square of their number.
const VAIN_PER_BYTE: usize = 4;

/// Bytes for which a piece counts that is shorter: the header of a message may come in many.
const SHORT_PIECE: usize = 282;

/// One direction.
#[derive(Debug, Default)]
pub(super) struct DirectionMessages {
    /// Bytes that were not enough: the beginning of a header, or the end of a piece inside of a struct.
    carry: Vec<u8>,
    /// When the first of them was captured.
    carry_ts: Option<i64>,
    /// In a box, as most connections have none.
    body: Option<Box<MessageBody>>,
    /// A frame with a deflated message; there is no other message meanwhile.
    deflated: Option<Box<DeflatedFrame>>,
    /// Confidence that the next message starts at the next byte.
    start_confidence: StartConfidence,
}

/// A piece of a stream.
#[derive(Debug, Clone, Copy)]
struct MessagePiece<'p> {
    bytes: &'p [u8],
    /// When it was captured.
    ts: Option<i64>,
    /// Bytes that may have been walked in vain when it is over, of all that ever were.
    vain_max: u64,
}

/// Result of a search in waiting bytes of a header and those that follow.
enum Seam {
    /// So many more bytes belong to it.
    Takes(usize),
    /// They begin no message.
    Nothing,
}

impl DirectionMessages {
    /// Takes the next bytes.
    pub(super) fn bytes(
        &mut self,
        mut bytes: &[u8],
        ts: Option<i64>,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) {
        ledger.counts.seen += bytes.len() as u64;
        let vain = bytes.len().max(SHORT_PIECE) * VAIN_PER_BYTE;
        let vain_max = ledger.counts.walked_in_vain.saturating_add(vain as u64);
        while self.is_between() && !self.carry.is_empty() && !bytes.is_empty() {
            match self.search_over_seam(bytes, known, ledger) {
                Seam::Takes(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Seam::Nothing => {
                    // Behind its first byte, what was kept may have a message in it, if anything may.
                    let kept = std::mem::take(&mut self.carry);
                    let passed = self.pass_to_candidate(&kept, known, ledger);
                    let rest = kept.get(passed..).unwrap_or_default();
                    self.piece(
                        MessagePiece { bytes: rest, ts: self.carry_ts, vain_max },
                        known,
                        ledger,
                        out,
                    );
                }
            }
        }
        self.piece(MessagePiece { bytes, ts, vain_max }, known, ledger, out);
    }

    /// Takes bytes with no beginning of a header before them.
    fn piece(
        &mut self,
        mut piece: MessagePiece<'_>,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) {
        while !piece.bytes.is_empty() {
            let passed = match (self.body.take(), self.deflated.take()) {
                (Some(body), _) => self.go_on(body, piece, known, ledger, out),
                (None, Some(frame)) => self.go_on_deflated(frame, piece, known, ledger, out),
                (None, None) => self.search(piece, known, ledger),
            };
            piece.bytes = piece.bytes.get(passed..).unwrap_or_default();
        }
    }

    /// Returns true if the next byte is of no message that has begun.
    fn is_between(&self) -> bool {
        self.body.is_none() && self.deflated.is_none()
    }

    /// Takes note of missing bytes. A frame tells where it ends, a struct does not.
    pub(super) fn gap(
        &mut self,
        len: u64,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) {
        ledger.counts.missing += len;
        if let Some(frame) = self.deflated.take() {
            return self.gap_deflated(frame, len, known, ledger);
        }
        match self.body.take() {
            Some(mut body)
                if body.left.is_some_and(|left| left >= len)
                    && self.start_confidence == StartConfidence::Sure =>
            {
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
                self.start_confidence = confidence_without(known);
            }
        }
    }

    /// Tells the message that the end of the connection cuts.
    pub(super) fn end(
        &mut self,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) {
        if let Some(frame) = self.deflated.take() {
            frame.refuse(ledger);
        }
        let body = self.body.take();
        self.cut(body, known, ledger, out);
    }

    /// Takes note of missing bytes inside of a frame, which tells where it ends.
    fn gap_deflated(
        &mut self,
        mut frame: Box<DeflatedFrame>,
        len: u64,
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) {
        if frame.left < len || self.start_confidence != StartConfidence::Sure {
            frame.refuse(ledger);
            self.start_confidence = confidence_without(known);
            return;
        }
        frame.lose(len, ledger);
        match frame.left {
            0 => frame.refuse(ledger),
            _ => self.deflated = Some(frame),
        }
    }

    /// Drops what was kept of a message, and tells it if it surely is one.
    fn cut(
        &mut self,
        body: Option<Box<MessageBody>>,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
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
    fn search(
        &mut self,
        piece: MessagePiece<'_>,
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) -> usize {
        let MessagePiece { bytes, ts, vain_max } = piece;
        if ledger.counts.walked_in_vain >= vain_max {
            ledger.counts.outside += bytes.len() as u64;
            ledger.counts.not_searched += bytes.len() as u64;
            self.start_confidence = StartConfidence::Lost;
            return bytes.len();
        }
        match header::find(bytes, known.protocol) {
            HeaderSearch::Header(header) => self.begin(&header, ts, known, ledger),
            HeaderSearch::Deflated(header) => self.begin_deflated(header, bytes, ts, ledger),
            HeaderSearch::Part => {
                self.carry.extend_from_slice(bytes);
                self.carry_ts = ts;
                bytes.len()
            }
            HeaderSearch::Nothing => self.pass_to_candidate(bytes, known, ledger),
        }
    }

    /// Looks for a header that may have begun in an earlier piece.
    fn search_over_seam(
        &mut self,
        bytes: &[u8],
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) -> Seam {
        let before = self.carry.len();
        let room = HEADER_MAX.saturating_sub(before).min(bytes.len());
        self.carry.extend_from_slice(bytes.get(..room).unwrap_or_default());
        let carry = std::mem::take(&mut self.carry);
        match header::find(&carry, known.protocol) {
            // It does not end in what was kept, which was found to be a part of one.
            HeaderSearch::Header(header) => {
                let len = self.begin(&header, self.carry_ts, known, ledger);
                Seam::Takes(len.saturating_sub(before))
            }
            HeaderSearch::Deflated(header) => {
                let len = self.begin_deflated(header, &carry, self.carry_ts, ledger);
                Seam::Takes(len.saturating_sub(before))
            }
            HeaderSearch::Part if carry.len() < HEADER_MAX => {
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
        header: &RpcHeader<'_>,
        ts: Option<i64>,
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) -> usize {
        let body = MessageBody::begin(header, ts, self.start_confidence, known);
        ledger.levels(0, body.levels_bytes());
        self.body = Some(Box::new(body));
        header.len
    }

    /// Begins a frame with a deflated message, which `bytes` begin with; answers how many of them are before the deflated ones.
    fn begin_deflated(
        &mut self,
        header: DeflatedHeader,
        bytes: &[u8],
        ts: Option<i64>,
        ledger: &mut Ledger,
    ) -> usize {
        let start = bytes.get(..header.len).unwrap_or_default();
        self.deflated = Some(Box::new(DeflatedFrame::begin(header, start, ts, ledger)));
        header.len
    }

    /// Goes on with a frame whose message is deflated; answers how many bytes are not looked at again.
    fn go_on_deflated(
        &mut self,
        mut frame: Box<DeflatedFrame>,
        piece: MessagePiece<'_>,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) -> usize {
        let passed = frame.take(piece.bytes, piece.ts, ledger);
        if frame.left > 0 {
            self.deflated = Some(frame);
            return passed;
        }
        self.start_confidence = match frame.tell(known, ledger, out) {
            true => StartConfidence::Sure,
            false => confidence_without(known),
        };
        passed
    }

    /// Passes over bytes that do not begin with a message, up to the next that may; returns how many.
    fn pass_to_candidate(
        &mut self,
        bytes: &[u8],
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) -> usize {
        self.start_confidence = confidence_without(known);
        let passed = next_candidate(bytes, known);
        ledger.counts.outside += passed as u64;
        passed
    }

    /// Goes on with a struct; answers how many bytes are not looked at again.
    fn go_on(
        &mut self,
        mut body: Box<MessageBody>,
        piece: MessagePiece<'_>,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) -> usize {
        let MessagePiece { bytes, ts, .. } = piece;
        let is_over_seam = !self.carry.is_empty();
        let passed_before = body.extent.as_ref().map_or(0, StructExtent::passed);
        let walked = body.walk(bytes, &mut self.carry, ledger);
        let passed = match walked {
            StructProgress::Ends(len) => len,
            // Over a seam, some bytes only were looked at.
            StructProgress::GoesOn if body.extent.is_some() && is_over_seam => {
                bytes.len().min(SEAM_LEN)
            }
            StructProgress::GoesOn => bytes.len(),
            StructProgress::Fails => 0,
        };
        let is_over = matches!(walked, StructProgress::Ends(_));
        let fits = body.has_room(passed as u64, is_over);
        if matches!(walked, StructProgress::Fails) || !fits {
            let walked = body.extent.as_ref().map_or(0, StructExtent::passed);
            ledger.counts.walked_in_vain += walked.saturating_sub(passed_before) as u64;
            return self.fail(*body, bytes, known, ledger);
        }
        body.take(bytes.get(..passed).unwrap_or_default(), ts, known, ledger);
        if is_over {
            self.carry.clear();
            self.start_confidence = StartConfidence::Sure;
            body.finish(ledger);
            body.tell(ledger, out);
        } else {
            self.body = Some(body);
        }
        passed
    }

    /// Refuses bytes that were taken for a struct. The next message may begin anywhere, so that all are searched again,
    /// unless nothing says that there are messages.
    fn fail(
        &mut self,
        body: MessageBody,
        bytes: &[u8],
        known: KnownProtocol,
        ledger: &mut Ledger,
    ) -> usize {
        body.refuse(ledger);
        self.carry.clear();
        self.start_confidence = confidence_without(known);
        if self.start_confidence == StartConfidence::Lost {
            return 0;
        }
        ledger.counts.outside += bytes.len() as u64;
        bytes.len()
    }
}

/// Returns the confidence that a message starts at the next byte if the last bytes have not told.
fn confidence_without(known: KnownProtocol) -> StartConfidence {
    if known.protocol.is_some() { StartConfidence::Lost } else { StartConfidence::Start }
}

/// Returns how many bytes to pass before a message of the known protocol may begin, at least one; all if none is known.
fn next_candidate(bytes: &[u8], known: KnownProtocol) -> usize {
    let Some(protocol) = known.protocol else { return bytes.len() };
    let first = header::first_byte(protocol);
    let mut at = 1;
    while let Some(rest) = bytes.get(at..)
        && let Some(ahead) = rest.iter().position(|byte| *byte == first)
    {
        at += ahead;
        let candidate = bytes.get(at..).unwrap_or_default();
        if !matches!(header::find(candidate, known.protocol), HeaderSearch::Nothing) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}
