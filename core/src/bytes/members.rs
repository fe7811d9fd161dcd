//! Members of a gzip file and frames of a zstd file, decompressed side by side.
//!
//! Each of them can be decompressed by itself, but where one begins is only known for sure behind the one before it. So
//! beginnings are guessed: by the sizes that bgzip writes into headers, by the first bytes of a header, by the lengths of
//! a frame's blocks. Threads decompress what lies between two guesses. That counts only where everything before it was
//! decompressed up to exactly there, and where it is whole; in any other case it is thrown away, and the same bytes go to
//! the one decoder that reads files without other threads. So the bytes, the errors and their offsets are the same.
//!
//! Files of one member, which most are, are never searched, and a pipe is never read ahead. `pigz` writes one member, also
//! with `-i`.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::workers::{WorkerLimits, Workers};

use super::gzip::{self, GzipDecoder};
use super::inflate::InflateBackend;
use super::input::{Input, Supply};
use super::unread_bytes::{HEADROOM, UnreadBytes};
use super::zstd::{self, ZstdDecoder};

/// Raw bytes of a unit, of one or more members, and bytes that it decompresses to, from which on it is large enough.
const UNIT_RAW: usize = 256 << 10;
const UNIT_BYTES: usize = 512 << 10;

// Bound (Streams): members decompressed ahead = two units for each thread, of some 4 MiB raw and 8 MiB at most, or 16
// MiB where a member has more than its trailer tells; some 256 KiB and 512 KiB where members are small.
/// Raw bytes of one member, and bytes that a unit decompresses to, at most. More is left to the one decoder.
const MEMBER_RAW_MAX: usize = 4 << 20;
const UNIT_BYTES_MAX: usize = 8 << 20;

/// Units under way for each thread: one that it works on, and one that waits or is next.
const UNITS_PER_JOB: usize = 2;

/// Members that are left to the one decoder after guesses that were wrong, at most.
const BACKOFF_MAX: u32 = 1 << 16;

/// The one decoder, which says what is right.
pub(super) enum MemberDecoder {
    Gzip(GzipDecoder),
    Zstd(ZstdDecoder),
}

/// Decompresses a file member by member, some of them ahead on other threads.
pub(super) struct Members {
    decoder: MemberDecoder,
    jobs: usize,
    /// Made when there is something to do for them.
    workers: Option<Workers<Done>>,
    /// Units that are under way: their task, and their raw bytes, which are still in the input.
    units: VecDeque<(usize, usize)>,
    /// Raw bytes of all of them.
    raw_len: usize,
    tasks: usize,
    /// Bytes that were decompressed ahead, and the number of them that were handed on.
    ready: Vec<u8>,
    taken: usize,
    /// Members that were read to their end.
    passed: u64,
    /// Members to be left to the one decoder, and how many the next wrong guess adds.
    pause: u32,
    backoff: u32,
    spares: Vec<Done>,
}

/// A unit that was decompressed, or could not be.
struct Done {
    raw: Vec<u8>,
    bytes: Vec<u8>,
    /// Decoder that serves for the next unit.
    decoder: Option<MemberDecoder>,
    is_whole: bool,
}

/// Presumed lengths of a unit: raw, and decompressed.
struct Guess {
    raw_len: usize,
    bytes_len: usize,
}

impl MemberDecoder {
    /// A decoder of gzip by `backend`, or of zstd where there is none.
    fn new(backend: Option<InflateBackend>) -> Result<Self> {
        Ok(match backend {
            Some(backend) => MemberDecoder::Gzip(GzipDecoder::new(backend)),
            None => MemberDecoder::Zstd(ZstdDecoder::new()?),
        })
    }

    /// The backend of gzip; zstd has none.
    fn backend(&self) -> Option<InflateBackend> {
        match self {
            MemberDecoder::Gzip(decoder) => Some(decoder.backend()),
            MemberDecoder::Zstd(_) => None,
        }
    }

    fn is_gzip(&self) -> bool {
        matches!(self, MemberDecoder::Gzip(_))
    }

    fn decode(&mut self, input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
        match self {
            MemberDecoder::Gzip(decoder) => decoder.decode(input, output),
            MemberDecoder::Zstd(decoder) => decoder.decode(input, output),
        }
    }

    /// Returns true if a member may begin at the next byte.
    fn is_between_members(&self) -> bool {
        match self {
            MemberDecoder::Gzip(decoder) => decoder.is_between_members(),
            MemberDecoder::Zstd(decoder) => decoder.is_between_frames(),
        }
    }

    /// Lets [`MemberDecoder::decode`] return behind each member.
    fn pausing(mut self) -> Self {
        match &mut self {
            MemberDecoder::Gzip(decoder) => decoder.pause_behind_members(),
            MemberDecoder::Zstd(decoder) => decoder.pause_behind_frames(),
        }
        self
    }

    /// Says that members were read elsewhere, and what comes next follows them.
    fn pass_members(&mut self) {
        if let MemberDecoder::Gzip(decoder) = self {
            decoder.pass_members();
        }
    }
}

impl Members {
    pub(super) fn new(decoder: MemberDecoder, jobs: usize) -> Self {
        Members {
            decoder: decoder.pausing(),
            jobs,
            workers: None,
            units: VecDeque::new(),
            raw_len: 0,
            tasks: 0,
            ready: Vec::new(),
            taken: 0,
            passed: 0,
            pause: 0,
            backoff: 1,
            spares: Vec::new(),
        }
    }

    pub(super) fn is_gzip(&self) -> bool {
        self.decoder.is_gzip()
    }

    /// Memory that it takes, its threads not counted.
    pub(super) fn memory_bytes(&self) -> usize {
        let decoder = match &self.decoder {
            MemberDecoder::Gzip(decoder) => decoder.memory_bytes(),
            MemberDecoder::Zstd(decoder) => decoder.memory_bytes(),
        };
        decoder + self.ready.capacity()
    }

    /// Appends to the spare capacity of `output`, as the one decoder does.
    pub(super) fn decode(&mut self, input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
        let before = output.len();
        let mut is_stuck = false;
        while output.len() < output.capacity() {
            if self.taken < self.ready.len() {
                self.hand_on(output);
            } else if !self.units.is_empty() {
                self.take_unit(input)?;
                self.plan(input)?;
            } else if !(self.may_guess() && self.plan(input)?) {
                let place = (output.len(), input.offset());
                if !self.decoder.decode(input, output)? {
                    return Ok(output.len() > before);
                }
                let has_moved = place != (output.len(), input.offset());
                // The first time, it may only have found that a member follows; the second time, it has to wait.
                if is_stuck && !has_moved {
                    break;
                }
                is_stuck = !has_moved;
                if has_moved && self.decoder.is_between_members() {
                    self.pass_member();
                }
            }
        }
        Ok(true)
    }

    /// Hands on what was decompressed ahead as it is: see [`UnreadBytes::exchange`]. None where there is nothing, or it has to be
    /// copied.
    pub(super) fn exchange(
        &mut self,
        input: &mut Input,
        kept: UnreadBytes<'_>,
    ) -> Result<Option<usize>> {
        if self.taken == self.ready.len() && !self.units.is_empty() {
            self.take_unit(input)?;
            self.plan(input)?;
        }
        if self.taken == self.ready.len() {
            return Ok(None);
        }
        let exchanged = kept.exchange(&mut self.ready, self.taken);
        if exchanged.is_some() {
            self.taken = 0;
        }
        Ok(exchanged)
    }

    /// Appends what was decompressed ahead.
    fn hand_on(&mut self, output: &mut Vec<u8>) {
        let rest = self.ready.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(output.capacity() - output.len());
        output.extend_from_slice(rest.get(..count).unwrap_or_default());
        self.taken += count;
    }

    fn pass_member(&mut self) {
        self.passed += 1;
        self.pause = self.pause.saturating_sub(1);
    }

    /// Returns true if units may begin at the next byte. A file of one member, the usual case, is not searched.
    fn may_guess(&self) -> bool {
        self.pause == 0
            && self.decoder.is_between_members()
            && (self.passed > 0 || self.decoder.is_gzip())
    }

    /// Takes the result of the first unit, which counts if it is whole.
    fn take_unit(&mut self, input: &mut Input) -> Result<()> {
        let (Some(workers), Some((task, raw_len))) = (&self.workers, self.units.pop_front()) else {
            return Err(Error::internal("a unit without threads"));
        };
        let done = workers.next(task);
        workers.abandon(task);
        self.raw_len -= raw_len;
        match done {
            Ok(Some(mut done)) if done.is_whole => {
                input.advance(raw_len);
                self.decoder.pass_members();
                self.passed += 1;
                self.backoff = 1;
                std::mem::swap(&mut self.ready, &mut done.bytes);
                self.taken = HEADROOM;
                self.spares.push(done);
            }
            done => {
                self.spares.extend(done.ok().flatten());
                self.units.drain(..).for_each(|(task, _)| workers.abandon(task));
                self.raw_len = 0;
                self.pause = self.backoff;
                self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
            }
        }
        Ok(())
    }

    /// Gives units to the threads until enough are under way; says whether any are.
    fn plan(&mut self, input: &mut Input) -> Result<bool> {
        while self.units.len() < self.jobs * UNITS_PER_JOB && self.pause == 0 {
            let Some(guess) = self.guess(input)? else { break };
            if self.workers.is_none() {
                let tasks = self.jobs * UNITS_PER_JOB;
                let limits = WorkerLimits { threads: self.jobs, tasks, weight: 1, spares: tasks };
                match Workers::start(limits) {
                    Ok(workers) => self.workers = Some(workers),
                    // There is still the one decoder.
                    Err(_) => self.pause = u32::MAX,
                }
            }
            let Some(workers) = &self.workers else { break };
            let empty =
                || Done { raw: Vec::new(), bytes: Vec::new(), decoder: None, is_whole: false };
            let mut done = self.spares.pop().unwrap_or_else(empty);
            let raw = input.bytes().get(self.raw_len..).and_then(|rest| rest.get(..guess.raw_len));
            done.raw.clear();
            done.raw.extend_from_slice(raw.unwrap_or_default());
            let backend = self.decoder.backend();
            workers.add(move |output| {
                output.give(decompress(done, guess.bytes_len, backend), 1);
            });
            self.units.push_back((self.tasks, guess.raw_len));
            self.tasks += 1;
            self.raw_len += guess.raw_len;
        }
        Ok(!self.units.is_empty())
    }

    /// The next unit, behind those that are under way: members until they are enough.
    fn guess(&self, input: &mut Input) -> Result<Option<Guess>> {
        let mut unit = Guess { raw_len: 0, bytes_len: 0 };
        while unit.raw_len < UNIT_RAW && unit.bytes_len < UNIT_BYTES {
            let start = self.raw_len + unit.raw_len;
            let Some(member) = self.guess_member(input, start)? else { break };
            if unit.raw_len > 0 && unit.bytes_len + member.bytes_len > UNIT_BYTES_MAX {
                break;
            }
            unit.raw_len += member.raw_len;
            unit.bytes_len += member.bytes_len;
        }
        Ok(Some(unit).filter(|unit| unit.raw_len > 0 && unit.bytes_len <= UNIT_BYTES_MAX))
    }

    /// The member that may begin `start` raw bytes from here.
    fn guess_member(&self, input: &mut Input, start: usize) -> Result<Option<Guess>> {
        let mut wanted = gzip::MEMBER_MIN;
        loop {
            let has_ended = look_ahead(input, start + wanted)?;
            let bytes = input.bytes().get(start..).unwrap_or_default();
            let found = match &self.decoder {
                MemberDecoder::Gzip(_) => gzip::guess_member(bytes, has_ended, self.passed > 0),
                MemberDecoder::Zstd(_) => zstd::guess_frame(bytes),
            };
            if let Some((raw_len, bytes_len)) = found {
                return Ok(Some(Guess { raw_len, bytes_len }));
            }
            if has_ended || wanted >= MEMBER_RAW_MAX || bytes.is_empty() {
                return Ok(None);
            }
            if self.decoder.is_gzip() && self.passed == 0 && gzip::block_size(bytes).is_none() {
                return Ok(None);
            }
            wanted = (wanted * 2).clamp(UNIT_RAW, MEMBER_RAW_MAX);
        }
    }
}

/// Reads until `count` raw bytes are there, or the input ends or cannot be read; says whether it ended. What cannot be read
/// is an error for whoever needs it.
fn look_ahead(input: &mut Input, count: usize) -> Result<bool> {
    match input.supply_ahead(count)? {
        Supply::Ready => Ok(false),
        Supply::Later | Supply::Ended => Ok(true),
    }
}

/// Decompresses a unit, which has to be whole: it begins and ends between members.
fn decompress(mut done: Done, len: usize, backend: Option<InflateBackend>) -> Done {
    let known = done.decoder.take();
    let Some(mut decoder) = known.or_else(|| MemberDecoder::new(backend).ok()) else {
        done.is_whole = false;
        return done;
    };
    done.bytes.clear();
    // Room for one byte more, so that a full buffer means that there is more than was thought.
    done.bytes.reserve(HEADROOM + len + 1);
    done.bytes.resize(HEADROOM, 0);
    let mut input = Input::whole(std::mem::take(&mut done.raw));
    let result = loop {
        match decoder.decode(&mut input, &mut done.bytes) {
            Ok(false) => break Ok(()),
            Ok(true) if done.bytes.len() < done.bytes.capacity() => {}
            Ok(true) if done.bytes.len() > HEADROOM + UNIT_BYTES_MAX => break Err(()),
            Ok(true) => done.bytes.reserve(done.bytes.len().max(UNIT_RAW)),
            Err(_) => break Err(()),
        }
    };
    done.is_whole = result.is_ok();
    done.raw = input.into_buffer();
    // A decoder that failed is of no use any more.
    done.decoder = result.ok().map(|()| decoder);
    done
}
