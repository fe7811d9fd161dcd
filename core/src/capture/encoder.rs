//! Captures as bytes, pcap and pcapng, without any I/O: the caller writes what the [`Encoder`] appends.
//!
//! Numbers are little-endian. A pcapng file is one section; each interface is described before its first frame.

use super::origin::{BlockOptions, Stamp};
use super::pcapng::{block, padded};
use super::{CAPLEN_MAX, Clock, ClockUnit, Format, Interface};
use crate::wire::Endian;
use crate::{Error, ErrorKind, Result};

/// Interfaces that a file may describe.
const INTERFACES_MAX: usize = 65_536;

/// Bytes before the first record of a pcap file, and before the frame of each.
const PCAP_HEADER_LEN: usize = 24;
const PCAP_RECORD_HEADER_LEN: usize = 16;

/// A frame to be written.
#[derive(Debug, Clone, Copy)]
pub struct WrittenFrame<'a> {
    /// The interface, by the number that [`Encoder::interface`] answered.
    pub interface: u32,
    /// When it was captured. [`Stamp::Units`] are of the clock of that interface.
    pub stamp: Stamp,
    /// Nanoseconds since the epoch, where those are known.
    pub ts: Option<i64>,
    /// Bytes on the wire.
    pub length: u32,
    /// Bytes that are kept.
    pub captured: &'a [u8],
    /// Comments and the like, which pcapng keeps.
    pub options: BlockOptions<'a>,
}

/// Makes the bytes of a capture, from its first to its last.
#[derive(Debug, Clone)]
pub struct Encoder {
    format: Format,
    interfaces: Vec<Interface>,
    /// Header of a pcap file, until it is written.
    header: Option<PcapHeader>,
    /// Clock of a pcap file.
    clock: Clock,
    /// Link type of a pcap file whose header was written.
    link_type: Option<u16>,
}

/// Header fields of a pcap file that are set before its first frame is known.
#[derive(Debug, Clone, Copy)]
struct PcapHeader {
    snaplen: Option<u32>,
}

impl Encoder {
    /// Begins a capture of this format. pcap has nanoseconds, unless [`Encoder::like`] says otherwise.
    pub fn new(format: Format) -> Self {
        Encoder {
            format,
            interfaces: Vec::new(),
            header: Some(PcapHeader { snaplen: None }),
            clock: Clock::NANOSECONDS,
            link_type: None,
        }
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Takes clock and snaplen of a pcap file, before its first frame, from those of a pcap file that it is made of.
    pub fn like(&mut self, interface: &Interface) {
        if let Some(header) = &mut self.header {
            header.snaplen = Some(interface.snaplen);
            self.clock = interface.clock;
        }
    }

    /// Describes an interface, and answers its number. `options` are those of its block where it had one, and say its
    /// name and clock then.
    ///
    /// # Errors
    /// `Limit` where there are too many.
    pub fn interface(
        &mut self,
        into: &mut Vec<u8>,
        interface: &Interface,
        options: Option<BlockOptions<'_>>,
    ) -> Result<u32> {
        let number = self.interfaces.len();
        if number == INTERFACES_MAX {
            let limit = INTERFACES_MAX as u64;
            return Err(Error::limit("a number of interfaces in a file", limit, limit + 1));
        }
        if self.format == Format::Pcapng {
            self.begin(into, interface.link_type);
            write_block(into, block::INTERFACE, |into| {
                into.extend_from_slice(&interface.link_type.to_le_bytes());
                into.extend_from_slice(&[0; 2]);
                into.extend_from_slice(&interface.snaplen.to_le_bytes());
                match options {
                    Some(options) => write_options(into, options, INTERFACE_NUMBERS),
                    None => write_name_and_clock(into, interface),
                }
            });
        }
        self.interfaces.push(interface.clone());
        Ok(number as u32)
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// `Argument` where the format cannot hold it: a second link type in pcap, a time that does not fit. Nothing is
    /// appended then.
    #[inline]
    pub fn frame(&mut self, into: &mut Vec<u8>, frame: &WrittenFrame<'_>) -> Result<()> {
        match self.format {
            Format::Pcap => self.pcap_frame(into, frame),
            Format::Pcapng => self.pcapng_frame(into, frame),
        }
    }

    /// Appends, in pcapng, that an interface was looked at at a time, in nanoseconds since the epoch by its clock.
    pub(crate) fn statistics(&mut self, into: &mut Vec<u8>, interface: u32, ts: i64) {
        if self.format == Format::Pcapng {
            write_block(into, block::INTERFACE_STATISTICS, |into| {
                let units = ts as u64;
                for word in [interface, (units >> 32) as u32, units as u32] {
                    into.extend_from_slice(&word.to_le_bytes());
                }
            });
        }
    }

    /// Returns the length of the whole records that `bytes` of encoders of this format begin with; `is_start` says that
    /// they begin the file.
    pub(crate) fn whole_len(format: Format, is_start: bool, bytes: &[u8]) -> usize {
        let word = |at: usize| {
            let word = bytes.get(at..)?.first_chunk().copied()?;
            usize::try_from(u32::from_le_bytes(word)).ok()
        };
        // A record of pcap says how long its frame is, a block of pcapng how long it is itself.
        let len_at = |at: usize| match format {
            Format::Pcap if is_start && at == 0 => Some(PCAP_HEADER_LEN),
            Format::Pcap => word(at + 8)?.checked_add(PCAP_RECORD_HEADER_LEN),
            Format::Pcapng => word(at + 4).filter(|len| *len > 0),
        };
        let mut whole = 0;
        while let Some(end) = len_at(whole).and_then(|len| whole.checked_add(len))
            && end <= bytes.len()
        {
            whole = end;
        }
        whole
    }

    /// Appends what a file without frames has, too. Called at the end, where there may have been none.
    pub fn finish(&mut self, into: &mut Vec<u8>) {
        const ETHERNET: u16 = 1;
        let link_type = self.interfaces.first().map_or(ETHERNET, |interface| interface.link_type);
        self.begin(into, link_type);
    }

    /// Appends the file's header, once.
    fn begin(&mut self, into: &mut Vec<u8>, link_type: u16) {
        let Some(header) = self.header.take() else { return };
        match self.format {
            Format::Pcap => {
                let magic: u32 =
                    if self.clock == Clock::MICROSECONDS { 0xa1b2_c3d4 } else { 0xa1b2_3c4d };
                let longest = self.interfaces.iter().map(Interface::caplen_max).max();
                let snaplen = header.snaplen.unwrap_or(longest.unwrap_or(CAPLEN_MAX));
                into.extend_from_slice(&magic.to_le_bytes());
                into.extend_from_slice(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
                into.extend_from_slice(&snaplen.to_le_bytes());
                into.extend_from_slice(&u32::from(link_type).to_le_bytes());
                self.link_type = Some(link_type);
            }
            Format::Pcapng => write_block(into, block::SECTION_HEADER, |into| {
                into.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
                into.extend_from_slice(&[1, 0, 0, 0]);
                // The length of the section, which is not known.
                into.extend_from_slice(&[0xff; 8]);
            }),
        }
    }

    #[inline]
    fn pcap_frame(&mut self, into: &mut Vec<u8>, frame: &WrittenFrame<'_>) -> Result<()> {
        let (seconds, fraction) = self.words(frame)?;
        let link_type = self.interface_of(frame)?.link_type;
        if self.link_type != Some(link_type) {
            if let Some(first) = self.link_type {
                let message = format!(
                    "expected frames of one link type for a pcap file, found {first} and {link_type}; write \
                     pcapng, to a name that ends in .pcapng"
                );
                return Err(Error::new(ErrorKind::Argument, message));
            }
            self.begin(into, link_type);
        }
        let caplen = frame.captured.len() as u32;
        for word in [seconds, fraction, caplen, frame.length] {
            into.extend_from_slice(&word.to_le_bytes());
        }
        into.extend_from_slice(frame.captured);
        Ok(())
    }

    /// Seconds and their fraction by the clock of a pcap file.
    #[inline]
    fn words(&self, frame: &WrittenFrame<'_>) -> Result<(u32, u32)> {
        let is_micro = self.clock == Clock::MICROSECONDS;
        if let Stamp::Words { seconds, fraction } = frame.stamp {
            let is_same = self
                .interfaces
                .get(frame.interface as usize)
                .is_some_and(|interface| interface.clock == self.clock);
            if is_same {
                return Ok((seconds, fraction));
            }
        }
        // A packet without a time has the time 0, as in other programs.
        let ts = frame.ts.unwrap_or(0);
        let Ok(seconds) = u32::try_from(ts.div_euclid(1_000_000_000)) else {
            let message = format!(
                "expected a time from 1970 to 2106 for a pcap file, found {ts} ns since 1970; write pcapng, to a \
                 name that ends in .pcapng"
            );
            return Err(Error::new(ErrorKind::Argument, message));
        };
        let nanoseconds = ts.rem_euclid(1_000_000_000) as u32;
        Ok((seconds, if is_micro { nanoseconds / 1000 } else { nanoseconds }))
    }

    #[inline]
    fn pcapng_frame(&mut self, into: &mut Vec<u8>, frame: &WrittenFrame<'_>) -> Result<()> {
        let interface = self.interface_of(frame)?;
        let units = match frame.stamp {
            Stamp::Units(units) => units,
            Stamp::Missing if is_simple(frame, interface) => {
                write_block(into, block::SIMPLE_PACKET, |into| {
                    into.extend_from_slice(&frame.length.to_le_bytes());
                    into.extend_from_slice(frame.captured);
                });
                return Ok(());
            }
            _ => units(frame.ts.unwrap_or(0), interface.clock)?,
        };
        write_block(into, block::ENHANCED_PACKET, |into| {
            let caplen = frame.captured.len() as u32;
            let words = [frame.interface, (units >> 32) as u32, units as u32, caplen, frame.length];
            for word in words {
                into.extend_from_slice(&word.to_le_bytes());
            }
            into.extend_from_slice(frame.captured);
            pad(into, caplen);
            write_options(into, frame.options, PACKET_NUMBERS);
        });
        Ok(())
    }

    #[inline]
    fn interface_of(&self, frame: &WrittenFrame<'_>) -> Result<&Interface> {
        self.interfaces
            .get(frame.interface as usize)
            .ok_or_else(|| Error::internal("a frame of an interface that was not described"))
    }
}

/// Returns true if a block without a time can hold the frame: one of the first interface, cut only at its snaplen.
fn is_simple(frame: &WrittenFrame<'_>, interface: &Interface) -> bool {
    let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
    frame.interface == 0 && frame.captured.len() == frame.length.min(snaplen) as usize
}

/// A time in units of a clock that this module writes.
fn units(ts: i64, clock: Clock) -> Result<u64> {
    let units = if clock == Clock::MICROSECONDS { ts.div_euclid(1000) } else { ts };
    u64::try_from(units).map_err(|_| {
        let found = format!("found {ts} ns since 1970");
        Error::new(ErrorKind::Argument, format!("expected a time of 1970 or later, {found}"))
    })
}

/// Options of an interface and of a packet that are numbers: their codes and how many bytes those have.
const INTERFACE_NUMBERS: &[(u16, usize)] = &[(8, 8), (14, 8), (16, 8), (17, 8)];
const PACKET_NUMBERS: &[(u16, usize)] = &[(2, 4), (4, 8), (5, 8), (6, 4)];

/// Options of anybody's: they begin with the number of who made them.
const CUSTOM: [u16; 4] = [2988, 2989, 19_372, 19_373];

/// Appends options, and what ends them where there are some.
fn write_options(into: &mut Vec<u8>, options: BlockOptions<'_>, numbers: &[(u16, usize)]) {
    let begin = into.len();
    let endian = options.endian();
    for option in options {
        into.extend_from_slice(&option.code.to_le_bytes());
        into.extend_from_slice(&(option.value.len() as u16).to_le_bytes());
        let number = numbers.iter().find(|(code, _)| *code == option.code);
        let swapped = match number {
            _ if endian == Endian::Little => 0,
            Some((_, len)) if *len == option.value.len() => *len,
            None if CUSTOM.contains(&option.code) => 4,
            _ => 0,
        };
        let (number, rest) = option.value.split_at(swapped.min(option.value.len()));
        into.extend(number.iter().rev());
        into.extend_from_slice(rest);
        pad(into, option.value.len() as u32);
    }
    if into.len() > begin {
        into.extend_from_slice(&[0; 4]);
    }
}

/// Appends the options that tell the name, if there is one, and the clock, where it is not the one that is meant without.
fn write_name_and_clock(into: &mut Vec<u8>, interface: &Interface) {
    const NAME: u16 = 2;
    const TIME_RESOLUTION: u16 = 9;
    let begin = into.len();
    if let Some(name) = &interface.name {
        write_option(into, NAME, name.as_bytes());
    }
    if let ClockUnit::Decimal(digits) = interface.clock.unit
        && interface.clock != Clock::MICROSECONDS
    {
        write_option(into, TIME_RESOLUTION, &[digits]);
    }
    if into.len() > begin {
        into.extend_from_slice(&[0; 4]);
    }
}

fn write_option(into: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    into.extend_from_slice(&code.to_le_bytes());
    into.extend_from_slice(&(value.len() as u16).to_le_bytes());
    into.extend_from_slice(value);
    pad(into, value.len() as u32);
}

/// Appends a block, with its length on both sides.
#[inline]
fn write_block(into: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = into.len();
    into.extend_from_slice(&kind.to_le_bytes());
    into.extend_from_slice(&[0; 4]);
    body(into);
    let len = into.len() - begin;
    pad(into, len as u32);
    let len = ((into.len() - begin + 4) as u32).to_le_bytes();
    if let Some(place) = into.get_mut(begin + 4..begin + 8) {
        place.copy_from_slice(&len);
    }
    into.extend_from_slice(&len);
}

/// Pads what has `len` bytes to four.
#[inline]
fn pad(into: &mut Vec<u8>, len: u32) {
    let count = (padded(len) - len) as usize;
    into.extend_from_slice([0; 3].get(..count).unwrap_or_default());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn records_are_whole_where_they_end_and_nowhere_else() {
        for format in [Format::Pcap, Format::Pcapng] {
            let (mut encoder, mut bytes, mut ends) = (Encoder::new(format), Vec::new(), vec![0]);
            let clock = Clock::NANOSECONDS;
            let interface = Interface { name: None, link_type: 1, snaplen: 0, clock };
            let number = encoder.interface(&mut bytes, &interface, None).unwrap();
            for captured in [&b"abc"[..], b"", b"0123456789"] {
                let (stamp, options) = (Stamp::Nanoseconds(5), BlockOptions::NONE);
                let frame = WrittenFrame {
                    interface: number,
                    stamp,
                    ts: Some(5),
                    length: 10,
                    captured,
                    options,
                };
                encoder.frame(&mut bytes, &frame).unwrap();
                ends.push(bytes.len());
            }
            for len in ends[1]..=bytes.len() {
                let last = ends.iter().rev().find(|end| **end <= len).unwrap();
                assert_eq!(Encoder::whole_len(format, true, &bytes[..len]), *last);
                let (start, end) = (ends[1], (*last).max(ends[1]));
                let rest = Encoder::whole_len(format, false, &bytes[start..len]);
                assert_eq!(rest, end - start);
            }
            assert_eq!(Encoder::whole_len(format, true, &bytes[..7]), 0);
        }
    }
}
