//! A capture that is written: to a file that is whole or not there, or to a pipe as its packets come. Compressed, it is in
//! members of gzip, or frames of zstd and their seek table, each of whole records.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::compressor::Compressor;
use super::output::OutputOptions;
use super::output_file::OutputFile;
use crate::bytes::Compression;
use crate::capture::{BlockOptions, Clock, Encoder, Format, Interface, Stamp, WrittenFrame};
use crate::files::FileWriter;
use crate::{Error, ErrorKind, Result};

/// Bytes of the capture that are gathered before they go on.
const GATHERED: usize = 256 << 10;

/// Format and compression of a capture that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureForm {
    /// pcap or pcapng.
    pub format: Format,
    /// Compression of the file.
    pub compression: Compression,
}

impl CaptureForm {
    /// pcapng, not compressed: what goes to a pipe that has no name.
    pub const PCAPNG: CaptureForm =
        CaptureForm { format: Format::Pcapng, compression: Compression::None };

    /// Returns the form that the name of a file asks for: `.pcap` or `.pcapng`, with `.gz` or `.zst` behind it or not.
    ///
    /// # Errors
    /// `Argument` for any other name.
    pub fn of_name(path: &Path) -> Result<Self> {
        let name = path.to_string_lossy();
        let (stem, compression) = match () {
            () if name.ends_with(".gz") => (&name[..name.len() - 3], Compression::Gzip),
            () if name.ends_with(".zst") => (&name[..name.len() - 4], Compression::Zstd),
            () => (&*name, Compression::None),
        };
        let format = match () {
            () if stem.ends_with(".pcap") => Format::Pcap,
            () if stem.ends_with(".pcapng") => Format::Pcapng,
            () => {
                let message = "expected the name of a capture to write, which ends in .pcap or .pcapng, with .gz or \
                               .zst behind it to compress it";
                return Err(Error::new(ErrorKind::Argument, message).in_file(&name));
            }
        };
        Ok(CaptureForm { format, compression })
    }
}

/// A capture that is written, packet by packet.
///
/// ```
/// use bytewright::capture::{Format, Interface, Clock, BlockOptions, Stamp, WrittenFrame};
/// use bytewright::export::{CaptureFile, OutputOptions};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}.pcapng.gz", std::process::id()));
/// let mut file = CaptureFile::create(&path, &OutputOptions::default())?;
/// file.packet(Some(1_700_000_000_000_000_000), 60, 1, b"\x02 the first bytes of a frame")?;
/// file.finish()?;
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub struct CaptureFile {
    form: CaptureForm,
    encoder: Encoder,
    compressor: Compressor,
    /// Bytes of the capture, and the same compressed.
    gathered: Vec<u8>,
    packed: Vec<u8>,
    /// True if the compressor may hold bytes back.
    holds_back: bool,
    output: OutputFile,
    /// State of the end of the file, if that is kept even when the system takes no more.
    kept: Option<KeptEnd>,
    has_frames: bool,
    /// Name that a file has as soon as packets are in it.
    early: EarlyName,
    /// The interfaces of packets that name none, one for each link type.
    plain: Vec<(u16, u32)>,
    /// Error that every call returns from now on.
    failure: Option<Error>,
}

/// The end of a file that was not finished, from where it can be finished.
#[derive(Default)]
struct KeptEnd {
    /// Offset of the member that is being compressed: a gzip member or a zstd frame.
    start: u64,
    /// Content of the member: whole records that are not compressed.
    member: Vec<u8>,
}

/// Name of a file that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlyName {
    None,
    /// The name of the whole.
    Whole,
    /// That name with `.part` behind it.
    Part,
}

impl KeptEnd {
    /// Ends the file behind the last record that the system took, where it refused `packed`; says whether there is one.
    fn end(&self, form: CaptureForm, packed: &[u8], writer: &mut FileWriter) -> Result<bool> {
        let (start, mut end) = match form.compression {
            Compression::None => {
                let start = writer.position(0);
                let taken = usize::try_from(writer.len()?.saturating_sub(start)).unwrap_or(0);
                let taken = packed.get(..taken).unwrap_or(packed);
                (start + Encoder::whole_len(form.format, start == 0, taken) as u64, Vec::new())
            }
            _ => {
                let room = writer.len()?.saturating_sub(self.start);
                (self.start, self.member_within(form, room)?)
            }
        };
        writer.truncate(start)?;
        if writer.write(&mut end).is_err() {
            writer.truncate(start)?;
        }
        if writer.position(0) == 0 {
            return Ok(false);
        }
        writer.finish().map(|()| true)
    }

    /// As many records of the member, from the first on, as are at most `room` bytes once they are compressed.
    fn member_within(&self, form: CaptureForm, room: u64) -> Result<Vec<u8>> {
        let mut count = self.member.len();
        loop {
            let taken = self.member.get(..count).unwrap_or(&self.member);
            count = Encoder::whole_len(form.format, self.start == 0, taken);
            if count == 0 {
                return Ok(Vec::new());
            }
            let (mut compressor, mut packed) = (Compressor::new(form.compression)?, Vec::new());
            compressor.push(&mut self.member[..count].to_vec(), &mut packed)?;
            compressor.finish(&mut packed)?;
            if packed.len() as u64 <= room {
                return Ok(packed);
            }
            // Fewer by what did not fit, and by a sixteenth at least, so that it comes to an end.
            let fitting = (count as u64 * room / packed.len() as u64) as usize;
            count = fitting.min(count - count.div_ceil(16));
        }
    }
}

impl CaptureFile {
    /// Writes a capture that takes the place of the file at `path` when [`CaptureFile::finish`] is called, in the form
    /// that the name asks for. What is there and no regular file, such as a named pipe, is written as packets come.
    ///
    /// # Errors
    /// Those of [`CaptureForm::of_name`]; `Io` where no file can be made there; `Argument` where `options` do not allow to
    /// replace what is there.
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        let form = CaptureForm::of_name(path)?;
        Self::new(form, OutputFile::create(path, options)?)
    }

    /// Writes a capture to a stream, as packets come; `name` is what errors call it.
    ///
    /// # Errors
    /// `Internal` where the compressor cannot be set up.
    pub fn to_stream(form: CaptureForm, stream: Box<dyn Write + Send>, name: &str) -> Result<Self> {
        Self::new(form, OutputFile::to_stream(stream, name))
    }

    fn new(form: CaptureForm, output: OutputFile) -> Result<Self> {
        Ok(CaptureFile {
            form,
            encoder: Encoder::new(form.format),
            compressor: Compressor::new(form.compression)?,
            gathered: Vec::with_capacity(GATHERED + GATHERED / 4),
            packed: Vec::new(),
            holds_back: false,
            output,
            kept: None,
            has_frames: false,
            early: EarlyName::None,
            plain: Vec::new(),
            failure: None,
        })
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.encoder.format()
    }

    /// Returns its name for people.
    pub fn name(&self) -> &str {
        self.output.name()
    }

    /// As [`FileWriter::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.output.hidden_path()
    }

    /// As [`Encoder::like`].
    pub fn like(&mut self, interface: &Interface) {
        self.encoder.like(interface);
    }

    /// Describes an interface, as [`Encoder::interface`] does.
    ///
    /// # Errors
    /// Those of [`Encoder::interface`].
    pub fn interface(
        &mut self,
        interface: &Interface,
        options: Option<BlockOptions<'_>>,
    ) -> Result<u32> {
        let described = self.encoder.interface(&mut self.gathered, interface, options);
        described.map_err(|error| error.in_file(self.output.name()))
    }

    /// Appends a frame of an interface that was described.
    ///
    /// # Errors
    /// Those of [`Encoder::frame`]; what the system did not take, which comes again from then on.
    #[inline]
    pub fn frame(&mut self, frame: &WrittenFrame<'_>) -> Result<()> {
        if self.gather(frame)? { self.write_gathered() } else { Ok(()) }
    }

    /// Appends a frame without any I/O; returns true if [`CaptureFile::write_gathered`] is to be called now.
    ///
    /// # Errors
    /// Those of [`Encoder::frame`].
    #[inline]
    pub(crate) fn gather(&mut self, frame: &WrittenFrame<'_>) -> Result<bool> {
        if let Err(error) = self.encoder.frame(&mut self.gathered, frame) {
            return Err(error.in_file(self.output.name()));
        }
        self.has_frames = true;
        Ok(self.gathered.len() >= GATHERED)
    }

    /// Appends a packet by its time in nanoseconds since 1970, its bytes on the wire, its link type (LINKTYPE_ number, 1
    /// Ethernet) and the bytes that were captured.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub fn packet(
        &mut self,
        ts: Option<i64>,
        length: u32,
        link_type: u16,
        captured: &[u8],
    ) -> Result<()> {
        let interface = match self.plain.iter().find(|(known, _)| *known == link_type) {
            Some((_, number)) => *number,
            None => {
                let clock = Clock::NANOSECONDS;
                let new = Interface { name: None, link_type, snaplen: 0, clock };
                let number = self.interface(&new, None)?;
                self.plain.push((link_type, number));
                number
            }
        };
        let stamp = ts.map_or(Stamp::Missing, Stamp::Nanoseconds);
        let options = BlockOptions::NONE;
        self.frame(&WrittenFrame { interface, stamp, ts, length, captured, options })
    }

    /// Hands on what is gathered, so that the reader of a pipe has it.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub fn flush(&mut self) -> Result<()> {
        if self.gathered.is_empty() && !self.holds_back {
            return Ok(());
        }
        self.attempt(|file| {
            file.holds_back = false;
            file.compress()?;
            file.compressor.flush(&mut file.packed)?;
            file.write_packed()?;
            file.end_member()
        })
    }

    /// Writes what is left. A file has its name now, once it would survive a power cut.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub fn finish(mut self) -> Result<()> {
        self.finish_writing()
    }

    /// Finishes the file as [`CaptureFile::finish`] does. Nothing can be appended afterwards.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub(crate) fn finish_writing(&mut self) -> Result<()> {
        self.encoder.finish(&mut self.gathered);
        self.attempt(|file| {
            file.compress()?;
            file.compressor.finish(&mut file.packed)?;
            file.write_packed()?;
            file.output.finish()
        })
    }

    /// Hands on what [`CaptureFile::gather`] gathered.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub(crate) fn write_gathered(&mut self) -> Result<()> {
        self.attempt(|file| {
            file.holds_back = true;
            file.compress()?;
            if file.packed.len() >= GATHERED {
                file.write_packed()?;
            }
            file.end_member()
        })
    }

    /// Has the end of the file kept by [`CaptureFile::keep`], should the system take no more. To be called before the first
    /// packet.
    pub(crate) fn keep_end(&mut self) {
        self.kept = Some(KeptEnd::default());
    }

    /// Has the file get its name, where that is free, as soon as it has packets, and not only at its end. To be called
    /// before the first packet.
    pub(crate) fn show_early(&mut self) {
        self.early = EarlyName::Whole;
    }

    /// Has the file have its name with `.part` behind it from its first packets to its end. To be called before the first
    /// packet.
    pub(super) fn show_part(&mut self) {
        self.early = EarlyName::Part;
    }

    /// Ends a file that [`CaptureFile::keep_end`] was called for, whatever failed, behind the last packet that the system
    /// took, and gives it its name; says whether there is one now, which holds packets.
    ///
    /// # Errors
    /// Failure of the system even then.
    pub(crate) fn keep(mut self) -> Result<bool> {
        let Some(kept) = self.kept.as_mut().filter(|_| self.has_frames) else { return Ok(false) };
        let kept = std::mem::take(kept);
        if self.failure.is_none() && self.finish_writing().is_ok() {
            return Ok(true);
        }
        match self.output.writer() {
            Some(writer) => kept.end(self.form, &self.packed, writer),
            None => Ok(false),
        }
    }

    /// Returns true if all bytes of a file are written, and only its name may be missing.
    pub(super) fn is_written(&self) -> bool {
        self.gathered.is_empty() && self.packed.is_empty()
    }

    /// Gives a file that is written its name, once more after that failed.
    pub(super) fn name_again(&mut self) -> Result<()> {
        self.output.finish()
    }

    /// Begins as another one of the same form does: `beginning`, and the state of its encoder behind that.
    pub(super) fn begin_like(&mut self, encoder: &Encoder, beginning: &[u8]) {
        self.encoder = encoder.clone();
        self.gathered.extend_from_slice(beginning);
    }

    /// Returns true if the file would be longer than `limit` with `more` bytes, as far as that can be told of what is not
    /// compressed yet: an eighth shorter, and never longer.
    ///
    /// # Errors
    /// Those of [`CaptureFile::frame`].
    pub(super) fn is_full(&mut self, more: u64, limit: u64) -> Result<bool> {
        if self.len_max() + more <= limit {
            return Ok(false);
        }
        if self.form.compression == Compression::None || !self.has_frames {
            return Ok(self.has_frames);
        }
        // Compressed, it is shorter.
        self.attempt(|file| {
            file.compress()?;
            file.end_member_here()
        })?;
        Ok(self.len_max() + more > limit - limit / 8)
    }

    /// Returns the most bytes that the file can have so far.
    fn len_max(&self) -> u64 {
        let written = self.output.position(self.packed.len());
        written + self.compressor.held_max() + self.gathered.len() as u64
    }

    /// Compresses what is gathered.
    fn compress(&mut self) -> Result<()> {
        if let Some(kept) = &mut self.kept
            && self.form.compression != Compression::None
        {
            kept.member.extend_from_slice(&self.gathered);
        }
        self.compressor.push(&mut self.gathered, &mut self.packed)
    }

    /// Ends a member once it is long: others can be read beside it, and few bytes depend on it.
    fn end_member(&mut self) -> Result<()> {
        if self.compressor.has_long_member() { self.end_member_here() } else { Ok(()) }
    }

    fn end_member_here(&mut self) -> Result<()> {
        self.compressor.end_member(&mut self.packed)?;
        self.write_packed()?;
        self.holds_back = false;
        if let Some(kept) = &mut self.kept {
            kept.start = self.output.position(0);
            kept.member.clear();
        }
        Ok(())
    }

    fn write_packed(&mut self) -> Result<()> {
        self.output.write(&mut self.packed)?;
        if self.has_frames
            && let Some(writer) = self.output.writer()
        {
            match std::mem::replace(&mut self.early, EarlyName::None) {
                EarlyName::None => {}
                EarlyName::Whole => writer.show(),
                EarlyName::Part => writer.show_part(),
            }
        }
        Ok(())
    }

    /// Does `work`, unless something failed before.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let outcome = work(self);
        self.failure = outcome.as_ref().err().cloned();
        outcome
    }
}
