//! Goal: the files of a rotated capture have all of its packets, each once and in their order, and end where their limits say.
//!
//! Method: random captures of each format beside the plain cut of them, divided by an obvious twin.

use std::fs;

use bytewright::ErrorKind;
use bytewright::ask::{CutOptions, CutOutput, CutTotals, cut};
use bytewright::export::OutputOptions;

use super::ask_cut::{Shown, cut_to, reader, shown};
use crate::files;
use crate::folder::Folder;
use crate::generate::capture::{Pcap, PcapHeader};
use crate::generate::{self, seeds};

fn rotated(limits: &str) -> CutOptions {
    CutOptions { rotate: Some(limits.parse().unwrap()), ..CutOptions::default() }
}

/// Cuts captures into files whose names `form` says, in `folder`; what the command would say.
fn cut_into(
    folder: &Folder,
    form: &str,
    captures: &[&[u8]],
    options: &CutOptions,
) -> bytewright::Result<CutTotals> {
    let inputs = Folder::new("rotated-inputs");
    let readers = captures.iter().enumerate();
    let readers = readers.map(|(index, bytes)| reader(&inputs, &index.to_string(), bytes));
    let readers = readers.collect();
    let output = CutOutput::create(&folder.path(form), options, &OutputOptions::default())?;
    cut(readers, options, output)
}

/// The packets of each file, in the order of their names.
fn pieces(folder: &Folder) -> Vec<Vec<Shown>> {
    folder.names().iter().map(|name| shown(&files::plain(&folder.path(name)))).collect()
}

const FORMS: [&str; 5] = ["%n.pcapng", "%n.pcapng.zst", "%n.pcapng.gz", "%n.pcap", "%n.pcap.gz"];

#[test]
fn files_up_to_a_number_of_packets_have_as_many_but_the_last() {
    seeds(40, |random| {
        let capture = generate::capture::random(random);
        let count = 1 + random.below(7);
        let form = FORMS[random.below(FORMS.len())];
        let Ok((whole, totals)) = cut_to(form, &[&capture], &CutOptions::default()) else { return };
        let folder = Folder::new("rotated");
        let cut = cut_into(&folder, form, &[&capture], &rotated(&format!("{count}p"))).unwrap();
        let found = pieces(&folder);
        let expected: Vec<Vec<Shown>> =
            shown(&whole).chunks(count).map(<[Shown]>::to_vec).collect();
        assert_eq!(found, expected, "{form}");
        assert_eq!((cut.packets, cut.files), (totals.packets, expected.len() as u64));
    });
}

/// Divides packets where one comes that is in a later interval than the first of its file.
fn divided(packets: &[Shown], interval: i64) -> Vec<Vec<Shown>> {
    let mut files: Vec<Vec<Shown>> = Vec::new();
    let mut end = None;
    for packet in packets {
        let is_later = packet.ts.zip(end).is_some_and(|(ts, end)| ts >= end);
        if files.is_empty() || is_later {
            files.push(Vec::new());
            end = packet.ts.map(|ts| (ts.div_euclid(interval) + 1) * interval);
        }
        files.last_mut().unwrap().push(packet.clone());
    }
    files
}

#[test]
fn files_of_intervals_begin_with_the_first_packet_of_a_later_one() {
    seeds(40, |random| {
        let mut capture = Pcap::new(PcapHeader::default());
        let mut second = 1_000_000u32;
        for _ in 0..random.below(60) {
            second = second.saturating_add_signed(random.below(40) as i32 - 10);
            capture = capture.record([second, random.below(1_000_000) as u32, 3, 60], b"abc");
        }
        let capture = capture.bytes();
        let seconds = 1 + random.below(50) as i64;
        let (whole, _) = cut_to("o.pcap", &[&capture], &CutOptions::default()).unwrap();
        let folder = Folder::new("rotated");
        cut_into(&folder, "%n.pcap", &[&capture], &rotated(&format!("{seconds}s"))).unwrap();
        assert_eq!(pieces(&folder), divided(&shown(&whole), seconds * 1_000_000_000));
    });
}

#[test]
fn files_up_to_a_length_are_never_longer_and_not_much_shorter() {
    seeds(30, |random| {
        let mut capture = Pcap::new(PcapHeader::default());
        let is_patterned = random.below(2) == 0;
        for second in 0..random.below(3000) as u32 {
            let mut frame = vec![second as u8; random.below(1500)];
            if !is_patterned {
                frame.iter_mut().for_each(|byte| *byte = random.below(256) as u8);
            }
            capture = capture.record([second, 0, frame.len() as u32, 1500], &frame);
        }
        let capture = capture.bytes();
        let form = FORMS[random.below(FORMS.len())];
        let limit = 8_000 + random.below(400_000) as u64;
        let folder = Folder::new("rotated");
        let options = rotated(&format!("{limit}B"));
        cut_into(&folder, form, &[&capture], &options).unwrap();
        let names = folder.names();
        let lens = names.iter().map(|name| fs::metadata(folder.path(name)).unwrap().len());
        let lens: Vec<u64> = lens.collect();
        let before_last = lens.len().saturating_sub(1);
        for (place, len) in lens.into_iter().enumerate() {
            assert!(len <= limit, "{form}: {len} of {limit}");
            // The next packet did not fit, nor a part of what compresses.
            let enough = limit - limit / 8 - 1800;
            assert!(place == before_last || len >= enough, "{form}: {len} of {limit}");
        }
        let (whole, _) = cut_to(form, &[&capture], &CutOptions::default()).unwrap();
        assert_eq!(pieces(&folder).concat(), shown(&whole), "{form}");
    });
}

/// A capture of `count` packets, one in each hour since 1970.
fn hourly(count: u32) -> Vec<u8> {
    let mut capture = Pcap::new(PcapHeader::default());
    for hour in 0..count {
        capture = capture.record([hour * 3600, 0, 3, 60], b"abc");
    }
    capture.bytes()
}

#[test]
fn only_the_newest_files_are_kept_where_so_many_are_asked_for() {
    let folder = Folder::new("rotated");
    let options = CutOptions { keep: Some(3), ..rotated("1h") };
    let totals = cut_into(&folder, "%Y-%m-%d-%H.pcap", &[&hourly(30)], &options).unwrap();
    let kept = ["1970-01-02-03.pcap", "1970-01-02-04.pcap", "1970-01-02-05.pcap"];
    assert_eq!((folder.names(), totals.files), (kept.map(str::to_owned).to_vec(), 30));
}

#[test]
fn files_that_would_have_one_name_are_numbered() {
    let folder = Folder::new("rotated");
    cut_into(&folder, "%Y.pcapng.gz", &[&hourly(3)], &rotated("1p")).unwrap();
    assert_eq!(folder.names(), ["1970-2.pcapng.gz", "1970-3.pcapng.gz", "1970.pcapng.gz"]);
    let folder = Folder::new("rotated");
    cut_into(&folder, "day.pcap", &[&hourly(3)], &rotated("2p,1GB")).unwrap();
    assert_eq!(folder.names(), ["day-00001.pcap", "day-00002.pcap"]);
}

#[test]
fn a_capture_that_has_the_name_of_a_file_is_kept_and_those_before_it_stay() {
    let folder = Folder::new("rotated");
    fs::write(folder.path("00002.pcap"), hourly(1)).unwrap();
    let error = cut_into(&folder, "%n.pcap", &[&hourly(3)], &rotated("1p")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(error.to_string().contains("00002.pcap: expected a name for the output that is free"));
    assert_eq!(folder.names(), ["00001.pcap", "00002.pcap"]);
    assert_eq!(fs::read(folder.path("00002.pcap")).unwrap(), hourly(1));
}

#[test]
fn without_packets_there_is_no_file() {
    let folder = Folder::new("rotated");
    let totals = cut_into(&folder, "%n.pcap", &[&hourly(0)], &rotated("1p")).unwrap();
    assert_eq!((totals.files, folder.names()), (0, Vec::new()));
}

#[test]
fn names_and_limits_that_make_no_sense_are_refused() {
    let folder = Folder::new("rotated");
    let kept = CutOptions { keep: Some(3), ..CutOptions::default() };
    for (form, options) in [
        ("%q.pcap", rotated("1p")),
        ("%n.txt", rotated("1p")),
        ("%n.pcap", kept),
        ("/dev/null", rotated("1p")),
    ] {
        let error = cut_into(&folder, form, &[&hourly(1)], &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{form}: {error}");
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_cut_ends_with_the_first_limit_that_is_reached() {
    let stopped = |limits: &str| CutOptions {
        stop_after: Some(limits.parse().unwrap()),
        ..CutOptions::default()
    };
    let count = |captures: &[&[u8]], limits: &str| {
        let (bytes, totals) = cut_to("o.pcap", captures, &stopped(limits)).unwrap();
        assert_eq!(shown(&bytes).len() as u64, totals.packets);
        totals.packets
    };
    let hours = hourly(30);
    for (limits, packets) in
        [("7p", 7), ("3h", 3), ("3h,2p", 2), ("1s", 1), ("4096B", 30), ("40p", 30), ("30p", 30)]
    {
        assert_eq!(count(&[&hours], limits), packets, "{limits}");
    }
    // Two captures of the same hours are merged by time.
    assert_eq!(count(&[&hours, &hours], "7p"), 7);
    assert_eq!(count(&[&hours, &hours], "3h"), 6);
    let long = Pcap::new(PcapHeader::default());
    let long = [0u32, 1, 2]
        .iter()
        .fold(long, |capture, second| capture.record([*second, 0, 3000, 3000], &[7; 3000]));
    assert_eq!(count(&[&long.bytes()], "6000B"), 2);
    // Packets that are left out do not count.
    let options = CutOptions { every_nth: 10, ..stopped("2p") };
    let (_, totals) = cut_to("o.pcap", &[&hours], &options).unwrap();
    assert_eq!(totals.packets, 2);
}
