//! The classic pcap format: a file header of 24 bytes, then records of a 16-byte header and data.
//!
//! ```text
//! file    magic u32 | major u16 | minor u16 | zone i32 | digits u32 | snaplen u32 | link type u32
//! record  seconds u32 | fraction u32 | captured length u32 | length on the wire u32 | bytes
//! ```

use super::{Clock, Interface, Record, Step, unexpected};
use crate::Result;
use crate::wire::{Endian, Reader};

pub(super) const FILE_HEADER_LEN: usize = 24;
pub(super) const RECORD_HEADER_LEN: usize = 16;

/// Kuznetsov's patched libpcap adds interface, protocol and packet type to each record header.
const MODIFIED_RECORD_HEADER_LEN: usize = 24;

/// The minor version since which the captured length comes before the length on the wire.
const LENGTHS_IN_ORDER_SINCE: (u16, u16) = (2, 3);

/// Bits above the link type that are 0 in every file (draft-ietf-opsawg-pcap, section 4).
const RESERVED: u32 = 0x03ff_0000;

/// Layout of a file, as its magic number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PcapLayout {
    endian: Endian,
    fraction: Fraction,
    record_header_len: usize,
}

/// Unit of the second word of a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fraction {
    Microseconds,
    Nanoseconds,
}

impl PcapLayout {
    /// The layout that `magic` stands for, in the order the bytes have in the file.
    pub(super) fn of(magic: [u8; 4]) -> Option<PcapLayout> {
        let (endian, number) = match magic[0] {
            0xa1 => (Endian::Big, u32::from_be_bytes(magic)),
            _ => (Endian::Little, u32::from_le_bytes(magic)),
        };
        let (fraction, record_header_len) = match number {
            0xa1b2_c3d4 => (Fraction::Microseconds, RECORD_HEADER_LEN),
            0xa1b2_3c4d => (Fraction::Nanoseconds, RECORD_HEADER_LEN),
            0xa1b2_cd34 => (Fraction::Microseconds, MODIFIED_RECORD_HEADER_LEN),
            _ => return None,
        };
        Some(PcapLayout { endian, fraction, record_header_len })
    }
}

/// A pcap file whose header was read.
#[derive(Debug, Clone)]
pub(super) struct Pcap {
    pub(super) endian: Endian,
    pub(super) version: (u16, u16),
    pub(super) interface: Interface,
    layout: PcapLayout,
    swapped_lengths: bool,
    caplen_max: u32,
    /// Units of the second word of a timestamp: how many make a second, and how long each is.
    units_per_second: u32,
    unit_ns: i64,
}

impl Pcap {
    pub(super) fn new(layout: PcapLayout, header: [u8; FILE_HEADER_LEN]) -> Result<Pcap> {
        let mut fields = Reader::new(&header);
        fields.take(4);
        let endian = layout.endian;
        let version =
            (fields.u16(endian).unwrap_or_default(), fields.u16(endian).unwrap_or_default());
        fields.take(8);
        let snaplen = fields.u32(endian).unwrap_or_default();
        let link_word = fields.u32(endian).unwrap_or_default();
        if version.0 != 2 {
            let found = format!("version {}.{}", version.0, version.1);
            return Err(unexpected("a pcap file of version 2", found));
        }
        if link_word & RESERVED != 0 {
            let found = format!("{link_word:#010x}");
            return Err(unexpected("a link type whose reserved bits are 0", found));
        }
        // Above the reserved bits stands the length of the frame check sequence.
        let link_type = (link_word & 0xffff) as u16;
        let (clock, units_per_second, unit_ns) = match layout.fraction {
            Fraction::Microseconds => (Clock::MICROSECONDS, 1_000_000, 1000),
            Fraction::Nanoseconds => (Clock::NANOSECONDS, 1_000_000_000, 1),
        };
        let interface = Interface { name: None, link_type, snaplen, clock };
        Ok(Pcap {
            endian,
            version,
            caplen_max: interface.caplen_max(),
            interface,
            layout,
            swapped_lengths: version < LENGTHS_IN_ORDER_SINCE,
            units_per_second,
            unit_ns,
        })
    }

    /// Bytes of the header of each record.
    #[inline(always)]
    pub(super) fn record_header_len(&self) -> usize {
        self.layout.record_header_len
    }

    /// The record at the start of `input`, where it is whole and its length is credible.
    #[inline(always)]
    pub(super) fn record_in_view<'a>(&self, input: &'a [u8]) -> Option<Record<'a>> {
        let [seconds, fraction, caplen, length] = self.record_header(input)?;
        if caplen > self.caplen_max {
            return None;
        }
        let captured = input.get(self.record_header_len()..)?.get(..caplen as usize)?;
        Some(Record {
            ts: Some(i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.unit_ns),
            bad_time: fraction >= self.units_per_second,
            length,
            link_type: self.interface.link_type,
            interface: None,
            captured,
        })
    }

    /// Asks for more bytes, because `input` does not hold a whole record; fails if the length is damage.
    pub(super) fn no_record_in_view<'a>(&self, input: &'a [u8]) -> Result<Step<'a>> {
        let Some([_, _, caplen, _]) = self.record_header(input) else {
            return Ok(Step::Need(self.record_header_len()));
        };
        self.interface.check_caplen(caplen)?;
        Ok(Step::Need(self.record_header_len() + caplen as usize))
    }

    /// Seconds, fraction, captured length, length on the wire.
    #[inline(always)]
    fn record_header(&self, input: &[u8]) -> Option<[u32; 4]> {
        let (words, _) = input.first_chunk::<16>()?.as_chunks::<4>();
        let words = [*words.first()?, *words.get(1)?, *words.get(2)?, *words.get(3)?];
        let [seconds, fraction, first, second] = match self.endian {
            Endian::Little => words.map(u32::from_le_bytes),
            Endian::Big => words.map(u32::from_be_bytes),
        };
        if self.swapped_lengths {
            return Some([seconds, fraction, second, first]);
        }
        Some([seconds, fraction, first, second])
    }
}
