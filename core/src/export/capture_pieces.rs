//! A capture in files one after another, each of which is a whole capture and has its name when it is complete.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::capture_file::{CaptureFile, CaptureForm};
use super::capture_limits::CaptureLimits;
use super::output::OutputOptions;
use super::output_file::is_stream;
use super::piece_names::PieceNames;
use crate::capture::{BlockOptions, Encoder, Interface, WrittenFrame};
use crate::{Error, ErrorKind, Result};

/// Bytes of a record beside its frame and its options, at most.
const RECORD_OVERHEAD_MAX: u64 = 64;

/// Time after which a file that could not be made is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Files that wait for their names at most, each open.
const NAMELESS_MAX: usize = 16;

/// Receiver of news about the files while they are written.
pub trait PieceWatcher: Send {
    /// A file was begun, which has this name until it is complete, if it has one.
    fn begun(&mut self, hidden: Option<PathBuf>);

    /// The next file could not be made, or the last one not completed; the capture goes on.
    fn fault(&mut self, error: &Error);
}

/// A capture in files one after another.
///
/// Each has its name when it is complete. No packet is lost between two. A packet that comes late does not begin a file.
pub struct CapturePieces {
    names: PieceNames,
    rotation: CaptureLimits,
    options: OutputOptions,
    /// Bytes that each file begins with, and the encoder behind them.
    beginning: Vec<u8>,
    encoder: Encoder,
    piece: Option<OpenPiece>,
    /// Files that are written and could not get their names, as where their folder went away.
    nameless: Vec<OpenPiece>,
    /// The last of the complete files, where only so many are kept.
    complete: VecDeque<PathBuf>,
    kept_max: Option<u32>,
    /// Files that were begun.
    count: u64,
    /// True if a file that cannot be made does not end the capture.
    goes_on: bool,
    keeps_end: bool,
    tried_at: Option<Instant>,
    watcher: Option<Box<dyn PieceWatcher>>,
    name: String,
}

/// The file that is written.
struct OpenPiece {
    file: CaptureFile,
    path: PathBuf,
    packets: u64,
    /// End of its interval.
    end: Option<i64>,
}

impl CapturePieces {
    /// Writes a capture to files whose names `path` is the form of; the newest `kept_max` of them are kept, or all.
    ///
    /// # Errors
    /// `Argument` for a form that is none, and where something is there that is no file.
    pub fn create(
        path: &Path,
        rotation: CaptureLimits,
        kept_max: Option<u32>,
        options: &OutputOptions,
    ) -> Result<Self> {
        if is_stream(path) {
            let message =
                "expected the name of a file for a capture that is rotated, found something else";
            let error = Error::new(ErrorKind::Argument, message);
            return Err(error.in_file(&path.to_string_lossy()));
        }
        let (names, form) = (PieceNames::of(path)?, CaptureForm::of_name(path)?);
        Ok(CapturePieces {
            names,
            rotation,
            options: options.clone(),
            beginning: Vec::new(),
            encoder: Encoder::new(form.format),
            piece: None,
            nameless: Vec::new(),
            complete: VecDeque::new(),
            kept_max,
            count: 0,
            goes_on: false,
            keeps_end: false,
            tried_at: None,
            watcher: None,
            name: path.to_string_lossy().into_owned(),
        })
    }

    /// Has `watcher` told of the files.
    pub fn watch(&mut self, watcher: Box<dyn PieceWatcher>) {
        self.watcher = Some(watcher);
    }

    /// Returns the form of the names, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of files that were begun.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// As [`CaptureFile::keep_end`], for each of the files.
    pub(crate) fn keep_end(&mut self) {
        self.keeps_end = true;
    }

    /// Has the capture go on in the last file, where the next one cannot be made, and each have its name with `.part` behind it
    /// while it is written, so that a process that is killed leaves it.
    pub(crate) fn go_on(&mut self) {
        self.goes_on = true;
    }

    /// As [`Encoder::like`], for all files.
    pub fn like(&mut self, interface: &Interface) {
        self.encoder.like(interface);
    }

    /// Describes an interface, in this file and in all later ones.
    ///
    /// # Errors
    /// Those of [`Encoder::interface`].
    pub fn interface(
        &mut self,
        interface: &Interface,
        options: Option<BlockOptions<'_>>,
    ) -> Result<u32> {
        if let Some(piece) = &mut self.piece {
            piece.file.interface(interface, options)?;
        }
        let described = self.encoder.interface(&mut self.beginning, interface, options);
        described.map_err(|error| error.in_file(&self.name))
    }

    /// Appends a frame of an interface that was described, to the next file if it is time for it.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`], and for a file that cannot be made.
    #[inline]
    pub fn frame(&mut self, frame: &WrittenFrame<'_>) -> Result<()> {
        if self.is_over(frame)? {
            self.begin(frame)?;
        }
        match &mut self.piece {
            Some(piece) => {
                piece.packets += 1;
                piece.file.frame(frame)
            }
            None => Err(Error::internal("a packet before its file")),
        }
    }

    /// Returns true if the file ends before `frame`.
    #[inline]
    fn is_over(&mut self, frame: &WrittenFrame<'_>) -> Result<bool> {
        let Some(piece) = &mut self.piece else { return Ok(true) };
        let is_later = |(ts, end): (i64, i64)| ts >= end;
        if frame.ts.zip(piece.end).is_some_and(is_later)
            || self.rotation.packets.is_some_and(|most| piece.packets >= most)
        {
            return Ok(true);
        }
        let len = frame.captured.len() + frame.options.bytes().len();
        match self.rotation.bytes {
            Some(limit) => piece.file.is_full(len as u64 + RECORD_OVERHEAD_MAX, limit),
            None => Ok(false),
        }
    }

    /// Begins a file, and completes the one before it.
    #[cold]
    fn begin(&mut self, frame: &WrittenFrame<'_>) -> Result<()> {
        if self.tried_at.is_some_and(|at| at.elapsed() < RETRY) {
            return Ok(());
        }
        let next = self.next_piece(frame);
        if let (Err(error), true) = (&next, self.goes_on && self.piece.is_some()) {
            self.tried_at = Some(Instant::now());
            self.tell_fault(error);
            return Ok(());
        }
        self.tried_at = None;
        // Those that cannot yet are tried again.
        let _ = self.name_nameless();
        self.complete()?;
        let next = next?;
        if let Some(watcher) = &mut self.watcher {
            watcher.begun(next.file.hidden_path());
        }
        self.piece = Some(next);
        self.leave_oldest();
        Ok(())
    }

    fn next_piece(&mut self, frame: &WrittenFrame<'_>) -> Result<OpenPiece> {
        let ts = frame.ts.unwrap_or_default();
        let mut names = self.names.clone();
        let path = names.next(self.count + 1, ts);
        let mut file = CaptureFile::create(&path, &self.options)?;
        self.names = names;
        if self.keeps_end {
            file.keep_end();
        }
        if self.goes_on {
            file.show_part();
        }
        file.begin_like(&self.encoder, &self.beginning);
        self.count += 1;
        let end = frame.ts.and_then(|ts| self.rotation.end_of_interval(ts));
        Ok(OpenPiece { file, path, packets: 0, end })
    }

    /// Completes the file, if there is one. Where the capture goes on, one that cannot get its name waits for it, and one that the
    /// system does not take all of ends behind the last packet that it took; where not, it stays for [`CapturePieces::keep`].
    fn complete(&mut self) -> Result<()> {
        let Some(piece) = &mut self.piece else { return Ok(()) };
        let finished = piece.file.finish_writing();
        if !self.goes_on {
            finished.clone()?;
        }
        let Some(piece) = self.piece.take() else { return Ok(()) };
        match &finished {
            Ok(()) => self.note_complete(piece.path),
            Err(error) => {
                self.tell_fault(error);
                if piece.file.is_written() && self.nameless.len() < NAMELESS_MAX {
                    self.nameless.push(piece);
                } else if piece.file.keep().unwrap_or(false) {
                    self.note_complete(piece.path);
                }
            }
        }
        Ok(())
    }

    fn note_complete(&mut self, path: PathBuf) {
        if self.kept_max.is_some() {
            self.complete.push_back(path);
        }
    }

    /// Gives files their names that could not get them before, and returns the error of the last one that still cannot.
    fn name_nameless(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        for mut piece in std::mem::take(&mut self.nameless) {
            match piece.file.name_again() {
                Ok(()) => self.note_complete(piece.path),
                Err(error) => {
                    outcome = Err(error);
                    self.nameless.push(piece);
                }
            }
        }
        outcome
    }

    fn tell_fault(&mut self, error: &Error) {
        if let Some(watcher) = &mut self.watcher {
            watcher.fault(error);
        }
    }

    /// Deletes the oldest of the files, if only some are kept: the one that is written is one of them.
    fn leave_oldest(&mut self) {
        let Some(kept) = self.kept_max else { return };
        while self.complete.len() >= kept.max(1) as usize {
            // Somebody may have moved it away.
            let _ = self.complete.pop_front().map(std::fs::remove_file);
        }
    }

    /// Completes the file whose interval has ended by `now`, in nanoseconds since 1970, though no packet has come since.
    ///
    /// # Errors
    /// Those of [`CaptureFile::finish`].
    pub(crate) fn complete_by(&mut self, now: i64) -> Result<()> {
        let end = self.piece.as_ref().and_then(|piece| piece.end);
        if end.is_some_and(|end| now >= end) { self.complete() } else { Ok(()) }
    }

    /// As [`CaptureFile::flush`].
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.piece.as_mut().map_or(Ok(()), |piece| piece.file.flush())
    }

    /// Completes the last file.
    ///
    /// # Errors
    /// Those of [`CaptureFile::finish`].
    pub(crate) fn finish_writing(&mut self) -> Result<()> {
        // Nothing comes that it could go on with.
        self.goes_on = false;
        let named = self.name_nameless();
        self.complete().and(named)
    }

    /// As [`CaptureFile::keep`], of the last file.
    pub(crate) fn keep(mut self) -> Result<bool> {
        // The error that ended the capture is told.
        let _ = self.name_nameless();
        self.piece.map_or(Ok(false), |piece| piece.file.keep())
    }
}
