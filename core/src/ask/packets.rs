//! Packets that are asked for: a capture is read to its end, and they are handed over.

use super::{Answer, Answers, PacketOptions};
use crate::Result;
use crate::input::{CaptureReader, FrameBatch};
use crate::packet::{Field, PacketColumns};

/// Hands over the packets with their bytes.
pub(super) fn frames<A: Answers>(
    reader: &mut CaptureReader,
    answers: &mut A,
) -> Result<Result<()>, A::Error> {
    loop {
        let mut batch = match answers.spare() {
            Some(Answer::Frames(batch)) => batch,
            _ => FrameBatch::new(),
        };
        match reader.read_frames(&mut batch) {
            Ok(()) if batch.is_empty() => return Ok(Ok(())),
            Ok(()) => answers.take(Answer::Frames(batch))?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Hands over the packet with a number, where there is one.
pub(super) fn frame<A: Answers>(
    reader: &mut CaptureReader,
    number: u64,
    answers: &mut A,
) -> Result<Result<()>, A::Error> {
    let mut batch = FrameBatch::new();
    loop {
        match reader.read_frames(&mut batch) {
            Ok(()) if batch.is_empty() => return Ok(Ok(())),
            Ok(()) if batch.keep_number(number) => {
                answers.take(Answer::Frames(batch))?;
                return Ok(Ok(()));
            }
            Ok(()) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Hands over these fields of the packets that are asked for.
pub(super) fn columns<A: Answers>(
    reader: &mut CaptureReader,
    fields: &[Field],
    options: &PacketOptions,
    answers: &mut A,
) -> Result<Result<()>, A::Error> {
    let mut columns = PacketColumns::new(fields);
    loop {
        let read = match &options.condition {
            None => reader.read_columns(&mut columns, options.rows),
            Some(condition) => reader.read_columns_where(&mut columns, options.rows, condition),
        };
        match read {
            Ok(()) if columns.is_empty() => return Ok(Ok(())),
            Ok(()) => answers.take(Answer::Columns(columns.take()))?,
            Err(error) => return Ok(Err(error)),
        }
    }
}
