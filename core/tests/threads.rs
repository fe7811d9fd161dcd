//! Goal: no thread of the library takes a signal of the program, whatever it is started for: a handler of an
//! interpreter that ran on one would end the process.
//!
//! Method: while threads of each kind are certain to be there, the system is asked what each thread of the process blocks.
//! `tests/layers.rs` holds that there is no other way to start one.
//!
//! An executable of its own, because threads that other tests start would be taken for those that are looked for.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytewright::ask::Question;
use bytewright::host::{Capture, Host};
use bytewright::input::{CaptureList, CaptureOptions, CaptureReader, Needs, PrefetchedCaptures};
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::{Error, Result};

/// The two that the C library keeps for itself, and blocks in a thread that begins.
const OF_THE_C_LIBRARY: u64 = 1 << 31 | 1 << 32;

/// All signals but SIGBUS, which comes only to the thread that touches a page which is not in its file any more, and those that
/// cannot be blocked: SIGKILL, SIGSTOP, and those two.
const ALL: u64 = !(1 << (libc::SIGBUS - 1) | 1 << 8 | 1 << 18 | OF_THE_C_LIBRARY);

/// The names of the threads of the library that there are, each of which blocks all signals but SIGBUS.
fn blocking_threads() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    // One that ends meanwhile can no longer be asked.
    threads.filter_map(|thread| blocking_thread(&thread.unwrap().path())).collect()
}

fn blocking_thread(folder: &Path) -> Option<String> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let value = |key| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let name = value("Name:")?.to_owned();
    // One that is ending blocks SIGBUS, too.
    let blocked = u64::from_str_radix(value("SigBlk:")?, 16).unwrap() & !OF_THE_C_LIBRARY;
    assert!(!name.starts_with("bytewright") || blocked & ALL == ALL, "{name} blocks {blocked:x}");
    name.starts_with("bytewright").then_some(name)
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name)
}

#[test]
fn the_thread_of_a_pass_blocks_all_signals() {
    struct Looking;
    impl Host for Looking {
        type Error = Error;
        fn error(&self, error: Error) -> Error {
            error
        }
        fn read(&self, _: usize) -> Result<Vec<u8>> {
            assert!(blocking_threads().iter().any(|name| name == "bytewright"));
            Ok(Vec::new())
        }
    }
    let capture = Capture::of_host("an object".to_owned(), CaptureOptions::default()).unwrap();
    assert!(
        capture.ask(Question::Frames).unwrap().next(&Looking).is_err(),
        "no capture is in no bytes"
    );
}

#[test]
fn threads_that_read_captures_ahead_block_all_signals() {
    struct Files;
    impl CaptureList for Files {
        fn count(&self) -> usize {
            3
        }
        fn is_regular(&self, _: usize) -> bool {
            true
        }
        fn open(&self, _: usize, options: &CaptureOptions) -> Result<CaptureReader> {
            let own = blocking_thread(Path::new("/proc/thread-self"));
            assert_eq!(own.as_deref(), Some("bytewright"));
            CaptureReader::open(&sample("vlan.pcapng"), options)
        }
    }
    let options = CaptureOptions::default();
    for reader in PrefetchedCaptures::new(Files, 2, &options, Needs::Frames) {
        assert!(!blocking_threads().is_empty());
        reader.unwrap().each(|_, _| ()).unwrap();
    }
}

#[test]
fn the_thread_that_writes_a_table_blocks_all_signals() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threads.bwt");
    drop(fs::remove_file(&path));
    let options = OpenOptions {
        create: true,
        read_only: false,
        exclusive: false,
        verify: false,
        sync: SyncMode::Interval,
        timeout: Duration::ZERO,
        values: None,
    };
    let table = TreeTable::open(&path, options).unwrap();
    // A thread names itself; the system's name has 15 bytes.
    while !blocking_threads().iter().any(|name| name == "bytewright-tabl") {
        std::thread::yield_now();
    }
    drop(table);
    fs::remove_file(&path).unwrap();
}
