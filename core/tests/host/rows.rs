//! Goal: a host gets the rows of several captures as columns, in the order of the captures, and those before damage before
//! its error.
//!
//! Method: the rows are compared with the records that reading each capture directly gives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytewright::ask::{
    Answer, CallBatches, CountOptions, CutOptions, PacketOptions, Question, RowSpec, SumQuestion,
    load_methods,
};
use bytewright::batch::{Batch, Value};
use bytewright::flow::{FlowField, FlowOptions, FlowTable};
use bytewright::host::{Blocking, Capture, CaptureSource, FlowTableFile, Item, RowStep, Rows};
use bytewright::input::{CaptureOptions, CaptureReader, DamagePolicy};
use bytewright::options::Settings;
use bytewright::packet::Field;
use bytewright::query::{Condition, GroupBy};
use bytewright::rpc::{Call, CallColumn, CallField, CarriedField, RpcOptions};
use bytewright::{Error, ErrorKind};

use crate::folder::Folder;
use crate::sample;

const NAMES: [&str; 3] = ["vlan.pcapng", "tunnels.pcap", "web.pcap.gz"];

/// The samples, the first of them open already.
fn sources() -> Vec<CaptureSource> {
    let [first, rest @ ..] = NAMES.map(sample);
    let first = Capture::open(&first, CaptureOptions::default()).unwrap();
    let mut sources = vec![CaptureSource::Open(Arc::new(first))];
    sources.extend(rest.map(|path| CaptureSource::Path(path, Box::default())));
    sources
}

fn each_packet(mut each: impl FnMut(&bytewright::packet::Packet)) {
    for name in NAMES {
        let mut reader = CaptureReader::open(&sample(name), &CaptureOptions::default()).unwrap();
        reader.each(|packet, _| each(packet)).unwrap();
    }
}

fn rows(rows: usize) -> PacketOptions {
    PacketOptions { rows, ..PacketOptions::default() }
}

fn rows_where(rows: usize, condition: &Condition) -> PacketOptions {
    PacketOptions { rows, condition: Some(condition.clone()), last: None }
}

fn all(rows: &mut Rows) -> Vec<Batch> {
    let mut batches = Vec::new();
    while let Some(batch) = rows.next(&Blocking).unwrap() {
        assert_eq!(batch.schema(), rows.schema());
        batches.push(batch);
    }
    batches
}

#[test]
fn packets_of_several_captures_are_the_columns_of_one_after_another() {
    let fields = vec![Field::Length, Field::SrcIp];
    let mut rows = Rows::new(sources(), Question::Packets(fields.clone(), rows(100)));
    let batches = all(&mut rows);
    assert!(batches.iter().all(|batch| (1..=100).contains(&batch.len())));
    let mut found = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    each_packet(|packet| {
        let (batch, row) = found.next().unwrap();
        for (place, field) in fields.iter().enumerate() {
            assert_eq!(batch.value(row, place), packet.value(*field));
        }
    });
    assert!(found.next().is_none());
    assert!(rows.next(&Blocking).unwrap().is_none(), "the end comes again");
}

#[test]
fn flows_of_several_captures_are_those_of_one_run() {
    let mut table = FlowTable::new(FlowOptions::default());
    each_packet(|packet| table.add(packet));
    let expected: Vec<_> = table.finish().collect();
    let fields = vec![FlowField::CommunityId, FlowField::Bytes];
    let batches =
        all(&mut Rows::new(sources(), Question::Flows(fields, FlowOptions::default().into())));
    let found: Vec<(Value<'_>, Value<'_>)> = batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(|row| (batch.value(row, 0), batch.value(row, 1))))
        .collect();
    assert_eq!(found.len(), expected.len());
    for (flow, found) in expected.iter().zip(found) {
        assert_eq!(found, (flow.value(FlowField::CommunityId), flow.value(FlowField::Bytes)));
    }
}

#[test]
fn calls_have_a_row_each() {
    let source = CaptureSource::Path(sample("warehouse.pcap.zst"), Box::default());
    let question = Question::Calls(vec![CallField::Method, CallField::Outcome], None.into());
    let batches = all(&mut Rows::new(vec![source], question));
    assert!(batches.iter().map(Batch::len).sum::<usize>() > 1000);
    assert!(batches.iter().all(|batch| !batch.value(0, 0).is_null()));
}

#[test]
fn calls_of_several_captures_are_those_of_one_run() {
    let whole = sample("warehouse.pcap.zst");
    let mut times = Vec::new();
    let mut reader = CaptureReader::open(&whole, &CaptureOptions::default()).unwrap();
    reader.each(|packet, _| times.extend(packet.ts())).unwrap();
    let middle = Some(times[times.len() / 2]);
    let folder = Folder::new("calls-of-one-run");
    let halves = [
        ("a.pcapng", CutOptions { to: middle, ..CutOptions::default() }),
        ("b.pcapng", CutOptions { from: middle, ..CutOptions::default() }),
    ];
    let halves = halves.map(|(name, options)| {
        let capture = Capture::open(&whole, CaptureOptions::default()).unwrap();
        capture.cut(folder.path(name), options, false).unwrap().next(&Blocking).unwrap();
        folder.path(name)
    });
    let calls = |paths: &[PathBuf], jobs| {
        let mut options = CaptureOptions::default();
        options.stream.jobs = jobs;
        let source = |path: &PathBuf| CaptureSource::Path(path.clone(), Box::new(options.clone()));
        let fields = vec![CallField::Ts, CallField::Method, CallField::Outcome];
        let question = Question::Calls(fields, None.into());
        let batches = all(&mut Rows::new(paths.iter().map(source).collect(), question));
        let row = |batch: &Batch, row| {
            (0..3).map(|column| format!("{:?}", batch.value(row, column))).collect::<Vec<_>>()
        };
        let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(|at| row(batch, at)));
        rows.collect::<Vec<_>>()
    };
    let expected = calls(std::slice::from_ref(&whole), 1);
    for jobs in [1, 2] {
        assert_eq!(calls(&halves, jobs), expected, "{jobs} jobs");
    }
}

#[test]
fn calls_of_methods_have_what_they_carry_in_the_columns_that_are_asked_for() {
    let path = sample("warehouse.pcap.zst");
    let idl = sample("warehouse.thrift");
    let methods = Arc::new(load_methods(&idl, &[], Some("NextStore")).unwrap());
    let columns = vec![
        CallColumn::Carried(CarriedField::Result),
        CallColumn::Own(CallField::Method),
        CallColumn::Carried(CarriedField::Arguments),
    ];
    // From an open capture, and from two files that are read side by side.
    let mut options = CaptureOptions::default();
    options.stream.jobs = 2;
    let open = Capture::open(&path, CaptureOptions::default()).unwrap();
    let files =
        [path, sample("web.pcap.gz")].map(|it| CaptureSource::Path(it, Box::new(options.clone())));
    for sources in [vec![CaptureSource::Open(Arc::new(open))], files.to_vec()] {
        let question = Question::CallsCarrying(columns.clone(), Some(Arc::clone(&methods)).into());
        let batches = all(&mut Rows::new(sources, question));
        let count = |expected: [Value<'_>; 3]| {
            let rows =
                batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
            rows.filter(|(batch, row)| {
                expected.iter().zip(0..).all(|(value, place)| batch.value(*row, place) == *value)
            })
            .count()
        };
        assert_eq!(
            count([
                Value::Json(r#"{"not_found":{"name":"unicorn"}}"#),
                Value::Text("find"),
                Value::Json(r#"{"name":"unicorn"}"#)
            ]),
            75
        );
        assert_eq!(count([Value::Json("{}"), Value::Text("ping"), Value::Json("{}")]), 567);
        assert_eq!(batches.iter().map(Batch::len).sum::<usize>(), 2412);
        let null =
            |batch: &Batch| (0..batch.len()).filter(|row| batch.value(*row, 0).is_null()).count();
        assert_eq!(batches.iter().map(null).sum::<usize>(), 254);
    }
}

#[test]
fn a_step_tells_of_which_capture_it_is() {
    let mut rows = Rows::new(sources(), Question::Frames);
    let mut places = Vec::new();
    loop {
        let place = rows.place();
        match rows.step(&Blocking).unwrap() {
            RowStep::Item(item) => {
                places.push(place);
                rows.recycle(item);
            }
            RowStep::NextCapture => {}
            RowStep::End => break,
        }
    }
    places.dedup();
    assert_eq!(places, [0, 1, 2]);
}

#[test]
fn packets_that_hold_a_condition_are_those_of_all_that_do() {
    let text = "length > 100 and (ts >= 0 or ts is null) and proto == tcp";
    let condition = Condition::new(text, &Field::SCHEMA).unwrap();
    let mut expected = Vec::new();
    each_packet(|packet| {
        let is_in_time = packet.ts().is_none_or(|ts| ts >= 0);
        if packet.length() > 100 && is_in_time && packet.value(Field::Proto) == Value::Unsigned(6) {
            expected.push(packet.value(Field::Length));
        }
    });
    assert!(!expected.is_empty());
    // Fewer rows than a block of packets, as many, and more.
    for rows_max in [1, 3, 128, 1000] {
        let question = Question::Packets(vec![Field::Length], rows_where(rows_max, &condition));
        let batches = all(&mut Rows::new(sources(), question));
        assert!(batches.iter().all(|batch| (1..=rows_max).contains(&batch.len())));
        let found =
            batches.iter().flat_map(|batch| (0..batch.len()).map(|row| batch.value(row, 0)));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{rows_max} rows");
    }
}

#[test]
fn rows_before_damage_come_before_its_error_which_comes_again() {
    let folder = std::env::temp_dir().join(format!("bytewright-rows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("cut.pcap");
    let whole = std::fs::read(sample("tunnels.pcap")).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let sources = [path, sample("vlan.pcapng")];
    let sources = sources.map(|path| CaptureSource::Path(path, Box::default()));
    let mut rows =
        Rows::new(sources.to_vec(), Question::Packets(vec![Field::Length], rows(1 << 16)));
    assert!(!rows.next(&Blocking).unwrap().unwrap().is_empty());
    for _ in 0..2 {
        let kind = rows.next(&Blocking).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::Truncated { .. }), "{kind:?}");
    }
    rows.close(&Blocking).unwrap();
    assert!(rows.next(&Blocking).unwrap().is_none());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_capture_that_cannot_be_opened_is_told_each_time_and_read_once_it_can() {
    let folder = std::env::temp_dir().join(format!("bytewright-late-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("late.pcap");
    let source = CaptureSource::Path(path.clone(), Box::default());
    let mut rows = Rows::new(vec![source], Question::Packets(vec![Field::Length], rows(1 << 16)));
    for _ in 0..2 {
        assert!(matches!(rows.next(&Blocking).unwrap_err().kind(), ErrorKind::Io(_)));
    }
    std::fs::copy(sample("tunnels.pcap"), &path).unwrap();
    assert!(!rows.next(&Blocking).unwrap().unwrap().is_empty());
    std::fs::remove_dir_all(folder).unwrap();
}

/// The samples as files that are read side by side on so many threads.
fn files(jobs: usize) -> Vec<CaptureSource> {
    let mut options = CaptureOptions::default();
    options.stream.jobs = jobs;
    let names = NAMES.iter().chain(&["warehouse.pcap.zst"]).chain(&NAMES);
    names.map(|name| CaptureSource::Path(sample(name), Box::new(options.clone()))).collect()
}

fn rows_of(question: &Question, sources: Vec<CaptureSource>) -> Vec<String> {
    let batches = all(&mut Rows::new(sources, question.clone()));
    let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    rows.map(|(batch, row)| {
        let values = (0..batch.columns().len()).map(|place| batch.value(row, place));
        format!("{:?}", values.collect::<Vec<_>>())
    })
    .collect()
}

#[test]
fn rows_are_the_same_on_any_number_of_threads() {
    let questions = [
        Question::Packets(Field::ALL.to_vec(), rows(1000)),
        Question::Packets(
            Field::ALL.to_vec(),
            rows_where(
                100,
                &Condition::new("length > 100 and port == 80", &Field::SCHEMA).unwrap(),
            ),
        ),
        Question::Flows(FlowField::ALL.to_vec(), FlowOptions::default().into()),
        Question::Calls(CallField::ALL.to_vec(), None.into()),
    ];
    for question in questions {
        let expected = rows_of(&question, files(1));
        assert!(!expected.is_empty());
        for jobs in [2, 3, 16] {
            assert_eq!(rows_of(&question, files(jobs)), expected, "{question:?} by {jobs}");
        }
    }
}

#[test]
fn frames_are_the_same_on_any_number_of_threads() {
    let frames = |sources| {
        let mut rows = Rows::new(sources, Question::Frames);
        let mut found = Vec::new();
        loop {
            match rows.step(&Blocking).unwrap() {
                RowStep::Item(Item::Answer(Answer::Frames(batch))) => {
                    found.extend(
                        (0..batch.len()).map(|place| batch.captured(place).unwrap().to_vec()),
                    );
                    rows.recycle(Item::Answer(Answer::Frames(batch)));
                }
                RowStep::Item(_) => panic!("no frames"),
                RowStep::NextCapture => {}
                RowStep::End => return found,
            }
        }
    };
    assert_eq!(frames(files(4)), frames(files(1)));
}

#[test]
fn files_between_open_captures_are_read_side_by_side_in_their_place() {
    let question = Question::Packets(vec![Field::Length], rows(1 << 16));
    let open = || {
        let capture = Capture::open(&sample("web.pcap.gz"), CaptureOptions::default()).unwrap();
        vec![CaptureSource::Open(Arc::new(capture))]
    };
    let mixed = |jobs| [open(), files(jobs), open()].concat();
    assert_eq!(rows_of(&question, mixed(4)), rows_of(&question, mixed(1)));
}

#[test]
fn damage_in_one_of_several_files_comes_behind_the_rows_before_it_and_ends_them() {
    let folder = std::env::temp_dir().join(format!("bytewright-damaged-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("cut.pcap");
    let whole = std::fs::read(sample("tunnels.pcap")).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let question = Question::Packets(vec![Field::Length], rows(1 << 16));
    for (damaged, good) in [(path.clone(), 3), (folder.join("missing.pcap"), 2)] {
        let mut options = CaptureOptions::default();
        options.stream.jobs = 4;
        let paths = [sample("web.pcap.gz"), sample("vlan.pcapng"), damaged, sample("web.pcap.gz")];
        let sources = paths.map(|path| CaptureSource::Path(path, Box::new(options.clone())));
        let mut rows = Rows::new(sources.to_vec(), question.clone());
        for _ in 0..good {
            assert!(!rows.next(&Blocking).unwrap().unwrap().is_empty());
        }
        let (first, again) = (rows.next(&Blocking).unwrap_err(), rows.next(&Blocking).unwrap_err());
        assert_eq!(first.to_string(), again.to_string());
        assert!(first.file().is_some_and(|file| file.ends_with(".pcap")), "{first}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn rows_that_nobody_wants_any_more_end_the_reading_of_all_files() {
    let mut rows = Rows::new(files(3), Question::Packets(vec![Field::Length], rows(10)));
    assert!(rows.next(&Blocking).unwrap().is_some());
    rows.close(&Blocking).unwrap();
    assert!(rows.next(&Blocking).unwrap().is_none());
}

#[test]
fn rows_of_a_store_are_its_flows() {
    let folder = std::env::temp_dir().join(format!("bytewright-stored-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = Arc::new(FlowTableFile::open(&folder.join("flows.bwt")).unwrap());
    let capture = Capture::open(&sample("web.pcap.gz"), CaptureOptions::default()).unwrap();
    let merge = capture.merge_flows(&store, FlowOptions::default()).unwrap();
    assert!(matches!(merge.next(&Blocking).unwrap(), Some(Item::Merge(_))));
    let question = Question::Flows(vec![FlowField::SrcIp], FlowOptions::default().into());
    let source = CaptureSource::Stored(Arc::clone(&store));
    let rows: usize = all(&mut Rows::new(vec![source], question)).iter().map(Batch::len).sum();
    assert!(rows > 0);
    assert_eq!(rows as u64, store.len().unwrap());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Copies of a sample that are cut at that many offsets, which are their names.
fn cut_copies(name: &str, count: usize, folder: &Path) -> Vec<PathBuf> {
    let bytes = std::fs::read(sample(name)).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let cut = |at: usize| {
        let path = folder.join(format!("{at}-{name}"));
        std::fs::write(&path, &bytes[..at]).unwrap();
        path
    };
    (0..bytes.len()).step_by(bytes.len() / count).map(cut).collect()
}

/// The rows of a batch as texts.
fn texts_of(batch: &Batch) -> Vec<String> {
    let text = |row| (0..batch.columns().len()).map(move |place| batch.value(row, place));
    (0..batch.len()).map(|row| text(row).map(|value| format!("{value:?} ")).collect()).collect()
}

/// The rows of a question about files as texts, and the damage that was told beside them or ended them.
fn kept_of(
    paths: &[PathBuf],
    options: &CaptureOptions,
    question: Question,
) -> (Vec<String>, Vec<Error>) {
    let source = |path: &PathBuf| CaptureSource::Path(path.clone(), Box::new(options.clone()));
    let mut rows = Rows::new(paths.iter().map(source).collect(), question);
    let (mut texts, mut damage) = (Vec::new(), Vec::new());
    loop {
        match rows.next(&Blocking) {
            Ok(Some(batch)) => texts.extend(texts_of(&batch)),
            Ok(None) => break,
            Err(error) => {
                damage.push(error);
                break;
            }
        }
        damage.extend(rows.take_damage());
    }
    damage.extend(rows.take_damage());
    (texts, damage)
}

/// Returns the texts by which damage is compared.
fn told(damage: &[Error]) -> Vec<String> {
    damage.iter().map(ToString::to_string).collect()
}

#[test]
fn rows_that_are_kept_are_those_before_the_damage_of_each_capture() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-rows-{}", std::process::id()));
    let packets = Question::Packets(vec![Field::Ts, Field::Length, Field::SrcIp], rows(7));
    let condition = Condition::new("length > 60", &Field::SCHEMA).unwrap();
    let some = Question::Packets(vec![Field::Length, Field::DnsQuery], rows_where(100, &condition));
    let cases = [
        ("vlan.pcapng", 50, packets.clone()),
        ("tunnels.pcap", 50, some),
        ("loopback.pcap.zst", 50, packets),
    ];
    for ((name, count, question), jobs) in cases.iter().flat_map(|case| [(case, 1), (case, 3)]) {
        let paths = cut_copies(name, *count, &folder);
        let mut raise = CaptureOptions::default();
        raise.stream.jobs = jobs;
        let keep = CaptureOptions { damage: DamagePolicy::Keep, ..raise.clone() };
        let (mut all, mut all_damage) = (Vec::new(), Vec::new());
        for path in &paths {
            let (expected, damage) = kept_of(std::slice::from_ref(path), &raise, question.clone());
            let found = kept_of(std::slice::from_ref(path), &keep, question.clone());
            assert!(found.0 == expected, "{}", path.display());
            assert_eq!(told(&found.1), told(&damage));
            all.extend(expected);
            all_damage.extend(damage);
        }
        assert!(all_damage.len() >= count / 2, "{name}: {}", all_damage.len());
        let found = kept_of(&paths, &keep, question.clone());
        assert!(found.0 == all, "{name}, {jobs} jobs: {} rows of {}", found.0.len(), all.len());
        assert_eq!(told(&found.1), told(&all_damage));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn calls_go_on_over_damage_that_is_kept() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-calls-{}", std::process::id()));
    let mut paths = cut_copies("warehouse.pcap.zst", 10, &folder);
    paths.push(sample("web.pcap.gz"));
    let fields = vec![CallField::Method, CallField::Outcome];
    let question = Question::Calls(fields.clone(), None.into());
    let mut expected = Batch::new(question.schema());
    let mut push = |calls: Vec<Call>| -> Result<(), Error> {
        calls.iter().for_each(|call| expected.push_row(|place| call.value(fields[place])));
        Ok(())
    };
    let mut batches = CallBatches::new(RpcOptions::default(), None);
    for path in &paths {
        let opened = CaptureReader::open(path, &CaptureOptions::default());
        let _ = opened.and_then(|mut reader| batches.read(&mut reader, &mut push).unwrap());
    }
    batches.finish(&mut push).unwrap();
    for jobs in [1, 3] {
        let mut options = CaptureOptions { damage: DamagePolicy::Keep, ..Default::default() };
        options.stream.jobs = jobs;
        let (found, damage) = kept_of(&paths, &options, question.clone());
        assert!(found == texts_of(&expected), "{} calls of {}", found.len(), expected.len());
        assert!(damage.len() > 5, "{}", damage.len());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn flows_go_on_over_damage_that_is_kept() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-flows-{}", std::process::id()));
    let mut paths = cut_copies("tunnels.pcap", 50, &folder);
    paths.truncate(20);
    paths.push(sample("vlan.pcapng"));
    let mut table = FlowTable::new(FlowOptions::default());
    for path in &paths {
        let mut reader = CaptureReader::open(path, &CaptureOptions::default()).unwrap();
        let _ = reader.each(|packet, _| table.add(packet));
    }
    let fields = vec![FlowField::CommunityId, FlowField::Bytes];
    let question = Question::Flows(fields.clone(), FlowOptions::default().into());
    let mut expected = Batch::new(question.schema());
    table.finish().for_each(|flow| expected.push_row(|place| flow.value(fields[place])));
    for jobs in [1, 3] {
        let mut options = CaptureOptions { damage: DamagePolicy::Keep, ..Default::default() };
        options.stream.jobs = jobs;
        let (found, damage) = kept_of(&paths, &options, question.clone());
        assert!(found == texts_of(&expected), "{} flows of {}", found.len(), expected.len());
        assert!(damage.len() > 15, "{}", damage.len());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_no_capture_is_an_error_though_damage_is_kept() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-none-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let options = CaptureOptions { damage: DamagePolicy::Keep, ..Default::default() };
    let question = Question::Packets(vec![Field::Length], rows(100));
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n and so on"[..],
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff],
    ] {
        let path = folder.join("none.pcap");
        std::fs::write(&path, bytes).unwrap();
        let source = CaptureSource::Path(path, Box::new(options.clone()));
        let error = Rows::new(vec![source], question.clone()).next(&Blocking).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Format), "{error}");
    }
    let missing = CaptureSource::Path(folder.join("missing.pcap"), Box::new(options));
    let error = Rows::new(vec![missing], question).next(&Blocking).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn counts_and_sums_are_those_of_the_packets_before_damage_that_is_kept() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-counts-{}", std::process::id()));
    let options = CaptureOptions { damage: DamagePolicy::Keep, ..Default::default() };
    for path in cut_copies("tunnels.pcap", 50, &folder) {
        let capture = Capture::open(&path, options.clone()).unwrap();
        assert!(capture.damage().is_none());
        let pass = capture.ask(Question::Counts(Field::LinkType, CountOptions::default())).unwrap();
        let Some(Item::Answer(Answer::Counts(counts))) = pass.next(&Blocking).unwrap() else {
            panic!()
        };
        let counted: u64 = counts.sorted().iter().map(|(_, count)| count).sum();
        let by = GroupBy::new::<&str>(&Field::SCHEMA, &[], &[], None).unwrap();
        let question = Arc::new(SumQuestion { by, condition: None, top: None, last: None });
        let pass = capture.ask(Question::Summary(question)).unwrap();
        let Some(Item::Answer(Answer::Sums(sums))) = pass.next(&Blocking).unwrap() else {
            panic!()
        };
        let info = match capture.ask(Question::Info).unwrap().next(&Blocking) {
            Ok(Some(Item::Answer(Answer::Info(info)))) => info,
            // It ends inside of its header.
            _ => {
                assert_eq!((counted, sums.len()), (0, 0));
                continue;
            }
        };
        assert_eq!(counted, info.packets);
        let packets = sums.column("packets").unwrap();
        let summed = if sums.is_empty() { Value::Unsigned(0) } else { packets.value(0) };
        assert_eq!(summed, Value::Unsigned(info.packets));
        let (found, known) = (capture.damage(), info.damage);
        assert_eq!(found.map(|found| found.to_string()), known.map(|known| known.to_string()));
        assert_eq!(pass.take_damage().len(), usize::from(capture.damage().is_some()));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_question_is_asked_for_the_fields_that_are_wanted() {
    let names = |question: &Question| {
        let schema = question.schema();
        schema.fields().iter().map(|field| field.name().to_owned()).collect::<Vec<_>>()
    };
    for spec in RowSpec::ALL {
        let question = spec.question(&Settings::of(spec.tables)).unwrap();
        assert_eq!(names(&question.with_fields(|_| true)), names(&question));
        let some = question.with_fields(|name| name == "src_ip" || name == "ts");
        assert_eq!(names(&some), ["ts", "src_ip"], "{}", spec.name);
    }
    let calls = &RowSpec::ALL[2];
    let mut settings = Settings::of(calls.tables);
    settings.give_text("idl", sample("warehouse.thrift").to_str().unwrap()).unwrap();
    settings.give_named(&["service=Store", "method=find"]).unwrap();
    for arguments in ["arguments=false", "arguments=true"] {
        settings.give_named(&[arguments]).unwrap();
        let question = calls.question(&settings).unwrap();
        assert!(names(&question).ends_with(&["arguments".into(), "result".into()]));
        let some = question.with_fields(|name| name == "latency");
        assert_eq!(names(&some), ["latency"], "{arguments}");
        let source = CaptureSource::Path(sample("warehouse.pcap.zst"), Box::default());
        let batches =
            all(&mut Rows::new(vec![source], question.with_fields(|name| name == "result")));
        assert!(batches.iter().any(|batch| batch.columns()[0].null_count() < batch.len()));
    }
    let info = Question::Info;
    assert_eq!(info.with_fields(|_| false).schema(), info.schema());
}
