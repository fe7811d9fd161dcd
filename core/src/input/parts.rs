//! A capture file in parts, which can be read side by side, also by other processes and on other machines: a plain one by offsets, and
//! any that has an index by the numbers of its packets.

use std::path::Path;

use super::CaptureOptions;
use super::index::{IndexPlace, VersionMatch};
use crate::Result;
use crate::bytes::{ByteStream, Compression, StreamOptions};
use crate::capture::{Decoder, Format, Step};

/// Some of the records of a capture file, one behind another. Its packets have the numbers that they have in the whole capture,
/// and what is damaged is told by the part that it is in, with the offset in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CapturePart {
    /// Offset of the first record in the file; 0 for the beginning of the capture.
    pub start: u64,
    /// Offset of the first record behind the part; none where it goes to the end of the capture.
    pub end: Option<u64>,
    /// Packets of the capture that are before it.
    pub packets_before: u64,
}

/// The parts of the capture at `path`, each of `bytes` or more but for the last one. Records can be found only one after
/// another, so all of the file is read once; nothing of it is decoded. What cannot be gone into is one part: compressed
/// captures, and pcapng, whose blocks are understood by those before them.
///
/// # Errors
/// `Io` where the file cannot be opened, and those of the header: the input is no capture, or ends inside of its header. What
/// is wrong behind that ends the last part.
pub fn capture_parts(path: &Path, bytes: u64, options: &StreamOptions) -> Result<Vec<CapturePart>> {
    let mut stream = ByteStream::open(path, options)?;
    let (mut decoder, mut packets) = (Decoder::new(), 0);
    let mut parts = Vec::from([CapturePart::default()]);
    loop {
        let can_be_split = stream.compression() == Compression::None
            && decoder.format().is_none_or(|format| format == Format::Pcap);
        if !can_be_split {
            return Ok(parts);
        }
        let step = decoder.step(stream.buffered(), stream.at_end());
        match step {
            Ok(Step::Record { consumed, .. }) => {
                split_before(stream.position(), packets, bytes, &mut parts);
                packets += 1;
                stream.consume(consumed);
            }
            Ok(Step::Need(count)) => match stream.fill(count) {
                Ok(_) => {}
                Err(error) if decoder.has_header() => {
                    drop(error);
                    return Ok(parts);
                }
                Err(error) => return Err(error),
            },
            Ok(Step::Skip(count)) => drop(stream.skip(count)?),
            Ok(Step::End) => return Ok(parts),
            Err(_) if decoder.has_header() => return Ok(parts),
            Err(error) => return Err(error.in_file(stream.name())),
        }
    }
}

/// Ends the last part where a record begins at `offset` and the part is long enough.
fn split_before(offset: u64, packets: u64, bytes: u64, parts: &mut Vec<CapturePart>) {
    if let Some(last) = parts.last_mut()
        && packets > last.packets_before
        && offset - last.start >= bytes
    {
        last.end = Some(offset);
        parts.push(CapturePart { start: offset, end: None, packets_before: packets });
    }
}

/// The numbers of the first packets of parts of the capture at `path`, each of about `bytes` of the file, by its index. Whoever asks for
/// the packets of a part by their numbers reads little more than that, and gets the right ones also where the index is gone by then.
/// 1 alone for the whole capture: where there is no index, or none that fits; where the capture has grown, or ends with damage; and
/// where `options` have a filter and the capture several interfaces, because a filter has to see one packet of each link.
///
/// # Errors
/// `Io` where the file cannot be opened, `Format` where its compression is not supported.
pub fn indexed_parts(path: &Path, bytes: u64, options: &CaptureOptions) -> Result<Vec<u64>> {
    let stream = ByteStream::open(path, &options.stream)?;
    let place = IndexPlace::of(path, options.index_dir.as_deref())?;
    // What is wrong with an index is told by whoever reads the capture.
    Ok(match place.open_for(&stream) {
        Ok(Some((file, VersionMatch::Same)))
            if options.filter.is_none() || file.has_one_interface() =>
        {
            file.pieces(bytes)
        }
        _ => vec![1],
    })
}
