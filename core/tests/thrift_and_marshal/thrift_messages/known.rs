//! A call as Ruby's gem thrift 0.14 wrote it, byte for byte: both protocols, with what is peculiar to
//! them (bools in headers, ids far apart, an empty map, the long count of a list).

use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, Limits, MessageHeader, MessageKind, Strictness, Write,
};

use super::twin::{self, Raw};

const BINARY: &[u8] = b"\x80\x01\0\x01\0\0\0\x03add\0\0\x01\x2c\
    \x02\0\x01\x01\
    \x03\0\x02\xfe\
    \x06\0\x03\x01\x2c\
    \x08\0\x04\xff\xfe\xee\x90\
    \x0a\0\x05\0\0\x01\0\0\0\0\0\
    \x04\0\x06\x3f\xf8\0\0\0\0\0\0\
    \x0b\0\x07\0\0\0\x05gr\xc3\xbcn\
    \x0b\0\x08\0\0\0\x02\xff\0\
    \x0f\0\x09\x08\0\0\0\x02\0\0\0\x01\xff\xff\xff\xff\
    \x0e\0\x0a\x0b\0\0\0\x01\0\0\0\x01a\
    \x0d\0\x0b\x0b\x0a\0\0\0\x01\0\0\0\x01k\0\0\0\0\0\0\0\x05\
    \x0c\0\x0c\x02\0\x01\0\0\
    \x02\0\x1e\0\
    \x0d\0\x1f\x08\x08\0\0\0\0\
    \x0f\0\x20\x02\0\0\0\x02\x01\0\
    \x0f\0\x21\x03\0\0\0\x0f\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\
    \0";

const COMPACT: &[u8] = b"\x82\x21\xac\x02\x03add\
    \x11\
    \x13\xfe\
    \x14\xd8\x04\
    \x15\xdf\xc5\x08\
    \x16\x80\x80\x80\x80\x80\x40\
    \x17\0\0\0\0\0\0\xf8\x3f\
    \x18\x05gr\xc3\xbcn\
    \x18\x02\xff\0\
    \x19\x25\x02\x01\
    \x1a\x18\x01a\
    \x1b\x01\x86\x01k\x0a\
    \x1c\x12\0\
    \x02\x3c\
    \x1b\0\
    \x19\x21\x01\x02\
    \x19\xf3\x0f\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\
    \0";

/// Returns the contents of the call. An empty map has no types in Compact.
fn call(map: (u8, u8)) -> Raw {
    let bytes = |text: &[u8]| Raw::Bytes(text.to_vec());
    Raw::Struct(vec![
        (1, Raw::Bool(true)),
        (2, Raw::Byte(-2)),
        (3, Raw::I16(300)),
        (4, Raw::I32(-70_000)),
        (5, Raw::I64(1 << 40)),
        (6, Raw::Double(1.5_f64.to_bits())),
        (7, bytes("grün".as_bytes())),
        (8, bytes(&[0xff, 0])),
        (9, Raw::List(8, vec![Raw::I32(1), Raw::I32(-1)])),
        (10, Raw::Set(11, vec![bytes(b"a")])),
        (11, Raw::Map(11, 10, vec![(bytes(b"k"), Raw::I64(5))])),
        (12, Raw::Struct(vec![(1, Raw::Bool(false))])),
        (30, Raw::Bool(false)),
        (31, Raw::Map(map.0, map.1, Vec::new())),
        (32, Raw::List(2, vec![Raw::Bool(true), Raw::Bool(false)])),
        (33, Raw::List(3, (0..15).map(Raw::Byte).collect())),
    ])
}

#[test]
fn a_call_of_another_library_is_read_and_written_byte_for_byte() {
    for (encoding, bytes) in [(Encoding::Binary, BINARY), (Encoding::Compact, COMPACT)] {
        let header = MessageHeader::read(encoding, Strictness::Strict, bytes, Limits::default());
        let header = header.unwrap();
        assert_eq!(
            (header.name, header.kind, header.sequence_id),
            (&b"add"[..], MessageKind::CALL, 300)
        );
        let body = &bytes[header.len..];
        let expected = if encoding == Encoding::Binary { call((8, 8)) } else { call((0, 0)) };
        assert_eq!(twin::decode(encoding, body), Some((expected, body.len())));
        // The other tests hold the core's reading against the twin's.
        assert_eq!(twin::encode(encoding, &call((8, 8))), body);
        let mut writers: [Box<dyn Write>; 2] =
            [Box::new(BinaryWriter::default()), Box::new(CompactWriter::new())];
        let writer = writers[usize::from(encoding == Encoding::Compact)].as_mut();
        writer.message(b"add", MessageKind::CALL, 300).unwrap();
        twin::write(writer, &call((8, 8)));
        assert_eq!(writer.bytes(), bytes);
    }
}
