//! Frames of THeader whose message is deflated: they are kept until they are whole, and their messages inflated then.

use std::borrow::Cow;

use super::header::{self, DeflatedHeader, HeaderSearch};
use super::ledger::Ledger;
use super::message::{KnownProtocol, MessageBody, RpcMessage, StartConfidence, StructProgress};
use crate::thrift::FrameHeader;

// Bound (Flows): deflated Thrift message in a connection = 1 MiB with its frame, which counts as a struct of a call;
// 16,384,000 bytes inflated, one at a time.
/// A longer frame is passed. The message has at most [`INFLATED_MAX`](crate::thrift::INFLATED_MAX), inflated.
const FRAME_MAX: u64 = 1 << 20;

/// A frame that is not over.
#[derive(Debug)]
pub(super) struct DeflatedFrame {
    header: DeflatedHeader,
    /// Its bytes behind its length, unless some are missing or there is no room for them.
    kept: Option<Vec<u8>>,
    /// Deflated bytes that are left.
    pub(super) left: u64,
    first_ts: Option<i64>,
    last_ts: Option<i64>,
    /// Bytes of it that came.
    seen: u64,
}

impl DeflatedFrame {
    /// The frame that begins with `start`, the bytes before the deflated ones, of which the first was captured at `ts`.
    pub(super) fn begin(
        header: DeflatedHeader,
        start: &[u8],
        ts: Option<i64>,
        ledger: &mut Ledger,
    ) -> Self {
        let len = header.len as u64 + header.deflated_len;
        let mut kept = (len <= FRAME_MAX).then(Vec::new);
        // The header of the frame is behind its length.
        let start = start.get(header::FRAME_HEADER_LEN..).unwrap_or_default();
        ledger.keep(&mut kept, start, FRAME_MAX as usize);
        let (left, seen) = (header.deflated_len, header.len as u64);
        DeflatedFrame { header, kept, left, first_ts: ts, last_ts: ts, seen }
    }

    /// Takes its next bytes out of `bytes`; answers how many.
    pub(super) fn take(&mut self, bytes: &[u8], ts: Option<i64>, ledger: &mut Ledger) -> usize {
        let len = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let bytes = bytes.get(..len).unwrap_or_default();
        ledger.keep(&mut self.kept, bytes, FRAME_MAX as usize);
        self.left -= len as u64;
        self.seen += len as u64;
        self.last_ts = ts.or(self.last_ts);
        len
    }

    /// So many bytes of it are missing, so that it cannot be inflated.
    pub(super) fn lose(&mut self, len: u64, ledger: &mut Ledger) {
        self.left = self.left.saturating_sub(len);
        ledger.forget(&mut self.kept);
    }

    /// Counts its bytes as those of no message.
    pub(super) fn refuse(mut self, ledger: &mut Ledger) {
        ledger.forget(&mut self.kept);
        ledger.counts.outside += self.seen;
    }

    /// Tells the message of the frame, which is whole. Answers whether there is one.
    pub(super) fn tell(
        mut self,
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) -> bool {
        let payload = self.kept.as_ref().and_then(|frame| inflated(frame));
        ledger.forget(&mut self.kept);
        let is_told =
            payload.is_some_and(|payload| self.tell_payload(&payload, known, ledger, out));
        if !is_told {
            ledger.counts.walked_in_vain += self.seen;
            self.refuse(ledger);
        }
        is_told
    }

    /// Tells the message that `payload` is, if it is one from its first byte to its last.
    fn tell_payload(
        &self,
        payload: &[u8],
        known: KnownProtocol,
        ledger: &mut Ledger,
        out: &mut Vec<RpcMessage>,
    ) -> bool {
        let len = payload.len() as u64;
        let HeaderSearch::Header(header) =
            header::read(self.header.protocol, 0, Some(len), payload)
        else {
            return false;
        };
        let start = StartConfidence::Start;
        let mut message = MessageBody::begin(&header, self.first_ts, start, known);
        ledger.levels(0, message.levels_bytes());
        let body = payload.get(header.len..).unwrap_or_default();
        let walked = message.walk(body, &mut Vec::new(), ledger);
        let is_whole = matches!(walked, StructProgress::Ends(len) if len == body.len());
        if is_whole {
            message.take(body, self.last_ts, known, ledger);
            message.finish(ledger);
        }
        // Its frame was sent, and counts.
        message.message.len = self.seen;
        match is_whole {
            true => message.tell(ledger, out),
            false => message.cut(ledger),
        }
        is_whole
    }
}

/// The message in a frame, if it can be inflated.
fn inflated(frame: &[u8]) -> Option<Vec<u8>> {
    FrameHeader::read(frame).ok()?.payload(frame).ok().map(Cow::into_owned)
}
