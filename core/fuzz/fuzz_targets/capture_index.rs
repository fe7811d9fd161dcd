//! Any bytes as the table of an index whose checks hold, beside a capture that it belongs to: no panic, no endless loop, and nothing that is
//! read twice.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use bytewright::bytes::SeekSpacing;
use bytewright::input::{CaptureOptions, CaptureReader, IndexUse, WantedRecords};
use bytewright::packet::Field;
use bytewright::query::Condition;
use libfuzzer_sys::fuzz_target;

/// Packets of the capture, each with so many bytes.
const PACKETS: u32 = 2000;
const FRAME: usize = 60;

/// The capture, the header of its index, and the windows.
static CAPTURE: LazyLock<(PathBuf, Vec<u8>)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("bytewright-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("a.pcap");
    let mut bytes =
        vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    for number in 0..PACKETS {
        for word in [number / 10, 0, FRAME as u32, FRAME as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.resize(bytes.len() + FRAME, number as u8);
    }
    fs::write(&path, bytes).expect("a capture");
    let mut options = CaptureOptions { index: IndexUse::Only, ..Default::default() };
    let spacing = SeekSpacing { bytes: 4000, window_bytes: 4000, raw_per_window_byte: 0 };
    options.stream.seek_points = Some(spacing);
    let mut reader = CaptureReader::open(&path, &options).expect("a capture");
    reader.each(|_, _| ()).expect("a whole capture");
    let index = fs::read(folder.join("a.pcap.bwi")).expect("an index");
    (path, index)
});

fuzz_target!(|table: &[u8]| {
    let (path, made) = &*CAPTURE;
    // The first byte chooses: a table of these bytes, or the one that was made with some of them in it.
    let (Some((choice, rest)), [header @ .., _, _, _, _]) = (table.split_first(), &made[..64])
    else {
        return;
    };
    let mut table = rest.to_vec();
    if choice % 2 == 0 {
        table = made[64..].to_vec();
        for change in rest.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % table.len();
            table[at] = change[2];
        }
    }
    let mut header = header.to_vec();
    header[40..48].copy_from_slice(&64_u64.to_le_bytes());
    header[48..52].copy_from_slice(&(table.len() as u32).to_le_bytes());
    header[52..56].copy_from_slice(&crc32c::crc32c(&table).to_le_bytes());
    header.extend(crc32c::crc32c(&header).to_le_bytes());
    fs::write(path.with_extension("pcap.bwi"), [header, table].concat()).expect("an index");
    let condition = Condition::new("ts >= 150 and ts < 160 or number == 7", &Field::SCHEMA)
        .expect("a condition");
    let wanted = WantedRecords::of(Some(&condition));
    let options = CaptureOptions { wanted, ..Default::default() };
    let mut reader = CaptureReader::open(path, &options).expect("a capture");
    let mut count = 0_u32;
    let read = reader.each(|_, captured| {
        assert!(captured.len() <= 262_144);
        count += 1;
    });
    // A record has 16 bytes at least, and none is read twice.
    assert!(read.is_err() || count <= PACKETS * (16 + FRAME as u32) / 16);
});
