//! Goal: how many threads read a capture, or in how many parts, changes nothing of what is read: packets, their bytes,
//! errors with their offsets, and what is known of the capture are the same.
//!
//! Method: random captures, whole and damaged, are read with one thread, which is the slow and obvious twin, and with
//! several, in random steps of all the ways there are to read, and part after part.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use bytewright::bytes::StreamOptions;
use bytewright::input::{
    CaptureList, CaptureOptions, CapturePart, CaptureReader, FrameBatch, Needs, PrefetchedCaptures,
    capture_parts,
};
use bytewright::packet::{Field, Packet, PacketColumns};
use bytewright::wire::Endian;
use bytewright::{Error, ErrorKind, Result};

use crate::generate::capture::Pcapng;
use crate::generate::{self, Random, frame, seeds};

/// A file that is gone after the test.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(bytes: &[u8]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("scan-jobs-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, bytes).unwrap();
        TemporaryFile(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// All that reading a capture shows.
#[derive(PartialEq)]
struct Shown {
    packets: Vec<(Packet, Vec<u8>)>,
    error: Option<String>,
    position: u64,
    file_bytes: u64,
    sections: u64,
    interfaces: usize,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shown { packets, error, position, file_bytes, sections, interfaces } = self;
        let count = packets.len();
        write!(f, "{count} packets, {error:?}, {position} of {file_bytes} bytes, ")?;
        write!(f, "{sections} sections, {interfaces} interfaces")
    }
}

/// All that an error says.
fn told(error: &Error) -> String {
    format!("{error} ({:?})", error.kind())
}

/// Way of reading packets.
#[derive(Debug, Clone, Copy)]
enum Way {
    Each,
    Frames,
    Mixed,
}

fn shown(mut reader: CaptureReader, way: Way, random: &mut Random) -> Shown {
    let mut packets = Vec::new();
    let mut batch = FrameBatch::new();
    let error = loop {
        let by_frames = match way {
            Way::Each => false,
            Way::Frames => true,
            Way::Mixed => random.once_in(2),
        };
        let step = if by_frames {
            reader.read_frames(&mut batch).map(|()| {
                for index in 0..batch.len() {
                    let captured = batch.captured(index).expect("bytes of a packet").to_vec();
                    packets.push((*batch.packet(index).expect("a packet"), captured));
                }
                !batch.is_empty()
            })
        } else {
            let mut left = 1 + random.below(2000);
            reader.each_while(|packet, captured| {
                packets.push((*packet, captured.to_vec()));
                left -= 1;
                left > 0
            })
        };
        match step {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(told(&error)),
        }
    };
    let again = reader.each_while(|_, _| panic!("a packet behind the end"));
    assert_eq!(again.err().as_ref().map(told), error, "the end comes again");
    let facts = reader.facts();
    let (sections, interfaces) = (facts.decoder.sections(), facts.decoder.interfaces().len());
    let (position, file_bytes) = (facts.position, facts.file_bytes);
    Shown { packets, error, position, file_bytes, sections, interfaces }
}

fn options(jobs: usize) -> CaptureOptions {
    let mut options = CaptureOptions::default();
    options.stream.jobs = jobs;
    options
}

fn open(path: &Path, jobs: usize) -> CaptureReader {
    CaptureReader::open(path, &options(jobs)).unwrap()
}

#[test]
fn a_plain_file_reads_the_same_on_any_number_of_threads() {
    seeds(24, |random| {
        let len = (1 << 20) + random.below(1 << 20);
        let file = TemporaryFile::new(&generate::capture::random_large(random, len));
        let expected = shown(open(&file.0, 1), Way::Each, random);
        for way in [Way::Each, Way::Frames, Way::Mixed] {
            let jobs = 2 + random.below(3);
            let found = shown(open(&file.0, jobs), way, random);
            assert_eq!(found, expected, "{jobs} threads, {way:?}");
        }
    });
}

/// Reads each part of a capture.
fn shown_by_parts(path: &Path, parts: Vec<CapturePart>, random: &mut Random) -> Vec<Shown> {
    let ends: Vec<_> = parts.iter().map(|part| part.end).collect();
    let starts: Vec<_> = parts.iter().skip(1).map(|part| Some(part.start)).chain([None]).collect();
    assert_eq!(starts, ends, "parts follow one another");
    let way = random.pick(&[Way::Each, Way::Frames, Way::Mixed]);
    let jobs = 1 + random.below(3);
    let read = |part| {
        let options = CaptureOptions { part: Some(part), ..options(jobs) };
        shown(CaptureReader::open(path, &options).unwrap(), way, random)
    };
    parts.into_iter().map(read).collect()
}

#[test]
fn the_parts_of_a_capture_are_the_capture() {
    seeds(60, |random| {
        let len = random.below(1 << 18);
        let file = TemporaryFile::new(&generate::capture::random_large(random, len));
        let expected = shown(open(&file.0, 1), Way::Each, random);
        let bytes = 1 + random.below(1 << 16) as u64;
        let parts = match capture_parts(&file.0, bytes, &StreamOptions::default()) {
            Ok(parts) => parts,
            Err(error) => return assert_eq!(Some(told(&error)), expected.error),
        };
        assert!(parts.iter().all(|part| part.end.is_none_or(|end| end - part.start >= bytes)));
        let mut parts = shown_by_parts(&file.0, parts, random);
        let last = parts.last_mut().unwrap();
        assert_eq!((last.error.take(), last.position), (expected.error.clone(), expected.position));
        assert!(parts.iter().all(|part| part.error.is_none()), "only the last part is damaged");
        let packets: Vec<_> = parts.into_iter().flat_map(|part| part.packets).collect();
        assert!(packets == expected.packets, "{} packets of {expected:?}", packets.len());
    });
}

#[test]
fn what_cannot_be_gone_into_is_one_part() {
    for (name, parts) in [("web.pcap.gz", 1), ("vlan.pcapng", 1), ("tunnels.pcap", 3)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name);
        let len = path.metadata().unwrap().len();
        let found = capture_parts(&path, len.div_ceil(3) - 200, &StreamOptions::default());
        assert_eq!(found.unwrap().len(), parts, "{name}");
    }
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/web.pcap.gz");
    let part = Some(CapturePart { start: 24, end: None, packets_before: 0 });
    let error = CaptureReader::open(&web, &CaptureOptions { part, ..options(1) }).err().unwrap();
    let expected = "expected a plain capture of format pcap to read a part of it";
    assert!(error.to_string().contains(expected), "{error}");
    let text = TemporaryFile::new(b"no capture, but text");
    let error = capture_parts(&text.0, 1, &StreamOptions::default()).unwrap_err();
    assert!(error.to_string().contains("expected a pcap or pcapng capture"), "{error}");
}

#[test]
fn columns_of_a_plain_file_are_the_same_on_any_number_of_threads() {
    seeds(6, |random| {
        let file = TemporaryFile::new(&generate::capture::random_large(random, 1 << 20));
        let rows_max = 1 + random.below(3000);
        let read = |jobs| {
            let mut reader = open(&file.0, jobs);
            let mut columns = PacketColumns::new(Field::ALL);
            let mut rows = Vec::new();
            let error = loop {
                match reader.read_columns(&mut columns, rows_max) {
                    Ok(()) if columns.is_empty() => break None,
                    Ok(()) => {}
                    Err(error) => break Some(told(&error)),
                }
                let values = columns.batch().columns();
                let row =
                    |row| values.iter().map(|c| format!("{:?}", c.value(row))).collect::<Vec<_>>();
                rows.push((0..columns.len()).map(row).collect::<Vec<_>>());
            };
            (rows, error)
        };
        assert!(read(1) == read(3), "rows by {rows_max}");
    });
}

/// The files of a list; the one with the number of `pipe` stands for a pipe.
struct Files {
    paths: Vec<PathBuf>,
    pipe: usize,
}

impl CaptureList for Files {
    fn count(&self) -> usize {
        self.paths.len()
    }

    fn is_regular(&self, index: usize) -> bool {
        index != self.pipe
    }

    fn open(&self, index: usize, options: &CaptureOptions) -> Result<CaptureReader> {
        let thread = std::thread::current();
        let is_ahead = thread.name() == Some("bytewright");
        assert!(!(is_ahead && index == self.pipe), "what is no file is opened in its turn");
        CaptureReader::open(&self.paths[index], options)
    }
}

#[test]
fn captures_read_side_by_side_come_in_their_order_each_with_its_own_damage() {
    seeds(20, |random| {
        let files: Vec<_> = (0..1 + random.below(12))
            .map(|_| match random.below(8) {
                0 => TemporaryFile::new(&generate::capture::random_large(random, 1 << 20)),
                1 => TemporaryFile::new(b"no capture"),
                _ => TemporaryFile::new(&generate::capture::random(random)),
            })
            .collect();
        let mut paths: Vec<_> = files.iter().map(|file| file.0.clone()).collect();
        paths.insert(random.below(paths.len() + 1), PathBuf::from("/absent/capture"));
        let pipe = random.below(paths.len() + 3);
        let mut read = |jobs| {
            let list = Files { paths: paths.clone(), pipe };
            let captures =
                PrefetchedCaptures::new(list, jobs, &CaptureOptions::default(), Needs::Frames);
            let seen = captures.map(|reader| {
                reader.map(|reader| shown(reader, Way::Mixed, random)).map_err(|error| told(&error))
            });
            seen.collect::<Vec<_>>()
        };
        let expected = read(1);
        assert_eq!(expected.len(), paths.len());
        for jobs in [2, 3, 20] {
            assert_eq!(read(jobs), expected, "{jobs} threads");
        }
    });
}

#[test]
fn captures_whose_fields_alone_are_asked_for_show_the_same_packets_without_their_bytes() {
    seeds(20, |random| {
        let files: Vec<_> = (0..1 + random.below(6))
            .map(|_| match random.once_in(2) {
                true => TemporaryFile::new(&generate::capture::random_large(random, 1 << 20)),
                false => TemporaryFile::new(&generate::capture::random(random)),
            })
            .collect();
        let paths: Vec<_> = files.iter().map(|file| file.0.clone()).collect();
        for jobs in [2, 3, 20] {
            let list = Files { paths: paths.clone(), pipe: usize::MAX };
            let options = CaptureOptions::default();
            let captures = PrefetchedCaptures::new(list, jobs, &options, Needs::Fields);
            for (path, reader) in paths.iter().zip(captures) {
                let mut expected = shown(open(path, 1), Way::Each, random);
                let found = shown(reader.unwrap(), Way::Each, random);
                expected.packets.iter_mut().for_each(|(_, captured)| captured.clear());
                assert_eq!(found, expected, "{jobs} threads");
            }
        }
    });
}

#[test]
fn captures_that_are_dropped_half_read_stop_their_threads_and_leave_the_others_alone() {
    seeds(10, |random| {
        let large = generate::capture::random_large(random, 1 << 20);
        let files: Vec<_> = (0..6).map(|_| TemporaryFile::new(&large)).collect();
        let paths: Vec<_> = files.iter().map(|file| file.0.clone()).collect();
        let mut expected = |index: usize| shown(open(&paths[index], 1), Way::Each, random);
        let (second_expected, third_expected) = (expected(1), expected(2));
        let list = Files { paths, pipe: usize::MAX };
        let mut captures =
            PrefetchedCaptures::new(list, 3, &CaptureOptions::default(), Needs::Frames);
        let mut left = random.below(50);
        let mut first = captures.next().unwrap().unwrap();
        let _ = first.each_while(|_, _| {
            left = left.saturating_sub(1);
            left > 0
        });
        drop(first);
        assert_eq!(shown(captures.next().unwrap().unwrap(), Way::Mixed, random), second_expected);
        let third = captures.next().unwrap().unwrap();
        drop(captures);
        // A reader that outlives the list goes on to the end of its capture.
        assert_eq!(shown(third, Way::Each, random), third_expected);
    });
}

#[test]
fn a_filter_is_the_same_on_any_number_of_threads() {
    if bytewright::input::libpcap_version().is_none() {
        println!("skipped: no libpcap");
        return;
    }
    seeds(4, |random| {
        let file = TemporaryFile::new(&generate::capture::random_large(random, 1 << 20));
        let mut read = |jobs| {
            let filter = Some("udp or ip6".to_owned());
            let options = CaptureOptions { filter, ..options(jobs) };
            shown(CaptureReader::open(&file.0, &options).unwrap(), Way::Each, random)
        };
        assert_eq!(read(1), read(3));
    });
}

/// A capture with an interface of Ethernet and two whose packets libpcap cannot filter; `ethernet_count` packets of the first,
/// and of the others some before each of them and at the end.
fn with_odd_links(ethernet_count: usize) -> Vec<u8> {
    let file = Pcapng::new(Endian::Little);
    let name = file.option(2, b"usbmon0");
    let mut file = file.interface(220, 0, &name).interface(147, 0, &[]).interface(1, 0, &[]);
    let tcp = frame::ethernet(0x0800, &frame::ipv4(6, &frame::tcp(80, 81, 2, &[7; 900])));
    let udp = frame::ethernet(0x0800, &frame::ipv4(17, &frame::udp(80, 81, &[7; 900])));
    for number in 0..ethernet_count {
        let frame = if number % 3 == 0 { &tcp } else { &udp };
        file = file.enhanced(0, 1, 9, &[0; 9]).enhanced(1, 2, 80, &tcp[..80]);
        file = file.enhanced(2, 3, frame.len() as u32, frame);
    }
    file.enhanced(0, 4, 9, &[0; 9]).enhanced(1, 5, 80, &tcp[..80]).bytes()
}

#[test]
fn packets_of_links_that_libpcap_cannot_filter_do_not_match_and_what_follows_is_read() {
    if bytewright::input::libpcap_version().is_none() {
        println!("skipped: no libpcap");
        return;
    }
    let (mixed, odd) =
        (TemporaryFile::new(&with_odd_links(3000)), TemporaryFile::new(&with_odd_links(0)));
    let read = |file: &TemporaryFile, filter: &str, jobs| {
        let options = CaptureOptions { filter: Some(filter.to_owned()), ..options(jobs) };
        let mut count = 0;
        let mut reader = CaptureReader::open(&file.0, &options).unwrap();
        let result = reader.each(|_, _| count += 1);
        assert_eq!(
            reader.each(|_, _| ()).err().map(|error| error.to_string()),
            result.as_ref().err().map(Error::to_string)
        );
        (count, result)
    };
    for jobs in [1, 3] {
        for (filter, expected) in
            [("tcp", 1000), ("not tcp", 2000), ("udp or tcp", 3000), ("len > 1", 9002), ("arp", 0)]
        {
            let (count, result) = read(&mixed, filter, jobs);
            assert!(result.is_ok() && count == expected, "{filter}: {count} {result:?}");
        }
        assert_eq!(read(&odd, "len > 1", jobs).0, 2);
        let (count, Err(error)) = read(&odd, "tcp", jobs) else {
            panic!("no packet was looked at")
        };
        let told = "expected a packet that the filter \"tcp\" can be used on, found only others, of link type USB_LINUX_MMAPPED (220), \
                    interface 0 (usbmon0): ";
        assert!(count == 0 && error.message().contains(told), "{error}");
    }
}

#[test]
fn a_read_that_is_called_off_ends_all_threads() {
    let mut random = Random::new(1);
    let file = TemporaryFile::new(&generate::capture::random_large(&mut random, 4 << 20));
    for jobs in [2, 4] {
        let mut reader = open(&file.0, jobs);
        let cancel = reader.cancel();
        let mut count = 0;
        let result = reader.each(|_, _| {
            count += 1;
            if count == 10 {
                cancel.cancel();
            }
        });
        let Err(error) = result else { panic!("{count} packets were read all the same") };
        assert_eq!(error.kind(), ErrorKind::Io(Some(125)), "{error}");
    }
}
