//! Goal: what is read from a seek point on is what is read there from the beginning: bytes, and damage behind it with the same
//! words and offsets.
//!
//! Method: random files of all kinds of deflate blocks, members and frames are read whole, which is the slow and obvious twin and
//! finds the points; then from each point on, by each library that inflates, whichever found it.

use std::cell::Cell;

use bytewright::Result;
use bytewright::bytes::{
    ByteStream, InflateBackend, Resume, SeekPoint, SeekSpacing, Source, StreamOptions,
};

use crate::bytes_cases;
use crate::generate::{Random, seeds};

/// Everything from the present place to the end, and the error that comes there.
fn rest(stream: &mut ByteStream) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    loop {
        match stream.fill(1) {
            Ok([]) => return (bytes, None),
            Ok(found) => {
                bytes.extend_from_slice(found);
                let count = found.len();
                stream.consume(count);
            }
            Err(error) => return (bytes, Some(error.to_string())),
        }
    }
}

/// A file in memory.
struct Memory {
    bytes: Vec<u8>,
    at: usize,
}

impl Source for Memory {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.len().min(limit);
        into.extend_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        self.at = offset as usize;
        Ok(true)
    }

    fn is_nonblocking(&self) -> bool {
        true
    }
}

fn stream(file: &[u8], options: &StreamOptions, backend: InflateBackend) -> ByteStream {
    let source = Box::new(Memory { bytes: file.to_vec(), at: 0 });
    ByteStream::by_backend(source, "file", options, backend).unwrap()
}

fn content(random: &mut Random) -> Vec<u8> {
    let len = random.below(400_000);
    match random.below(4) {
        0 => random.bytes(len),
        1 => vec![7; len * 4],
        _ => bytes_cases::mixed(random, len),
    }
}

fn file(random: &mut Random) -> Vec<u8> {
    let is_gzip = !random.once_in(4);
    let count = random.pick(&[1, 1, 2, 9]);
    let member = |random: &mut Random| match is_gzip {
        true => bytes_cases::gzip(&content(random), random.pick(&[0, 1, 6, 9])),
        false => bytes_cases::zstd(&content(random), 1),
    };
    (0..count).flat_map(|_| member(random)).collect()
}

/// Options with which points are found wherever they can be.
fn options(random: &mut Random) -> StreamOptions {
    let bytes = random.pick(&[1, 5000, 50_000]);
    let spacing = SeekSpacing { bytes, window_bytes: bytes, raw_per_window_byte: 0 };
    let mut options = StreamOptions::default();
    options.seek_points = Some(spacing);
    options.piece = random.pick(&[1000, 70_000, 256 << 10]);
    options
}

#[test]
fn reading_goes_on_from_a_seek_point_as_from_the_beginning() {
    let found = [const { Cell::new(0) }; 3];
    seeds(60, |random| {
        let mut file = file(random);
        let options = options(random);
        let backend = random.pick(InflateBackend::available());
        let mut whole = stream(&file, &options, backend);
        let (mut expected, mut error) = rest(&mut whole);
        assert_eq!(error, None);
        let points = whole.take_seek_points();
        assert!(points.is_sorted_by_key(|point| point.position));
        let damaged = file.len() - 9;
        let is_damaged = random.once_in(3);
        if is_damaged {
            file[damaged] ^= 0x55;
            (expected, error) = rest(&mut stream(&file, &StreamOptions::default(), backend));
        }
        let step = points.len().div_ceil(12).max(1);
        for point in points.iter().step_by(step) {
            if is_damaged && point.raw_offset + 1 >= damaged as u64 {
                continue;
            }
            count(point, &found);
            for other in InflateBackend::available() {
                // Each library describes damage in its own words.
                let mut again = stream(&file, &StreamOptions::default(), *other);
                again.fill(1).unwrap();
                again.seek_to_point(point).unwrap();
                assert_eq!(again.position(), point.position);
                let (bytes, told) = rest(&mut again);
                assert_eq!(told.is_some(), error.is_some(), "{backend} then {other}");
                if *other == backend {
                    assert_eq!(told, error, "{backend}");
                    assert!(bytes == expected[point.position as usize..], "{backend}");
                } else if !is_damaged {
                    assert!(bytes == expected[point.position as usize..], "{backend}, {other}");
                }
            }
        }
    });
    let found = found.map(Cell::into_inner);
    assert!(found.iter().all(|count| *count > 20), "{found:?}");
}

/// Counts the kinds of points: between members, between blocks, in stored blocks.
fn count(point: &SeekPoint, found: &[Cell<usize>; 3]) {
    match &point.resume {
        Resume::Boundary => found[0].update(|count| count + 1),
        Resume::Deflate(state) if state.stored.is_none() => found[1].update(|count| count + 1),
        Resume::Deflate(_) => found[2].update(|count| count + 1),
    }
}

#[test]
fn points_are_as_far_apart_as_asked_and_their_windows_small_beside_the_input() {
    let mut random = Random::new(4);
    let content = bytes_cases::mixed(&mut random, 3_000_000);
    let file = bytes_cases::gzip(&content, 6);
    let spacing = SeekSpacing { bytes: 1000, window_bytes: 100_000, raw_per_window_byte: 20 };
    for backend in InflateBackend::available() {
        let mut options = StreamOptions::default();
        options.seek_points = Some(spacing);
        let mut stream = stream(&file, &options, *backend);
        assert_eq!(rest(&mut stream), (content.clone(), None));
        let points = stream.take_seek_points();
        let windows: usize = points
            .iter()
            .map(|point| match &point.resume {
                Resume::Boundary => 0,
                Resume::Deflate(state) => state.window.len(),
            })
            .sum();
        assert!(points.len() > 1, "{backend}");
        assert!(windows * 20 <= file.len(), "{backend}: {windows} of {}", file.len());
        let far = |pair: &[SeekPoint]| pair[1].position - pair[0].position >= spacing.window_bytes;
        assert!(points.windows(2).all(far), "{backend}");
        assert!(stream.take_seek_points().is_empty(), "{backend}");
    }
}
