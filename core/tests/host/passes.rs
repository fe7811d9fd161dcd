//! Goal: a host gets from passes what reading directly gives, whatever interrupts, errors and pieces of input come in
//! between; a pass that is closed ends, and whoever waits for it is told.
//!
//! Method: a host that is interrupted or fails at every nth of its calls, beside a plain reader of the same capture.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;

use bytewright::ask::{
    self, Answer, CountOptions, CutOptions, FlowBatches, FlowQuestion, PacketOptions, Question, Run,
};
use bytewright::export::OutputOptions;
use bytewright::flow::{FlowFormat, FlowOptions};
use bytewright::host::{
    Asked, Blocking, Capture, FlowTableFile, HeldPacket, Host, Item, OpenFlowLog, OpenReport, Pass,
};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::{Field, Packet};
use bytewright::report::{Report, ReportOptions};
use bytewright::{Error, ErrorKind, Result};

use crate::generate::{Random, seeds};
use crate::raised::Raised;
use crate::sample;

fn rows(rows: usize) -> PacketOptions {
    PacketOptions { rows, ..PacketOptions::default() }
}

fn open(path: &Path) -> Capture {
    Capture::open(path, CaptureOptions::default()).unwrap()
}

fn read(path: &Path) -> CaptureReader {
    CaptureReader::open(path, &CaptureOptions::default()).unwrap()
}

/// Every packet with its bytes, read directly.
fn packets_of(path: &Path) -> Vec<(Packet, Vec<u8>)> {
    let mut packets = Vec::new();
    read(path).each(|packet, captured| packets.push((*packet, captured.to_vec()))).unwrap();
    packets
}

/// A host that brings `bytes` in random pieces, is interrupted before every third wait and raises at every fifth
/// interrupt and every seventh read.
struct Trying {
    bytes: RefCell<Vec<u8>>,
    random: RefCell<Random>,
    waits: Cell<u32>,
    checks: Cell<u32>,
    reads: Cell<u32>,
}

impl Trying {
    fn new(bytes: Vec<u8>, random: Random) -> Self {
        let (waits, checks, reads) = Default::default();
        Trying { bytes: RefCell::new(bytes), random: RefCell::new(random), waits, checks, reads }
    }
}

/// Counts up; whether it is the `nth` time.
fn is_nth(count: &Cell<u32>, nth: u32) -> bool {
    count.set(count.get() + 1);
    count.get().is_multiple_of(nth)
}

impl Host for Trying {
    type Error = Raised;

    fn error(&self, error: Error) -> Raised {
        Raised::ByCore(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> std::result::Result<Option<T>, Raised> {
        match is_nth(&self.waits, 3) {
            true => Ok(None),
            false if self.waits.get().is_multiple_of(2) => {
                wake();
                Ok(Some(work()))
            }
            false => Ok(Some(work())),
        }
    }

    fn check_interrupts(&self) -> std::result::Result<(), Raised> {
        if is_nth(&self.checks, 5) { Err(Raised::ByHost) } else { Ok(()) }
    }

    fn read(&self, count_max: usize) -> std::result::Result<Vec<u8>, Raised> {
        if is_nth(&self.reads, 7) {
            return Err(Raised::ByHost);
        }
        let mut bytes = self.bytes.borrow_mut();
        let count = 1 + self.random.borrow_mut().below(count_max.min(50_000));
        let count = count.min(bytes.len());
        let rest = bytes.split_off(count);
        Ok(std::mem::replace(&mut *bytes, rest))
    }
}

/// Every item, asked for again whenever the host raised.
fn items(pass: &Pass, host: &Trying) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    loop {
        match pass.next(host) {
            Ok(Some(item)) => items.push(item),
            Ok(None) => return Ok(items),
            Err(Raised::ByHost) => {}
            Err(Raised::ByCore(error)) => return Err(error),
        }
    }
}

/// The packets of a pass, held one after another as a host holds them.
fn packets_in(items: Vec<Item>) -> Vec<(Packet, Vec<u8>)> {
    let mut packets = Vec::new();
    for item in items {
        let Item::Answer(Answer::Frames(batch)) = item else {
            panic!("expected packets, found {item:?}")
        };
        let len = batch.len();
        let mut held = HeldPacket::first_of(batch);
        for index in 0..len {
            held.point(index);
            packets.push((*held.packet().unwrap(), held.captured().to_vec()));
        }
    }
    packets
}

#[test]
fn packets_of_a_path_are_those_that_reading_it_gives() {
    for name in ["web.pcap.gz", "vlan.pcapng", "loopback.pcap.zst"] {
        let capture = open(&sample(name));
        seeds(2, |random| {
            let host = Trying::new(Vec::new(), Random::new(random.next()));
            let found = packets_in(items(&capture.ask(Question::Frames).unwrap(), &host).unwrap());
            assert!(found == packets_of(&sample(name)), "{name}");
        });
    }
}

#[test]
fn bytes_that_a_host_brings_in_pieces_are_the_same_capture_whenever_the_host_raises() {
    let path = sample("web.pcap.gz");
    let expected = packets_of(&path);
    seeds(8, |random| {
        let host = Trying::new(std::fs::read(&path).unwrap(), Random::new(random.next()));
        let capture = Capture::of_host("an object".to_owned(), CaptureOptions::default()).unwrap();
        let found = packets_in(items(&capture.ask(Question::Frames).unwrap(), &host).unwrap());
        assert!(found == expected);
        assert!(host.reads.get() > 7, "the host raised meanwhile");
    });
}

#[test]
fn counts_columns_and_facts_are_those_of_scanning() {
    let path = sample("web.pcap.gz");
    let capture = open(&path);
    let next = |pass: Pass| pass.next(&Blocking).unwrap().unwrap();

    let Item::Answer(Answer::Counts(counts)) =
        next(capture.ask(Question::Counts(Field::DstPort, CountOptions::default())).unwrap())
    else {
        panic!()
    };
    assert_eq!(counts.sorted(), ask::count_by(&mut read(&path), Field::DstPort, None).0.sorted());

    let Item::Answer(Answer::Info(info)) = next(capture.ask(Question::Info).unwrap()) else {
        panic!()
    };
    assert_eq!(info.packets, packets_of(&path).len() as u64);

    let columns = capture.ask(Question::Packets(vec![Field::Length], rows(1000))).unwrap();
    let mut count = 0;
    while let Some(Item::Answer(Answer::Columns(columns))) = columns.next(&Blocking).unwrap() {
        assert!(columns.len() <= 1000);
        count += columns.len();
    }
    assert_eq!(count as u64, info.packets);
    assert_eq!(
        capture.ask(Question::Packets(Vec::new(), rows(0))).err().unwrap().kind(),
        ErrorKind::Argument
    );
}

#[test]
fn flows_of_several_captures_are_one_run_and_merge_into_a_file_once() {
    let paths = [sample("web.pcap.gz"), sample("loopback.pcap.zst")];
    let mut expected = Vec::new();
    let mut keep = |flows: Vec<_>| -> Result<()> {
        expected.extend(flows);
        Ok(())
    };
    let mut batches = FlowBatches::new(FlowOptions::default(), 7);
    for path in &paths {
        batches.read(&mut read(path), &mut keep).unwrap().unwrap();
    }
    batches.finish(&mut keep).unwrap();

    let run = Run::new(Question::Flows(Vec::new(), FlowOptions::default().into()));
    let mut found = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let pass = open(path).ask(Asked::of_run(&run, at == 1)).unwrap();
        while let Some(Item::Answer(Answer::Flows(flows))) = pass.next(&Blocking).unwrap() {
            found.extend(flows);
        }
    }
    assert_eq!(found, expected);

    let folder = std::env::temp_dir().join(format!("bytewright-host-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = FlowTableFile::open_to_count(&folder.join("flows.bwt")).unwrap();
    for added in [1, 0] {
        let pass = open(&paths[0]).merge_flows(&file, FlowOptions::default()).unwrap();
        let Some(Item::Merge(merge)) = pass.next(&Blocking).unwrap() else { panic!() };
        assert_eq!(matches!(merge.merged, bytewright::sums::Merged::Added { .. }), added == 1);
    }
    let pass = file.flows().unwrap();
    let mut stored = 0;
    while let Some(Item::Answer(Answer::Flows(flows))) = pass.next(&Blocking).unwrap() {
        stored += flows.len() as u64;
    }
    assert_eq!((stored, file.captures().unwrap().len()), (file.len().unwrap(), 1));
    let pass = file.flows().unwrap();
    file.close(&Blocking).unwrap();
    let closed = pass.next(&Blocking).unwrap_err();
    assert_eq!(
        closed.to_string(),
        "expected an open flow store, found it closed while it was read"
    );
    assert_eq!(file.flows().err().unwrap().kind(), ErrorKind::Closed);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_store_that_is_closed_behind_a_merge_can_be_opened_at_once() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("merged-{}.bwt", std::process::id()));
    for _ in 0..20 {
        let store = FlowTableFile::open_to_count(&path).unwrap();
        let capture = open(&sample("tunnels.pcap"));
        let pass = capture.merge_flows(&store, FlowOptions::default()).unwrap();
        let Some(Item::Merge(_)) = pass.next(&Blocking).unwrap() else { panic!() };
        store.close(&Blocking).unwrap();
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_report_takes_one_capture_after_another_and_is_written_once() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let page = folder.join(format!("report-{}.html", std::process::id()));
    let report = OpenReport::new(ReportOptions::default()).unwrap();
    let paths = ["web.pcap.gz", "tunnels.pcap"].map(sample);
    for path in &paths {
        let pass = open(path).report(&report).unwrap();
        let Some(Item::Reported(reported)) = pass.next(&Blocking).unwrap() else { panic!() };
        assert_eq!(reported.packets, packets_of(path).len() as u64);
        assert_eq!(reported.file, path.display().to_string());
    }
    report.write_to(&page, false).unwrap();
    let mut twin = Report::new(ReportOptions::default()).unwrap();
    for path in &paths {
        twin.read(&mut read(path)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&page).unwrap(), twin.finish());
    assert_eq!(report.write_to(&page, false).unwrap_err().kind(), ErrorKind::Closed);
    let none = Report::new(ReportOptions::default()).unwrap();
    assert_eq!(
        none.write_to(&page, &OutputOptions::default()).unwrap_err().kind(),
        ErrorKind::Argument
    );
    std::fs::remove_file(&page).unwrap();
}

#[test]
fn a_file_of_flows_has_those_of_all_captures_once_it_is_finished() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("flows-{}.ndjson", std::process::id()));
    let paths = ["web.pcap.gz", "tunnels.pcap"].map(sample);
    let create = || OpenFlowLog::create(&path, FlowFormat::Ecs, FlowQuestion::default(), false);
    let read_all = |log: &OpenFlowLog| {
        for path in &paths {
            assert!(open(path).log_flows(log).unwrap().next(&Blocking).unwrap().is_none());
        }
    };
    let log = create().unwrap();
    read_all(&log);
    assert!(!path.exists());
    let count = log.finish().unwrap();
    let mut batches = FlowBatches::new(FlowOptions::default(), 1000);
    let mut flows = 0;
    let count_flows = &mut |found: Vec<_>| -> Result<()> {
        flows += found.len() as u64;
        Ok(())
    };
    for path in &paths {
        batches.read(&mut read(path), count_flows).unwrap().unwrap();
    }
    batches.finish(count_flows).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!((count, written.lines().count() as u64), (flows, flows));
    assert_eq!(log.finish().unwrap_err().kind(), ErrorKind::Closed);
    let given_up = create().unwrap();
    read_all(&given_up);
    given_up.discard();
    assert_eq!(given_up.finish().unwrap_err().kind(), ErrorKind::Closed);
    let pass = open(&paths[0]).log_flows(&given_up).unwrap();
    assert_eq!(pass.next(&Blocking).unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_of_flows_whose_capture_was_not_read_to_its_end_is_given_up() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let named = |name: &str| folder.join(format!("{name}-{}", std::process::id()));
    let (path, damaged) = (named("given-up.log"), named("damaged.pcapng"));
    let whole = std::fs::read(sample("vlan.pcapng")).unwrap();
    std::fs::write(&damaged, &whole[..20_000]).unwrap();
    std::fs::write(&path, "older").unwrap();
    let create = |path: &Path| {
        OpenFlowLog::create(path, FlowFormat::Zeek, FlowQuestion::default(), true).unwrap()
    };
    let read = |log: &OpenFlowLog, of: &Path| {
        let pass = open(of).log_flows(log).unwrap();
        pass.next(&Blocking).map(|item| assert!(item.is_none())).map_err(|error| error.kind())
    };
    let log = create(&path);
    assert_eq!(read(&log, &sample("web.pcap.gz")), Ok(()));
    assert!(matches!(read(&log, &damaged), Err(ErrorKind::Truncated { .. })));
    assert_eq!(log.finish().unwrap_err().kind(), ErrorKind::Closed);
    let itself = create(&damaged);
    assert_eq!(read(&itself, &damaged), Err(ErrorKind::Argument));
    assert_eq!(itself.finish().unwrap_err().kind(), ErrorKind::Closed);
    drop(log);
    itself.discard();
    assert_eq!(std::fs::read(&path).unwrap(), b"older");
    assert_eq!(std::fs::read(&damaged).unwrap().len(), 20_000);
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&damaged).unwrap();
}

#[test]
fn a_report_whose_output_cannot_be_is_refused_before_a_capture_is_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let copy = folder.join(format!("report-over-{}.pcap.gz", std::process::id()));
    std::fs::copy(sample("web.pcap.gz"), &copy).unwrap();
    let report = OpenReport::new(ReportOptions::default()).unwrap();
    let kind = |result: bytewright::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(report.expect_output(&copy, false)), ErrorKind::Argument);
    let missing = folder.join("missing").join("page.html");
    assert!(matches!(kind(report.expect_output(&missing, false)), ErrorKind::Io(_)));
    report.expect_output(&copy, true).unwrap();
    let pass = open(&copy).report(&report).unwrap();
    let Err(error) = pass.next(&Blocking) else { panic!("a capture is read over itself") };
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("beside the inputs"), "{error}");
    std::fs::remove_file(&copy).unwrap();
}

#[test]
fn closing_a_capture_ends_its_passes_and_tells_who_waits_for_one() {
    let capture =
        Arc::new(Capture::of_host("an object".to_owned(), CaptureOptions::default()).unwrap());
    let pass = capture.ask(Question::Frames).unwrap();
    /// A host that closes the capture while the pass waits for bytes.
    struct Closing(Arc<Capture>);
    impl Host for Closing {
        type Error = Error;
        fn error(&self, error: Error) -> Error {
            error
        }
        fn read(&self, _: usize) -> Result<Vec<u8>> {
            self.0.close(&Blocking)?;
            Ok(Vec::new())
        }
    }
    let error = pass.next(&Closing(Arc::clone(&capture))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(capture.is_closed());
    assert_eq!(capture.ask(Question::Frames).err().unwrap().kind(), ErrorKind::Closed);
}

/// Trouble with a capture while its bytes are asked for the third time.
enum Trouble {
    /// The object that is read raises, or an interrupt does.
    Raises,
    /// The capture is closed, as another thread may do.
    Closes(Arc<Capture>),
}

/// A host that brings a capture in pieces, and has trouble in the middle.
struct Troubled {
    pieces: RefCell<Vec<Vec<u8>>>,
    trouble: Trouble,
}

impl Host for Troubled {
    type Error = Raised;

    fn error(&self, error: Error) -> Raised {
        Raised::ByCore(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        _wake: &(dyn Fn() + Sync),
    ) -> std::result::Result<Option<T>, Raised> {
        Ok(Some(work()))
    }

    fn check_interrupts(&self) -> std::result::Result<(), Raised> {
        Ok(())
    }

    fn read(&self, _count_max: usize) -> std::result::Result<Vec<u8>, Raised> {
        let mut pieces = self.pieces.borrow_mut();
        if let Some(piece) = pieces.pop() {
            return Ok(piece);
        }
        match &self.trouble {
            Trouble::Raises => Err(Raised::ByHost),
            Trouble::Closes(capture) => {
                capture.close(&Blocking).unwrap();
                Ok(Vec::new())
            }
        }
    }
}

#[test]
fn a_cut_that_does_not_reach_its_end_leaves_the_older_file_as_it_was() {
    let bytes = std::fs::read(sample("tunnels.pcap")).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("interrupted-cut-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for closes in [false, true] {
        for name in ["old.pcap", "old.pcapng.gz", "old.pcapng.zst"] {
            let path = folder.join(name);
            std::fs::write(&path, "older").unwrap();
            let capture = Capture::of_host("io".to_owned(), CaptureOptions::default()).unwrap();
            let capture = Arc::new(capture);
            let trouble = match closes {
                true => Trouble::Closes(Arc::clone(&capture)),
                false => Trouble::Raises,
            };
            let pieces = [&bytes[1000..2000], &bytes[..1000]].map(<[u8]>::to_vec).to_vec();
            let host = Troubled { pieces: RefCell::new(pieces), trouble };
            let pass = capture.cut(path.clone(), CutOptions::default(), false).unwrap();
            match (pass.next(&host), closes) {
                (Err(Raised::ByHost), false) => {}
                (Err(Raised::ByCore(error)), true) => assert_eq!(error.kind(), ErrorKind::Closed),
                (other, _) => panic!("{other:?}"),
            }
            pass.close(&Blocking).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"older", "{name}");
            std::fs::remove_file(&path).unwrap();
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn bytes_of_a_host_are_read_once_and_a_path_as_often_as_one_likes() {
    let capture = Capture::of_host("an object".to_owned(), CaptureOptions::default()).unwrap();
    drop(capture.ask(Question::Frames).unwrap());
    let error = capture.ask(Question::Frames).err().unwrap();
    assert!(error.message().contains("open the capture again"), "{error}");

    let capture = open(&sample("vlan.pcapng"));
    assert!(capture.memory_bytes() > 0);
    let (first, second) =
        (capture.ask(Question::Frames).unwrap(), capture.ask(Question::Frames).unwrap());
    assert_eq!(capture.memory_bytes(), 0);
    let count = |pass: &Pass| match pass.next(&Blocking).unwrap() {
        Some(Item::Answer(Answer::Frames(batch))) => batch.len(),
        _ => 0,
    };
    assert_eq!(count(&first), count(&second));
}

#[test]
fn a_copy_of_a_held_packet_stays_when_its_batch_is_gone() {
    let pass = open(&sample("web.pcap.gz")).ask(Question::Frames).unwrap();
    let Some(Item::Answer(Answer::Frames(batch))) = pass.next(&Blocking).unwrap() else { panic!() };
    let mut held = HeldPacket::first_of(batch);
    held.point(3);
    let own = held.to_own();
    assert!(own == held && own.payload() == held.payload());
    assert!(own.memory_bytes() > 0 && held.memory_bytes() == 0);
    held.point(4);
    assert!(own != held);
    pass.recycle(Item::Answer(Answer::Frames(held.into_batch().unwrap())));
    assert_eq!(own.packet().unwrap().value(Field::Number), own.value(Field::Number));
    assert!(HeldPacket::default().captured().is_empty());
}
