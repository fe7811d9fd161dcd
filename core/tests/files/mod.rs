//! Capture files for tests: where they lie, what they hold, and the plainest way to read them.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs;
use std::path::{Path, PathBuf};

use bytewright::Error;
use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::capture::{Decoder, Record, Step};
use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet, Status};

/// The folder of captures that other projects collected: `BYTEWRIGHT_CAPTURES`, or `shared/captures`
/// beside the repository. Where it is absent this prints why the test is skipped.
pub(crate) fn corpus(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures");
    let folder = std::env::var_os("BYTEWRIGHT_CAPTURES").map_or(beside, PathBuf::from);
    if folder.join("MANIFEST.tsv").is_file() {
        return Some(folder);
    }
    println!(
        "{test}: skipped, there is no folder of captures at {} (BYTEWRIGHT_CAPTURES names another)",
        folder.display()
    );
    None
}

/// Names of the files of a corpus, as its manifest lists them.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(folder.join("MANIFEST.tsv")).expect("a readable manifest");
    let name = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    manifest.lines().skip(1).map(name).collect()
}

/// The bytes of a file, decompressed where it is compressed.
pub(crate) fn plain(path: &Path) -> Vec<u8> {
    let read = || -> bytewright::Result<Vec<u8>> {
        let mut stream = ByteStream::open(path, &StreamOptions::default())?;
        let mut plain = Vec::new();
        while !stream.fill(1)?.is_empty() {
            plain.extend_from_slice(stream.buffered());
            stream.consume(stream.buffered().len());
        }
        Ok(plain)
    };
    read().unwrap_or_else(|error| panic!("{error}"))
}

/// Every record of a capture, and the damage it ends in.
pub(crate) fn records(capture: &[u8]) -> (Vec<Record<'_>>, Option<Error>) {
    let mut decoder = Decoder::new();
    let mut records = Vec::new();
    let mut position = 0;
    loop {
        match decoder.step(capture.get(position..).unwrap_or_default(), true) {
            Ok(Step::Record { record, consumed }) => {
                assert!(consumed > 0, "a record takes bytes");
                position += consumed;
                records.push(record);
            }
            Ok(Step::Skip(count)) => position += usize::try_from(count).expect("a 64-bit machine"),
            Ok(Step::Need(count)) => panic!("{count} bytes wanted with everything in view"),
            Ok(Step::End) => return (records, None),
            Err(error) => return (records, Some(error)),
        }
    }
}

/// The packet in a record, decoded as a whole-file scan does.
pub(crate) fn packet(number: u64, record: &Record<'_>, options: DecodeOptions) -> Packet {
    let link_type = LinkType(record.link_type);
    let meta = FrameMeta { number, ts: record.ts, length: record.length, link_type };
    let mut packet = Packet::decode(meta, record.captured, options);
    if record.bad_time {
        packet.mark(Status::BAD_TIME);
    }
    packet
}
