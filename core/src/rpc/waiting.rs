//! The calls of one connection that wait for their answers.

use std::collections::VecDeque;

use super::message::RpcMessage;
use crate::tcp::Side;

/// Calls for which there is always room, so that a client that waits for each answer takes none anew.
const ROOM_MIN: usize = 4;

/// A call that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) from: Side,
    pub(super) message: RpcMessage,
    /// Number of the message, among all.
    pub(super) since: u64,
    /// Bytes of the other side are missing since: the answer may have been among them.
    pub(super) may_be_answered: bool,
}

/// Calls in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct WaitingCalls {
    calls: VecDeque<Waiting>,
    /// Bytes of their names.
    names: usize,
}

impl WaitingCalls {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Memory of them, without their structs.
    pub(super) fn memory_bytes(&self) -> usize {
        self.calls.capacity() * size_of::<Waiting>() + self.names
    }

    /// Since which message the first one waits.
    pub(super) fn since(&self) -> Option<u64> {
        self.calls.front().map(|waiting| waiting.since)
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        self.names += waiting.message.name.len();
        self.calls.push_back(waiting);
    }

    /// Takes the call that has waited longest.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.remove(0)
    }

    /// Takes a call. Memory goes with the calls: very many connections may have had many.
    pub(super) fn remove(&mut self, at: usize) -> Option<Waiting> {
        let waiting = self.calls.remove(at)?;
        self.names = self.names.saturating_sub(waiting.message.name.len());
        let room = self.calls.capacity();
        if room > ROOM_MIN && self.calls.len() <= room / 4 {
            self.calls.shrink_to(room / 2);
        }
        Some(waiting)
    }

    /// The earliest call that `answer`, from the other side than `from`, may belong to, and whether it is the only one.
    ///
    /// An answer that has lost its end waits for that, and is told when later calls have come; it is not theirs.
    pub(super) fn position(&self, from: Side, answer: &RpcMessage) -> Option<(usize, bool)> {
        let is_later = |asked: &RpcMessage| {
            asked.first_ts.zip(answer.first_ts).is_some_and(|(asked, at)| asked > at)
        };
        let is_its = |waiting: &Waiting| {
            waiting.from == from
                && waiting.message.is_like(answer)
                && (answer.is_whole || !is_later(&waiting.message))
        };
        let first = self.calls.iter().position(is_its)?;
        Some((first, !self.calls.iter().skip(first + 1).any(is_its)))
    }

    /// Returns true if an answer of that call may be missing.
    pub(super) fn may_be_answered(&self, at: usize) -> bool {
        self.calls.get(at).is_some_and(|waiting| waiting.may_be_answered)
    }

    /// Takes note that bytes of `from` are missing.
    pub(super) fn note_gap(&mut self, from: Side) {
        let asked = self.calls.iter_mut().filter(|waiting| waiting.from == from.other());
        asked.for_each(|waiting| waiting.may_be_answered = true);
    }
}
