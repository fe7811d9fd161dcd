//! Goal: fields that are read from a packet's bytes, and its interface, are the same whatever way packets are asked for.
//!
//! Method: random pcapng files of several sections with interfaces of random names, of which the test keeps what it wrote,
//! are read in all ways there are, with one thread and with several.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use bytewright::ask::{SumQuestion, Summary, count_by};
use bytewright::batch::Value;
use bytewright::input::{CaptureOptions, CaptureReader, FrameBatch};
use bytewright::packet::{Field, PacketColumns};
use bytewright::query::{Condition, GroupBy};
use bytewright::wire::Endian;

use crate::generate::capture::Pcapng;
use crate::generate::frame::{ethernet, ipv4, udp};
use crate::generate::{Random, seeds};

/// Values written of a packet: interface, its name, and the name in its DNS question.
type Written = (u64, Option<String>, Option<String>);

/// A file that is gone after the test.
struct Capture {
    path: PathBuf,
    written: Vec<Written>,
}

impl Drop for Capture {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

/// A capture of at least `len` bytes.
fn capture(random: &mut Random, len: usize) -> Capture {
    let (mut file, mut written) = (Pcapng::new(Endian::Little), Vec::new());
    let mut names: Vec<Option<String>> = Vec::new();
    let mut size = 0;
    while size < len {
        if names.is_empty() || random.once_in(400) {
            if !names.is_empty() {
                file = file.section(Endian::Little, u64::MAX, &[]);
            }
            names = (0..1 + random.below(4))
                .map(|_| (!random.once_in(4)).then(|| format!("eth{}", random.below(9))))
                .collect();
            for name in &names {
                let options = name.as_ref().map(|name| file.option(2, name.as_bytes()));
                file = file.interface(1, 0, &options.unwrap_or_default());
            }
        }
        let number = random.below(names.len());
        let query = random.once_in(3).then(|| format!("host{}", random.below(5)));
        let payload = query.as_ref().map_or_else(Vec::new, |name| {
            let mut message = b"\0\0\x01\0\0\x01\0\0\0\0\0\0".to_vec();
            message.push(name.len() as u8);
            message.extend_from_slice(name.as_bytes());
            message.extend_from_slice(&[0, 0, 1, 0, 1]);
            message
        });
        let frame = ethernet(0x0800, &ipv4(17, &udp(53, 9, &payload)));
        let length = frame.len() as u32;
        file = file.enhanced(number as u32, written.len() as u64, length, &frame);
        size += frame.len();
        written.push((number as u64, names[number].clone(), query));
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("scan-frames-{}-{number}", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, file.bytes()).unwrap();
    Capture { path, written }
}

const FIELDS: [Field; 3] = [Field::Interface, Field::InterfaceName, Field::DnsQuery];

impl Capture {
    fn open(&self, jobs: usize) -> CaptureReader {
        let mut options = CaptureOptions::default();
        options.stream.jobs = jobs;
        CaptureReader::open(&self.path, &options).unwrap()
    }

    /// The rows of [`FIELDS`] with what else is asked for, of the packets that hold a condition.
    fn columns(&self, jobs: usize, rows_max: usize, condition: Option<&str>) -> Vec<Written> {
        let condition = condition.map(|text| Condition::new(text, &Field::SCHEMA).unwrap());
        let (mut reader, mut columns) = (self.open(jobs), PacketColumns::new(&FIELDS));
        let mut rows = Vec::new();
        loop {
            match &condition {
                None => reader.read_columns(&mut columns, rows_max).unwrap(),
                Some(condition) => {
                    reader.read_columns_where(&mut columns, rows_max, condition).unwrap();
                }
            }
            if columns.is_empty() {
                return rows;
            }
            assert!(columns.len() <= rows_max);
            let batch = columns.take();
            rows.extend(
                (0..batch.len()).map(|row| {
                    written(batch.value(row, 0), batch.value(row, 1), batch.value(row, 2))
                }),
            );
        }
    }
}

fn written(number: Value<'_>, name: Value<'_>, query: Value<'_>) -> Written {
    let Value::Unsigned(number) = number else { panic!("no number of an interface: {number:?}") };
    (number, name.text().map(str::to_owned), query.text().map(str::to_owned))
}

#[test]
fn rows_and_frames_have_the_interfaces_and_the_names_that_were_written() {
    seeds(6, |random| {
        let len = (1 << 20) + random.below(1 << 19);
        let capture = capture(random, len);
        for jobs in [1, 3] {
            let rows_max = 1 + random.below(5000);
            assert!(capture.columns(jobs, rows_max, None) == capture.written, "{jobs} threads");
            let mut found = Vec::new();
            let mut reader = capture.open(jobs);
            let mut batch = FrameBatch::new();
            // Some one by one, then the rest of their batch together.
            loop {
                let by_frames = random.once_in(2);
                let before = found.len();
                let mut left = 1 + random.below(900);
                match by_frames {
                    false => drop(reader.each_while(|packet, _| {
                        assert_eq!(packet.number(), found.len() as u64 + 1);
                        found.push(capture.written[found.len()].clone());
                        left -= 1;
                        left > 0
                    })),
                    true => {
                        reader.read_frames(&mut batch).unwrap();
                        found.extend((0..batch.len()).filter_map(|at| batch.frame(at)).map(|it| {
                            written(it.value(FIELDS[0]), it.value(FIELDS[1]), it.value(FIELDS[2]))
                        }));
                    }
                }
                if found.len() == before {
                    break;
                }
            }
            assert!(found == capture.written, "{jobs} threads, in steps");
        }
    });
}

#[test]
fn conditions_counts_and_groups_see_them() {
    seeds(6, |random| {
        let len = (1 << 20) + random.below(1 << 18);
        let capture = capture(random, len);
        for jobs in [1, 3] {
            let condition = "interface_name == \"eth1\" and dns_query in (\"host1\", \"host2\")";
            let expected = capture.written.iter().filter(|(_, name, query)| {
                name.as_deref() == Some("eth1")
                    && matches!(query.as_deref(), Some("host1" | "host2"))
            });
            let found = capture.columns(jobs, 1000, Some(condition));
            assert!(found == expected.cloned().collect::<Vec<_>>(), "{jobs} threads");

            let mut expected: BTreeMap<Option<&str>, u64> = BTreeMap::new();
            for (_, _, query) in &capture.written {
                *expected.entry(query.as_deref()).or_default() += 1;
            }
            let (counts, result) = count_by(&mut capture.open(jobs), Field::DnsQuery, None);
            result.unwrap();
            let counts = counts.sorted();
            let found = counts.iter().map(|(value, count)| (value.text(), *count));
            assert!(found.eq(expected.clone()), "{counts:?}");

            let by = GroupBy::new(&Field::SCHEMA, &["dns_query"], &["length"], None).unwrap();
            let mut adder = SumQuestion { by, condition: None, top: None, last: None }.adder();
            adder.read(&mut capture.open(jobs)).unwrap();
            let groups = adder.finish();
            let found: BTreeMap<_, _> = (0..groups.len())
                .map(|row| (groups.value(row, 0), groups.value(row, 1)))
                .map(|(name, count)| (name.text().map(str::to_owned), count.to_string()))
                .collect();
            assert_eq!(found.len(), expected.len());
            for (name, count) in expected {
                assert_eq!(found[&name.map(str::to_owned)], count.to_string());
            }
        }
    });
}
