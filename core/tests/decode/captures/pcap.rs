//! The classic format.

use bytewright::ErrorKind;
use bytewright::capture::{CAPLEN_MAX, Decoder, Format, Step};
use bytewright::wire::Endian;

use crate::files::records;
use crate::generate::capture::{MICROSECONDS, MODIFIED, NANOSECONDS, Pcap, PcapHeader};

#[test]
fn both_byte_orders_and_both_units_of_time_are_read() {
    for endian in [Endian::Little, Endian::Big] {
        for (magic, ts) in [(MICROSECONDS, 10_000_005_000), (NANOSECONDS, 10_000_000_005)] {
            let header = PcapHeader { endian, magic, ..PcapHeader::default() };
            let file = Pcap::new(header).record([10, 5, 3, 60], b"abc").bytes();
            let (records, damage) = records(&file);
            assert!(damage.is_none(), "{damage:?}");
            assert_eq!(records.len(), 1);
            assert_eq!(records[0].ts, Some(ts));
            assert_eq!((records[0].captured, records[0].length), (&b"abc"[..], 60));
        }
    }
}

#[test]
fn lengths_stand_the_other_way_round_before_version_2_3() {
    for (version, words) in
        [((2, 2), [1, 0, 60, 3]), ((2, 3), [1, 0, 3, 60]), ((2, 4), [1, 0, 3, 60])]
    {
        let header = PcapHeader { version, ..PcapHeader::default() };
        let file = Pcap::new(header).record(words, b"abc").bytes();
        let (records, damage) = records(&file);
        assert!(damage.is_none(), "{version:?}: {damage:?}");
        assert_eq!((records[0].captured, records[0].length), (&b"abc"[..], 60), "{version:?}");
    }
}

#[test]
fn frame_check_bits_are_no_part_of_the_link_type() {
    let header = PcapHeader { link: 0x2400_0071, ..PcapHeader::default() };
    let file = Pcap::new(header).record([1, 0, 0, 0], b"").bytes();
    assert_eq!(records(&file).0[0].link_type, 113);
}

#[test]
fn reserved_bits_above_the_link_type_are_refused() {
    for bit in 16..26 {
        let header = PcapHeader { link: 1 | 1 << bit, ..PcapHeader::default() };
        let file = Pcap::new(header).record([1, 0, 0, 0], b"").bytes();
        let (records, damage) = records(&file);
        assert!(records.is_empty());
        let text = damage.expect("an error").to_string();
        assert!(text.contains("a link type whose reserved bits are 0"), "{text}");
    }
}

#[test]
fn the_modified_record_header_has_two_words_more() {
    let header = PcapHeader { magic: MODIFIED, ..PcapHeader::default() };
    let file = Pcap::new(header)
        .record([1, 0, 3, 60], b"\x07\0\0\0\0\x08\0\0abc")
        .record([2, 0, 2, 2], b"\x07\0\0\0\0\x08\0\0de")
        .bytes();
    let (records, damage) = records(&file);
    assert!(damage.is_none(), "{damage:?}");
    assert_eq!(
        records.iter().map(|record| record.captured).collect::<Vec<_>>(),
        [b"abc", &b"de"[..]]
    );
}

#[test]
fn more_captured_than_the_snaplen_or_than_the_wire_had_is_data() {
    let header = PcapHeader { snaplen: 2, ..PcapHeader::default() };
    let file = Pcap::new(header).record([1, 0, 4, 3], b"abcd").bytes();
    let (records, damage) = records(&file);
    assert!(damage.is_none(), "{damage:?}");
    assert_eq!((records[0].captured, records[0].length), (&b"abcd"[..], 3));
}

#[test]
fn a_time_that_cannot_be_right_is_kept_and_noted() {
    for (magic, fraction, ts) in [
        (MICROSECONDS, 999_999, 1_999_999_000),
        (MICROSECONDS, 1_000_000, 2_000_000_000),
        (MICROSECONDS, u32::MAX, 1_000_000_000 + 4_294_967_295_000),
        (NANOSECONDS, 1_000_000_000, 2_000_000_000),
    ] {
        let header = PcapHeader { magic, ..PcapHeader::default() };
        let file = Pcap::new(header).record([1, fraction, 0, 0], b"").bytes();
        let record = records(&file).0[0];
        assert_eq!(record.ts, Some(ts));
        assert_eq!(record.bad_time, fraction != 999_999);
    }
}

#[test]
fn seconds_above_31_bits_are_later_than_2038() {
    let file = Pcap::new(PcapHeader::default()).record([u32::MAX, 0, 0, 0], b"").bytes();
    assert_eq!(records(&file).0[0].ts, Some(4_294_967_295_000_000_000));
}

#[test]
fn a_cut_record_is_an_error_after_the_whole_ones() {
    let whole = Pcap::new(PcapHeader::default()).record([1, 0, 3, 3], b"abc").bytes();
    let file = Pcap::new(PcapHeader::default())
        .record([1, 0, 3, 3], b"abc")
        .record([2, 0, 5, 5], b"defgh")
        .bytes();
    for cut in whole.len() + 1..file.len() {
        let (records, damage) = records(&file[..cut]);
        let damage = damage.expect("an error");
        assert_eq!(records.len(), 1, "cut at {cut}");
        assert_eq!(damage.offset(), Some(whole.len() as u64));
        let available = (cut - whole.len()) as u64;
        let needed = if available < 16 { 16 } else { 21 };
        assert_eq!(damage.kind(), ErrorKind::Truncated { needed, available });
    }
    assert!(records(&whole).1.is_none());
}

#[test]
fn a_captured_length_that_no_frame_has_is_refused_without_reading_it() {
    let file = Pcap::new(PcapHeader::default()).record([1, 0, CAPLEN_MAX + 1, 60], b"").bytes();
    let damage = records(&file).1.expect("an error");
    assert_eq!((damage.kind(), damage.offset()), (ErrorKind::Limit, Some(24)));

    let usb = PcapHeader { link: 220, ..PcapHeader::default() };
    let file = Pcap::new(usb).record([1, 0, CAPLEN_MAX + 1, 60], b"").bytes();
    let damage = records(&file).1.expect("an error");
    assert!(matches!(damage.kind(), ErrorKind::Truncated { .. }), "USB frames may be longer");
}

#[test]
fn an_empty_capture_is_whole_and_an_empty_file_is_not_a_capture() {
    let file = Pcap::new(PcapHeader::default()).bytes();
    let (packets, damage) = records(&file);
    assert!(packets.is_empty() && damage.is_none());
    for cut in 0..file.len() {
        let damage = records(&file[..cut]).1.expect("an error");
        assert!(matches!(damage.kind(), ErrorKind::Truncated { .. }), "cut at {cut}: {damage}");
    }
}

#[test]
fn what_is_no_capture_is_named() {
    for (bytes, name) in [
        (&b"snoop\0\0\0\0\0\0\x02\0\0\0\x04"[..], "snoop"),
        (b"TRSNIFF data    \x1a", "Sniffer"),
        (b"#!/bin/sh\n", r##"text, "#!/bin/sh\n""##),
        (b"#!/bin/sh\0", "bytes 23 21 2f 62 69 6e 2f 73"),
    ] {
        let damage = records(bytes).1.expect("an error");
        assert_eq!((damage.kind(), damage.offset()), (ErrorKind::Format, Some(0)));
        assert!(damage.message().contains(name), "{damage}");
    }
    let header = PcapHeader { version: (3, 0), ..PcapHeader::default() };
    let damage = records(&Pcap::new(header).bytes()).1.expect("an error");
    assert!(damage.message().contains("version 3.0"), "{damage}");
}

#[test]
fn the_header_is_told_once_it_was_read() {
    let header = PcapHeader { endian: Endian::Big, snaplen: 96, ..PcapHeader::default() };
    let file = Pcap::new(header).bytes();
    let mut decoder = Decoder::new();
    assert_eq!((decoder.format(), decoder.version(), decoder.endian()), (None, None, None));
    assert_eq!(decoder.step(&file, true).expect("a header"), Step::Skip(24));
    assert_eq!(decoder.format(), Some(Format::Pcap));
    assert_eq!(decoder.version(), Some((2, 4)));
    assert_eq!(decoder.endian(), Some(Endian::Big));
    assert_eq!(decoder.interfaces()[0].snaplen, 96);
    assert_eq!(decoder.sections(), 1);
}
