//! Long bytes, put into memory of the host's by the file itself and not through the buffer.

use std::mem::MaybeUninit;

use super::super::stream_host::StreamHost;
use super::PIECE;
use super::operation::Operation;
use crate::bytes::{ByteStream, Compression, Fill};
use crate::error::Result as CoreResult;

/// From how many bytes on memory is filled by the file itself and not from the buffer: to copy as many takes as long as
/// the system calls that the buffer spares.
pub const DIRECT_MIN: usize = 8 << 10;
/// Bytes after which the host is asked for interrupts.
const STEP_LEN: usize = 1 << 20;

/// Memory of the host's that grows, which is empty at first.
pub trait Destination {
    /// Error that the host raises.
    type Error;

    /// Makes room for `count` bytes behind the first `len`, and answers where they go.
    ///
    /// # Errors
    /// Fails if the host has no memory, or the memory may not be changed.
    fn room(&mut self, len: usize, count: usize) -> Result<&mut [MaybeUninit<u8>], Self::Error>;

    /// Says that the first `len` bytes are written. It is 0 after a failure.
    fn set_len(&mut self, len: usize);

    /// The bytes that are written.
    fn bytes(&self) -> &[u8];

    /// Keeps others from changing the memory while they run, until [`Destination::unlock`].
    ///
    /// # Errors
    /// Fails if the host cannot do so.
    fn lock(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Lets others change the memory again.
    fn unlock(&mut self) {}
}

impl<H: StreamHost> Operation<'_, H> {
    /// Takes up to `length` bytes into memory of the host's, and answers how many there were. After an error the memory is
    /// empty, and the reader as it was.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits; those of `into`.
    pub fn fill<D: Destination<Error = H::Error>>(
        &self,
        into: &mut D,
        length: usize,
    ) -> Result<usize, H::Error> {
        let filled = self.fill_in_steps(into, length);
        if filled.is_err() {
            // Where the stream is closed there is nothing to give back to.
            let _ = self.with_stream(|stream| {
                stream.give_back(into.bytes());
                Ok(())
            });
            into.set_len(0);
        }
        filled
    }

    fn fill_in_steps<D: Destination<Error = H::Error>>(
        &self,
        into: &mut D,
        length: usize,
    ) -> Result<usize, H::Error> {
        let (mut len, mut checked) = (0, 0);
        while len < length {
            let room = self.room_wanted(length - len, len)?;
            let room = into.room(len, room)?;
            let step = self.with_stream(|stream| fill_step(stream, room))?;
            len += step.count;
            into.set_len(len);
            match step.fill {
                Fill::Ended => break,
                Fill::Ready if len - checked < STEP_LEN => {}
                Fill::Ready => {
                    checked = len;
                    locked(into, || self.let_interrupts())?;
                }
                Fill::WouldWait => locked(into, || self.want(1).map(drop))?,
            }
        }
        Ok(len)
    }

    /// Returns the number of bytes to make room for: at most `left`, as a length that is wrong must cost no memory.
    /// The rest of a file is known; of other input, as much comes at once as has come.
    fn room_wanted(&self, left: usize, come: usize) -> Result<usize, H::Error> {
        let likely = come.max(PIECE);
        if left <= likely {
            return Ok(left);
        }
        let known = self.with_stream(|stream| Ok(known_left(stream)))?;
        Ok(left.min(known.map_or(0, |known| known.saturating_add(1)).max(likely)))
    }
}

/// Does `work`, during which others may run.
fn locked<D: Destination>(
    into: &mut D,
    work: impl FnOnce() -> Result<(), D::Error>,
) -> Result<(), D::Error> {
    into.lock()?;
    let outcome = work();
    into.unlock();
    outcome
}

fn known_left(stream: &ByteStream) -> Option<usize> {
    let len = stream.input_len().filter(|_| stream.compression() == Compression::None)?;
    usize::try_from(len.saturating_sub(stream.position())).ok()
}

/// Number of bytes that came, and the reason why there are no more.
struct FillStep {
    count: usize,
    fill: Fill,
}

/// Writes to the start of `spare` what is buffered, or what the file has without waiting.
fn fill_step(stream: &mut ByteStream, spare: &mut [MaybeUninit<u8>]) -> CoreResult<FillStep> {
    let bytes = stream.buffered();
    let count = bytes.len().min(spare.len());
    if count > 0 {
        for (to, byte) in spare.iter_mut().zip(bytes) {
            to.write(*byte);
        }
        stream.consume(count);
        return Ok(FillStep { count, fill: Fill::Ready });
    }
    if spare.len() >= DIRECT_MIN
        && let Some(count) = stream.try_read_slice(spare)?
    {
        let fill = if count == 0 { Fill::Ended } else { Fill::Ready };
        return Ok(FillStep { count, fill });
    }
    Ok(FillStep { count: 0, fill: stream.try_fill(1)? })
}
