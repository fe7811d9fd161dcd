//! Goal: a message is read as what it holds and nothing else, whatever the schema, the protocol, the
//! pieces it comes in and the damage it has.
//!
//! Method: a slow and obvious twin reads messages without a schema into a tree, and the schema is
//! laid over the tree afterwards; it writes them too. Random schemas and random values, with fields
//! that the schema does not have, has with another type, or has once and the message twice, go
//! through both. BYTEWRIGHT_CASES sets how many schemas (300 unless told); a failure prints its seed.

mod envelopes;
mod gem;
mod hostile;
mod invent;
mod json;
mod known;
mod nested;
mod passed;
mod projections;
mod schemas;
mod tree;
mod twin;

use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, Limits, Plan, Progress, ProtocolErrorKind, StructExtent,
    StructId, Tape, Write,
};

use crate::generate::{Random, seeds};
use invent::Inventor;
use tree::Tree;
use twin::Raw;

pub(crate) const ENCODINGS: [Encoding; 2] = [Encoding::Binary, Encoding::Compact];

pub(crate) fn cases(usual: u64) -> u64 {
    std::env::var("BYTEWRIGHT_CASES").map_or(usual, |cases| cases.parse().expect("a number"))
}

/// Decodes with the core; returns the tree and the number of bytes read.
fn read(
    plan: &Plan,
    encoding: Encoding,
    id: StructId,
    bytes: &[u8],
) -> Result<(Tree, usize), ProtocolErrorKind> {
    let mut tape = Tape::new();
    let len = plan.decode(encoding, id, bytes, Limits::default(), &mut tape);
    let len = len.map_err(|error| {
        assert!(
            error.error().offset().is_some_and(|offset| offset <= bytes.len() as u64),
            "{error}"
        );
        error.kind()
    })?;
    Ok((Tree::of_tape(&tape, bytes), len))
}

/// Decodes with the twin; returns the tree and the number of bytes read.
fn twin_read(
    inventor: &Inventor,
    encoding: Encoding,
    id: StructId,
    bytes: &[u8],
) -> Option<(Tree, usize)> {
    let (raw, len) = twin::decode(encoding, bytes)?;
    Some((Tree::of_raw(&inventor.schema, id, &raw), len))
}

#[test]
fn a_message_is_read_as_its_slow_twin_reads_it() {
    seeds(cases(300), |random| {
        let inventor = Inventor::new(random);
        for _ in 0..5 {
            let (id, raw) = inventor.message(random);
            let expected = Tree::of_raw(&inventor.schema, id, &raw);
            for encoding in ENCODINGS {
                let mut bytes = twin::encode(encoding, &raw);
                let len = bytes.len();
                // Bytes after a message are not its business.
                bytes.extend(random.bytes(3));
                let (found, taken) =
                    read(&inventor.plan, encoding, id, &bytes).expect("it is whole");
                assert_eq!(found, expected, "{encoding:?}");
                assert_eq!(taken, len);
                assert_eq!(
                    twin_read(&inventor, encoding, id, &bytes),
                    Some((expected.clone(), len))
                );
            }
        }
    });
}

#[test]
fn a_message_that_ends_early_is_truncated_wherever_it_ends() {
    seeds(cases(100), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            let mut tape = Tape::new();
            for len in 0..bytes.len() {
                let limits = Limits::default();
                let error = inventor.plan.decode(encoding, id, &bytes[..len], limits, &mut tape);
                let error = error.expect_err("it is not whole");
                assert_eq!(error.kind(), ProtocolErrorKind::Truncated, "{len} of {raw:?}");
                let bytewright::ErrorKind::Truncated { needed, available } = error.error().kind()
                else {
                    panic!("{error}");
                };
                // Who waits for what is missing does not wait for bytes behind the message.
                assert!(
                    needed > available && len as u64 + needed - available <= bytes.len() as u64
                );
                assert_eq!(Tree::of_tape(&tape, &bytes[..len]), Tree::Null, "nothing is there");
            }
        }
    });
}

/// Returns the bytes with one of them changed.
fn damaged(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    let at = random.below(bytes.len());
    match random.below(3) {
        0 => damaged[at] ^= 1 << random.below(8),
        1 => damaged[at] = random.byte(),
        _ => damaged[at] = random.pick(&[0, 1, 12, 13, 15, 0x7f, 0x80, 0xff]),
    }
    damaged
}

#[test]
fn a_damaged_message_is_read_as_its_slow_twin_reads_it_or_refused_by_both() {
    seeds(cases(300), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            for _ in 0..30 {
                let damaged = damaged(random, &bytes);
                let found = read(&inventor.plan, encoding, id, &damaged);
                let expected = twin_read(&inventor, encoding, id, &damaged);
                assert_eq!(found.clone().ok(), expected, "{encoding:?} {damaged:02x?}");
                let mut extent = StructExtent::new(encoding, Limits::default());
                let progress = extent.advance(&damaged);
                match found {
                    Ok((_, len)) => assert_eq!(progress.unwrap(), Progress::Complete(len)),
                    // A count may claim so much that one of the two does not see a later defect.
                    Err(ProtocolErrorKind::Truncated) => {
                        assert!(!matches!(progress, Ok(Progress::Complete(_))));
                    }
                    Err(kind) => assert_eq!(progress.unwrap_err().kind(), kind),
                }
            }
        }
    });
}

#[test]
fn the_extent_of_a_message_is_found_piece_by_piece_without_a_wish_for_more() {
    seeds(cases(150), |random| {
        let inventor = Inventor::new(random);
        let (_, raw) = inventor.message(random);
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            let mut extent = StructExtent::new(encoding, Limits::default());
            let (mut shown, mut wanted) = (0, true);
            loop {
                match extent.advance(&bytes[..shown]).expect("it is whole") {
                    Progress::Complete(len) => {
                        assert_eq!((len, shown), (bytes.len(), bytes.len()));
                        break;
                    }
                    Progress::Needs(more) => {
                        assert!(
                            more > 0 && shown + more <= bytes.len(),
                            "{shown} and {more} of {raw:?}"
                        );
                        shown += if wanted { more } else { 1 };
                        wanted = random.once_in(2);
                    }
                }
            }
        }
    });
}

#[test]
fn the_writers_write_what_the_twin_writes() {
    let (mut binary, mut compact) = (BinaryWriter::default(), CompactWriter::new());
    seeds(cases(300), |random| {
        let inventor = Inventor::new(random);
        let (_, raw) = inventor.message(random);
        let (mut binary, mut compact) = (BinaryWriter::default(), CompactWriter::new());
        twin::write(&mut binary, &raw);
        assert_eq!(binary.bytes(), twin::encode(Encoding::Binary, &raw));
        twin::write(&mut compact, &raw);
        assert_eq!(compact.bytes(), twin::encode(Encoding::Compact, &raw));
    });
    // A writer is used again, also after a message that was left in the middle.
    binary.struct_begin().unwrap();
    compact.struct_begin().unwrap();
    compact.field(bytewright::thrift::WireType::BOOL, 9);
    binary.clear();
    compact.clear();
    let raw = Raw::Struct(vec![(1, Raw::Bool(true)), (2, Raw::I32(-1))]);
    twin::write(&mut binary, &raw);
    twin::write(&mut compact, &raw);
    assert_eq!(binary.bytes(), twin::encode(Encoding::Binary, &raw));
    assert_eq!(compact.bytes(), twin::encode(Encoding::Compact, &raw));
}

#[test]
fn a_value_on_a_tape_is_passed_with_all_that_is_in_it() {
    seeds(cases(150), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        let bytes = twin::encode(Encoding::Binary, &raw);
        let mut tape = Tape::new();
        inventor.plan.decode(Encoding::Binary, id, &bytes, Limits::default(), &mut tape).unwrap();
        let Tree::Struct(_, _, expected) = Tree::of_tape(&tape, &bytes) else {
            panic!("no struct")
        };
        let mut cursor = tape.cursor(&bytes);
        cursor.value();
        for (number, _) in expected {
            let (found, value) = cursor.field().expect("as many fields");
            assert_eq!(found, number);
            cursor.skip(value);
        }
        assert_eq!(cursor.field(), None);
    });
}

#[test]
fn a_tape_says_nothing_of_bytes_of_another_length() {
    let mut random = Random::new(1);
    let inventor = Inventor::new(&mut random);
    let (id, raw) = inventor.message(&mut random);
    let mut bytes = twin::encode(Encoding::Compact, &raw);
    let mut tape = Tape::new();
    inventor.plan.decode(Encoding::Compact, id, &bytes, Limits::default(), &mut tape).unwrap();
    bytes.push(0);
    assert_eq!(Tree::of_tape(&tape, &bytes), Tree::Null);
}
