//! Tests that a `ByteStream` returns the bytes that went into the compressor, however the input is cut
//! into pieces, however small the buffer is, and whichever way the bytes are taken out.

use std::path::PathBuf;

use bytewright::ErrorKind;
use bytewright::bytes::{
    ByteStream, Compression, FileSource, InflateBackend, Source, StreamOptions,
};

use crate::bytes_cases::{
    Pieces, backends, drain, gzip, mixed, options, read_by, read_whole, read_whole_by, zstd,
};
use crate::generate::{Random, seeds};

fn scratch_file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn stream(bytes: &[u8], sizes: &[usize], options: &StreamOptions) -> ByteStream {
    ByteStream::new(Box::new(Pieces::new(bytes, sizes)), "test", options).unwrap()
}

#[test]
fn every_compression_gives_back_the_bytes_in_pieces_of_any_size() {
    let data = mixed(&mut Random::new(1), 40_000);
    let inputs = [data.clone(), gzip(&data, 6), gzip(&data, 0), zstd(&data, 3)];
    for input in &inputs {
        for backend in backends() {
            for piece in [1_usize, 64, 5_000, 256 << 10] {
                for size in [1, 700, usize::MAX] {
                    for is_nonblocking in [false, true] {
                        let mut source = Pieces::new(input, &[size]);
                        source.is_nonblocking = is_nonblocking;
                        // Tiny pieces on both sides cost a lot and show nothing more.
                        if piece.saturating_mul(size) < 64 {
                            continue;
                        }
                        let (bytes, error) = read_by(backend, source, &options(piece));
                        assert!(error.is_none(), "{error:?}");
                        assert!(bytes == data, "piece {piece}, size {size}, {backend}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_small_input_may_be_split_anywhere() {
    let first = b"the first member, the first member".as_slice();
    let members = [gzip(first, 9), gzip(b"", 6), gzip(b"another", 0), vec![0; 5], gzip(b"!", 1)];
    let skippable = [0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let frames =
        [skippable.to_vec(), zstd(first, 3), zstd(b"", 3), zstd(b"another", 1), zstd(b"!", 1)];
    let expected = [first, b"another", b"!"].concat();
    for input in [members.concat(), frames.concat()] {
        for split in 1..input.len() {
            for backend in backends() {
                let source = Pieces::new(&input, &[split, usize::MAX]);
                let (bytes, error) = read_by(backend, source, &options(16));
                assert!(error.is_none(), "split at {split}: {error:?}");
                assert_eq!(bytes, expected, "split at {split}");
            }
        }
        for backend in backends() {
            let (bytes, error) = read_by(backend, Pieces::new(&input, &[1]), &options(1));
            assert!(error.is_none() && bytes == expected, "byte for byte: {error:?}");
        }
    }
}

#[test]
fn both_backends_agree_on_random_members() {
    seeds(40, |random| {
        let (mut data, mut input) = (Vec::new(), Vec::new());
        for _ in 0..=random.below(5) {
            let length = random.below(50_000);
            let member = mixed(random, length);
            input.extend(gzip(&member, u32::try_from(random.below(10)).unwrap()));
            data.extend(member);
        }
        let sizes: Vec<usize> = (0..7).map(|_| 1 + random.below(20_000)).collect();
        let piece = 1 + random.below(60_000);
        for backend in backends() {
            let (bytes, error) = read_by(backend, Pieces::new(&input, &sizes), &options(piece));
            assert!(error.is_none(), "{backend}: {error:?}");
            assert!(bytes == data, "{backend}");
        }
    });
}

#[test]
fn many_empty_members_are_passed_without_recursion() {
    let mut input = gzip(b"", 6).repeat(50_000);
    input.extend(gzip(b"end", 6));
    for backend in backends() {
        assert_eq!(read_whole_by(backend, &input).0, b"end");
    }
    let mut input = zstd(b"", 1).repeat(50_000);
    input.extend(zstd(b"end", 1));
    assert_eq!(read_whole(&input).0, b"end");
}

#[test]
fn empty_input_is_plain_and_at_its_end() {
    let mut stream = stream(b"", &[1], &StreamOptions::default());
    assert_eq!(stream.compression(), Compression::None);
    assert!(stream.fill(10).unwrap().is_empty());
    assert!(stream.at_end());
    assert_eq!((stream.position(), stream.skip(5).unwrap()), (0, 0));
}

#[test]
fn backends_are_called_as_their_projects_call_them() {
    assert_eq!(InflateBackend::Zlib.to_string(), "zlib-rs");
    assert_eq!(InflateBackend::Isal.to_string(), "isa-l");
}

#[test]
fn fill_grows_the_buffer_for_one_item_and_refuses_more_than_its_bound() {
    let data = mixed(&mut Random::new(3), 100_000);
    let mut options = options(1000);
    options.max_buffer = 50_000;
    let mut stream = stream(&gzip(&data, 6), &[usize::MAX], &options);
    assert_eq!(stream.fill(40_000).unwrap()[..40_000], data[..40_000]);
    stream.consume(10);
    assert!(stream.fill(50_000).unwrap() == &data[10..50_010]);
    let error = stream.fill(50_001).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.file(), Some("test"));
    let (rest, error) = drain(&mut stream);
    assert!(error.is_none() && rest == data[10..]);
    // One item's growth is not kept.
    assert!(stream.swap_buffer(Vec::new()).0.capacity() < 10_000);
}

#[test]
fn items_of_random_size_come_out_whole() {
    seeds(30, |random| {
        let data = mixed(random, 200_000);
        let input = if random.once_in(2) { data.clone() } else { zstd(&data, 1) };
        let piece = 1 + random.below(8000);
        let mut stream = stream(&input, &[1 + random.below(9000), 10], &options(piece));
        let mut position = 0;
        while position < data.len() {
            let at_least = random.below(3 * piece);
            let end = data.len().min(position + at_least);
            let filled = stream.fill(at_least).unwrap();
            assert!(filled.len() >= end - position, "at {position}");
            assert!(filled == &data[position..position + filled.len()], "at {position}");
            let count = random.below(stream.buffered().len() + 1);
            stream.consume(count);
            position += count;
            assert_eq!(stream.position(), position as u64);
        }
        assert!(stream.fill(1).unwrap().is_empty() && stream.at_end());
    });
}

#[test]
fn memory_stays_at_a_piece_however_long_the_input_is() {
    let data = vec![7; 2 << 20];
    for input in [gzip(&data, 1), zstd(&data, 1), data.clone()] {
        let mut stream = stream(&input, &[usize::MAX], &options(10_000));
        assert_eq!(drain(&mut stream).0.len(), data.len());
        assert!(stream.swap_buffer(Vec::new()).0.capacity() <= 20_000);
    }
}

#[test]
fn skip_passes_exactly_as_many_bytes_as_there_are() {
    let data = mixed(&mut Random::new(4), 300_000);
    let path = scratch_file("io_skip", &data);
    for input in [data.clone(), gzip(&data, 1), zstd(&data, 1)] {
        let mut stream = stream(&input, &[1000], &options(4096));
        skip_through(&mut stream, &data);
    }
    let mut stream = ByteStream::open(&path, &options(4096)).unwrap();
    skip_through(&mut stream, &data);
    assert_eq!(stream.input_read(), 300_000);
    assert_eq!(stream.input_len(), Some(300_000));
}

fn skip_through(stream: &mut ByteStream, data: &[u8]) {
    assert_eq!(stream.skip(0).unwrap(), 0);
    assert_eq!(stream.skip(3).unwrap(), 3);
    assert_eq!(stream.fill(4).unwrap()[..4], data[3..7]);
    assert_eq!(stream.skip(123_456).unwrap(), 123_456);
    assert_eq!(stream.position(), 123_459);
    assert_eq!(stream.fill(10).unwrap()[..10], data[123_459..123_469]);
    assert_eq!(stream.skip(100_000).unwrap(), 100_000);
    assert_eq!(stream.fill(5).unwrap()[..5], data[223_459..223_464]);
    assert_eq!(stream.skip(u64::MAX).unwrap(), 76_541);
    assert_eq!(stream.position(), 300_000);
    assert!(stream.at_end());
    assert_eq!(stream.skip(1).unwrap(), 0);
}

#[test]
fn swap_buffer_hands_the_bytes_out_and_goes_on_with_the_tail() {
    let data = mixed(&mut Random::new(5), 100_000);
    let mut stream = stream(&gzip(&data, 6), &[5000], &options(4096));
    let (mut position, mut spare) = (0, vec![9; 10]);
    while !stream.fill(100).unwrap().is_empty() {
        let count = stream.buffered().len().min(90);
        stream.consume(count);
        position += count;
        let tail = stream.buffered().to_vec();
        let (buffer, start) = stream.swap_buffer(spare);
        assert_eq!(buffer[start..], tail);
        assert_eq!(buffer[start - count..start], data[position - count..position]);
        assert_eq!(stream.buffered(), tail);
        assert_eq!(stream.position(), position as u64);
        spare = buffer;
    }
    assert_eq!(position, data.len());
}

#[test]
fn a_file_source_keeps_to_the_limit_and_tells_its_length() {
    let path = scratch_file("io_limit", b"0123456789");
    let mut source = FileSource::open(&path).unwrap();
    assert_eq!(source.len(), Some(10));
    let mut into = Vec::with_capacity(100);
    assert_eq!(source.read(&mut into, 4).unwrap(), 4);
    assert_eq!(source.skip(3).unwrap(), 3);
    assert_eq!(source.read(&mut into, 100).unwrap(), 3);
    assert_eq!(into, b"0123789");
    assert_eq!(source.read(&mut into, 100).unwrap(), 0);
    assert_eq!(source.skip(3).unwrap(), 0);
    assert_eq!(source.read(&mut into, 0).unwrap_err().kind(), ErrorKind::Internal);
}

#[test]
fn a_file_that_calls_itself_empty_is_read_all_the_same() {
    let mut stream =
        ByteStream::open("/proc/self/status".as_ref(), &StreamOptions::default()).unwrap();
    assert_eq!(stream.input_len(), None);
    assert!(drain(&mut stream).0.starts_with(b"Name:"));
}

#[test]
fn a_directory_and_a_missing_file_are_refused_by_name() {
    let error = ByteStream::open("/tmp".as_ref(), &StreamOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(21)));
    assert_eq!(error.to_string(), "/tmp: expected a file or a pipe, found a directory");
    let error = ByteStream::open("/no/such".as_ref(), &StreamOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(2)));
    assert_eq!(error.file(), Some("/no/such"));
}

#[test]
fn other_compressions_are_refused_at_once_with_the_command_that_helps() {
    let error = read_whole(b"BZh91AY&SY and so on").1.unwrap();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_eq!(
        error.to_string(),
        "test: byte 0: expected plain, gzip or zstd input, found bzip2; decompress it on the way \
         in: bzip2 -dc FILE | bytewright ... -"
    );
}
