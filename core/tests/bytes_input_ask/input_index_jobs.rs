//! Goal: with an index, threads decompress a compressed capture from several places at once, and nothing that is read differs
//! from what one thread reads: packets, their bytes, the error that ends them, its offset. That holds for an index that lies.
//!
//! Method: random captures of all compressions, whole and damaged, are read with one thread, which is the slow and obvious
//! twin, and with several, which begin every few pages. Indexes of other captures and with wrong numbers get the checksums
//! that make them count.

use std::fs::{self, File};
use std::path::Path;

use bytewright::bytes::Cancel;
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::{Error, Result};

use crate::bytes_cases;
use crate::folder::Folder;
use crate::generate::{Random, seeds};
use crate::input_index::{damaged, index_of, made, make, one_member, pcap, pcapng};

/// All that reading a capture shows.
#[derive(PartialEq)]
struct Shown {
    packets: Vec<(u64, Option<i64>, Vec<u8>)>,
    error: Option<String>,
    position: u64,
    interfaces: usize,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} packets, {:?}, {} bytes", self.packets.len(), self.error, self.position)
    }
}

fn options(jobs: usize) -> CaptureOptions {
    let mut options = CaptureOptions::default();
    options.stream.jobs = jobs;
    options.stream.span = 50_000;
    options
}

fn told(error: &Error) -> String {
    format!("{error} {:?} {:?}", error.kind(), error.offset())
}

/// Reads with so many threads; called off and on again after each `step` packets.
fn read(path: &Path, jobs: usize, step: usize) -> Result<Shown> {
    let mut reader = CaptureReader::open(path, &options(jobs))?;
    let (mut packets, cancel) = (Vec::new(), reader.cancel());
    let error = loop {
        let mut left = step;
        let read = reader.each_while(|packet, captured| {
            packets.push((packet.number(), packet.ts(), captured.to_vec()));
            left -= 1;
            left > 0
        });
        match read {
            Ok(true) => call_off(&mut reader, &cancel, &mut packets),
            Ok(false) => break None,
            Err(error) => break Some(told(&error)),
        }
    };
    let facts = reader.facts();
    let interfaces = facts.decoder.interfaces().len();
    Ok(Shown { packets, error, position: facts.position, interfaces })
}

/// Reads on while the reading is called off, which gives what is buffered at most, and allows it again.
fn call_off(
    reader: &mut CaptureReader,
    cancel: &Cancel,
    packets: &mut Vec<(u64, Option<i64>, Vec<u8>)>,
) {
    cancel.cancel();
    let read = reader.each_while(|packet, captured| {
        packets.push((packet.number(), packet.ts(), captured.to_vec()));
        true
    });
    cancel.reset();
    if let Err(error) = read {
        // Another error comes again.
        let _ = error;
    }
}

/// A capture that is compressed in a way that its index has places for.
fn capture(random: &mut Random) -> Vec<u8> {
    let count = 1500 + random.below(3000);
    let bytes = match random.once_in(2) {
        true => pcap(random, count),
        false => pcapng(random, count),
    };
    let len = random.pick(&[30_000, 200_000]);
    let level = random.pick(&[0, 1, 6]);
    match random.below(4) {
        0 => one_member(&bytes, random.pick(&[1000, 9000]), level),
        1 => one_member(&bytes, bytes.len(), level),
        2 => bytes.chunks(len).flat_map(|piece| bytes_cases::gzip(piece, level)).collect(),
        _ => bytes.chunks(len).flat_map(|piece| bytes_cases::zstd(piece, 1)).collect(),
    }
}

/// Writes bytes in the place of others, and leaves the time of the last change as it was.
fn write_unseen(path: &Path, bytes: &[u8]) {
    let modified = path.metadata().unwrap().modified().unwrap();
    fs::write(path, bytes).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

/// Gives an index the checksums of what it says.
fn seal(index: &mut [u8]) {
    let word = |index: &[u8], at: usize| u64::from_le_bytes(index[at..at + 8].try_into().unwrap());
    let table = word(index, 40) as usize;
    let check = crc32c(&index[table..]);
    index[52..56].copy_from_slice(&check.to_le_bytes());
    let check = crc32c(&index[..60]);
    index[60..64].copy_from_slice(&check.to_le_bytes());
}

/// CRC32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
        }
    }
    !crc
}

#[test]
fn a_capture_with_an_index_reads_the_same_on_any_number_of_threads() {
    let folder = Folder::new("index-jobs");
    let path = folder.path("capture");
    seeds(40, |random| {
        let whole = capture(random);
        fs::write(&path, damaged(random, whole)).unwrap();
        let _ = make(&path);
        let expected = read(&path, 1, usize::MAX).unwrap();
        let jobs = 2 + random.below(3);
        assert_eq!(read(&path, jobs, usize::MAX).unwrap(), expected, "{jobs} threads");
        let step = 1 + random.below(500);
        assert_eq!(read(&path, jobs, step).unwrap(), expected, "{jobs} threads, called off");
        let _ = fs::remove_file(index_of(&path));
    });
}

#[test]
fn a_change_that_the_index_does_not_show_reads_as_without_it() {
    let folder = Folder::new("index-jobs-changed");
    let path = folder.path("capture");
    seeds(40, |random| {
        let mut file = capture(random);
        fs::write(&path, &file).unwrap();
        made(&path);
        for _ in 0..1 + random.below(3) {
            // Few bytes are looked at of a long file; those that are not are likely to be met.
            let at = random.below(file.len());
            file[at] ^= 1 << random.below(8);
        }
        write_unseen(&path, &file);
        let expected = read(&path, 1, usize::MAX).unwrap();
        let jobs = 2 + random.below(3);
        assert_eq!(read(&path, jobs, usize::MAX).unwrap(), expected, "{jobs} threads");
        fs::remove_file(index_of(&path)).unwrap();
    });
}

#[test]
fn an_index_of_another_capture_that_says_it_is_of_this_one_changes_nothing() {
    let folder = Folder::new("index-jobs-forged");
    let (path, other) = (folder.path("capture"), folder.path("other"));
    seeds(30, |random| {
        fs::write(&path, capture(random)).unwrap();
        fs::write(&other, capture(random)).unwrap();
        made(&path);
        made(&other);
        let own = fs::read(index_of(&path)).unwrap();
        let mut forged = fs::read(index_of(&other)).unwrap();
        forged[16..40].copy_from_slice(&own[16..40]);
        seal(&mut forged);
        fs::write(index_of(&path), forged).unwrap();
        let expected = read(&path, 1, usize::MAX).unwrap();
        let jobs = 2 + random.below(3);
        assert_eq!(read(&path, jobs, usize::MAX).unwrap(), expected, "{jobs} threads");
        for path in [&path, &other] {
            fs::remove_file(index_of(path)).unwrap();
        }
    });
}

#[test]
fn an_index_with_wrong_numbers_changes_nothing() {
    const PART_LEN: usize = 80;
    let folder = Folder::new("index-jobs-lies");
    let path = folder.path("capture");
    seeds(60, |random| {
        fs::write(&path, capture(random)).unwrap();
        made(&path);
        let mut index = fs::read(index_of(&path)).unwrap();
        for _ in 0..1 + random.below(4) {
            // A number of some part, a little off: offsets, bits, the checksum, the length; or a byte of a window's place.
            let table = u64::from_le_bytes(index[40..48].try_into().unwrap()) as usize;
            let parts = (index.len() - table) / PART_LEN;
            let part = 1 + random.below(parts.min(12));
            let at =
                index.len() - PART_LEN * part + random.pick(&[0, 8, 9, 16, 52, 53, 54, 56, 60, 64]);
            index[at] = index[at].wrapping_add(random.pick(&[1, 7, 255]));
        }
        seal(&mut index);
        fs::write(index_of(&path), index).unwrap();
        let expected = read(&path, 1, usize::MAX).unwrap();
        let jobs = 2 + random.below(3);
        assert_eq!(read(&path, jobs, usize::MAX).unwrap(), expected, "{jobs} threads");
        fs::remove_file(index_of(&path)).unwrap();
    });
}

#[test]
fn a_reader_that_is_dropped_ends_its_threads() {
    let folder = Folder::new("index-jobs-dropped");
    let path = folder.path("capture");
    let mut random = Random::new(3);
    let bytes = pcap(&mut random, 4000);
    fs::write(&path, one_member(&bytes, 9000, 6)).unwrap();
    made(&path);
    for count in [1, 300, 2000] {
        let mut reader = CaptureReader::open(&path, &options(3)).unwrap();
        let mut left = count;
        let goes_on = reader.each_while(|_, _| {
            left -= 1;
            left > 0
        });
        assert!(goes_on.unwrap());
    }
}
