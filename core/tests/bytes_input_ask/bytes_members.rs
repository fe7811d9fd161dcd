//! Goal: members of gzip and frames of zstd that are decompressed side by side give the bytes and the errors, at the same
//! offsets, that one decoder gives which takes them one after the other.
//!
//! Method: random files of many members, of all the kinds that writers leave, whole and damaged, with what looks like a
//! member inside of members, and with seek tables that are right, damaged or lie, are read by one thread, which is the slow
//! and obvious twin, and by several.

use std::io::Write;

use bytewright::Result;
use bytewright::bytes::{ByteStream, InflateBackend, StreamOptions};

use crate::bytes_cases::{self, Pieces};
use crate::folder::Folder;
use crate::generate::{Random, seeds};

/// One member with its size in the header, as bgzip writes it.
fn bgzip_block(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(1));
    encoder.write_all(bytes).unwrap();
    let deflated = encoder.finish().unwrap();
    let mut block = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
    block.extend((18 + deflated.len() as u16 + 8 - 1).to_le_bytes());
    block.extend(deflated);
    block.extend(crc32fast::hash(bytes).to_le_bytes());
    block.extend((bytes.len() as u32).to_le_bytes());
    block
}

/// A member of gzip of some kind.
fn gzip_member(random: &mut Random) -> Vec<u8> {
    match random.below(5) {
        0 => {
            let len = random.below(60_000);
            bgzip_block(&bytes_cases::mixed(random, len))
        }
        1 => {
            // Stored as they are, members in a member look like members.
            let inner = bytes_cases::gzip(&random.bytes(900), 6).repeat(1 + random.below(20));
            bytes_cases::gzip(&inner, 0)
        }
        2 => bytes_cases::gzip(&vec![7; random.below(3_000_000)], 9),
        _ => {
            let len = random.below(300_000);
            bytes_cases::gzip(&bytes_cases::mixed(random, len), random.pick(&[0, 1, 6]))
        }
    }
}

/// A frame of zstd, or one to be stepped over.
fn zstd_frame(random: &mut Random) -> Vec<u8> {
    let len = random.below(300_000);
    match random.below(5) {
        0 => [&[0x50, 0x2a, 0x4d, 0x18, 100, 0, 0, 0][..], &random.bytes(100)].concat(),
        1 => {
            let bytes = bytes_cases::mixed(random, len);
            let mut context = zstd_safe::CCtx::create();
            // The length of the content is not in the frame.
            context.set_parameter(zstd_safe::CParameter::ContentSizeFlag(false)).unwrap();
            let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
            context.compress2(&mut frame, &bytes).unwrap();
            frame
        }
        _ => bytes_cases::zstd(&bytes_cases::mixed(random, len), 1),
    }
}

fn file(random: &mut Random) -> Vec<u8> {
    let is_gzip = random.once_in(2);
    let only_bgzip = random.once_in(3);
    let mut file = Vec::new();
    for _ in 0..1 + random.below(40) {
        if !is_gzip {
            file.extend(zstd_frame(random));
        } else if only_bgzip {
            let len = random.below(60_000);
            file.extend(bgzip_block(&bytes_cases::mixed(random, len)));
        } else {
            file.extend(gzip_member(random));
            if random.once_in(10) {
                file.resize(file.len() + random.below(700), 0);
            }
        }
    }
    match random.below(6) {
        0 => {
            let at = random.below(file.len());
            file[at] ^= 1 << random.below(8);
        }
        1 => file.truncate(random.below(file.len())),
        2 => file.extend(random.bytes(30)),
        _ => {}
    }
    file
}

/// Bytes that a reader leaves when it asks for more, by turns: more of them than fit before the bytes of a thread, too.
const KEPT: [usize; 5] = [0, 1, 700, 16_384, 40_000];

/// All bytes, and what the file ends with.
fn read(file: &[u8], jobs: usize, backend: InflateBackend, fill: usize) -> (Vec<u8>, String) {
    let mut options = StreamOptions::default();
    options.jobs = jobs;
    let mut source = Pieces::new(file, &[100_000, 7, 300_000]);
    source.is_nonblocking = true;
    read_in_parts(ByteStream::by_backend(Box::new(source), "file", &options, backend), fill)
}

fn read_in_parts(opened: Result<ByteStream>, fill: usize) -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(error) => return (bytes, error.to_string()),
    };
    let mut kept = 0;
    for turn in 0.. {
        match stream.fill(fill + kept) {
            Ok([]) => break,
            Ok(more) => {
                // What is left stands before the next bytes, as the beginning of a packet does.
                let is_end = more.len() < fill + kept;
                kept = if is_end { 0 } else { KEPT[turn % KEPT.len()].min(more.len() - 1) };
                let count = more.len() - kept;
                bytes.extend_from_slice(&more[..count]);
                stream.consume(count);
            }
            Err(error) => {
                bytes.extend_from_slice(stream.buffered());
                return (bytes, format!("{error} {:?} {:?}", error.kind(), error.offset()));
            }
        }
    }
    (bytes, format!("the end at {}", stream.position()))
}

#[test]
fn members_read_the_same_on_any_number_of_threads() {
    seeds(60, |random| {
        let file = file(random);
        for backend in bytes_cases::backends() {
            let (expected, expected_end) = read(&file, 1, backend, 1);
            let (jobs, fill) = (2 + random.below(3), 1 + random.below(100_000));
            let (bytes, end) = read(&file, jobs, backend, fill);
            assert_eq!(end, expected_end, "{backend}, {jobs} threads, {} bytes", file.len());
            assert!(bytes == expected, "{backend}, {jobs} threads");
        }
    });
}

/// A seek table for frames with these lengths, raw and decompressed, by the description of the format.
fn seek_table(frames: &[[u32; 2]], has_checksums: bool) -> Vec<u8> {
    let mut entries = Vec::new();
    for lengths in frames {
        lengths.iter().for_each(|len| entries.extend(len.to_le_bytes()));
        if has_checksums {
            entries.extend([1, 2, 3, 4]);
        }
    }
    let mut table = 0x184d_2a5e_u32.to_le_bytes().to_vec();
    table.extend((entries.len() as u32 + 9).to_le_bytes());
    table.extend(entries);
    table.extend((frames.len() as u32).to_le_bytes());
    table.push(if has_checksums { 0x80 } else { 0 });
    table.extend(0x8f92_eab1_u32.to_le_bytes());
    table
}

/// Frames of zstd with their seek table, which may be wrong.
fn file_with_seek_table(random: &mut Random) -> Vec<u8> {
    let (mut file, mut lengths) = (Vec::new(), Vec::new());
    for _ in 0..1 + random.below(40) {
        let len = random.below(300_000);
        let content = bytes_cases::mixed(random, len);
        let frame = bytes_cases::zstd(&content, 1);
        lengths.push([frame.len() as u32, content.len() as u32]);
        file.extend(frame);
    }
    let raw_len = file.len();
    match random.below(4) {
        0 => {
            // The sum stays what it is, so the table is believed at first.
            let (one, other) = (random.below(lengths.len()), random.below(lengths.len()));
            let moved = random.below(lengths[one][0] as usize + 1) as u32;
            lengths[one][0] -= moved;
            lengths[other][0] += moved;
        }
        1 => {
            let at = random.below(lengths.len());
            lengths[at][1] = random.pick(&[0, 1, 9_000_000, u32::MAX]);
        }
        _ => {}
    }
    file.extend(seek_table(&lengths, random.once_in(2)));
    match random.below(6) {
        0 => {
            let at = raw_len + random.below(file.len() - raw_len);
            file[at] ^= 1 << random.below(8);
        }
        1 => {
            let at = random.below(raw_len);
            file[at] ^= 1 << random.below(8);
        }
        2 => file.extend(zstd_frame(random)),
        3 => file.truncate(random.below(file.len())),
        _ => {}
    }
    file
}

/// All bytes of a file on the disk, and what it ends with.
fn read_file(path: &std::path::Path, jobs: usize) -> (Vec<u8>, String) {
    let mut options = StreamOptions::default();
    options.jobs = jobs;
    read_in_parts(ByteStream::open(path, &options), 1)
}

#[test]
fn frames_with_a_seek_table_read_the_same_on_any_number_of_threads_whatever_it_says() {
    let folder = Folder::new("seek-table");
    let path = folder.path("frames.zst");
    seeds(60, |random| {
        std::fs::write(&path, file_with_seek_table(random)).unwrap();
        let jobs = 2 + random.below(3);
        let (expected, found) = (read_file(&path, 1), read_file(&path, jobs));
        assert_eq!(found.1, expected.1, "{jobs} threads");
        assert!(found.0 == expected.0, "{jobs} threads");
    });
}

#[test]
fn a_file_whose_members_are_longer_than_their_sizes_say_is_damage_at_the_same_place() {
    let mut random = Random::new(1);
    let blocks: Vec<_> =
        (0..60).map(|_| bgzip_block(&bytes_cases::mixed(&mut random, 50_000))).collect();
    let mut file = blocks.concat();
    let start: usize = blocks[..30].iter().map(Vec::len).sum();
    // A size that is too small by one: the member is whole all the same, and no damage.
    file[start + 16] = file[start + 16].wrapping_sub(1);
    let backend = InflateBackend::serving().unwrap();
    assert!(read(&file, 3, backend, 1) == read(&file, 1, backend, 1));
    // A length of content that is wrong is damage.
    let end = start + blocks[30].len();
    file[end - 1] ^= 1;
    let (bytes, told) = read(&file, 3, backend, 1);
    assert_eq!((bytes.len(), told.contains("Format")), (31 * 50_000, true), "{told}");
    assert!((bytes, told) == read(&file, 1, backend, 1));
}

#[test]
fn a_stream_that_is_dropped_or_gone_back_in_stops_its_threads() {
    let mut random = Random::new(2);
    let file: Vec<u8> =
        (0..80).flat_map(|_| bgzip_block(&bytes_cases::mixed(&mut random, 50_000))).collect();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("members-{}.gz", std::process::id()));
    std::fs::write(&path, &file).unwrap();
    let mut options = StreamOptions::default();
    options.jobs = 3;
    let mut stream = ByteStream::open(&path, &options).unwrap();
    let beginning = stream.fill(1000).unwrap()[..1000].to_vec();
    assert_eq!(stream.skip(2_000_000).unwrap(), 2_000_000);
    stream.rewind().unwrap();
    assert_eq!(stream.fill(1000).unwrap()[..1000], beginning);
    assert_eq!(stream.skip(u64::MAX).unwrap(), 4_000_000);
    drop(stream);
    std::fs::remove_file(&path).unwrap();
}
