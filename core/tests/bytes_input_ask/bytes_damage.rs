//! Damage is found, and costs only what comes after it. Each byte of small inputs is changed and each
//! length cut off: never a hang, never a panic, never wrong bytes without an error.

use bytewright::ErrorKind;
use bytewright::bytes::InflateBackend;

use crate::bytes_cases::{
    Pieces, backends, gzip, mixed, options, read, read_by, read_whole, read_whole_by, zstd,
};
use crate::generate::{Random, seeds};

fn gzip_with_all_fields(bytes: &[u8]) -> Vec<u8> {
    let plain = gzip(bytes, 6);
    let mut header = vec![0x1f, 0x8b, 8, 0b1_1110, 1, 2, 3, 4, 0, 3];
    header.extend([4, 0, b'A', b'B', 0, 0]);
    header.extend(b"name\0comment\0");
    let crc = crc32fast::hash(&header).to_le_bytes();
    header.extend([crc[0], crc[1]]);
    header.extend(&plain[10..]);
    header
}

fn small_inputs() -> Vec<(Vec<u8>, Vec<u8>)> {
    let data = mixed(&mut Random::new(11), 700);
    vec![
        (data.clone(), [gzip_with_all_fields(&data[..300]), gzip(&data[300..], 1)].concat()),
        (data.clone(), gzip(&data, 0)),
        (data.clone(), [zstd(&data[..500], 3), zstd(&data[500..], 3)].concat()),
    ]
}

#[test]
fn a_header_with_every_field_is_read() {
    for backend in backends() {
        let (bytes, error) = read_whole_by(backend, &gzip_with_all_fields(b"payload"));
        assert!(error.is_none(), "{error:?}");
        assert_eq!(bytes, b"payload");
    }
}

#[test]
fn changing_any_byte_is_an_error_or_changes_nothing() {
    for (data, input) in small_inputs() {
        for backend in backends() {
            for position in 0..input.len() {
                for change in [1, 0x80, 0xff, 0x24] {
                    let mut damaged = input.clone();
                    damaged[position] ^= change;
                    let (bytes, error) =
                        read_by(backend, Pieces::new(&damaged, &[50]), &options(64));
                    let plain = bytes == damaged;
                    assert!(
                        error.is_some() || bytes == data || (plain && position < 4),
                        "byte {position} ^ {change:#x}, {backend}"
                    );
                    if let Some(error) = error {
                        assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
                        let offset = error.offset().unwrap();
                        assert!(offset <= input.len() as u64, "{error}");
                    }
                }
            }
        }
    }
}

#[test]
fn cutting_the_end_off_delivers_what_is_there_and_says_so() {
    for (data, input) in small_inputs() {
        for backend in backends() {
            for length in 4..input.len() {
                let source = Pieces::new(&input[..length], &[usize::MAX]);
                let (bytes, error) = read_by(backend, source, &options(64));
                assert!(data.starts_with(&bytes), "cut at {length}, {backend}");
                match error {
                    Some(error) => {
                        let truncated = matches!(error.kind(), ErrorKind::Truncated { .. });
                        assert!(truncated, "cut at {length}, {backend}: {error}");
                        assert!(error.message().contains("offset in the compressed input"));
                    }
                    // Between two members or frames nobody can tell.
                    None => assert!(bytes.len() == 300 || bytes.len() == 500, "cut at {length}"),
                }
            }
        }
    }
}

/// isa-l looks up to three literals up at once, and gives none of them where the last is cut off.
#[test]
fn both_backends_deliver_the_same_bytes_but_two_before_the_input_ends_early() {
    seeds(40, |random| {
        let mut input = gzip(&mixed(random, 50_000), 6);
        input.truncate(20 + random.below(input.len() - 40));
        let piece = 1000 + random.below(30_000);
        let results: Vec<_> = backends()
            .map(|backend| read_by(backend, Pieces::new(&input, &[usize::MAX]), &options(piece)))
            .collect();
        let most = results.iter().map(|(bytes, _)| bytes).max_by_key(|bytes| bytes.len()).unwrap();
        for (bytes, error) in &results {
            assert!(error.is_some());
            assert!(most.starts_with(bytes));
            assert!(most.len() - bytes.len() <= 2, "{} bytes", bytes.len());
        }
    });
}

/// Backends may differ in the bytes after the damage, but not in those before it.
#[test]
fn damage_costs_nothing_that_is_whole_before_it() {
    seeds(40, |random| {
        let mut input = gzip(&mixed(random, 100_000), 6);
        let position = 20 + random.below(input.len() - 40);
        let before = read_whole_by(InflateBackend::Zlib, &input[..position]).0;
        input[position] ^= 1 << random.below(8);
        for backend in backends() {
            for piece in [1000 + random.below(50_000), before.len().max(1)] {
                let source = Pieces::new(&input, &[usize::MAX]);
                let (bytes, error) = read_by(backend, source, &options(piece));
                assert!(error.is_some(), "{backend}");
                assert!(bytes.starts_with(&before), "{backend}, piece {piece}");
            }
        }
    });
}

#[test]
fn zstd_delivers_every_block_before_the_damaged_one() {
    let data: Vec<u8> =
        (0..600_000_u32).flat_map(|n| (n.wrapping_mul(n) >> 7).to_le_bytes()).collect();
    let mut input = zstd(&data, 3);
    let last = input.len() - 10;
    input[last] ^= 0xff;
    for piece in [10_000, 128 << 10, 256 << 10, 8 << 20] {
        let (bytes, error) = read(Pieces::new(&input, &[usize::MAX]), &options(piece));
        assert!(error.is_some());
        assert!(bytes.len() >= data.len() - (128 << 10), "piece {piece}: {} bytes", bytes.len());
        assert!(bytes[..data.len() - (128 << 10)] == data[..data.len() - (128 << 10)]);
    }
}

/// Found by fuzzing: the library asks for a block together with the header of the one behind it, and
/// loses both where that header is bad.
#[test]
fn zstd_delivers_the_block_before_a_damaged_block_header() {
    // Magic, no flags, a window of 2 MB; 6,784 times 195 in one block; a block above 128 KB.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x02, 0xd4, 0x00, 195, 0x0d, 0x02, 0x24, 0xb2];
    for piece in [1, 65, 1 << 18] {
        let source = Pieces::new(&frame, &[frame.len()]);
        let (bytes, error) = read(source, &options(piece));
        assert!(bytes == [195; 6784], "{} bytes in pieces of {piece}", bytes.len());
        assert_eq!(error.unwrap().kind(), ErrorKind::Format);
    }
}

#[test]
fn a_wrong_checksum_and_a_wrong_length_are_told_with_both_values_after_all_bytes() {
    let input = gzip(b"hello, hello, hello", 6);
    let trailer = input.len() - 8;
    for backend in backends() {
        let mut damaged = input.clone();
        damaged[trailer..trailer + 4].copy_from_slice(&0x1234_u32.to_le_bytes());
        let (bytes, error) = read_whole_by(backend, &damaged);
        assert_eq!(bytes, b"hello, hello, hello");
        let error = error.unwrap();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Format, Some(trailer as u64)));
        let crc = crc32fast::hash(b"hello, hello, hello");
        assert_eq!(
            error.message(),
            format!(
                "expected a gzip member's CRC-32 0x00001234, found {crc:#010x} over its bytes \
                 (offset in the compressed input)"
            )
        );

        let mut damaged = input.clone();
        damaged[trailer + 4] = 20;
        let error = read_whole_by(backend, &damaged).1.unwrap();
        assert_eq!(error.offset(), Some(trailer as u64 + 4));
        assert!(error.message().contains("20 bytes modulo 2^32, found 19"), "{error}");
    }
}

#[test]
fn zeros_after_the_last_member_are_padding_and_anything_else_is_an_error_after_all_bytes() {
    for backend in backends() {
        let padded = [gzip(b"data", 6), vec![0; 10_000]].concat();
        let (bytes, error) = read_whole_by(backend, &padded);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(bytes, b"data");

        let followed = [gzip(b"data", 6), b"garbage".to_vec()].concat();
        let (bytes, error) = read_whole_by(backend, &followed);
        assert_eq!(bytes, b"data");
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert_eq!(error.offset(), Some(followed.len() as u64 - 7));
    }
    let (bytes, error) = read_whole(&[zstd(b"data", 1), b"garbage".to_vec()].concat());
    assert_eq!(bytes, b"data");
    assert!(
        error.unwrap().message().starts_with("expected a zstd frame or the end, found [67, 61")
    );
}

#[test]
fn headers_we_cannot_trust_are_refused() {
    let refused = |position: usize, value: u8| {
        let mut input = gzip(b"data", 6);
        input[position] = value;
        read_whole(&input).1.unwrap()
    };
    assert!(refused(2, 7).message().contains("compression method 8 (deflate), found 7"));
    assert!(refused(3, 0x20).message().contains("reserved"));
    assert_eq!(refused(3, 0x20).offset(), Some(3));

    let mut input = gzip_with_all_fields(b"data");
    let crc = input.iter().rposition(|byte| *byte == b't').unwrap() + 2;
    input[crc] ^= 1;
    let error = read_whole(&input).1.unwrap();
    assert!(error.message().contains("gzip header's CRC-16"), "{error}");
    assert_eq!(error.offset(), Some(crc as u64));
}

#[test]
fn a_file_name_without_end_is_refused_at_its_bound() {
    let endless = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3], vec![b'x'; 1 << 20].as_slice()].concat();
    let (_, error) = read_whole(&endless);
    assert_eq!(error.unwrap().kind(), ErrorKind::Limit);
    let long = [&endless[..60_000], &[0], &gzip(b"data", 6)[10..]].concat();
    let (bytes, error) = read_whole(&long);
    assert!(error.is_none() && bytes == b"data", "{error:?}");
}

#[test]
fn a_large_zstd_window_is_accepted_and_one_past_all_bounds_is_not() {
    let frame = |window_log: u8| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (window_log - 10) << 3];
        // One last, raw block of five bytes.
        frame.extend([(5 << 3) | 1, 0, 0]);
        frame.extend(b"hello");
        frame
    };
    assert_eq!(read_whole(&frame(28)).0, b"hello");
    let error = read_whole(&frame(33)).1.unwrap();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn skip_and_fill_stop_at_damage_and_leave_what_is_before_it() {
    let data = mixed(&mut Random::new(9), 5000);
    let mut input = gzip(&data, 6);
    input.truncate(input.len() - 9);
    let source = Pieces::new(&input, &[usize::MAX]);
    let options = options(100_000);
    let mut stream = bytewright::bytes::ByteStream::new(Box::new(source), "cut", &options).unwrap();
    assert!(stream.fill(6000).is_err());
    let available = stream.buffered().len();
    assert!(available > 4000 && stream.buffered() == &data[..available]);
    assert_eq!(stream.fill(available).unwrap().len(), available);
    assert!(!stream.at_end());
    assert!(stream.skip(6000).is_err());
    assert_eq!(stream.position(), available as u64);
}
