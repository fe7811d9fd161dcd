//! Goal: what is cut out of captures is read back as it was: bytes, times, link types, interfaces, comments; and several
//! captures become one in the order of time.
//!
//! Method: random captures are cut into each form and read back record by record, by the plainest loop over the decoder.
//! Several are compared with a slow twin, which takes the earliest of the next records one by one.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::Path;

use crate::generate::capture::{NANOSECONDS, Pcap, PcapHeader, Pcapng};
use crate::generate::{self, Random, seeds};
use bytewright::ask::{CutOptions, CutTotals, cut};
use bytewright::bytes::Compression;
use bytewright::capture::{Decoder, Step};
use bytewright::export::{CaptureFile, CaptureForm, OutputOptions};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::Field;
use bytewright::query::Condition;
use bytewright::wire::Endian;
use bytewright::{ErrorKind, Result};

use crate::files;
use crate::folder::Folder;

pub(super) fn reader(folder: &Folder, name: &str, bytes: &[u8]) -> CaptureReader {
    let path = folder.path(name);
    std::fs::write(&path, bytes).unwrap();
    CaptureReader::open(&path, &CaptureOptions::default()).unwrap()
}

/// A record with all that has to stay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) ts: Option<i64>,
    pub(super) length: u32,
    pub(super) link_type: u16,
    pub(super) captured: Vec<u8>,
}

pub(super) fn shown(bytes: &[u8]) -> Vec<Shown> {
    let (records, _) = files::records(bytes);
    let shown = records.iter().map(|record| Shown {
        ts: record.ts,
        length: record.length,
        link_type: record.link_type,
        captured: record.captured.to_vec(),
    });
    shown.collect()
}

/// Cuts captures into one of that name; its bytes, decompressed.
pub(super) fn cut_to(
    name: &str,
    captures: &[&[u8]],
    options: &CutOptions,
) -> Result<(Vec<u8>, CutTotals)> {
    let folder = Folder::new("cut");
    let readers = captures.iter().enumerate();
    let readers =
        readers.map(|(index, bytes)| reader(&folder, &index.to_string(), bytes)).collect();
    let path = folder.path(name);
    let totals = cut(readers, options, CaptureFile::create(&path, &OutputOptions::default())?)?;
    Ok((files::plain(&path), totals))
}

/// Code of the pcapng option for a comment, of a packet or of an interface.
const COMMENT: u16 = 1;

#[test]
fn a_random_capture_reads_back_as_it_was_from_every_form() {
    seeds(100, |random| {
        let capture = generate::capture::random(random);
        let expected = shown(&capture);
        for name in ["o.pcapng", "o.pcapng.zst", "o.pcapng.gz", "o.pcap", "o.pcap.gz"] {
            let (bytes, totals) = match cut_to(name, &[&capture], &CutOptions::default()) {
                Ok(cut) => cut,
                Err(error) => {
                    let refuses = matches!(
                        error.kind(),
                        ErrorKind::Argument | ErrorKind::Format | ErrorKind::Truncated { .. }
                    );
                    assert!(refuses, "{error}");
                    continue;
                }
            };
            let mut found = shown(&bytes);
            assert_eq!(totals.packets, found.len() as u64);
            // A record that cannot be without a time has the one at which its clock begins, which is 0 in pcap.
            for (found, expected) in found.iter_mut().zip(&expected) {
                if expected.ts.is_none() {
                    assert!(name.starts_with("o.pcapng") || found.ts == Some(0));
                    found.ts = None;
                }
            }
            assert!(found == expected, "{name}: {found:?}\n{expected:?}");
        }
    });
}

#[test]
fn several_captures_come_in_the_order_of_time_as_the_slow_twin_has_them() {
    seeds(50, |random| {
        let captures: Vec<Vec<u8>> = (0..2 + random.below(3))
            .map(|_| {
                let mut ts = random.below(50) as u32;
                let mut pcap = Pcap::new(PcapHeader::default());
                for _ in 0..random.below(30) {
                    // Once in a while a packet is late, or as late as others.
                    ts = if random.once_in(8) {
                        ts.saturating_sub(3)
                    } else {
                        ts + random.below(4) as u32
                    };
                    let frame = random.bytes(10);
                    pcap = pcap.record([ts, random.below(3) as u32, 10, 60], &frame);
                }
                pcap.bytes()
            })
            .collect();
        let mut queues: Vec<_> = captures.iter().map(|capture| shown(capture)).collect();
        let mut expected = Vec::new();
        while let Some((_, next)) = queues
            .iter()
            .enumerate()
            .filter_map(|(index, queue)| Some((queue.first()?.ts, index)))
            .min()
        {
            expected.push(queues[next].remove(0));
        }
        let late = (1..expected.len())
            .filter(|at| expected[..*at].iter().any(|before| before.ts > expected[*at].ts))
            .count();
        let captures: Vec<&[u8]> = captures.iter().map(Vec::as_slice).collect();
        for name in ["o.pcap", "o.pcapng"] {
            let (bytes, totals) = cut_to(name, &captures, &CutOptions::default()).unwrap();
            assert_eq!(shown(&bytes), expected);
            assert_eq!(totals.late, late as u64);
        }
    });
}

/// A section in that byte order with two named interfaces, one in picoseconds, and comments.
fn commented(endian: Endian) -> Vec<u8> {
    let file = Pcapng::new(endian);
    let first = [file.option(2, b"eth0"), file.option(COMMENT, b"uplink"), vec![0; 4]].concat();
    let second = [file.option(2, b"lo"), file.option(9, &[12]), vec![0; 4]].concat();
    let flags = match endian {
        Endian::Little => 0x102_u32.to_le_bytes(),
        Endian::Big => 0x102_u32.to_be_bytes(),
    };
    let options = [file.option(COMMENT, "größer".as_bytes()), file.option(2, &flags), vec![0; 4]];
    let word = |number: u32| match endian {
        Endian::Little => number.to_le_bytes(),
        Endian::Big => number.to_be_bytes(),
    };
    let words = [1, 0x0010, 7, 5, 60].map(word).concat();
    let packet = [words, b"abcde\0\0\0".to_vec(), options.concat()].concat();
    file.interface(1, 0, &first)
        .interface(101, 96, &second)
        .enhanced(0, 5_000_000, 3, b"xyz")
        .block(6, &packet)
        .bytes()
}

/// Each interface and each packet with its options, as text.
fn described(bytes: &[u8]) -> Vec<String> {
    let (mut decoder, mut at, mut lines) = (Decoder::new(), 0, Vec::new());
    let options = |options: bytewright::capture::BlockOptions<'_>| {
        let all = options
            .map(|option| format!("{} {}", option.code, String::from_utf8_lossy(option.value)));
        all.collect::<Vec<_>>().join(", ")
    };
    loop {
        let rest = &bytes[at..];
        match decoder.step(rest, true).unwrap() {
            Step::Record { consumed, .. } => {
                let origin = decoder.origin(&rest[..consumed]);
                lines.push(format!(
                    "{} {:?} {}",
                    origin.interface,
                    origin.stamp,
                    options(origin.options)
                ));
                at += consumed;
            }
            Step::Skip(count) => {
                if let Some((interface, found)) = decoder.described(&rest[..count as usize]) {
                    let Some(name) = &interface.name else { panic!("a name") };
                    lines.push(format!(
                        "{name} {} {}: {}",
                        interface.link_type,
                        interface.snaplen,
                        options(found)
                    ));
                }
                at += count as usize;
            }
            Step::Need(_) | Step::End => return lines,
        }
    }
}

#[test]
fn interfaces_comments_and_units_of_time_stay_in_either_byte_order() {
    let little = commented(Endian::Little);
    let expected = [
        "eth0 1 0: 2 eth0, 1 uplink",
        "lo 101 96: 2 lo, 9 \u{c}",
        "0 Units(5000000) ",
        "1 Units(68719476743) 1 größer, 2 \u{2}\u{1}\0\0",
    ];
    assert_eq!(described(&little), expected);
    for capture in [&little, &commented(Endian::Big)] {
        let (bytes, _) = cut_to("o.pcapng", &[capture], &CutOptions::default()).unwrap();
        assert_eq!(described(&bytes), expected);
    }
}

#[test]
fn interfaces_that_several_captures_describe_alike_are_described_once() {
    let capture = commented(Endian::Little);
    let twice = [capture.clone(), capture.clone()].concat();
    let (bytes, totals) = cut_to("o.pcapng", &[&twice, &capture], &CutOptions::default()).unwrap();
    assert_eq!(totals.packets, 6);
    let interfaces = described(&bytes).iter().filter(|line| line.contains(": ")).count();
    assert_eq!(interfaces, 2);
}

#[test]
fn pcap_keeps_its_clock_and_snaplen() {
    for (magic, ts) in [(generate::capture::MICROSECONDS, 5), (NANOSECONDS, 999_999_999)] {
        let header = PcapHeader { magic, snaplen: 96, link: 101, ..PcapHeader::default() };
        let capture = Pcap::new(header).record([9, ts, 3, 60], b"abc").bytes();
        let (bytes, _) = cut_to("o.pcap", &[&capture], &CutOptions::default()).unwrap();
        assert_eq!(bytes, capture);
        // Without a packet, too.
        let none = CutOptions { to: Some(0), ..CutOptions::default() };
        assert_eq!(cut_to("o.pcap", &[&capture], &none).unwrap().0, capture[..24]);
    }
}

#[test]
fn only_packets_of_the_time_and_the_condition_are_there_and_only_their_first_bytes() {
    let mut pcap = Pcap::new(PcapHeader::default());
    for second in 0..10 {
        pcap = pcap.record([second, 0, 4, 60 + second], &[second as u8; 4]);
    }
    let options = CutOptions {
        from: Some(2_000_000_000),
        to: Some(7_000_000_000),
        condition: Some(Condition::new("length != 63", &Field::SCHEMA).unwrap()),
        snaplen: Some(2),
        ..CutOptions::default()
    };
    let (bytes, totals) = cut_to("o.pcapng", &[&pcap.bytes()], &options).unwrap();
    let found: Vec<_> =
        shown(&bytes).into_iter().map(|shown| (shown.length, shown.captured)).collect();
    let expected = [2, 4, 5, 6].map(|second| (60 + u32::from(second), vec![second; 2]));
    assert_eq!(found, expected);
    assert_eq!((totals.packets, totals.bytes), (4, 257));
}

#[test]
fn two_link_types_do_not_fit_pcap_and_nothing_is_left_behind() {
    let folder = Folder::new("cut");
    let capture = commented(Endian::Little);
    let readers = vec![reader(&folder, "in", &capture)];
    let file = CaptureFile::create(&folder.path("o.pcap"), &OutputOptions::default()).unwrap();
    let error = cut(readers, &CutOptions::default(), file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("write pcapng"), "{error}");
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn of_a_damaged_capture_the_packets_before_the_damage_are_there_and_the_damage_is_told() {
    let whole = Pcap::new(PcapHeader::default()).record([1, 0, 1, 1], b"a").bytes();
    let damaged = [whole.as_slice(), &[0; 5]].concat();
    let (bytes, totals) = cut_to("o.pcap", &[&damaged, &whole], &CutOptions::default()).unwrap();
    assert_eq!((shown(&bytes).len(), totals.damage.len()), (2, 1));
    assert_eq!(totals.damage[0].offset(), Some(whole.len() as u64));
}

#[test]
fn what_is_no_capture_is_refused() {
    let error = cut_to("o.pcap", &[b"no capture at all"], &CutOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
}

#[test]
fn the_name_says_the_form() {
    let form = |name: &str| CaptureForm::of_name(Path::new(name));
    assert_eq!(form("a.pcapng").unwrap(), CaptureForm::PCAPNG);
    assert_eq!(form("a.pcap.zst").unwrap().compression, Compression::Zstd);
    for name in ["a", "a.gz", "a.pcap.bz2", "pcap", "a.PCAP"] {
        assert_eq!(form(name).unwrap_err().kind(), ErrorKind::Argument, "{name}");
    }
}

#[test]
fn packets_that_are_given_one_by_one_have_nanoseconds_and_their_link_types() {
    let folder = Folder::new("cut");
    let path = folder.path("o.pcapng.gz");
    let mut file = CaptureFile::create(&path, &OutputOptions::default()).unwrap();
    file.packet(Some(1), 60, 1, b"a").unwrap();
    file.packet(Some(2), 61, 101, b"b").unwrap();
    file.packet(Some(3), 62, 1, b"c").unwrap();
    file.finish().unwrap();
    let found = shown(&files::plain(&path));
    let found: Vec<_> =
        found.iter().map(|shown| (shown.ts, shown.length, shown.link_type)).collect();
    assert_eq!(found, [(Some(1), 60, 1), (Some(2), 61, 101), (Some(3), 62, 1)]);
}

/// A capture of some MiB in little-endian pcap, of frames that do not compress well.
fn long_capture(random: &mut Random, capture_len: usize) -> Vec<u8> {
    let mut pcap = Pcap::new(PcapHeader::default());
    let mut made = 0;
    for ts in 0.. {
        let len = 300 + random.below(900);
        let mut frame = random.bytes(len);
        let half = frame.len() / 2;
        frame[half..].fill(7);
        made += frame.len();
        let caplen = frame.len() as u32;
        pcap = pcap.record([ts, 0, caplen, caplen], &frame);
        if made > capture_len {
            break;
        }
    }
    pcap.bytes()
}

/// Contents of the members of a file.
fn members(name: &str, mut file: &[u8]) -> Vec<Vec<u8>> {
    let mut members = Vec::new();
    while !file.is_empty() {
        let mut content = Vec::new();
        if name.ends_with(".gz") {
            let mut decoder = flate2::bufread::GzDecoder::new(file);
            decoder.read_to_end(&mut content).unwrap();
            file = decoder.into_inner();
        } else {
            let (frame, rest) = file.split_at(zstd_safe::find_frame_compressed_size(file).unwrap());
            content.reserve(16 << 20);
            zstd_safe::decompress(&mut content, frame).unwrap();
            file = rest;
        }
        members.push(content);
    }
    members
}

#[test]
fn compressed_captures_are_in_members_of_whole_records_that_cost_a_hundredth_at_most() {
    let mut random = Random::new(5);
    let capture = long_capture(&mut random, 18 << 20);
    for name in ["o.pcap.gz", "o.pcap.zst", "o.pcapng.gz", "o.pcapng.zst"] {
        let folder = Folder::new("cut-members");
        let path = folder.path(name);
        let file = CaptureFile::create(&path, &OutputOptions::default()).unwrap();
        cut(vec![reader(&folder, "in", &capture)], &CutOptions::default(), file).unwrap();
        let file = std::fs::read(&path).unwrap();
        let contents = members(name, &file);
        let table_count = usize::from(name.ends_with(".zst"));
        assert!(contents.len() > 3 + table_count, "{name}: {} members", contents.len());
        let whole = contents.concat();
        assert!(shown(&whole) == shown(&capture), "{name}");
        let ends = record_ends(&whole);
        let mut at = 0;
        for content in &contents {
            at += content.len();
            assert!(ends.contains(&at), "{name}: a member ends inside of a record, at {at}");
            assert!(content.len() < 8 << 20, "{name}");
        }
        let one = match name.ends_with(".gz") {
            true => crate::bytes_cases::gzip(&whole, 6).len(),
            false => crate::bytes_cases::zstd(&whole, 3).len(),
        };
        assert!(file.len() <= one + one / 100, "{name}: {} bytes, {one} in one", file.len());
    }
}

/// Offsets behind the steps of a decoder.
fn record_ends(capture: &[u8]) -> HashSet<usize> {
    let (mut decoder, mut at, mut ends) = (Decoder::new(), 0, HashSet::new());
    loop {
        at += match decoder.step(&capture[at..], true).unwrap() {
            Step::Record { consumed, .. } => consumed,
            Step::Skip(count) => count as usize,
            Step::Need(_) | Step::End => return ends,
        };
        ends.insert(at);
    }
}

#[test]
fn a_compressed_capture_that_was_cut_reads_the_same_on_any_number_of_threads() {
    let mut random = Random::new(6);
    let capture = long_capture(&mut random, 18 << 20);
    for name in ["o.pcap.gz", "o.pcapng.zst"] {
        let folder = Folder::new("cut-jobs");
        let path = folder.path(name);
        let file = CaptureFile::create(&path, &OutputOptions::default()).unwrap();
        cut(vec![reader(&folder, "in", &capture)], &CutOptions::default(), file).unwrap();
        let hashes = [1, 2, 3].map(|jobs| {
            let mut options = CaptureOptions::default();
            options.stream.jobs = jobs;
            let mut hasher = std::hash::DefaultHasher::new();
            let mut reader = CaptureReader::open(&path, &options).unwrap();
            reader
                .each(|packet, captured| (packet.number(), packet.ts(), captured).hash(&mut hasher))
                .unwrap();
            hasher.finish()
        });
        assert_eq!(hashes, [hashes[0]; 3], "{name}");
    }
}

#[test]
fn the_seek_table_of_a_capture_that_was_cut_has_all_frames_before_it() {
    let mut random = Random::new(7);
    let capture = long_capture(&mut random, 10 << 20);
    let folder = Folder::new("cut-table");
    let path = folder.path("o.pcapng.zst");
    let file = CaptureFile::create(&path, &OutputOptions::default()).unwrap();
    cut(vec![reader(&folder, "in", &capture)], &CutOptions::default(), file).unwrap();
    let file = std::fs::read(&path).unwrap();
    let contents = members("o.pcapng.zst", &file);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (footer, frames) = (file.len() - 9, contents.len() - 1);
    assert_eq!((word(footer), file[footer + 4], word(footer + 5)), (frames as u32, 0, 0x8f92_eab1));
    let start = footer - frames * 8 - 8;
    assert_eq!((word(start), word(start + 4)), (0x184d_2a5e, frames as u32 * 8 + 9));
    let mut at = 0;
    for (index, content) in contents[..frames].iter().enumerate() {
        let raw_len = zstd_safe::find_frame_compressed_size(&file[at..]).unwrap();
        let entry = [word(start + 8 + index * 8), word(start + 12 + index * 8)];
        assert_eq!(entry, [raw_len as u32, content.len() as u32]);
        at += raw_len;
    }
    assert_eq!(at, start);
}
