//! Facts about a capture, without looking at its flows.

use std::collections::BTreeMap;

use crate::batch::Value;
use crate::bytes::{Compression, FileHash};
use crate::capture::{Format, Interface};
use crate::input::{CaptureReader, ContentHasher, ContentId};
use crate::packet::{Field, LinkType, Packet};
use crate::wire::Endian;
use crate::{Error, Result};

/// Facts about a capture after reading all of it.
#[derive(Debug, Clone)]
pub struct CaptureInfo {
    /// The file, or what stands for it.
    pub file: String,
    /// pcap or pcapng.
    pub format: Format,
    /// Version of the format, major and minor.
    pub version: (u16, u16),
    /// Byte order of the file, or of its last section.
    pub byte_order: Endian,
    /// Compression of the file.
    pub compression: Compression,
    /// Bytes of the file as it lies there, and once decompressed.
    pub file_bytes: u64,
    /// Bytes of the capture once decompressed.
    pub content_bytes: u64,
    /// Sections of a pcapng file; 1 for pcap.
    pub sections: u64,
    /// Interfaces, of the last section.
    pub interfaces: Vec<Interface>,
    /// Packets.
    pub packets: u64,
    /// Bytes of the packets on the wire, and as captured.
    pub bytes: u64,
    /// Bytes of the packets in the capture.
    pub captured_bytes: u64,
    /// Its identity, by which stores count it once.
    pub content_id: ContentId,
    /// SHA-256 of the file, where [`StreamOptions::hash`](crate::bytes::StreamOptions::hash) asks for it.
    pub sha256: Option<[u8; 32]>,
    /// Packets of each link type.
    pub link_types: Vec<(LinkType, u64)>,
    /// Earliest time, in nanoseconds since the epoch.
    pub first_ts: Option<i64>,
    /// Latest time, in nanoseconds since the epoch.
    pub last_ts: Option<i64>,
    /// Error that ended reading before the end of the file.
    pub damage: Option<Error>,
}

/// Reads a capture to its end, or to its damage, and says what it is.
///
/// # Errors
/// Those of the first bytes: what is no capture at all has no info.
pub fn info(reader: &mut CaptureReader) -> Result<CaptureInfo> {
    info_seeing(reader, |_| ())
}

/// As [`info`]; `see` is shown each packet.
///
/// # Errors
/// Those of [`info`].
pub fn info_seeing(
    reader: &mut CaptureReader,
    mut see: impl FnMut(&Packet),
) -> Result<CaptureInfo> {
    let (mut packets, mut bytes, mut captured_bytes) = (0, 0, 0);
    let (mut first, mut last) = (None, None);
    let mut link_types = BTreeMap::new();
    let mut content = ContentHasher::of(reader);
    let result = reader.each(|packet, captured| {
        packets += 1;
        see(packet);
        content.update(packet, captured);
        bytes += u64::from(packet.length());
        captured_bytes += u64::from(packet.caplen());
        if let Some(ts) = packet.ts() {
            first = Some(first.map_or(ts, |first: i64| first.min(ts)));
            last = Some(last.map_or(ts, |last: i64| last.max(ts)));
        }
        if let Value::Unsigned(number) = packet.value(Field::LinkType) {
            *link_types.entry(LinkType(number as u16)).or_default() += 1;
        }
    });
    let facts = reader.facts();
    let decoder = &facts.decoder;
    let (Some(format), Some(version), Some(byte_order)) =
        (decoder.format(), decoder.version(), decoder.endian())
    else {
        return Err(match result {
            Err(error) => error,
            Ok(()) => Error::format("a pcap or pcapng capture", "nothing").in_file(&facts.name),
        });
    };
    let sha256 = facts.file_hash.as_ref().map(FileHash::sha256).transpose();
    let (sha256, unread) = sha256.map_or_else(|error| (None, Some(error)), |hash| (hash, None));
    Ok(CaptureInfo {
        format,
        version,
        byte_order,
        compression: facts.compression,
        file_bytes: facts.file_bytes,
        content_bytes: facts.position,
        sections: decoder.sections(),
        interfaces: decoder.interfaces().to_vec(),
        packets,
        bytes,
        captured_bytes,
        content_id: content.finish(),
        sha256,
        link_types: link_types.into_iter().collect(),
        first_ts: first,
        last_ts: last,
        damage: result.err().or(unread.map(|error| error.in_file(&facts.name))),
        file: facts.name,
    })
}
