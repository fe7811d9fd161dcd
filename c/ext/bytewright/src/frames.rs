//! Packets one by one, with their bytes.

use std::cell::{OnceCell, RefCell};
use std::mem::MaybeUninit;

use bytewright::ask::{Answer, Question};
use bytewright::batch::Value;
use bytewright::host::Item;
use bytewright::input::FrameBatch;
use bytewright::packet::Field;
use bytewright::{Error, ErrorKind, Result};

use crate::buffer::{bw_slice, free, given, handle, held};
use crate::capture::bw_capture;
use crate::error::{bw_error, bw_status, guard};
use crate::in_use::{self, RunsProgram};
use crate::rows::{Reading, begin};
use crate::table::found;
use crate::value::bw_value;

/// Packets with their bytes: at a packet, before the first, or after the last. One thread at a time may use it.
pub struct bw_frames {
    position: RefCell<Position>,
}

impl RunsProgram for bw_frames {}

impl bw_frames {
    fn handle_of(reading: Reading) -> *mut bw_frames {
        let (batch, texts) = (FrameBatch::new(), OnceCell::new());
        handle(bw_frames {
            position: RefCell::new(Position { reading, batch, place: None, texts }),
        })
    }
}

/// The packet that frames are at.
struct Position {
    reading: Reading,
    batch: FrameBatch,
    /// The place of the packet in the batch; none before the first and after the last.
    place: Option<usize>,
    /// Texts of the packet that somebody asked for, by the places of their fields: no batch keeps them.
    texts: OnceCell<Vec<OnceCell<Box<str>>>>,
}

impl Position {
    /// Moves to the next packet, and says whether there is one.
    fn next(&mut self) -> Result<bool> {
        self.texts.take();
        let next = self.place.map_or(0, |place| place + 1);
        if next < self.batch.len() {
            self.place = Some(next);
            return Ok(true);
        }
        self.place = None;
        let used = std::mem::take(&mut self.batch);
        self.reading.rows.recycle(Item::Answer(Answer::Frames(used)));
        let Some(Item::Answer(Answer::Frames(batch))) = self.reading.next()? else {
            return Ok(false);
        };
        self.batch = batch;
        self.place = (!self.batch.is_empty()).then_some(0);
        Ok(self.place.is_some())
    }

    /// The value of the packet's field at a place, which stays until the next packet.
    fn value(&self, place: usize) -> Value<'_> {
        let Some(frame) = self.place.and_then(|at| self.batch.frame(at)) else {
            return Value::Null;
        };
        let value = frame.value_at(place);
        match value.text() {
            Some(text) => self.kept(place, text),
            None => value.to_static().unwrap_or(Value::Null),
        }
    }

    fn kept(&self, place: usize, text: &str) -> Value<'_> {
        let empty = || (0..Field::ALL.len()).map(|_| OnceCell::new()).collect();
        let kept = self.texts.get_or_init(empty).get(place);
        kept.map_or(Value::Null, |kept| Value::Text(kept.get_or_init(|| text.into())))
    }
}

/// Begins to read packets with their bytes, of `count` captures, each behind the one before: before the first packet. Free it
/// with `bw_frames_free`. For many packets of which a few fields are wanted, `bw_capture_packets` is faster.
///
/// # Safety
/// `captures` points to `count` handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_frames(
    captures: *const *mut bw_capture,
    count: usize,
    out: Option<&mut MaybeUninit<*mut bw_frames>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the frames")?;
        // SAFETY: the caller's promise about `captures`.
        let (reading, _) = unsafe { begin(captures, count, Question::Frames) }?;
        out.write(bw_frames::handle_of(reading));
        Ok(bw_status::Ok)
    })
}

/// Begins to read the packet with a number, from 1, of a capture: as `bw_capture_frames` does, but with that packet alone, or none
/// where the capture has fewer. The capture is read up to there, or only a part of it where it has an index.
///
/// # Safety
/// `capture` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_frame(
    capture: *mut bw_capture,
    number: u64,
    out: Option<&mut MaybeUninit<*mut bw_frames>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the frames")?;
        // SAFETY: the caller's promise about `capture`.
        let (reading, _) = unsafe { begin(&raw const capture, 1, Question::Frame(number)) }?;
        out.write(bw_frames::handle_of(reading));
        Ok(bw_status::Ok)
    })
}

/// Moves to the next packet; `BW_STATUS_NONE` after the last. An error comes after all packets before it.
///
/// # Safety
/// `frames` is a handle, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_frames_next(frames: *mut bw_frames, error: *mut bw_error) -> bw_status {
    let work = |frames: &bw_frames| frames.position.borrow_mut().next().map(found);
    // SAFETY: the caller's promises about `frames` and `error`.
    unsafe { in_use::call(frames, "frames", error, work) }
}

/// The bytes of the packet that were captured, from the link layer on. `BW_STATUS_NONE` where there is no packet.
#[unsafe(no_mangle)]
pub extern "C" fn bw_frames_captured(
    frames: Option<&bw_frames>,
    bytes: Option<&mut MaybeUninit<bw_slice>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    slice_of(frames, bytes, error, FrameBatch::captured)
}

/// The captured bytes of the packet behind its transport header. `BW_STATUS_NONE` where there is no packet or it has none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_frames_payload(
    frames: Option<&bw_frames>,
    bytes: Option<&mut MaybeUninit<bw_slice>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    slice_of(frames, bytes, error, FrameBatch::payload)
}

fn slice_of(
    frames: Option<&bw_frames>,
    bytes: Option<&mut MaybeUninit<bw_slice>>,
    error: Option<&mut bw_error>,
    of: impl FnOnce(&FrameBatch, usize) -> Option<&[u8]>,
) -> bw_status {
    guard(error, || {
        let at = held(frames, "frames")?.position.borrow();
        let out = given(bytes, "a place for the bytes")?;
        let Some(found) = at.place.and_then(|place| of(&at.batch, place)) else {
            return Ok(bw_status::None);
        };
        out.write(bw_slice::of(found));
        Ok(bw_status::Ok)
    })
}

/// The value of the packet's field at `place` of the schema "packets" (`bw_schema_named`). `BW_STATUS_NONE` where the packet
/// has no such field, or there is no packet.
#[unsafe(no_mangle)]
pub extern "C" fn bw_frames_value(
    frames: Option<&bw_frames>,
    place: usize,
    value: Option<&mut MaybeUninit<bw_value>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let at = held(frames, "frames")?.position.borrow();
        let out = given(value, "a place for the value")?;
        if place >= Field::ALL.len() {
            let message = format!("expected a field below {}, found {place}", Field::ALL.len());
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(out.write(bw_value::of(at.value(place))).status())
    })
}

/// Frees frames, and ends what reads them. Null is allowed.
///
/// # Safety
/// `frames` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_frames_free(frames: *mut bw_frames) {
    // SAFETY: the caller's promise; what they drop is memory, and a thread that is told to end.
    unsafe { free(frames) };
}
