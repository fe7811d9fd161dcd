//! Goal: packets that are moved in time, left out or made anonymous are otherwise those that a plain cut writes.
//!
//! Method: small captures of each format and clock, and random ones; what is left out by an obvious twin.

use bytewright::ErrorKind;
use bytewright::ask::CutOptions;
use bytewright::options::{NamedOptions, Setting};
use bytewright::wire::Endian;

use super::ask_cut::{cut_to, shown};
use crate::generate::capture::{NANOSECONDS, Pcap, PcapHeader, Pcapng};
use crate::generate::{self, seeds};

const SECOND: i64 = 1_000_000_000;

fn with(settings: &[(&str, &str)]) -> bytewright::Result<CutOptions> {
    let mut options = CutOptions::default();
    for (name, text) in settings {
        let setting = match text.parse() {
            Ok(count) if *name != "shift" => Setting::Count(count),
            _ => Setting::Text((*text).to_owned()),
        };
        options.set(name, setting)?;
    }
    Ok(options)
}

#[test]
fn a_shift_moves_each_time_by_as_much_in_every_format_and_clock() {
    let pcap = |magic| {
        let header = PcapHeader { magic, ..PcapHeader::default() };
        Pcap::new(header).record([1000, 7, 3, 60], b"abc").bytes()
    };
    // Thousandths of a second, and units of 2^-10.
    let pcapng = [3, 0x80 | 10].map(|resolution| {
        let file = Pcapng::new(Endian::Big).section(Endian::Big, u64::MAX, &[]);
        let option = file.option(9, &[resolution]);
        file.interface(1, 0, &option).enhanced(0, 2_000_000, 60, b"abc").bytes()
    });
    let captures = [pcap(generate::capture::MICROSECONDS), pcap(NANOSECONDS)];
    for capture in captures.iter().chain(&pcapng) {
        for (text, seconds) in [("1h", 3600), ("-90s", -90), ("2", 2), ("+5", 5)] {
            let options = with(&[("shift", text)]).unwrap();
            for name in ["o.pcap", "o.pcapng.zst"] {
                let (bytes, totals) = cut_to(name, &[capture], &options).unwrap();
                let mut expected = shown(capture);
                expected.iter_mut().for_each(|one| one.ts = one.ts.map(|ts| ts + seconds * SECOND));
                assert_eq!((shown(&bytes), totals.packets), (expected, 1), "{name} {text}");
            }
        }
    }
}

#[test]
fn a_shift_to_before_1970_is_refused_and_so_is_what_is_no_time() {
    let capture = Pcap::new(PcapHeader::default()).record([1000, 7, 3, 60], b"abc").bytes();
    let options = with(&[("shift", "-1h")]).unwrap();
    for name in ["o.pcap", "o.pcapng"] {
        let error = cut_to(name, &[&capture], &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    }
    for text in ["", "-", "1 hour", "--1h", "-h", "1e30h", "nan"] {
        let error = with(&[("shift", text)]).unwrap_err();
        assert!(
            error.to_string().contains("expected a time to add, such as 1h"),
            "{text}: {error}"
        );
    }
}

#[test]
fn every_nth_is_counted_among_the_packets_that_nothing_else_leaves_out() {
    let mut pcap = Pcap::new(PcapHeader::default());
    for second in 0..20 {
        pcap = pcap.record([second, 0, 1, 60], &[second as u8 / 2]);
    }
    let options = with(&[("drop_duplicates", "1"), ("every_nth", "3")]).unwrap();
    let (bytes, totals) = cut_to("o.pcap", &[&pcap.bytes()], &options).unwrap();
    let found: Vec<u8> = shown(&bytes).iter().map(|one| one.captured[0]).collect();
    assert_eq!((found, totals.packets, totals.duplicates), (vec![0, 3, 6, 9], 4, 10));
}

#[test]
fn duplicates_are_those_whose_bytes_one_of_so_many_packets_before_had_in_any_capture() {
    seeds(50, |random| {
        let captures = [generate::capture::random(random), generate::capture::random(random)];
        let captures: Vec<&[u8]> = vec![&captures[0], &captures[1], &captures[0]];
        let Ok((plain, _)) = cut_to("o.pcapng", &captures, &CutOptions::default()) else { return };
        let all = shown(&plain);
        for compared in [1, 2, 5] {
            let options = CutOptions { compared, ..CutOptions::default() };
            let (bytes, totals) = cut_to("o.pcapng", &captures, &options).unwrap();
            let is_first = |(index, one): (usize, &super::ask_cut::Shown)| {
                let before = &all[index.saturating_sub(compared as usize)..index];
                let same = |other: &super::ask_cut::Shown| {
                    (other.length, &other.captured) == (one.length, &one.captured)
                };
                (!before.iter().any(same)).then(|| one.clone())
            };
            let expected: Vec<_> = all.iter().enumerate().filter_map(is_first).collect();
            assert_eq!(totals.duplicates as usize, all.len() - expected.len());
            assert_eq!(shown(&bytes), expected);
        }
    });
}

#[test]
fn an_anonymous_capture_has_the_times_and_lengths_and_no_names_or_comments() {
    let file = Pcapng::new(Endian::Little).section(Endian::Little, u64::MAX, &[]);
    let options = [
        file.option(2, b"eth0"),
        file.option(9, &[3]),
        file.option(4, &[10, 0, 0, 1, 255, 0, 0, 0]),
    ];
    let frame = generate::frame::ethernet(0x0800, &generate::frame::ipv4(89, b"secret"));
    let packet =
        file.interface(1, 0, &options.concat()).enhanced(0, 5000, frame.len() as u32, &frame);
    let capture = packet.bytes();
    let options = with(&[("anonymize", "a key"), ("shift", "1s")]).unwrap();
    for name in ["o.pcapng", "o.pcap"] {
        let (bytes, totals) = cut_to(name, &[&capture], &options).unwrap();
        let [found] = &shown(&bytes)[..] else { panic!("one packet") };
        assert_eq!((found.ts, found.length), (Some(6 * SECOND), frame.len() as u32));
        assert!(found.captured.ends_with(b"\0\0\0\0\0\0"));
        assert_eq!(totals.opaque, 0);
        assert!(!bytes.windows(4).any(|bytes| bytes == b"eth0" || bytes == [10, 0, 0, 1]));
    }
}

#[test]
fn one_key_makes_one_capture_and_a_random_one_makes_another_each_time() {
    let frame = generate::frame::ethernet(0x0800, &generate::frame::ipv4(89, b"secret"));
    let capture = Pcap::new(PcapHeader::default());
    let capture = capture.record([1, 0, frame.len() as u32, frame.len() as u32], &frame).bytes();
    let made =
        |key| cut_to("o.pcap", &[&capture], &with(&[("anonymize", key)]).unwrap()).unwrap().0;
    assert_eq!(made("a key"), made("a key"));
    assert_ne!(made("a key"), made("another"));
    assert_ne!(made("random"), made("random"));
}

#[test]
fn a_rule_for_payloads_needs_a_key_and_a_key_has_a_letter() {
    let capture = Pcap::new(PcapHeader::default()).record([1, 0, 3, 60], b"abc").bytes();
    let error = cut_to("o.pcap", &[&capture], &with(&[("payload", "cut")]).unwrap()).unwrap_err();
    assert!(error.to_string().contains("expected anonymize beside payload"), "{error}");
    let error = with(&[("anonymize", "")]).unwrap_err();
    assert!(error.to_string().contains("expected a key"), "{error}");
}
