//! Envelopes of structs: the headers of calls and answers, and frames.

use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, Frames, Limits, MessageHeader, MessageKind,
    ProtocolErrorKind, Strictness, Write,
};

use super::cases;
use crate::generate::{Random, seeds};

fn header(
    encoding: Encoding,
    strictness: Strictness,
    bytes: &[u8],
) -> Result<MessageHeader<'_>, ProtocolErrorKind> {
    let read = MessageHeader::read(encoding, strictness, bytes, Limits::default());
    read.map_err(|error| error.kind())
}

#[test]
fn the_header_of_a_call_is_read_as_it_was_written() {
    let kinds =
        [MessageKind::CALL, MessageKind::REPLY, MessageKind::EXCEPTION, MessageKind::ONEWAY];
    for kind in kinds {
        for sequence_id in [0, 1, -1, i32::MAX, i32::MIN] {
            let mut writers: Vec<(Encoding, Strictness, Box<dyn Write>)> = Vec::new();
            for strictness in [Strictness::Strict, Strictness::Lenient] {
                writers.push((
                    Encoding::Binary,
                    strictness,
                    Box::new(BinaryWriter::new(strictness)),
                ));
                writers.push((Encoding::Compact, strictness, Box::new(CompactWriter::new())));
            }
            for (encoding, strictness, mut writer) in writers {
                writer.message(b"echo", kind, sequence_id).unwrap();
                let len = writer.bytes().len();
                writer.bool(true);
                let expected = MessageHeader { name: b"echo", kind, sequence_id, len };
                assert_eq!(header(encoding, strictness, writer.bytes()), Ok(expected));
                for end in 0..len {
                    let early = header(encoding, strictness, &writer.bytes()[..end]);
                    assert_eq!(early, Err(ProtocolErrorKind::Truncated), "{end} of {len}");
                }
                // Who takes headers without a version takes those with one too.
                assert_eq!(header(encoding, Strictness::Lenient, writer.bytes()), Ok(expected));
            }
        }
    }
}

#[test]
fn a_header_of_another_version_or_protocol_is_refused() {
    let refused = Err(ProtocolErrorKind::BadVersion);
    let without_version = b"\x00\x00\x00\x01f\x01\x00\x00\x00\x07";
    let other_version = b"\x80\x02\x00\x01\x00\x00\x00\x01f\x00\x00\x00\x07";
    let compact = b"\x82\x21\x07\x01f";
    let (strict, lenient) = (Strictness::Strict, Strictness::Lenient);
    assert_eq!(header(Encoding::Binary, strict, without_version), refused);
    assert!(header(Encoding::Binary, lenient, without_version).is_ok());
    assert_eq!(header(Encoding::Binary, lenient, other_version), refused);
    assert_eq!(header(Encoding::Binary, lenient, compact), refused);
    assert!(header(Encoding::Compact, strict, compact).is_ok());
    assert_eq!(header(Encoding::Compact, strict, b"\x82\x22\x07\x01f"), refused);
    assert_eq!(header(Encoding::Compact, strict, b"\x80\x01\x00\x01"), refused);
    let long_name = b"\x80\x01\x00\x01\xff\xff\xff\xff";
    assert_eq!(header(Encoding::Binary, strict, long_name), Err(ProtocolErrorKind::NegativeSize));
}

#[test]
fn frames_are_read_however_the_bytes_are_cut() {
    seeds(cases(200), |random| {
        let expected: Vec<Vec<u8>> = (0..random.below(6))
            .map(|_| {
                let len = random.below(40);
                random.bytes(len)
            })
            .collect();
        let mut bytes = Vec::new();
        for frame in &expected {
            bytes.extend((frame.len() as u32).to_be_bytes());
            bytes.extend(frame);
        }
        assert_eq!(read_in_pieces(&bytes, random, Frames::new), expected);
    });
}

/// The messages of `bytes`, which are shown in pieces.
fn read_in_pieces<'a>(
    bytes: &'a [u8],
    random: &mut Random,
    messages: impl Fn(&'a [u8], u64) -> Frames<'a>,
) -> Vec<Vec<u8>> {
    let (mut found, mut begin, mut end) = (Vec::new(), 0, 0);
    while begin < bytes.len() {
        end = (end + random.below(20)).min(bytes.len());
        let mut frames = messages(&bytes[begin..end], begin as u64);
        let error = loop {
            match frames.next_frame() {
                Ok(Some(frame)) => {
                    let at = frame.offset as usize;
                    assert_eq!(&bytes[at..at + frame.bytes.len()], frame.bytes);
                    found.push(frame.bytes.to_vec());
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        begin += frames.consumed();
        assert_eq!(error.is_none(), begin == end, "bytes are left of a message that is not whole");
        if let Some(error) = error {
            assert_eq!(error.kind(), ProtocolErrorKind::Truncated);
            assert_eq!(error.error().offset(), Some(begin as u64));
        }
    }
    found
}

#[test]
fn structs_without_frames_are_read_however_the_bytes_are_cut() {
    seeds(cases(200), |random| {
        for encoding in [Encoding::Binary, Encoding::Compact] {
            // Empty, or with a number and a string.
            let expected: Vec<Vec<u8>> = (0..random.below(6))
                .map(|_| {
                    let len = random.below(30);
                    let text = random.bytes(len);
                    let len = text.len() as u8;
                    match (random.once_in(4), encoding) {
                        (true, _) => vec![0],
                        (_, Encoding::Binary) => {
                            [b"\x08\0\x01\0\0\0\x07\x0b\0\x02\0\0\0", &[len][..], &text, &[0]]
                                .concat()
                        }
                        (_, Encoding::Compact) => {
                            [b"\x15\x0e\x18", &[len][..], &text, &[0]].concat()
                        }
                    }
                })
                .collect();
            let bytes = expected.concat();
            let limits = Limits::default();
            let messages = |bytes, start| Frames::unframed(bytes, start, encoding, limits);
            assert_eq!(read_in_pieces(&bytes, random, messages), expected);
        }
    });
}

#[test]
fn a_struct_without_a_frame_that_claims_too_much_is_refused_before_its_bytes_come() {
    let claims = b"\x0b\0\x01\x7f\xff\xff\xf0";
    let mut frames = Frames::unframed(claims, 50, Encoding::Binary, Limits::default());
    let error = frames.next_frame().unwrap_err();
    assert_eq!((error.kind(), error.error().offset()), (ProtocolErrorKind::SizeLimit, Some(50)));
    let mut frames = Frames::unframed(b"\0\x63", 50, Encoding::Binary, Limits::default());
    assert!(frames.next_frame().unwrap().is_some());
    let error = frames.next_frame().unwrap_err();
    assert_eq!(error.error().offset(), Some(51));
    assert_ne!(error.kind(), ProtocolErrorKind::SizeLimit);
}

#[test]
fn a_frame_of_a_bad_length_is_refused_and_stays_refused() {
    for (bytes, kind) in [
        ([0xff, 0xff, 0xff, 0xff], ProtocolErrorKind::NegativeSize),
        ([0x7f, 0xff, 0xff, 0xff], ProtocolErrorKind::SizeLimit),
        ([0x00, 0x00, 0x00, 0x09], ProtocolErrorKind::SizeLimit),
        ([0x00, 0x00, 0x00, 0x08], ProtocolErrorKind::Truncated),
    ] {
        let mut frames = Frames::new(&bytes, 100).with_frame_max(8);
        for _ in 0..2 {
            let error = frames.next_frame().unwrap_err();
            assert_eq!((error.kind(), error.error().offset()), (kind, Some(100)));
        }
        assert_eq!(frames.by_ref().filter(|frame| frame.is_err()).count(), 1);
    }
}
