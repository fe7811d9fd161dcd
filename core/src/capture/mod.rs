//! Capture files, pcap and pcapng, decoded into records and encoded again, without I/O. The caller passes the bytes it has; the
//! [`Decoder`] returns the next record, or how many bytes it needs. An [`Encoder`] makes the bytes of a new capture.
//!
//! It is not a protocol decoder: [`packet`](crate::packet) decodes the content of a record.

mod encoder;
mod origin;
mod pcap;
mod pcapng;

pub use encoder::{Encoder, WrittenFrame};
pub use origin::{BlockOption, BlockOptions, RecordOrigin, Stamp};

use std::sync::Arc;

use crate::wire::Endian;
use crate::{Error, ErrorKind, Result};

// Bound (Captures): captured length = 256 KiB; 16 MiB for USB and D-Bus.
/// The longest record that is taken for one: what tcpdump and Wireshark allow. A longer claim is
/// damage, not data.
pub const CAPLEN_MAX: u32 = 262_144;

/// The longest record of USB and D-Bus, whose messages are longer than any network frame.
pub const CAPLEN_MAX_BUS: u32 = 16 << 20;

/// Link types with [`CAPLEN_MAX_BUS`]: Linux USB, D-Bus, USBPcap.
const BUS_LINK_TYPES: [u16; 4] = [189, 220, 231, 249];

/// One captured frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Time of capture in nanoseconds since the epoch, where the file keeps one that fits.
    pub ts: Option<i64>,
    /// True if the time in the file cannot be right.
    pub bad_time: bool,
    /// Bytes on the wire.
    pub length: u32,
    /// Link-layer type, without the bits for the frame check sequence.
    pub link_type: u16,
    /// Number of its interface in the section, from 0; pcap names none.
    pub interface: Option<u32>,
    /// The bytes that were captured.
    pub captured: &'a [u8],
}

/// Result of decoding the bytes in view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A frame; go on `consumed` bytes later.
    Record {
        /// The frame.
        record: Record<'a>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Nothing for the caller; go on that many bytes later, whether they are in view yet or not.
    Skip(u64),
    /// Too few bytes in view: show at least that many, from the same place.
    Need(usize),
    /// The capture ends here, whole.
    End,
}

/// Format of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The classic format of libpcap (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-03.html>).
    Pcap,
    /// Blocks and sections (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html>).
    Pcapng,
}

impl Format {
    /// Its name, in small letters.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Pcap => "pcap",
            Format::Pcapng => "pcapng",
        }
    }
}

/// Interface that frames were captured from: pcapng names several, pcap has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, where the file says it; at most 255 bytes of it.
    pub name: Option<Arc<str>>,
    /// Link-layer type of its frames.
    pub link_type: u16,
    /// Bytes at which its frames are cut, 0 for no cut.
    pub snaplen: u32,
    /// The unit of its timestamps.
    pub clock: Clock,
}

impl Interface {
    /// The longest frame that is believed.
    fn caplen_max(&self) -> u32 {
        if BUS_LINK_TYPES.contains(&self.link_type) { CAPLEN_MAX_BUS } else { CAPLEN_MAX }
    }

    /// Refuses a captured length above what any frame has.
    #[inline]
    pub(crate) fn check_caplen(&self, caplen: u32) -> Result<()> {
        if caplen > self.caplen_max() {
            let limit = self.caplen_max().into();
            return Err(Error::limit("a captured length", limit, caplen.into()));
        }
        Ok(())
    }
}

/// Scale of timestamps: units per second and the second they count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Units in a second.
    pub unit: ClockUnit,
    /// Seconds to add.
    pub offset: i64,
}

/// Length of one unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockUnit {
    /// 10 to the power of minus this many seconds.
    Decimal(u8),
    /// 2 to the power of minus this many seconds.
    Binary(u8),
}

impl ClockUnit {
    /// The unit that the option `if_tsresol` of pcapng means: the highest bit tells binary from decimal.
    fn of_option(resolution: u8) -> ClockUnit {
        match resolution & 0x7f {
            bits if resolution & 0x80 != 0 => ClockUnit::Binary(bits),
            digits => ClockUnit::Decimal(digits),
        }
    }
}

impl std::fmt::Display for ClockUnit {
    /// `s`, `ms`, `us` or `ns` where the unit has a name, else the power of seconds that it is.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClockUnit::Decimal(0) => f.write_str("s"),
            ClockUnit::Decimal(3) => f.write_str("ms"),
            ClockUnit::Decimal(6) => f.write_str("us"),
            ClockUnit::Decimal(9) => f.write_str("ns"),
            ClockUnit::Decimal(digits) => write!(f, "10^-{digits} s"),
            ClockUnit::Binary(bits) => write!(f, "2^-{bits} s"),
        }
    }
}

impl Clock {
    /// Microseconds since the epoch, the default of both formats.
    pub const MICROSECONDS: Clock = Clock { unit: ClockUnit::Decimal(6), offset: 0 };
    /// Nanoseconds since the epoch.
    pub const NANOSECONDS: Clock = Clock { unit: ClockUnit::Decimal(9), offset: 0 };

    /// `units` of this clock as nanoseconds since the epoch, `None` where that leaves 64 bits.
    #[inline]
    fn nanoseconds(self, units: u64) -> Option<i64> {
        const PER_SECOND: u128 = 1_000_000_000;
        let since_offset: i64 = match self.unit {
            ClockUnit::Decimal(6) => i64::try_from(units).ok()?.checked_mul(1000)?,
            ClockUnit::Decimal(9) => i64::try_from(units).ok()?,
            ClockUnit::Decimal(digits) => {
                let per_second = 10u128.checked_pow(digits.into());
                let scaled = u128::from(units) * PER_SECOND;
                per_second.map_or(Ok(0), |unit| i64::try_from(scaled / unit)).ok()?
            }
            ClockUnit::Binary(bits) => {
                let scaled = u128::from(units) * PER_SECOND;
                i64::try_from(scaled.checked_shr(bits.into()).unwrap_or(0)).ok()?
            }
        };
        self.offset.checked_mul(1_000_000_000)?.checked_add(since_offset)
    }

    /// `units` of this clock moved by so many nanoseconds, down to a whole unit; `None` where the clock has no such time.
    pub(crate) fn moved(self, units: u64, nanoseconds: i64) -> Option<u64> {
        let per_second = match self.unit {
            ClockUnit::Decimal(digits) => 10_i128.checked_pow(digits.into())?,
            ClockUnit::Binary(bits) => {
                1_i128.checked_shl(bits.into()).filter(|units| *units > 0)?
            }
        };
        let moved = i128::from(nanoseconds).checked_mul(per_second)?.div_euclid(1_000_000_000);
        u64::try_from(i128::from(units).checked_add(moved)?).ok()
    }
}

/// Takes a capture apart, one step at a time.
///
/// ```
/// use bytewright::capture::{Decoder, Step};
/// let mut file: &[u8] = &[
///     0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
///     10, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, b'a', b'b', b'c',
/// ];
/// let mut decoder = Decoder::new();
/// loop {
///     match decoder.step(file, true)? {
///         Step::Record { record, consumed } => {
///             assert_eq!(record.ts, Some(10_000_005_000));
///             assert_eq!((record.captured, record.length), (&b"abc"[..], 60));
///             file = &file[consumed..];
///         }
///         Step::Skip(count) => file = &file[count as usize..],
///         Step::Need(_) => unreachable!("the whole file is in view"),
///         Step::End => break,
///     }
/// }
/// # Ok::<(), bytewright::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    /// Bytes from the start of the capture to the place of the next step.
    offset: u64,
    state: DecoderState,
}

#[derive(Debug, Clone, Default)]
enum DecoderState {
    #[default]
    Start,
    Pcap(pcap::Pcap),
    Pcapng(pcapng::Pcapng),
}

impl Decoder {
    /// A decoder at the first byte of a capture of either format.
    pub fn new() -> Self {
        Decoder::default()
    }

    /// Decodes the bytes at the present place. `at_end` says that no more bytes follow `input`.
    ///
    /// # Errors
    /// `Format`, `Truncated` or `Limit` with the offset, if the bytes are no capture or break off.
    /// Every record before that place was returned; the same error follows on later calls.
    #[inline(always)]
    pub fn step<'a>(&mut self, input: &'a [u8], at_end: bool) -> Result<Step<'a>> {
        // A pcap record in view is by far the most frequent case, and must not pay for the others.
        if let DecoderState::Pcap(pcap) = &self.state
            && let Some(record) = pcap.record_in_view(input)
        {
            let consumed = pcap.record_header_len() + record.captured.len();
            self.offset += consumed as u64;
            return Ok(Step::Record { record, consumed });
        }
        self.any_step(input, at_end)
    }

    /// [`Decoder::step`] for everything else.
    fn any_step<'a>(&mut self, input: &'a [u8], at_end: bool) -> Result<Step<'a>> {
        let step = match &mut self.state {
            DecoderState::Pcap(pcap) => pcap.no_record_in_view(input),
            DecoderState::Pcapng(pcapng) => pcapng.step(input),
            DecoderState::Start => self.start(input, at_end),
        };
        match step {
            Ok(Step::Need(needed)) if at_end => self.end(input.len(), needed),
            Ok(step) => {
                self.offset += match step {
                    Step::Record { consumed, .. } => consumed as u64,
                    Step::Skip(count) => count,
                    Step::Need(_) | Step::End => 0,
                };
                Ok(step)
            }
            Err(error) => Err(error.at(self.offset)),
        }
    }

    /// Makes the next step that of a record at `offset`: in a pcap file, where records stand by themselves, or in a section
    /// whose interfaces were seen.
    pub(crate) fn go_to_record(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// Returns the parts, beside its frame, of the record whose bytes `raw` [`Decoder::step`] has just taken.
    pub fn origin<'a>(&self, raw: &'a [u8]) -> RecordOrigin<'a> {
        match &self.state {
            DecoderState::Pcapng(pcapng) => origin::of_pcapng(raw, pcapng.endian),
            DecoderState::Pcap(pcap) => origin::of_pcap(raw, pcap.endian),
            DecoderState::Start => origin::of_pcap(&[], Endian::Little),
        }
    }

    /// A section header like that of the section that is being read, without options; nothing in a pcap file.
    pub(crate) fn section_header(&self) -> Vec<u8> {
        match &self.state {
            DecoderState::Pcapng(pcapng) => pcapng.section_header_block(),
            DecoderState::Pcap(_) | DecoderState::Start => Vec::new(),
        }
    }

    /// The interface that the block describes over which [`Decoder::step`] has just gone, with its options; none where it
    /// is another block.
    pub fn described<'a>(&self, raw: &'a [u8]) -> Option<(&Interface, BlockOptions<'a>)> {
        match &self.state {
            DecoderState::Pcapng(pcapng) => pcapng.described(raw),
            DecoderState::Pcap(_) | DecoderState::Start => None,
        }
    }

    /// The format, once its first bytes were seen.
    pub fn format(&self) -> Option<Format> {
        match self.state {
            DecoderState::Start => None,
            DecoderState::Pcap(_) => Some(Format::Pcap),
            DecoderState::Pcapng(_) => Some(Format::Pcapng),
        }
    }

    /// Returns true if the header was read whole: the file header of a pcap file, the first section
    /// header of a pcapng file. An input that ends or fails before is no capture.
    pub fn has_header(&self) -> bool {
        self.sections() > 0
    }

    /// Version of the format, major and minor, as the file states it.
    pub fn version(&self) -> Option<(u16, u16)> {
        match &self.state {
            DecoderState::Start => None,
            DecoderState::Pcap(pcap) => Some(pcap.version),
            DecoderState::Pcapng(pcapng) => Some(pcapng.version),
        }
    }

    /// Byte order of the file, or of the section that is being read.
    pub fn endian(&self) -> Option<Endian> {
        match &self.state {
            DecoderState::Start => None,
            DecoderState::Pcap(pcap) => Some(pcap.endian),
            DecoderState::Pcapng(pcapng) => Some(pcapng.endian),
        }
    }

    /// The interfaces of the file, or those seen so far in the section that is being read.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.state {
            DecoderState::Start => &[],
            DecoderState::Pcap(pcap) => std::slice::from_ref(&pcap.interface),
            DecoderState::Pcapng(pcapng) => &pcapng.interfaces,
        }
    }

    /// Sections begun so far; a pcap file is one.
    pub fn sections(&self) -> u64 {
        match &self.state {
            DecoderState::Start => 0,
            DecoderState::Pcap(_) => 1,
            DecoderState::Pcapng(pcapng) => pcapng.sections,
        }
    }

    /// Reads the header of a pcap file, or sees the first block of a pcapng file.
    fn start<'a>(&mut self, input: &'a [u8], at_end: bool) -> Result<Step<'a>> {
        let Some(magic) = input.first_chunk::<4>() else { return Ok(Step::Need(4)) };
        if pcapng::is_section_header(*magic) {
            self.state = DecoderState::Pcapng(pcapng::Pcapng::default());
            return Ok(Step::Skip(0));
        }
        let Some(layout) = pcap::PcapLayout::of(*magic) else {
            if input.len() < KNOWN_MAGIC_LEN && !at_end {
                return Ok(Step::Need(KNOWN_MAGIC_LEN));
            }
            return Err(Error::format("a pcap or pcapng capture", described(input)));
        };
        let Some(header) = input.first_chunk::<{ pcap::FILE_HEADER_LEN }>() else {
            return Ok(Step::Need(pcap::FILE_HEADER_LEN));
        };
        self.state = DecoderState::Pcap(pcap::Pcap::new(layout, *header)?);
        Ok(Step::Skip(pcap::FILE_HEADER_LEN as u64))
    }

    /// The input ends where `needed` bytes are wanted: whole if nothing is left over.
    fn end(&self, available: usize, needed: usize) -> Result<Step<'static>> {
        let what = match &self.state {
            DecoderState::Start => "a capture file header",
            DecoderState::Pcap(_) if available == 0 => return Ok(Step::End),
            DecoderState::Pcap(_) if needed == pcap::RECORD_HEADER_LEN => "a packet record header",
            DecoderState::Pcap(_) => "a packet record",
            DecoderState::Pcapng(pcapng) if available == 0 && pcapng.is_between_blocks() => {
                return Ok(Step::End);
            }
            DecoderState::Pcapng(pcapng) if pcapng.is_between_blocks() => "a block",
            DecoderState::Pcapng(_) => "the length at the end of a block",
        };
        Err(Error::truncated(what, needed as u64, available as u64).at(self.offset))
    }
}

/// Bytes that tell what a file of another format is.
const KNOWN_MAGIC_LEN: usize = 12;

/// Describes unknown first bytes, for the error that refuses them.
fn described(input: &[u8]) -> String {
    const KNOWN: [(&[u8], &str); 5] = [
        (b"snoop\0\0\0", "a snoop capture"),
        (b"\x52\x54\x53\x53", "a Microsoft Network Monitor 1 capture"),
        (b"GMBU", "a Microsoft Network Monitor 2 capture"),
        (b"TRSNIFF data", "a Sniffer capture"),
        (b"\x1f\x8b", "gzip data inside the compressed file"),
    ];
    let name = KNOWN.iter().find(|(magic, _)| input.starts_with(magic));
    if let Some((_, name)) = name {
        return (*name).to_owned();
    }
    let first = input.get(..KNOWN_MAGIC_LEN).unwrap_or(input);
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if first.len() > 3 && first.iter().all(is_text) {
        return format!("text, {:?}", String::from_utf8_lossy(first));
    }
    let bytes: Vec<String> = input.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("bytes {}", bytes.join(" "))
}

/// An error for a field whose value the format does not allow.
fn unexpected(expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Format, format!("expected {expected}, found {found}"))
}
