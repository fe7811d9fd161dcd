//! Goal: an index changes nothing of what is answered: packets, numbers, errors with their offsets, and captures that are cut. An
//! index of another content, or a damaged one, is told of and not used. No index is there before it is whole.
//!
//! Method: random captures of all formats and compressions, with times out of order, whole and damaged, are asked about times
//! and numbers before they have an index, which is the slow and obvious twin, and after.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytewright::ask::{CutOptions, cut};
use bytewright::bytes::SeekSpacing;
use bytewright::export::{CaptureFile, OutputOptions};
use bytewright::input::{
    CaptureIndex, CaptureOptions, CaptureReader, IndexState, IndexUse, WantedRecords, indexed_parts,
};
use bytewright::packet::Field;
use bytewright::query::Condition;
use bytewright::report::{Report, ReportOptions};
use bytewright::wire::Endian;
use bytewright::{Error, Result};

use crate::bytes_cases;
use crate::folder::Folder;
use crate::generate::capture::{NANOSECONDS, Pcap, PcapHeader, Pcapng};
use crate::generate::{Random, frame, seeds};

/// The second that captures begin at.
const BEGIN: u64 = 1_700_000_000;

/// Times that mostly go up, by a second in each 20 packets, some of them late and a few far off.
fn time(random: &mut Random, number: usize) -> u64 {
    let due = (BEGIN + number as u64 / 20) * 1_000_000_000;
    match random.below(300) {
        0 => due + random.below_u64(100_000_000_000),
        1 => due - random.below_u64(100_000_000_000),
        2..60 => due - random.below_u64(2_000_000_000),
        _ => due + random.below_u64(1_000_000_000),
    }
}

pub(crate) fn pcap(random: &mut Random, count: usize) -> Vec<u8> {
    let mut file = Pcap::new(PcapHeader { magic: NANOSECONDS, ..PcapHeader::default() });
    for number in 0..count {
        let (frame, ns) = (frame::random(random), time(random, number));
        let caplen = frame.captured.len() as u32;
        let (seconds, fraction) = ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32);
        file = file.record([seconds, fraction, caplen, frame.length], &frame.captured);
    }
    file.bytes()
}

/// Several sections, interfaces that are described late, packets without a time, blocks of other kinds.
pub(crate) fn pcapng(random: &mut Random, count: usize) -> Vec<u8> {
    let endian = |random: &mut Random| random.pick(&[Endian::Little, Endian::Big]);
    let begun = endian(random);
    let mut file = Pcapng::new(begun);
    let mut interfaces = 0;
    for number in 0..count {
        if interfaces == 0 || random.once_in(200) {
            let mut options = file.option(9, &[9]);
            options.extend(file.option(2, format!("eth{}", random.below(4)).as_bytes()));
            file = file.interface(1, random.pick(&[0, 65_535]), &options);
            interfaces += 1;
        }
        let (frame, ns) = (frame::random(random), time(random, number));
        let interface = random.below(interfaces) as u32;
        file = match random.below(60) {
            0 => file.simple(frame.length, &frame.captured),
            1 => file.block(0xbad, &random.bytes(50)),
            _ => file.enhanced(interface, ns, frame.length, &frame.captured),
        };
        if random.once_in(300) {
            let begun = endian(random);
            let len = random.pick(&[0, 12]);
            let options = random.bytes(len);
            file = file.section(begun, u64::MAX, &options);
            interfaces = 0;
        }
    }
    file.bytes()
}

/// A capture and the end of its name.
fn capture(random: &mut Random) -> (Vec<u8>, &'static str) {
    let count = 200 + random.below(1500);
    match random.once_in(2) {
        true => (pcap(random, count), "pcap"),
        false => (pcapng(random, count), "pcapng"),
    }
}

/// The bytes in members of any length, one, or none.
fn compressed(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let len = random.pick(&[3000, 60_000, usize::MAX]);
    let level = random.pick(&[0, 1, 6]);
    match random.below(5) {
        0 => bytes.to_vec(),
        1 => one_member(bytes, random.pick(&[1000, 9000]), level),
        2 => bytes.chunks(len).flat_map(|piece| bytes_cases::zstd(piece, 1)).collect(),
        _ => bytes.chunks(len).flat_map(|piece| bytes_cases::gzip(piece, level)).collect(),
    }
}

/// One member of gzip, in blocks of so many bytes.
pub(crate) fn one_member(bytes: &[u8], block: usize, level: u32) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    for piece in bytes.chunks(block) {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

pub(crate) fn damaged(random: &mut Random, mut file: Vec<u8>) -> Vec<u8> {
    match random.below(5) {
        0 => file.truncate(100 + random.below(file.len() - 100)),
        1 => {
            let at = 100 + random.below(file.len() - 100);
            file[at] ^= 1 << random.below(8);
        }
        _ => {}
    }
    file
}

fn options() -> CaptureOptions {
    CaptureOptions::default()
}

/// Makes the index of a capture, with parts of a few thousand bytes.
pub(crate) fn make(path: &Path) -> (Result<()>, Option<Result<CaptureIndex>>) {
    let mut options = options();
    options.index = IndexUse::Only;
    let spacing = SeekSpacing { bytes: 4000, window_bytes: 4000, raw_per_window_byte: 0 };
    options.stream.seek_points = Some(spacing);
    let mut reader = CaptureReader::open(path, &options).unwrap();
    let read = reader.each(|_, _| ());
    (read, reader.facts().index)
}

pub(crate) fn made(path: &Path) -> CaptureIndex {
    make(path).1.expect("an index was asked for").unwrap()
}

pub(crate) fn index_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bwi");
    name.into()
}

/// Findings of a question: numbers, times and bytes of packets, and how reading ended.
#[derive(PartialEq)]
pub(crate) struct Answer {
    packets: Vec<(u64, String, Vec<u8>)>,
    error: Option<String>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<u64> = self.packets.iter().map(|packet| packet.0).take(9).collect();
        write!(f, "{} packets, {numbers:?}.., {:?}", self.packets.len(), self.error)
    }
}

/// The packets that meet a condition; the number of those that were shown, and the fault of the index.
pub(crate) fn ask(
    path: &Path,
    condition: &Condition,
    last: Option<u64>,
) -> (Answer, usize, Option<Error>) {
    let mut options = options();
    options.wanted = WantedRecords::of(Some(condition)).up_to(last);
    let (mut packets, mut shown) = (Vec::new(), 0);
    let mut reader = CaptureReader::open(path, &options).unwrap();
    let read = reader.each_frame(|frame| {
        shown += 1;
        if condition.holds(|place| frame.value_at(place)) {
            let number = frame.packet().number();
            let told = format!("{:?} {:?}", frame.value(Field::Ts), frame.value(Field::Status));
            packets.push((number, told, frame.captured().to_vec()));
        }
    });
    let error = read.err().map(|error| error.to_string());
    (Answer { packets, error }, shown, reader.facts().index_fault)
}

/// Cuts packets of some times; the new capture, and what is told.
fn cut_out(path: &Path, options: &CutOptions) -> (Option<Vec<u8>>, String) {
    let folder = Folder::new("index-cut");
    let output = folder.path("cut.pcapng");
    let reader = CaptureReader::open(path, &self::options()).unwrap();
    let file = CaptureFile::create(&output, &OutputOptions::default()).unwrap();
    let told = match cut(vec![reader], options, file) {
        Ok(totals) => format!("{totals:?}"),
        Err(error) => error.to_string(),
    };
    (fs::read(output).ok(), told)
}

/// The page about packets of some times, and what is told.
fn page(path: &Path, from: u64) -> (String, String) {
    let condition = Some(format!("ts >= {from} and ts < {}", from + 4));
    let mut report = Report::new(ReportOptions { condition, ..Default::default() }).unwrap();
    let told = report.read(&mut CaptureReader::open(path, &options()).unwrap());
    (format!("{told:?}"), report.finish())
}

/// Conditions on times and numbers, with the number that reading may end behind.
fn condition(random: &mut Random) -> (Condition, Option<u64>) {
    let second = |random: &mut Random| BEGIN - 5 + random.below_u64(100);
    let (from, to) = (second(random), second(random));
    let number = 1 + random.below(1500);
    let (text, last) = match random.below(8) {
        0 => (format!("ts >= {from}"), None),
        1 => (format!("ts < {from} and length > 60"), None),
        2 => (format!("ts >= {from} and ts < {}", from + 3), None),
        3 => (format!("ts < {from} or ts >= {to}"), None),
        4 => (format!("not ts < {from}"), None),
        5 => (format!("number >= {number} and number < {}", number + 20), None),
        6 => (format!("number in ({number}, {}, 7)", number / 2), Some(number as u64)),
        _ => (format!("ts is null or number == {number}"), None),
    };
    (Condition::new(&text, &Field::SCHEMA).unwrap(), last)
}

#[test]
fn answers_with_an_index_are_those_without() {
    let (left_out, made_count) = (Cell::new(0), Cell::new(0));
    seeds(60, |random| {
        let folder = Folder::new("index");
        let (bytes, form) = capture(random);
        let bytes = damaged(random, bytes);
        let bytes = compressed(random, &bytes);
        let path = folder.path(&format!("a.{form}"));
        fs::write(&path, damaged(random, bytes)).unwrap();
        let conditions: Vec<_> = (0..6).map(|_| condition(random)).collect();
        let before: Vec<_> = conditions.iter().map(|(it, last)| ask(&path, it, *last)).collect();
        let cuts: Vec<CutOptions> = (0..3)
            .map(|_| {
                let mut options = CutOptions::default();
                let from = (BEGIN + random.below_u64(80)) as i64 * 1_000_000_000;
                options.from = Some(from);
                options.to = Some(from + 4_000_000_000).filter(|_| random.once_in(2));
                options
            })
            .collect();
        let uncut: Vec<_> = cuts.iter().map(|options| cut_out(&path, options)).collect();
        let reported = BEGIN + random.below_u64(80);
        let page_before = page(&path, reported);
        let (read, index) = make(&path);
        let Some(index) = index else {
            // Nothing of it is a capture.
            assert!(read.is_err() && before.iter().all(|answer| answer.1 == 0));
            return;
        };
        index.unwrap();
        for ((condition, last), (expected, shown_before, _)) in conditions.iter().zip(&before) {
            let (found, shown, fault) = ask(&path, condition, *last);
            assert!(fault.is_none(), "{fault:?}");
            assert_eq!(found, *expected, "{condition:?}");
            assert!(shown <= *shown_before);
            left_out.update(|count| count + shown_before - shown);
        }
        for (options, expected) in cuts.iter().zip(&uncut) {
            assert!(cut_out(&path, options) == *expected, "{options:?}");
        }
        assert!(page(&path, reported) == page_before, "report from {reported}");
        made_count.update(|count| count + 1);
    });
    assert!(made_count.get() > 50, "{made_count:?} indexes");
    assert!(left_out.get() > 30_000, "{left_out:?} packets were left out");
}

/// The packets from a number on, up to the last of a part where it has one.
fn ask_numbers(path: &Path, first: u64, last: Option<u64>) -> Answer {
    let up_to = last.map_or_else(String::new, |last| format!(" and number <= {last}"));
    let text = format!("number >= {first}{up_to}");
    ask(path, &Condition::new(&text, &Field::SCHEMA).unwrap(), last).0
}

#[test]
fn parts_by_an_index_have_each_packet_once_and_only_whole_captures_have_several() {
    let split_count = Cell::new(0);
    seeds(60, |random| {
        let folder = Folder::new("index-parts");
        let path = folder.path("a");
        let bytes = capture(random).0;
        let bytes = compressed(random, &bytes);
        let file = damaged(random, bytes);
        fs::write(&path, &file).unwrap();
        let whole = ask_numbers(&path, 1, None);
        let part_len = 1 + random.below_u64(file.len() as u64);
        assert_eq!(indexed_parts(&path, part_len, &options()).unwrap(), [1], "without an index");
        drop(make(&path));
        let firsts = indexed_parts(&path, part_len, &options()).unwrap();
        assert!(firsts.len() as u64 <= (file.len() as u64).div_ceil(part_len), "{firsts:?}");
        let mut found = Answer { packets: Vec::new(), error: None };
        for (place, first) in firsts.iter().enumerate() {
            let part = ask_numbers(&path, *first, firsts.get(place + 1).map(|next| next - 1));
            found.packets.extend(part.packets);
            found.error = found.error.or(part.error);
        }
        assert_eq!(found, whole, "{firsts:?}");
        if firsts.len() > 1 {
            assert_eq!(whole.error, None);
            split_count.update(|count| count + 1);
            fs::write(&path, [file.as_slice(), &file].concat()).unwrap();
            assert_eq!(indexed_parts(&path, part_len, &options()).unwrap(), [1], "grown");
        }
    });
    assert!(split_count.get() > 10, "{split_count:?} captures had parts");
}

#[test]
fn an_index_says_what_is_in_the_capture_and_is_left_alone_while_it_fits() {
    let folder = Folder::new("index-facts");
    let path = folder.path("a.pcap.gz");
    let bytes = pcap(&mut Random::new(1), 1000);
    fs::write(&path, one_member(&bytes, 9000, 6)).unwrap();
    let index = made(&path);
    assert_eq!((index.state, index.packets), (IndexState::Made, 1000));
    assert!(index.parts > 5, "{index:?}");
    assert!(index.first_ts < index.last_ts);
    assert_eq!(index.bytes, fs::metadata(index_of(&path)).unwrap().len());
    let again = made(&path);
    assert_eq!(again, CaptureIndex { state: IndexState::Current, ..index });
    assert_eq!(folder.names(), ["a.pcap.gz", "a.pcap.gz.bwi"]);
}

#[test]
fn a_capture_that_grew_is_read_to_its_end_and_its_index_is_made_longer() {
    seeds(30, |random| {
        let folder = Folder::new("index-grown");
        let path = folder.path("a");
        let bytes = capture(random).0;
        let whole = compressed(random, &bytes);
        let cut = 200 + random.below(whole.len() - 200);
        fs::write(&path, &whole[..cut]).unwrap();
        if make(&path).1.is_none_or(|index| index.is_err()) {
            return;
        }
        fs::write(&path, &whole).unwrap();
        let conditions: Vec<_> = (0..4).map(|_| condition(random)).collect();
        let grown: Vec<_> = conditions.iter().map(|(it, last)| ask(&path, it, *last).0).collect();
        let (read, index) = make(&path);
        read.unwrap();
        let index = index.unwrap().unwrap();
        let expected = if cut == whole.len() { IndexState::Current } else { IndexState::Extended };
        assert_eq!(index.state, expected);
        let extended: Vec<_> =
            conditions.iter().map(|(it, last)| ask(&path, it, *last).0).collect();
        fs::remove_file(index_of(&path)).unwrap();
        let plain: Vec<_> = conditions.iter().map(|(it, last)| ask(&path, it, *last).0).collect();
        assert_eq!(grown, plain);
        assert_eq!(extended, plain);
        let anew = made(&path);
        let same = (index.packets, index.first_ts, index.last_ts);
        assert_eq!(same, (anew.packets, anew.first_ts, anew.last_ts));
    });
}

#[test]
fn an_index_of_another_content_is_not_used_and_told_of() {
    let folder = Folder::new("index-other");
    let path = folder.path("a.pcap.gz");
    let capture = |seed| bytes_cases::gzip(&pcap(&mut Random::new(seed), 900), 0);
    let condition = Condition::new(&format!("ts >= {}", BEGIN + 40), &Field::SCHEMA).unwrap();
    fs::write(&path, capture(1)).unwrap();
    made(&path);
    let index = fs::read(index_of(&path)).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let ask_again = |bytes: &[u8], time: SystemTime| {
        fs::write(&path, bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        fs::remove_file(index_of(&path)).unwrap_or(());
        let expected = ask(&path, &condition, None).0;
        fs::write(index_of(&path), &index).unwrap();
        let (found, _, fault) = ask(&path, &condition, None);
        assert_eq!(found, expected);
        fault.map(|fault| fault.to_string()).unwrap_or_default()
    };
    let whole = capture(1);
    assert_eq!(ask_again(&whole, modified), "");
    let told = ask_again(&whole, modified + Duration::from_secs(1));
    assert!(told.contains("the capture was changed at another time; it is not used"), "{told}");
    assert!(ask_again(&whole[..whole.len() - 1], modified).contains("is shorter"));
    assert!(ask_again(&capture(2), modified).contains("it is not used"));
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(ask_again(&changed, modified).contains("has other bytes"));
}

#[test]
fn a_damaged_index_changes_no_answer() {
    let folder = Folder::new("index-damaged");
    let mut told = 0;
    for (name, bytes) in [
        ("a.pcap.gz", one_member(&pcap(&mut Random::new(1), 400), 9000, 6)),
        ("b.pcapng", pcapng(&mut Random::new(2), 400)),
    ] {
        let path = folder.path(name);
        fs::write(&path, bytes).unwrap();
        let from = Condition::new(&format!("ts >= {}", BEGIN + 15), &Field::SCHEMA).unwrap();
        let expected = ask(&path, &from, None).0;
        made(&path);
        let index = fs::read(index_of(&path)).unwrap();
        seeds(1000, |random| {
            let mut damaged = index.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.len());
                match random.below(4) {
                    0 => damaged.truncate(at),
                    1 => damaged.resize(damaged.len() + at, random.byte()),
                    _ => damaged[at] = random.byte(),
                }
                if damaged.is_empty() {
                    break;
                }
            }
            fs::write(index_of(&path), damaged).unwrap();
            assert_eq!(ask(&path, &from, None).0, expected);
        });
        fs::write(index_of(&path), &index[..100]).unwrap();
        told += usize::from(ask(&path, &from, None).2.is_some());
    }
    assert_eq!(told, 2);
}

#[test]
fn an_index_is_for_those_who_may_read_the_capture() {
    let folder = Folder::new("index-mode");
    let path = folder.path("a.pcap");
    fs::write(&path, pcap(&mut Random::new(1), 100)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    made(&path);
    assert_eq!(fs::metadata(index_of(&path)).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_file_that_is_no_index_keeps_its_name() {
    let folder = Folder::new("index-name");
    let path = folder.path("a.pcap");
    fs::write(&path, pcap(&mut Random::new(1), 100)).unwrap();
    fs::write(index_of(&path), "of somebody").unwrap();
    let error = make(&path).1.unwrap().unwrap_err().to_string();
    assert!(
        error.contains("a.pcap.bwi: expected an index or no file, found another file"),
        "{error}"
    );
    assert_eq!(fs::read(index_of(&path)).unwrap(), b"of somebody");
    fs::remove_file(index_of(&path)).unwrap();
    std::os::unix::fs::symlink(&path, index_of(&path)).unwrap();
    let error = make(&path).1.unwrap().unwrap_err().to_string();
    assert!(error.contains("a symbolic link"), "{error}");
    // A question answers all the same.
    let from = Condition::new(&format!("ts >= {BEGIN}"), &Field::SCHEMA).unwrap();
    assert!(ask(&path, &from, None).2.is_some());
}

#[test]
fn indexes_lie_in_a_folder_where_one_is_named() {
    let (folder, indexes) = (Folder::new("index-folder"), Folder::new("index-folder-of-indexes"));
    let path = folder.path("a.pcap");
    fs::write(&path, pcap(&mut Random::new(1), 100)).unwrap();
    let mut options = options();
    options.index = IndexUse::Make;
    options.index_dir = Some(indexes.path(""));
    let mut reader = CaptureReader::open(&path, &options).unwrap();
    let mut shown = 0;
    reader.each(|_, _| shown += 1).unwrap();
    let index = reader.facts().index.unwrap().unwrap();
    assert_eq!((shown, index.packets), (100, 100));
    assert_eq!(folder.names(), ["a.pcap"]);
    assert_eq!(index.path.parent(), Some(indexes.path("").as_path()));
    assert_eq!(indexes.names().len(), 1);
}

#[test]
fn a_pass_that_ends_early_leaves_no_index() {
    let folder = Folder::new("index-early");
    let path = folder.path("a.pcap");
    fs::write(&path, pcap(&mut Random::new(1), 100)).unwrap();
    let mut options = options();
    options.index = IndexUse::Make;
    let mut reader = CaptureReader::open(&path, &options).unwrap();
    let mut left = 50;
    reader
        .each_while(|_, _| {
            left -= 1;
            left > 0
        })
        .unwrap();
    drop(reader);
    assert_eq!(folder.names(), ["a.pcap"]);
}
