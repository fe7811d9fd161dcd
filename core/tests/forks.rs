//! Goal: a child that is forked at any moment can use everything, whatever other threads of its parent were doing.
//!
//! Method: a child of the tests, in which nothing was used yet, has a thread that does everything for the first time and
//! forks beside it, after a time that differs from round to round; that child does everything, too, and ends. One that hangs
//! is killed by its alarm. BYTEWRIGHT_FORKS is how many rounds there are (4,000 have been run of the first, 450 of the last).
//!
//! An executable of its own, because no other test may have used anything in the process that forks.
#![allow(unsafe_code, reason = "to fork")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytewright::ask::{PacketOptions, Question};
use bytewright::files::ProcessMark;
use bytewright::host::{Blocking, Capture};
use bytewright::input::{self, CaptureOptions, CaptureReader};
use bytewright::marshal::{Hooks, RootStream};
use bytewright::packet::Field;
use bytewright::panics;
use bytewright::table::file::Claim;
use bytewright::threads;

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
}

/// Runs `child` in a forked process, and says how that ended: 0 where the child was content.
fn in_child(child: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child runs `child` and ends without what the test harness has to do at the end. An alarm ends one that
    // waits for what no thread of it holds.
    unsafe {
        match fork() {
            0 => {
                alarm(60);
                let is_content = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
                _exit(i32::from(!is_content.unwrap_or(false)))
            }
            process => {
                let mut status = -1;
                assert_eq!(waitpid(process, &mut status, 0), process);
                status
            }
        }
    }
}

/// Uses what the process has one of, and says whether that worked.
fn use_everything(folder: &Path) -> bool {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    // Looks for libpcap, which may be absent.
    let _ = input::libpcap_version();
    let is_caught = panics::catch(|| ()).is_ok();
    let claim = Claim::of(&folder.join(format!("{}", std::process::id())));
    let dumped = RootStream::scan(b"\x04\x08{\x06:\x06ai\x06".to_vec(), Hooks::Known);
    let options = CaptureOptions::default();
    let mut web = CaptureReader::open(&samples.join("web.pcap.gz"), &options).unwrap();
    let is_read = web.each_while(|_, _| false).is_ok();
    // Asks for the process of the mark.
    let is_here = ProcessMark::new().is_here();
    is_caught && claim.is_ok() && dumped.is_ok() && is_read && is_here
}

#[test]
fn a_child_uses_what_another_thread_was_using_when_it_was_forked() {
    let rounds = std::env::var("BYTEWRIGHT_FORKS").map_or(300, |rounds| rounds.parse().unwrap());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for round in 0..rounds {
        let ended = in_child(|| {
            let is_used = &AtomicBool::new(false);
            let begin = &Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    begin.wait();
                    is_used.store(use_everything(&folder), Relaxed);
                });
                begin.wait();
                for _ in 0..(round % 100) * 200 {
                    std::hint::spin_loop();
                }
                let ended = in_child(|| use_everything(&folder));
                assert_eq!(ended, 0, "the child that was forked beside the thread");
            });
            is_used.load(Relaxed)
        });
        assert_eq!(ended, 0, "round {round}");
    }
}

/// Asks an open capture for its packets, and says whether there were as many as it has.
fn ask_everything(capture: &Capture) -> bool {
    let question = Question::Packets(vec![Field::Length], PacketOptions::default());
    let pass = capture.ask(question).unwrap();
    let mut answers = 0;
    while let Some(item) = pass.next(&Blocking).unwrap() {
        answers += 1;
        pass.recycle(item);
    }
    pass.close(&Blocking).is_ok() && answers > 0 && capture.damage().is_none()
}

/// One round is a thread that asks one capture over and over, and 50 forks beside it.
#[test]
fn a_child_asks_a_capture_that_a_thread_of_its_parent_was_asking() {
    let rounds = std::env::var("BYTEWRIGHT_FORKS").map_or(10, |rounds| rounds.parse().unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tunnels.pcap");
    for round in 0..rounds {
        let ended = in_child(|| {
            let capture = &Capture::open(&path, CaptureOptions::default()).unwrap();
            let is_over = &AtomicBool::new(false);
            std::thread::scope(|scope| {
                let asking = scope.spawn(|| {
                    let mut is_content = true;
                    while !is_over.load(Relaxed) {
                        is_content &= ask_everything(capture);
                    }
                    is_content
                });
                let ended: Vec<i32> =
                    (0..50).map(|_| in_child(|| ask_everything(capture))).collect();
                is_over.store(true, Relaxed);
                asking.join().unwrap() && ended.iter().all(|ended| *ended == 0)
            })
        });
        assert_eq!(ended, 0, "round {round}");
    }
}

/// One round is a thread that starts threads and waits for their ends, and 1,000 forks beside it.
#[test]
fn a_child_starts_a_thread_while_a_thread_of_its_parent_was_starting_or_ending() {
    let starts = || threads::spawn("bytewright", || 7).is_ok_and(|thread| thread.join().is_ok());
    let rounds = std::env::var("BYTEWRIGHT_FORKS").map_or(2, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let ended = in_child(|| {
            let is_over = &AtomicBool::new(false);
            std::thread::scope(|scope| {
                let starting = scope.spawn(|| while !is_over.load(Relaxed) && starts() {});
                let ended: Vec<i32> = (0..1000).map(|_| in_child(starts)).collect();
                is_over.store(true, Relaxed);
                starting.join().is_ok() && ended.iter().all(|ended| *ended == 0)
            })
        });
        assert_eq!(ended, 0, "round {round}");
    }
}
