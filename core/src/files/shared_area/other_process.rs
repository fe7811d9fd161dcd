//! Files and other processes for the tests of this folder. This program starts itself again as a process that does as it is
//! told on its input, line by line, and answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};

use super::attachment::{Attachment, FoundArea};
use super::layout::{AREA_WORDS, TurnKind};
use super::turn::SharedTurn;
use crate::error::{Error, ErrorKind};
use crate::files::Mapping;

pub(super) type Handle = Attachment<Mapping>;
pub(super) type Held = SharedTurn<Mapping>;

pub(super) const PATH: &str = "BYTEWRIGHT_TEST_AREA";
pub(super) const LONG: Duration = Duration::from_secs(20);
pub(super) const SHORT: Duration = Duration::from_millis(150);

/// File that is gone with the test.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Scratch {
        let name = format!("bytewright_area_{name}_{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        File::create(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn opened(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

pub(super) fn words(path: &Path) -> Arc<Mapping> {
    Arc::new(Mapping::shared(&opened(path), AREA_WORDS).unwrap())
}

/// Joins, and says if the area was made anew.
pub(super) fn joined(path: &Path) -> (Handle, bool) {
    let mut is_new = false;
    let handle = Attachment::join(opened(path), words(path), |made, _| {
        is_new = made == FoundArea::Anew;
        Ok(())
    });
    (handle.unwrap(), is_new)
}

pub(super) fn join(path: &Path) -> Handle {
    joined(path).0
}

pub(super) fn states(handle: &Handle) -> Vec<(u64, u64)> {
    let mut states = Vec::new();
    handle.read_states(&mut states);
    states
}

pub(super) fn write_turn(handle: &Handle) -> Held {
    handle.take_turn(TurnKind::Write, LONG).unwrap()
}

pub(super) fn refused(handle: &Handle, timeout: Duration) -> Error {
    let error = handle.take_turn(TurnKind::Write, timeout).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock, "{error}");
    error
}

/// Does the work of the other process, which is this test with a path; passes without one.
#[test]
fn the_other_process_of_these_tests() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let handle = join(Path::new(&path));
    let mut turns = Vec::new();
    let mut pins = Vec::new();
    println!("\nanswer joined");
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "take" => {
                let taken = write_turn(&handle);
                println!("answer {}", taken.last_owner_died());
                turns.push(taken);
                continue;
            }
            "give" => turns.clear(),
            "pin" => pins.push(handle.pin(41, 42).unwrap()),
            "read" => handle.begin_reading(43, 44).unwrap(),
            "count" => count(&handle),
            "hog" => loop {
                let _turn = write_turn(&handle);
                std::thread::sleep(Duration::from_millis(2));
            },
            // A process that has all open that this one has, as a forked child would.
            "leave a child" => println!("answer {}", child_that_stays(&handle)),
            other => panic!("{other}"),
        }
        println!("answer done");
    }
}

fn child_that_stays(handle: &Handle) -> u32 {
    fcntl_setfd(handle.open_file(), FdFlags::empty()).unwrap();
    let mut sleep = Command::new("sleep");
    let child = sleep.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let number = child.spawn().unwrap().id();
    fcntl_setfd(handle.open_file(), FdFlags::CLOEXEC).unwrap();
    number
}

/// Adds 1 to the sum of the area, in two steps that only a turn keeps together, as often as it can.
fn count(handle: &Handle) {
    let [first, second, ..] = handle.owner_words() else { panic!("words") };
    for number in 1_u64.. {
        let mut turn = write_turn(handle);
        if turn.last_owner_died() {
            second.store(first.load(Relaxed), Relaxed);
            turn.mend();
        }
        assert_eq!(first.load(Relaxed), second.load(Relaxed), "somebody else writes");
        let next = first.load(Relaxed) + 1;
        first.store(next, Relaxed);
        if number % 64 == 0 {
            std::thread::yield_now();
        }
        second.store(next, Relaxed);
        drop(turn);
        // Room for the others, and few enough that the pipe takes them.
        println!("counted {number}");
    }
}

/// Another process, which has joined.
pub(super) struct Other {
    pub(super) process: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Other {
    pub(super) fn start(path: &Path) -> Other {
        let test = "files::shared_area::other_process::the_other_process_of_these_tests";
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(PATH, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = process.stdin.take().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut other = Other { process, told, said };
        assert_eq!(other.hear("answer "), "joined");
        other
    }

    pub(super) fn tell(&mut self, what: &str) {
        writeln!(self.told, "{what}").unwrap();
    }

    pub(super) fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.hear("answer ")
    }

    pub(super) fn hear(&mut self, what: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the other process has ended");
            if let Some(answer) = line.trim_end().strip_prefix(what) {
                return answer.to_owned();
            }
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills it, and returns the last number of which it had said that it counted it.
    pub(super) fn counted(mut self) -> u64 {
        assert!(self.process.try_wait().unwrap().is_none(), "it found a step of another");
        self.kill();
        let mut last = 0;
        let mut line = String::new();
        while self.said.read_line(&mut line).unwrap() > 0 {
            // The last line may be cut off.
            if let Some(number) = line.strip_prefix("counted ").filter(|n| n.ends_with('\n')) {
                last = number.trim_end().parse().unwrap();
            }
            line.clear();
        }
        last
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Kills a process that is not our child when the test ends.
pub(super) struct Stayed(pub(super) u32);

impl Drop for Stayed {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_raw(self.0 as i32).unwrap(), Signal::KILL);
    }
}
