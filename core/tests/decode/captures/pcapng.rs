//! The format of sections and blocks.

use std::time::Instant;

use bytewright::ErrorKind;
use bytewright::capture::{Decoder, Record, Step};
use bytewright::wire::Endian;

use crate::files::records;
use crate::generate::capture::Pcapng;

const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;
const NAME: u16 = 2;

fn whole(file: &[u8]) -> Vec<Record<'_>> {
    let (records, damage) = records(file);
    assert!(damage.is_none(), "{damage:?}");
    records
}

/// A little-endian file with one Ethernet interface, to which a test adds.
fn file() -> Pcapng {
    Pcapng::new(Endian::Little).interface(1, 0, &[])
}

#[test]
fn both_byte_orders_are_read_and_may_change_with_the_section() {
    let file = Pcapng::new(Endian::Big)
        .interface(1, 0, &[])
        .enhanced(0, 1_000_000, 60, b"abc")
        .section(Endian::Little, u64::MAX, &[])
        .interface(113, 0, &[])
        .enhanced(0, 2_000_000, 61, b"defgh")
        .bytes();
    let records = whole(&file);
    assert_eq!(records.len(), 2);
    assert_eq!((records[0].ts, records[0].length), (Some(1_000_000_000), 60));
    assert_eq!((records[1].ts, records[1].length), (Some(2_000_000_000), 61));
    assert_eq!((records[0].captured, records[1].captured), (&b"abc"[..], &b"defgh"[..]));
    assert_eq!((records[0].link_type, records[1].link_type), (1, 113));
}

#[test]
fn each_packet_has_the_link_type_and_clock_of_its_interface() {
    let nanoseconds = file().option(TIME_RESOLUTION, &[9]);
    let file = file()
        .interface(101, 0, &nanoseconds)
        .enhanced(1, 7, 1, b"a")
        .enhanced(0, 7, 1, b"b")
        .bytes();
    let records = whole(&file);
    assert_eq!((records[0].link_type, records[0].ts), (101, Some(7)));
    assert_eq!((records[1].link_type, records[1].ts), (1, Some(7000)));
}

#[test]
fn time_counts_in_any_unit_and_from_any_second() {
    let of = |resolution: u8, offset: Option<i64>, ts: u64| {
        let mut options = file().option(TIME_RESOLUTION, &[resolution]);
        if let Some(offset) = offset {
            options.extend(file().option(TIME_OFFSET, &offset.to_le_bytes()));
        }
        let file = Pcapng::new(Endian::Little).interface(1, 0, &options).enhanced(0, ts, 0, b"");
        let file = file.bytes();
        let record = whole(&file)[0];
        (record.ts, record.bad_time)
    };
    assert_eq!(of(6, None, 1_500_000), (Some(1_500_000_000), false));
    assert_eq!(of(0, None, 3), (Some(3_000_000_000), false));
    assert_eq!(of(3, None, 1_500), (Some(1_500_000_000), false));
    assert_eq!(of(12, None, 1_999), (Some(1), false));
    assert_eq!(of(0x80 | 8, None, 384), (Some(1_500_000_000), false));
    assert_eq!(of(0x80 | 10, None, 1), (Some(976_562), false));
    assert_eq!(of(6, Some(100), 1), (Some(100_000_001_000), false));
    assert_eq!(of(6, Some(-100), 1), (Some(-99_999_999_000), false));
    assert_eq!(of(127, None, u64::MAX), (Some(0), false), "units too small for 128 bits");
    assert_eq!(of(0xff, None, u64::MAX), (Some(0), false));
    for out_of_range in [of(0, None, u64::MAX), of(6, Some(i64::MAX), 0), of(9, None, u64::MAX)] {
        assert_eq!(out_of_range, (None, true));
    }
}

#[test]
fn a_simple_packet_has_no_time_and_is_cut_at_the_snaplen() {
    let file = Pcapng::new(Endian::Little)
        .interface(1, 4, &[])
        .simple(10, b"abcd")
        .simple(3, b"abc")
        .section(Endian::Little, u64::MAX, &[])
        .interface(1, 0, &[])
        .simple(5, b"abcde")
        .bytes();
    let records = whole(&file);
    let seen: Vec<_> = records.iter().map(|r| (r.ts, r.bad_time, r.length, r.captured)).collect();
    assert_eq!(
        seen,
        [(None, false, 10, &b"abcd"[..]), (None, false, 3, b"abc"), (None, false, 5, b"abcde")]
    );
}

#[test]
fn the_obsolete_packet_block_is_read() {
    let file = file().packet(0, 1_000_000, 60, b"abcde").bytes();
    let record = whole(&file)[0];
    assert_eq!((record.ts, record.length), (Some(1_000_000_000), 60));
    assert_eq!(record.captured, b"abcde");
}

#[test]
fn blocks_that_are_no_packets_are_stepped_over() {
    // Name resolution, interface statistics, decryption secrets, journal, custom (both), unknown.
    let kinds = [4, 5, 10, 9, 0xbad, 0x4000_0bad, 0x0000_4242];
    let file = kinds.iter().fold(file(), |file, kind| file.block(*kind, &[0x5a; 37]));
    let file = file.enhanced(0, 0, 3, b"abc").block(0x8000_0001, &[]).bytes();
    assert_eq!(whole(&file).len(), 1);
}

#[test]
fn options_behind_the_packet_are_no_part_of_it() {
    let mut body = vec![0; 20];
    body[12] = 3;
    body[16] = 60;
    body.extend(b"abc\0\x01\0\x04\0note\0\0\0\0");
    let bytes = file().block(6, &body).bytes();
    assert_eq!(whole(&bytes)[0].captured, b"abc");
}

#[test]
fn a_section_may_state_its_length_and_carry_options() {
    let comment = file().option(1, b"a comment of some length");
    let file = Pcapng::new(Endian::Little)
        .section(Endian::Big, 4096, &comment)
        .interface(1, 0, &[])
        .enhanced(0, 0, 0, b"")
        .bytes();
    assert_eq!(whole(&file).len(), 1);
}

#[test]
fn a_new_section_forgets_the_interfaces() {
    let file = file().section(Endian::Little, u64::MAX, &[]).enhanced(0, 0, 0, b"").bytes();
    let (records, damage) = records(&file);
    let damage = damage.expect("an error");
    assert!(records.is_empty());
    assert_eq!(damage.kind(), ErrorKind::Format);
    assert!(damage.message().contains("number 0"), "{damage}");
}

#[test]
fn a_length_that_differs_at_the_end_of_its_block_is_damage() {
    for kind in [6u32, 4] {
        let mut bytes = file().enhanced(0, 0, 3, b"abc").block(kind, &[0; 20]).bytes();
        let len = bytes.len();
        bytes[len - 4] ^= 4;
        let (records, damage) = records(&bytes);
        assert_eq!(records.len(), 1);
        let damage = damage.expect("an error");
        assert_eq!(damage.kind(), ErrorKind::Format);
        assert!(damage.message().contains("32 again at its end"), "{damage}");
    }
}

#[test]
fn a_block_cut_anywhere_is_an_error_with_its_place() {
    let good = file().enhanced(0, 0, 3, b"abc").bytes();
    for last in [file().enhanced(0, 0, 3, b"abc"), file().block(4, &[0; 20])] {
        let block = last.bytes().split_off(file().bytes().len());
        for cut in 1..block.len() {
            let bytes = [&good[..], &block[..cut]].concat();
            let (records, damage) = records(&bytes);
            let damage = damage.unwrap_or_else(|| panic!("an error for a cut at {cut}"));
            assert_eq!(records.len(), 1);
            assert!(matches!(damage.kind(), ErrorKind::Truncated { .. }), "{damage}");
            assert!(damage.offset() >= Some(good.len() as u64), "{damage}");
        }
    }
    assert_eq!(whole(&good).len(), 1);
}

#[test]
fn hostile_lengths_are_refused_without_taking_memory() {
    for total_len in [0u32, 4, 8, 11, 16 << 20 | 1, u32::MAX - 3, u32::MAX - 1, u32::MAX] {
        for kind in [1u32, 2, 3, 4, 6, 0x0a0d_0d0a] {
            let words = [kind.to_le_bytes(), total_len.to_le_bytes()].concat();
            let magic = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
            let bytes = file().raw(&words).raw(&magic).raw(&[0; 64]).bytes();
            let (records, damage) = records(&bytes);
            assert!(records.is_empty());
            assert!(damage.is_some(), "a block {kind} of {total_len} bytes");
        }
    }
}

#[test]
fn a_packet_that_claims_more_than_its_block_is_damage() {
    let mut body = vec![0; 24];
    body[12] = 5;
    let damage = records(&file().block(6, &body).bytes()).1.expect("an error");
    assert!(damage.message().contains("at most 4, found 5"), "{damage}");
    let mut body = vec![0; 24];
    body[12..16].fill(0xff);
    let damage = records(&file().block(6, &body).bytes()).1.expect("an error");
    assert_eq!(damage.kind(), ErrorKind::Limit);
}

#[test]
fn a_packet_of_an_interface_that_was_not_described_is_damage() {
    for bytes in [
        file().enhanced(1, 0, 0, b"").bytes(),
        file().packet(1, 0, 0, b"").bytes(),
        Pcapng::new(Endian::Little).simple(0, b"").bytes(),
        file().enhanced(u32::MAX, 0, 0, b"").bytes(),
    ] {
        let damage = records(&bytes).1.expect("an error");
        assert!(damage.message().contains("an interface among the"), "{damage}");
    }
}

#[test]
fn options_that_run_over_their_block_end_the_options() {
    let mut options = file().option(TIME_RESOLUTION, &[9]);
    options.extend([2, 0, 0xff, 0xff, 1, 2, 3, 4]);
    let bytes =
        Pcapng::new(Endian::Little).interface(1, 0, &options).enhanced(0, 5, 0, b"").bytes();
    assert_eq!(whole(&bytes)[0].ts, Some(5));
}

#[test]
fn an_empty_time_option_is_passed_over() {
    let options =
        [file().option(TIME_RESOLUTION, &[]), file().option(TIME_OFFSET, &[1; 4])].concat();
    let bytes =
        Pcapng::new(Endian::Little).interface(1, 0, &options).enhanced(0, 5, 0, b"").bytes();
    assert_eq!(whole(&bytes)[0].ts, Some(5000));
}

#[test]
fn of_an_option_that_stands_there_twice_the_first_counts() {
    let options = [
        (TIME_RESOLUTION, &[3][..]),
        (TIME_RESOLUTION, &[9]),
        (TIME_OFFSET, &[2, 0, 0, 0, 0, 0, 0, 0]),
        (TIME_OFFSET, &[9, 0, 0, 0, 0, 0, 0, 0]),
        (NAME, b"eth0"),
        (NAME, b"eth1"),
    ];
    let options = options.map(|(code, value)| file().option(code, value)).concat();
    let bytes =
        Pcapng::new(Endian::Little).interface(1, 0, &options).enhanced(0, 5, 0, b"").bytes();
    assert_eq!(whole(&bytes)[0].ts, Some(2_005_000_000));
    let mut decoder = Decoder::new();
    let mut rest = &bytes[..];
    while let Ok(Step::Skip(count)) = decoder.step(rest, true) {
        rest = &rest[count as usize..];
    }
    assert_eq!(decoder.interfaces()[0].name.as_deref(), Some("eth0"));
}

#[test]
fn many_options_cost_time_in_proportion_to_their_bytes() {
    let read = |count: usize| {
        let options = file().option(2, b"").repeat(count);
        let bytes = Pcapng::new(Endian::Little).interface(1, 0, &options).bytes();
        let start = Instant::now();
        assert!(whole(&bytes).is_empty());
        start.elapsed()
    };
    let (few, many) = (read(40_000), read(4_000_000));
    // A hundredfold, with a wide margin for a busy machine; squared would be ten thousandfold.
    assert!(many < few * 2_000, "{few:?} for 40,000, {many:?} for 4,000,000");
}

#[test]
fn more_interfaces_than_a_section_may_have_are_refused() {
    let one = file().bytes().split_off(Pcapng::new(Endian::Little).bytes().len());
    let bytes = Pcapng::new(Endian::Little).raw(&one.repeat(65_537)).bytes();
    let damage = records(&bytes).1.expect("an error");
    assert_eq!(damage.kind(), ErrorKind::Limit);
}

#[test]
fn a_byte_order_that_is_none_is_named() {
    let mut bytes = file().bytes();
    bytes[8] = 0;
    let damage = records(&bytes).1.expect("an error");
    assert!(damage.message().contains("byte-order magic"), "{damage}");
}

#[test]
fn the_section_that_is_being_read_is_told() {
    let bytes = file().section(Endian::Big, u64::MAX, &[]).bytes();
    let mut decoder = Decoder::new();
    let mut position = 0;
    let mut seen = Vec::new();
    while let Step::Skip(count) = decoder.step(&bytes[position..], true).expect("a whole file") {
        position += usize::try_from(count).expect("a small file");
        seen.push((decoder.sections(), decoder.interfaces().len(), decoder.endian()));
    }
    assert_eq!(seen.last(), Some(&(2, 0, Some(Endian::Big))));
    assert!(seen.contains(&(1, 1, Some(Endian::Little))));
}
