//! The pcapng format: sections of blocks, each block framed by its length on both sides.
//!
//! ```text
//! block   type u32 | total length u32 | body, padded to 4 bytes | total length u32
//! ```

use std::sync::Arc;

use super::origin::BlockOptions;
use super::{Clock, ClockUnit, Interface, Record, Step, unexpected};
use crate::wire::{Endian, Reader};
use crate::{Error, Result};

/// Type, length, and the length again: the smallest block.
const FRAMING_LEN: usize = 12;
const HEADER_LEN: usize = 8;
const TRAILER_LEN: usize = 4;

// Bound (Captures): pcapng block in view = 16 MiB.
/// Longer ones of interest are damage.
const BLOCK_LEN_MAX: u32 = 16 << 20;

// Bound (Captures): interfaces of a pcapng section = 65,536.
const INTERFACES_MAX: usize = 65_536;

/// Block types that are read, and one that is only written; all others are stepped over.
pub(super) mod block {
    pub(in crate::capture) const INTERFACE: u32 = 1;
    /// Obsolete, still found in old files.
    pub(in crate::capture) const PACKET: u32 = 2;
    pub(in crate::capture) const SIMPLE_PACKET: u32 = 3;
    /// When an interface was looked at, for live reading.
    pub(in crate::capture) const INTERFACE_STATISTICS: u32 = 5;
    pub(in crate::capture) const ENHANCED_PACKET: u32 = 6;
    /// A number that is equal in both byte orders.
    pub(in crate::capture) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
}

/// Returns true if a file that begins with `magic` is a pcapng file.
pub(super) fn is_section_header(magic: [u8; 4]) -> bool {
    u32::from_le_bytes(magic) == block::SECTION_HEADER
}

/// A pcapng file, in the section that is being read.
#[derive(Debug, Clone)]
pub(super) struct Pcapng {
    pub(super) endian: Endian,
    pub(super) version: (u16, u16),
    pub(super) interfaces: Vec<Interface>,
    pub(super) sections: u64,
    /// Length of a block whose body was stepped over, to be found again behind it.
    trailer: Option<u32>,
}

impl Default for Pcapng {
    fn default() -> Self {
        let endian = Endian::Little;
        Pcapng { endian, version: (0, 0), interfaces: Vec::new(), sections: 0, trailer: None }
    }
}

impl Pcapng {
    /// Returns true if the file may end here.
    pub(super) fn is_between_blocks(&self) -> bool {
        self.trailer.is_none()
    }

    #[inline]
    pub(super) fn step<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>> {
        if let Some(total_len) = self.trailer {
            return self.step_over_trailer(total_len, input);
        }
        let mut header = Reader::new(input);
        let (Some(kind), Some(total_len)) = (header.u32(self.endian), header.u32(self.endian))
        else {
            return Ok(Step::Need(HEADER_LEN));
        };
        match kind {
            block::SECTION_HEADER => self.section_header(input),
            block::INTERFACE | block::PACKET | block::SIMPLE_PACKET | block::ENHANCED_PACKET => {
                self.whole_block(kind, total_len, input)
            }
            _ => {
                self.check_total_len(total_len, FRAMING_LEN)?;
                self.step_over_body(total_len)
            }
        }
    }

    /// The header of the section that is being read, of unknown length and without options.
    pub(super) fn section_header_block(&self) -> Vec<u8> {
        const LEN: u32 = FRAMING_LEN as u32 + 16;
        const BYTE_ORDER: u32 = 0x1a2b_3c4d;
        let (major, minor) = self.version;
        let little = [block::SECTION_HEADER, LEN, BYTE_ORDER].map(u32::to_le_bytes);
        let big = [block::SECTION_HEADER, LEN, BYTE_ORDER].map(u32::to_be_bytes);
        let (words, versions, end) = match self.endian {
            Endian::Little => (little, [major, minor].map(u16::to_le_bytes), LEN.to_le_bytes()),
            Endian::Big => (big, [major, minor].map(u16::to_be_bytes), LEN.to_be_bytes()),
        };
        [words.as_flattened(), versions.as_flattened(), &[0xff; 8], &end].concat()
    }

    /// A block that is read as a whole.
    #[inline]
    fn whole_block<'a>(&mut self, kind: u32, total_len: u32, input: &'a [u8]) -> Result<Step<'a>> {
        let fixed_len = match kind {
            block::INTERFACE => 8,
            block::SIMPLE_PACKET => 4,
            _ => 20,
        };
        self.check_total_len(total_len, FRAMING_LEN + fixed_len)?;
        if total_len > BLOCK_LEN_MAX {
            return Err(Error::limit("a block", BLOCK_LEN_MAX.into(), total_len.into()));
        }
        let padded_len = padded(total_len) as usize;
        let Some(whole) = input.get(..padded_len) else { return Ok(Step::Need(padded_len)) };
        let (rest, trailer) = whole.split_at(padded_len - TRAILER_LEN);
        self.check_trailer(total_len, trailer)?;
        let body = Reader::new(rest.get(HEADER_LEN..).unwrap_or_default());
        let record = match kind {
            block::INTERFACE => {
                self.interface(body)?;
                return Ok(Step::Skip(padded_len as u64));
            }
            block::ENHANCED_PACKET => self.enhanced_packet(body)?,
            block::SIMPLE_PACKET => self.simple_packet(body)?,
            _ => self.packet(body)?,
        };
        Ok(Step::Record { record, consumed: padded_len })
    }

    /// Byte order, version and length of a section; its options are stepped over.
    fn section_header<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>> {
        const FIXED_LEN: usize = 16;
        let Some(header) = input.first_chunk::<{ HEADER_LEN + FIXED_LEN }>() else {
            return Ok(Step::Need(HEADER_LEN + FIXED_LEN));
        };
        let endian = match header[8..12] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Endian::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Endian::Big,
            [a, b, c, d] => {
                let found = format!("{a:02x} {b:02x} {c:02x} {d:02x}");
                return Err(unexpected("the byte-order magic 1a2b3c4d of a section", found));
            }
            _ => return Ok(Step::Need(HEADER_LEN + FIXED_LEN)),
        };
        let mut fields = Reader::new(header);
        fields.take(4);
        let total_len = fields.u32(endian).unwrap_or_default();
        fields.take(4);
        let version =
            (fields.u16(endian).unwrap_or_default(), fields.u16(endian).unwrap_or_default());
        self.check_total_len(total_len, FRAMING_LEN + FIXED_LEN)?;
        if version.0 != 1 {
            let found = format!("version {}.{}", version.0, version.1);
            return Err(unexpected("a pcapng section of version 1", found));
        }
        self.endian = endian;
        self.version = version;
        self.interfaces.clear();
        self.sections += 1;
        self.step_over_body(total_len)
    }

    fn step_over_body(&mut self, total_len: u32) -> Result<Step<'static>> {
        self.trailer = Some(total_len);
        Ok(Step::Skip(u64::from(padded(total_len)) - TRAILER_LEN as u64))
    }

    fn step_over_trailer<'a>(&mut self, total_len: u32, input: &'a [u8]) -> Result<Step<'a>> {
        let Some(trailer) = input.get(..TRAILER_LEN) else { return Ok(Step::Need(TRAILER_LEN)) };
        self.check_trailer(total_len, trailer)?;
        self.trailer = None;
        Ok(Step::Skip(TRAILER_LEN as u64))
    }

    fn check_total_len(&self, total_len: u32, len_min: usize) -> Result<()> {
        if (total_len as usize) < len_min {
            return Err(unexpected(format!("a block of at least {len_min} bytes"), total_len));
        }
        if total_len > u32::MAX - 3 {
            return Err(Error::limit("a block", u64::from(u32::MAX) - 3, total_len.into()));
        }
        Ok(())
    }

    #[inline]
    fn check_trailer(&self, total_len: u32, trailer: &[u8]) -> Result<()> {
        let found = Reader::new(trailer).u32(self.endian).unwrap_or_default();
        if found != total_len {
            return Err(unexpected(
                format!("the block's length {total_len} again at its end"),
                found,
            ));
        }
        Ok(())
    }

    /// Link type, reserved, snaplen, then options, of which one is the name and two tell the clock.
    fn interface(&mut self, mut body: Reader<'_>) -> Result<()> {
        const NAME: u16 = 2;
        const TIME_RESOLUTION: u16 = 9;
        const TIME_OFFSET: u16 = 14;
        if self.interfaces.len() == INTERFACES_MAX {
            let limit = INTERFACES_MAX as u64;
            return Err(Error::limit("a number of interfaces in a section", limit, limit + 1));
        }
        let link_type = body.u16(self.endian).unwrap_or_default();
        body.take(2);
        let snaplen = body.u32(self.endian).unwrap_or_default();
        let (mut name, mut unit, mut offset) = (None, None, None);
        for option in BlockOptions::new(body.rest(), self.endian) {
            match (option.code, option.value) {
                // Each may stand there once; of several the first counts, as in tshark.
                (NAME, value) => {
                    name.get_or_insert_with(|| name_of(value));
                }
                (TIME_RESOLUTION, [bits, ..]) => {
                    unit.get_or_insert(ClockUnit::of_option(*bits));
                }
                (TIME_OFFSET, value) if value.len() == 8 => {
                    let seconds = Reader::new(value).u64(self.endian).unwrap_or_default();
                    offset.get_or_insert(seconds as i64);
                }
                _ => {}
            }
        }
        let clock = Clock {
            unit: unit.unwrap_or(Clock::MICROSECONDS.unit),
            offset: offset.unwrap_or_default(),
        };
        self.interfaces.push(Interface { name, link_type, snaplen, clock });
        Ok(())
    }

    /// The interface that a block describes, which is the last one, and the options of the block.
    pub(super) fn described<'a>(&self, raw: &'a [u8]) -> Option<(&Interface, BlockOptions<'a>)> {
        const FIXED_LEN: usize = HEADER_LEN + 8;
        if Reader::new(raw).u32(self.endian) != Some(block::INTERFACE) {
            return None;
        }
        let options = raw.get(FIXED_LEN..raw.len().checked_sub(TRAILER_LEN)?)?;
        Some((self.interfaces.last()?, BlockOptions::new(options, self.endian)))
    }

    /// Interface, time (high and low word), captured length, length on the wire, bytes, options.
    #[inline]
    fn enhanced_packet<'a>(&self, mut body: Reader<'a>) -> Result<Record<'a>> {
        let mut word = || body.u32(self.endian).unwrap_or_default();
        let (interface, high, low, caplen, length) = (word(), word(), word(), word(), word());
        self.record(interface, high, low, caplen, length, body)
    }

    /// The obsolete form, with a 16-bit interface and a count of drops.
    fn packet<'a>(&self, mut body: Reader<'a>) -> Result<Record<'a>> {
        let interface = body.u16(self.endian).unwrap_or_default();
        body.take(2);
        let mut word = || body.u32(self.endian).unwrap_or_default();
        let (high, low, caplen, length) = (word(), word(), word(), word());
        self.record(interface.into(), high, low, caplen, length, body)
    }

    #[inline]
    fn record<'a>(
        &self,
        interface: u32,
        high: u32,
        low: u32,
        caplen: u32,
        length: u32,
        mut body: Reader<'a>,
    ) -> Result<Record<'a>> {
        let number = interface;
        let interface = self.interface_of(number)?;
        interface.check_caplen(caplen)?;
        let Some(captured) = body.take(caplen as usize) else {
            let expected = format!("a captured length of at most {}", body.remaining());
            return Err(unexpected(expected, caplen));
        };
        let ts = interface.clock.nanoseconds(u64::from(high) << 32 | u64::from(low));
        let link_type = interface.link_type;
        let interface = Some(number);
        Ok(Record { ts, bad_time: ts.is_none(), length, link_type, interface, captured })
    }

    /// Length on the wire and bytes, of the first interface, without a time. How much was captured
    /// follows from the interface's snaplen.
    fn simple_packet<'a>(&self, mut body: Reader<'a>) -> Result<Record<'a>> {
        let interface = self.interface_of(0)?;
        let length = body.u32(self.endian).unwrap_or_default();
        let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        let caplen = (length.min(snaplen) as usize).min(body.remaining());
        interface.check_caplen(caplen as u32)?;
        let captured = body.take(caplen).unwrap_or_default();
        let link_type = interface.link_type;
        let interface = Some(0);
        Ok(Record { ts: None, bad_time: false, length, link_type, interface, captured })
    }

    #[inline]
    fn interface_of(&self, index: u32) -> Result<&Interface> {
        self.interfaces.get(index as usize).ok_or_else(|| {
            let count = self.interfaces.len();
            unexpected(
                format!("an interface among the {count} that the section describes"),
                format!("number {index}"),
            )
        })
    }
}

/// A name as text, of which so much is kept that any number of interfaces fits into memory.
fn name_of(bytes: &[u8]) -> Arc<str> {
    const NAME_MAX: usize = 255;
    let bytes = bytes.get(..NAME_MAX).unwrap_or(bytes);
    String::from_utf8_lossy(bytes).trim_end_matches('\0').into()
}

/// A length rounded up to the 4 bytes that everything in a block is padded to.
pub(super) fn padded(len: u32) -> u32 {
    len.next_multiple_of(4)
}
