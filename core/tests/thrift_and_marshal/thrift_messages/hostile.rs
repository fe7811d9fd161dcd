//! Bytes that ask for too much are refused before anything is done for them: the error's offset says
//! how far they were read.

use std::sync::Arc;

use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, FieldSchema, Limits, NarrowVarint, Plan, Progress,
    ProtocolErrorKind, ProtocolResult, StructExtent, StructId, StructKind, Tape, ThriftSchema,
    Type, WireType, Write,
};

use super::ENCODINGS;

/// A struct that holds itself, lists of numbers, strings and of itself, and a map of itself.
fn plan() -> Plan {
    let mut schema = ThriftSchema::new();
    let node = schema.declare_struct("Node", StructKind::Struct);
    let fields = vec![
        FieldSchema::new(1, "child", Type::Struct(node)),
        FieldSchema::new(2, "numbers", Type::list(Type::I32)),
        FieldSchema::new(3, "text", Type::String),
        FieldSchema::new(4, "children", Type::list(Type::Struct(node))),
        FieldSchema::new(5, "long", Type::I64),
        FieldSchema::new(6, "named", Type::map(Type::String, Type::Struct(node))),
    ];
    schema.define_struct(node, fields).unwrap();
    Plan::new(Arc::new(schema)).unwrap()
}

struct Case {
    what: &'static str,
    encoding: Encoding,
    bytes: Vec<u8>,
    kind: ProtocolErrorKind,
    /// Offset up to which it may be read.
    offset_max: u64,
}

fn case(
    what: &'static str,
    encoding: Encoding,
    bytes: impl Into<Vec<u8>>,
    kind: ProtocolErrorKind,
    offset_max: u64,
) -> Case {
    Case { what, encoding, bytes: bytes.into(), kind, offset_max }
}

fn cases() -> Vec<Case> {
    use Encoding::{Binary, Compact};
    use ProtocolErrorKind::{DepthLimit, InvalidData, NegativeSize, SizeLimit, Truncated};
    let of = |head: &[u8], filler: u8, count: usize| [head, &vec![filler; count]].concat();
    // The header of field `id` of each type, then a size.
    let list = |id: u8, element: u8, size: &[u8]| [&[15, 0, id, element], size].concat();
    let max = [0x7f, 0xff, 0xff, 0xff];
    let compact_max = [0xff, 0xff, 0xff, 0xff, 0x07];
    let compact_negative = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let compact_list =
        |id: u8, element: u8, size: &[u8]| [&[id << 4 | 9, 0xf0 | element], size].concat();
    vec![
        case("a list of 2^31-1 numbers", Binary, list(2, 8, &max), Truncated, 8),
        case("a list of 2^31-1 numbers", Compact, compact_list(2, 5, &compact_max), Truncated, 7),
        case("a list of -1 numbers", Binary, list(2, 8, &[0xff; 4]), NegativeSize, 8),
        case(
            "a list of -1 numbers",
            Compact,
            compact_list(2, 5, &compact_negative),
            NegativeSize,
            7,
        ),
        case("a string of 2^31-1 bytes", Binary, [&[11, 0, 3][..], &max].concat(), Truncated, 7),
        case(
            "a string of 2^31-1 bytes",
            Compact,
            [&[0x38][..], &compact_max].concat(),
            Truncated,
            6,
        ),
        case("a string of -1 bytes", Binary, [11, 0, 3, 255, 255, 255, 255], NegativeSize, 7),
        case(
            "a string of -1 bytes",
            Compact,
            [&[0x38][..], &compact_negative].concat(),
            NegativeSize,
            6,
        ),
        case(
            "a million known structs in each other",
            Binary,
            [12, 0, 1].repeat(1_000_000),
            DepthLimit,
            200,
        ),
        case(
            "a million known structs in each other",
            Compact,
            of(&[], 0x1c, 1_000_000),
            DepthLimit,
            70,
        ),
        case(
            "a million unknown structs in each other",
            Binary,
            [12, 0, 9].repeat(1_000_000),
            DepthLimit,
            200,
        ),
        case(
            "a million unknown structs in each other",
            Compact,
            of(&[], 0x9c, 1_000_000),
            DepthLimit,
            70,
        ),
        case(
            "a million unknown lists in each other",
            Binary,
            of(&[15, 0, 9], 0, 0)
                .into_iter()
                .chain([15, 0, 0, 0, 1].repeat(1_000_000))
                .collect::<Vec<_>>(),
            DepthLimit,
            1300,
        ),
        case(
            "a million unknown lists in each other",
            Compact,
            of(&[0x99], 0x19, 1_000_000),
            DepthLimit,
            260,
        ),
        case("a number that does not end", Compact, of(&[0x56], 0xff, 1_000_000), InvalidData, 2),
        case(
            "an unknown number that does not end",
            Compact,
            of(&[0x96], 0xff, 1_000_000),
            InvalidData,
            2,
        ),
        case("a length that does not end", Compact, of(&[0x38], 0xff, 1_000_000), InvalidData, 2),
        case("an id that does not end", Compact, of(&[0x06], 0xff, 1_000_000), InvalidData, 2),
        case(
            "a list of 2^31-1 empty structs",
            Binary,
            of(&list(4, 12, &max), 0, 300_000),
            Truncated,
            8,
        ),
        case(
            "a list of 2^31-1 empty structs",
            Compact,
            of(&compact_list(4, 12, &compact_max), 0, 300_000),
            Truncated,
            7,
        ),
        case(
            "a map of 2^31-1 entries",
            Binary,
            of(&[13, 0, 6, 11, 12, 127, 255, 255, 255], 0, 300_000),
            Truncated,
            9,
        ),
        case(
            "a map of 2^31-1 entries",
            Compact,
            of(&[0x6b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x8c], 0, 300_000),
            Truncated,
            7,
        ),
        case(
            "a map of 2^33 entries",
            Compact,
            [0x6b, 0x80, 0x80, 0x80, 0x80, 0x20, 0x8c, 0, 0],
            SizeLimit,
            7,
        ),
        case(
            "a list of what is no type",
            Binary,
            of(&list(2, 1, &[0, 0, 0, 1]), 0, 100),
            InvalidData,
            8,
        ),
        case("a list of what is no type", Compact, of(&[0x29, 0x1e], 0, 100), InvalidData, 2),
        case("a field of what is no type", Binary, of(&[99, 0, 1], 0, 100), InvalidData, 3),
        case("a field of what is no type", Compact, of(&[0x1f], 0, 100), InvalidData, 1),
    ]
}

#[test]
fn bytes_that_ask_for_too_much_are_refused_where_they_ask() {
    let (plan, mut tape) = (plan(), Tape::new());
    for case in cases() {
        let what = format!("{} in {:?}", case.what, case.encoding);
        let read =
            plan.decode(case.encoding, StructId(0), &case.bytes, Limits::default(), &mut tape);
        let error = read.expect_err(&what);
        assert_eq!(error.kind(), case.kind, "{what}: {error}");
        let offset = error.error().offset().expect("a place");
        assert!(offset <= case.offset_max, "{what}: {error}");
        assert!(tape.memory_bytes() <= 1 << 20, "{what}");
        let told = error.to_string();
        assert!(told.contains("expected") && told.contains("found"), "{what}: {told}");
    }
}

#[test]
fn what_is_no_type_is_told_by_its_number_in_the_message() {
    use Encoding::{Binary, Compact};
    let (plan, mut tape) = (plan(), Tape::new());
    for (encoding, bytes, number) in [
        (Compact, &[0x1e][..], 14),
        (Compact, &[0x1f], 15),
        (Compact, &[0x29, 0x1e], 14),
        (Compact, &[0x79, 0x1f], 15),
        (Compact, &[0x6b, 1, 0x8e], 14),
        (Compact, &[0x7b, 1, 0xe8], 14),
        (Binary, &[254, 0, 1], 254),
        (Binary, &[15, 0, 2, 17, 0, 0, 0, 1], 17),
    ] {
        let bytes = [bytes, &[0; 20]].concat();
        let read = plan.decode(encoding, StructId(0), &bytes, Limits::default(), &mut tape);
        let told = read.expect_err("no message").to_string();
        assert!(told.ends_with(&format!("found type {number}")), "{encoding:?} {bytes:?}: {told}");
        let mut extent = StructExtent::new(encoding, Limits::default());
        assert_eq!(extent.advance(&bytes).expect_err("no message").to_string(), told);
    }
}

#[test]
fn who_waits_for_such_bytes_to_be_whole_learns_the_same_in_bounded_steps() {
    for case in cases() {
        let mut extent = StructExtent::new(case.encoding, Limits::default());
        let progress = extent.advance(&case.bytes);
        match case.kind {
            // They may all come, as far as is known.
            ProtocolErrorKind::Truncated => {
                assert!(matches!(progress, Ok(Progress::Needs(_))), "{}: {progress:?}", case.what);
            }
            kind => {
                assert_eq!(progress.expect_err(case.what).kind(), kind, "{}", case.what);
                let again = extent.advance(&case.bytes).expect_err(case.what);
                assert_eq!(again.kind(), kind, "{}", case.what);
            }
        }
    }
}

#[test]
fn structs_may_be_nested_as_deep_as_was_asked_for_and_no_deeper() {
    let (plan, mut tape) = (plan(), Tape::new());
    let nested = |depth: usize, id: u8| {
        let mut bytes = [12, 0, id].repeat(depth - 1);
        bytes.resize(bytes.len() + depth, 0);
        bytes
    };
    for (depth_max, deepest) in [(64, 64), (1, 1), (0, 1), (7, 7), (256, 256), (100_000, 256)] {
        // Those that are skipped have a limit of their own, which begins with the field.
        let of_skipped = Limits { depth_max: 1, skipped_depth_max: depth_max, ..Limits::default() };
        let cases =
            [(1, Limits { depth_max, ..Limits::default() }, deepest), (9, of_skipped, deepest + 1)];
        for (id, limits, deepest) in cases {
            let mut read = |depth| {
                plan.decode(Encoding::Binary, StructId(0), &nested(depth, id), limits, &mut tape)
            };
            assert_eq!(read(deepest).unwrap(), 4 * deepest - 3);
            assert_eq!(read(deepest + 1).unwrap_err().kind(), ProtocolErrorKind::DepthLimit);
        }
    }
}

#[test]
fn what_a_reader_skips_may_be_as_deep_wherever_it_is() {
    let (plan, mut tape) = (plan(), Tape::new());
    // `known` structs in each other, the innermost with a field that is unknown and `skipped` deep.
    let nested = |known: usize, skipped: usize| {
        let mut bytes = [[12, 0, 1].repeat(known - 1), [12, 0, 9].repeat(skipped)].concat();
        bytes.resize(bytes.len() + known + skipped, 0);
        bytes
    };
    let mut read = |known, skipped| {
        let bytes = nested(known, skipped);
        let read = plan.decode(Encoding::Binary, StructId(0), &bytes, Limits::default(), &mut tape);
        let mut extent = StructExtent::new(Encoding::Binary, Limits::default());
        if read.is_ok() {
            assert_eq!(extent.advance(&bytes).unwrap(), Progress::Complete(bytes.len()));
        }
        read.map(drop).map_err(|error| error.kind())
    };
    assert_eq!(read(64, 64), Ok(()));
    assert_eq!(read(1, 64), Ok(()));
    assert_eq!(read(1, 65), Err(ProtocolErrorKind::DepthLimit));
    assert_eq!(read(64, 65), Err(ProtocolErrorKind::DepthLimit));
    assert_eq!(read(65, 1), Err(ProtocolErrorKind::DepthLimit));
}

#[test]
fn nothing_is_written_deeper_than_it_is_read() {
    let writers = || -> [Box<dyn Write>; 2] {
        [Box::new(BinaryWriter::default()), Box::new(CompactWriter::new())]
    };
    // Structs in each other, each next one in lists in each other.
    let nested = |writer: &mut dyn Write, structs: usize, lists: usize| -> ProtocolResult<()> {
        for at in 0..structs {
            writer.struct_begin()?;
            for level in 0..(if at + 1 < structs { lists } else { 0 }) {
                let element = if level + 1 < lists { WireType::LIST } else { WireType::STRUCT };
                writer.list(element, 1)?;
            }
        }
        Ok(())
    };
    for mut writer in writers() {
        let mut write = |structs, lists, depth_max: Option<u32>| {
            writer.clear();
            depth_max.into_iter().for_each(|depth_max| writer.set_depth_max(depth_max));
            nested(&mut *writer, structs, lists).map_err(|error| error.kind())
        };
        let refused = Err(ProtocolErrorKind::DepthLimit);
        assert_eq!([write(64, 0, None), write(65, 0, None)], [Ok(()), refused]);
        assert_eq!([write(64, 3, None), write(65, 3, None)], [Ok(()), refused]);
        assert_eq!([write(52, 4, None), write(53, 4, None)], [Ok(()), refused], "256 of both");
        assert_eq!([write(65, 0, Some(65)), write(66, 0, Some(65))], [Ok(()), refused]);
        assert_eq!([write(256, 0, Some(1000)), write(257, 0, Some(1000))], [Ok(()), refused]);
        // Those that are over leave room for others.
        writer.clear();
        for _ in 0..1000 {
            writer.struct_begin().unwrap();
            writer.map(WireType::BYTE, WireType::BYTE, 0).unwrap();
            writer.container_end();
            writer.struct_end();
        }
    }
}

#[test]
fn a_varint_of_a_narrow_number_may_be_as_long_as_the_reader_allows() {
    let (plan, mut tape) = (plan(), Tape::new());
    // 1 in 5 bytes, in 5 with a bit beyond 32, in 6, and in 11: an element of a list, and a field that is skipped.
    let varints: [&[u8]; 4] = [
        &[0x81, 0x80, 0x80, 0x80, 0x00],
        &[0x81, 0x80, 0x80, 0x80, 0x10],
        &[0x81, 0x80, 0x80, 0x80, 0x80, 0x00],
        &[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
    ];
    let allowed = [
        (NarrowVarint::Any, [true, true, true, false]),
        (NarrowVarint::FiveBytes, [true, true, false, false]),
        (NarrowVarint::Exact, [true, false, false, false]),
    ];
    for (narrow_varint, expected) in allowed {
        let limits = Limits { narrow_varint, ..Limits::default() };
        for (varint, is_read) in varints.iter().zip(expected) {
            for head in [&[0x29, 0x15][..], &[0x95]] {
                let bytes = [head, varint, &[0]].concat();
                let read = plan.decode(Encoding::Compact, StructId(0), &bytes, limits, &mut tape);
                let read = read.map_err(|error| error.kind());
                let expected = is_read.then_some(bytes.len());
                let expected = expected.ok_or(ProtocolErrorKind::InvalidData);
                assert_eq!(read, expected, "{narrow_varint:?} {varint:x?}");
            }
            // An i64 may have all bits.
            let bytes = [&[0x56][..], varint, &[0]].concat();
            let read = plan.decode(Encoding::Compact, StructId(0), &bytes, limits, &mut tape);
            assert_eq!(read.is_ok(), varint.len() <= 10);
        }
    }
}

#[test]
fn strings_and_containers_may_be_as_large_as_was_asked_for_and_no_larger() {
    let (plan, mut tape) = (plan(), Tape::new());
    let limits = Limits { string_max: 5, container_max: 3, ..Limits::default() };
    let string = |len: u8| [&[11, 0, 3, 0, 0, 0, len][..], &vec![7; len.into()], &[0]].concat();
    let unknown = |len: u8| [&[11, 0, 9, 0, 0, 0, len][..], &vec![7; len.into()], &[0]].concat();
    let list = |count: u8| {
        [&[15, 0, 2, 8, 0, 0, 0, count][..], &vec![7; count as usize * 4], &[0]].concat()
    };
    let mut read = |bytes: Vec<u8>| {
        let read = plan.decode(Encoding::Binary, StructId(0), &bytes, limits, &mut tape);
        read.map_err(|error| error.kind())
    };
    let refused = Err(ProtocolErrorKind::SizeLimit);
    assert_eq!(read(string(5)), Ok(13));
    assert_eq!(read(string(6)), refused);
    assert_eq!(read(unknown(6)), refused);
    assert_eq!(read(list(3)), Ok(21));
    assert_eq!(read(list(4)), refused);
}

#[test]
fn a_tape_gives_back_the_memory_of_a_large_message() {
    let (plan, mut tape) = (plan(), Tape::new());
    let count = 200_000_u32;
    for encoding in ENCODINGS {
        let head = match encoding {
            Encoding::Binary => [&[15, 0, 4, 12][..], &count.to_be_bytes()].concat(),
            Encoding::Compact => vec![0x49, 0xfc, 0xc0, 0x9a, 0x0c],
        };
        let bytes = [head, vec![0; count as usize + 1]].concat();
        plan.decode(encoding, StructId(0), &bytes, Limits::default(), &mut tape).unwrap();
        // Empty structs, each with its end: no message has more words for its bytes.
        assert!(tape.memory_bytes() <= 32 * bytes.len(), "{}", tape.memory_bytes());
        plan.decode(encoding, StructId(0), &[0], Limits::default(), &mut tape).unwrap();
        assert!(tape.memory_bytes() <= 1 << 20);
    }
}
