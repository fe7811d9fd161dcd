//! A capture of packets that a program brings one by one, with what it says of each.

use std::path::Path;

use super::{CaptureFile, OutputOptions};
use crate::capture::{BlockOptions, Clock, Format, Interface, Stamp, WrittenFrame};
use crate::{Error, ErrorKind, Result};

/// A packet as a program writes it.
#[derive(Debug, Clone, Copy)]
pub struct WrittenPacket<'a> {
    /// The bytes that were captured.
    pub captured: &'a [u8],
    /// When, in nanoseconds since 1970, where that is known.
    pub ts: Option<i64>,
    /// Bytes on the wire, where those are more than were captured.
    pub length: Option<u32>,
    /// Link-layer type (LINKTYPE_ number, 1 Ethernet).
    pub link_type: u16,
    /// Name of the interface; only pcapng keeps one.
    pub interface: Option<&'a str>,
    /// Words about the packet; only pcapng keeps them.
    pub comment: Option<&'a str>,
}

/// A capture at a path, to which packets are appended. It has its name when it was finished, and without that leaves
/// nothing behind.
pub struct PacketFile {
    file: CaptureFile,
    /// Interfaces that packets named, or of their link type without a name, with their numbers in the file.
    interfaces: Vec<(Option<Box<str>>, u16, u32)>,
}

impl PacketFile {
    /// Begins a capture that takes the place of the file at `path`, in the form that the name asks for.
    ///
    /// # Errors
    /// Those of [`CaptureFile::create`].
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        Ok(PacketFile { file: CaptureFile::create(path, options)?, interfaces: Vec::new() })
    }

    /// Its path.
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// Appends a packet to what is gathered, without any I/O: says whether [`PacketFile::write_gathered`] is to be called now.
    ///
    /// # Errors
    /// `Argument` and `Limit` for what the format cannot hold; nothing is appended then.
    pub fn gather(&mut self, packet: &WrittenPacket<'_>) -> Result<bool> {
        let length = self.check(packet)?;
        let interface = self.interface(packet)?;
        let comment = packet.comment.map(|text| option(COMMENT, text.as_bytes()));
        let options = comment.transpose()?;
        let options = options.as_deref().map_or(BlockOptions::NONE, |o| BlockOptions::NONE.over(o));
        let stamp = packet.ts.map_or(Stamp::Missing, Stamp::Nanoseconds);
        let (ts, captured) = (packet.ts, packet.captured);
        self.file.gather(&WrittenFrame { interface, stamp, ts, length, captured, options })
    }

    /// Hands on what is gathered.
    ///
    /// # Errors
    /// Failure of the system to take it, which comes again from then on.
    pub fn write_gathered(&mut self) -> Result<()> {
        self.file.write_gathered()
    }

    /// Writes what is left, and gives the file its name. Nothing can be appended afterwards.
    ///
    /// # Errors
    /// Those of [`PacketFile::write_gathered`].
    pub fn finish(&mut self) -> Result<()> {
        self.file.finish_writing()
    }

    /// Bytes on the wire, where the packet is one that can be written.
    fn check(&self, packet: &WrittenPacket<'_>) -> Result<u32> {
        if self.file.format() == Format::Pcap
            && let Some(what) =
                packet.comment.map(|_| "a comment").or(packet.interface.map(|_| "an interface"))
        {
            let message = format!(
                "expected packets without {what} for a pcap file, which keeps none, found one; write pcapng, to a name \
                 that ends in .pcapng"
            );
            return Err(Error::new(ErrorKind::Argument, message).in_file(self.name()));
        }
        // Longer packets are refused with the interface.
        let captured = u32::try_from(packet.captured.len()).unwrap_or(u32::MAX);
        let length = packet.length.unwrap_or(captured);
        if length < captured {
            let message = format!(
                "expected a length on the wire of at least the {captured} bytes captured, found {length}"
            );
            return Err(Error::new(ErrorKind::Argument, message).in_file(self.name()));
        }
        Ok(length)
    }

    /// The number of the packet's interface, which is described before its first packet.
    fn interface(&mut self, packet: &WrittenPacket<'_>) -> Result<u32> {
        let (name, link_type) = (packet.interface, packet.link_type);
        let interface = Interface { name: None, link_type, snaplen: 0, clock: Clock::NANOSECONDS };
        let caplen = u32::try_from(packet.captured.len()).unwrap_or(u32::MAX);
        interface.check_caplen(caplen).map_err(|error| error.in_file(self.file.name()))?;
        let mut interfaces = self.interfaces.iter();
        let known = interfaces.find(|(of, kind, _)| *kind == link_type && of.as_deref() == name);
        if let Some((_, _, number)) = known {
            return Ok(*number);
        }
        let options = match name {
            Some(name) => {
                let clock = option(TIME_RESOLUTION, &[NANOSECONDS])?;
                Some([option(INTERFACE_NAME, name.as_bytes())?, clock].concat())
            }
            None => None,
        };
        let options = options.as_deref().map(|options| BlockOptions::NONE.over(options));
        let number = self.file.interface(&interface, options)?;
        self.interfaces.push((name.map(Box::from), link_type, number));
        Ok(number)
    }
}

/// Codes of options of pcapng.
const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;

/// The value of the last one: ten to the power of minus nine.
const NANOSECONDS: u8 = 9;

/// An option of pcapng as bytes.
fn option(code: u16, value: &[u8]) -> Result<Vec<u8>> {
    let Ok(len) = u16::try_from(value.len()) else {
        return Err(Error::limit(
            "a comment or a name of an interface",
            u16::MAX.into(),
            value.len() as u64,
        ));
    };
    let mut bytes = [code.to_le_bytes(), len.to_le_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    Ok(bytes)
}
