//! Answers to questions, and their way to whoever asked.

use std::sync::Arc;

use super::{CaptureInfo, Counts};
use crate::Error;
use crate::batch::Batch;
use crate::flow::Flow;
use crate::input::FrameBatch;
use crate::rpc::{Call, Methods};

/// A piece of an answer.
#[derive(Debug)]
pub enum Answer {
    /// Packets with their bytes.
    Frames(FrameBatch),
    /// Packets as columns.
    Columns(Batch),
    /// Packets by the value of a field, in order of the values.
    Counts(Counts),
    /// Packets added up by group.
    Sums(Batch),
    /// Flows that have ended.
    Flows(Vec<Flow>),
    /// Calls that are over, and the methods that read the structs in them.
    Calls(Vec<Call>, Option<Arc<Methods>>),
    /// Facts about a capture.
    Info(Box<CaptureInfo>),
}

impl Answer {
    /// Rows that a batch holds by itself; none of records whose fields somebody has to name.
    pub fn into_batch(self) -> Option<Batch> {
        match self {
            Answer::Columns(batch) | Answer::Sums(batch) => Some(batch),
            Answer::Counts(counts) => Some(counts.to_batch()),
            Answer::Info(info) => Some(info.to_batch()),
            Answer::Frames(_) | Answer::Flows(_) | Answer::Calls(..) => None,
        }
    }
}

/// The place that answers go to, piece by piece.
pub trait Answers {
    /// The reason to end reading.
    type Error;

    /// Takes a piece. It may wait meanwhile, and then reading does.
    ///
    /// # Errors
    /// The reason to end reading.
    fn take(&mut self, answer: Answer) -> Result<(), Self::Error>;

    /// Takes note of damage that the answer for a capture is kept before: behind its rows, before what stands for all of it.
    ///
    /// # Errors
    /// The reason to end reading.
    fn note_damage(&mut self, damage: Error) -> Result<(), Self::Error>;

    /// Takes note of the reason why an index that was found is not used: the answer is the same without.
    ///
    /// # Errors
    /// The reason to end reading.
    fn note_index(&mut self, fault: Error) -> Result<(), Self::Error> {
        drop(fault);
        Ok(())
    }

    /// A piece that was used, whose memory serves again.
    fn spare(&mut self) -> Option<Answer> {
        None
    }
}
