//! Goal: handles of one file, in one process and in many, keep each other out, see who reads what, and go on when any of
//! them is killed at any moment.
//! Method: this program starts itself again as a process that does as it is told on its input, line by line, and answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};

use super::attachment::Attachment;
use super::kernel::{SYSTEM_CALLS, in_forked_child};
use super::layout::{AREA_WORDS, HANDLES_MAX, PINS_MAX, TurnKind};
use super::turn::SharedTurn;
use crate::error::{Error, ErrorKind};
use crate::files::Mapping;

type Handle = Attachment<Mapping>;
type Held = SharedTurn<Mapping>;

const PATH: &str = "BYTEWRIGHT_TEST_AREA";
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);

/// File that is gone with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
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

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

fn words(path: &Path) -> Arc<Mapping> {
    Arc::new(Mapping::shared(&opened(path), AREA_WORDS).unwrap())
}

/// Joins, and says if the area was made anew.
fn joined(path: &Path) -> (Handle, bool) {
    let mut is_new = false;
    let handle = Attachment::join(opened(path), words(path), |made, _| {
        is_new = made;
        Ok(())
    });
    (handle.unwrap(), is_new)
}

fn join(path: &Path) -> Handle {
    joined(path).0
}

fn states(handle: &Handle) -> Vec<(u64, u64)> {
    let mut states = Vec::new();
    handle.read_states(&mut states);
    states
}

fn write_turn(handle: &Handle) -> Held {
    handle.take_turn(TurnKind::Write, LONG).unwrap()
}

fn refused(handle: &Handle, timeout: Duration) -> Error {
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
struct Other {
    process: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Other {
    fn start(path: &Path) -> Other {
        let test = "files::shared_area::tests::the_other_process_of_these_tests";
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

    fn tell(&mut self, what: &str) {
        writeln!(self.told, "{what}").unwrap();
    }

    fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.hear("answer ")
    }

    fn hear(&mut self, what: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the other process has ended");
            if let Some(answer) = line.trim_end().strip_prefix(what) {
                return answer.to_owned();
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills it, and returns the last number of which it had said that it counted it.
    fn counted(mut self) -> u64 {
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
struct Stayed(u32);

impl Drop for Stayed {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_raw(self.0 as i32).unwrap(), Signal::KILL);
    }
}

#[test]
fn a_turn_that_nobody_has_is_taken_and_given_back_without_the_system() {
    let file = Scratch::new("alone");
    let handle = join(&file.0);
    drop(write_turn(&handle));
    let calls = SYSTEM_CALLS.get();
    for _ in 0..100_000 {
        let turn = handle.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
        assert!(!turn.last_owner_died());
        turn.give_back();
    }
    assert_eq!(SYSTEM_CALLS.get(), calls);
}

#[test]
fn two_handles_of_a_process_keep_each_other_out() {
    let file = Scratch::new("two_handles");
    let [first, second] = [join(&file.0), join(&file.0)];
    assert!(!first.is_alone() && !second.is_alone());
    let turn = write_turn(&first);
    let sync = second.take_turn(TurnKind::Sync, Duration::ZERO).unwrap();
    let error = refused(&second, Duration::ZERO);
    assert!(error.message().ends_with("found it taken by another object of this process"));
    let error = refused(&second, SHORT);
    assert!(error.message().ends_with("of this process for 0.15 seconds"), "{error}");
    let error = refused(&first, LONG);
    assert!(error.message().contains("this handle has it"), "{error}");
    drop((turn, sync));
    assert!(!write_turn(&second).last_owner_died());
    drop(second);
    assert!(first.is_alone());
}

#[test]
fn who_waits_gets_the_turn_when_it_is_given_back_and_may_end_the_waiting() {
    let file = Scratch::new("waits");
    let [first, second] = [join(&file.0), join(&file.0)];
    let turn = write_turn(&first);
    let mut looks = 0;
    let mut check = || {
        looks += 1;
        if looks == 3 { Err(Error::new(ErrorKind::Argument, "enough")) } else { Ok(()) }
    };
    let error = second.take_turn_with(TurnKind::Write, LONG, &mut check).unwrap_err();
    assert_eq!((error.message(), looks), ("enough", 3));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| drop(write_turn(&second)));
        std::thread::sleep(SHORT);
        assert!(!waiting.is_finished());
        drop(turn);
        waiting.join().unwrap();
    });
}

#[test]
fn threads_with_a_handle_each_lose_no_step_of_each_other() {
    let file = Scratch::new("threads");
    let sum = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let handle = join(&file.0);
                for _ in 0..2000 {
                    let turn = write_turn(&handle);
                    sum.store(sum.load(Relaxed) + 1, Relaxed);
                    drop(turn);
                }
            });
        }
    });
    assert_eq!(sum.load(Relaxed), 8000);
}

#[test]
fn who_waits_gets_the_turn_though_another_takes_it_again_and_again() {
    let file = Scratch::new("hog");
    let handle = join(&file.0);
    let mut hog = Other::start(&file.0);
    hog.tell("hog");
    while handle.take_turn(TurnKind::Write, Duration::ZERO).is_ok() {
        std::thread::yield_now();
    }
    for _ in 0..20 {
        let began = Instant::now();
        drop(write_turn(&handle));
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
}

#[test]
fn processes_keep_each_other_out_and_errors_name_the_one() {
    let file = Scratch::new("two_processes");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    assert_eq!(other.ask("take"), "false");
    let holder = format!("process {} (", other.process.id());
    for timeout in [Duration::ZERO, SHORT] {
        let error = refused(&handle, timeout);
        assert!(error.message().contains(&holder), "{error}");
    }
    assert_eq!(other.ask("give"), "done");
    let turn = write_turn(&handle);
    other.tell("take");
    std::thread::sleep(SHORT);
    drop(turn);
    assert_eq!(other.hear("answer "), "false");
}

#[test]
fn the_turn_of_a_killed_process_is_taken_and_told_until_it_is_mended() {
    let file = Scratch::new("killed");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    other.ask("take");
    other.kill();
    assert!(write_turn(&handle).last_owner_died());
    let mut turn = handle.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
    assert!(turn.last_owner_died(), "nobody mended it");
    turn.mend();
    assert!(!turn.last_owner_died());
    drop(turn);
    assert!(!write_turn(&handle).last_owner_died());
    assert!(handle.is_alone());
}

#[test]
fn the_turn_of_a_killed_process_is_told_to_who_takes_its_record() {
    let file = Scratch::new("record_of_killed");
    let mut other = Other::start(&file.0);
    other.ask("take");
    let waiting = join(&file.0);
    other.kill();
    let index = join(&file.0).index;
    assert_ne!(index, waiting.index, "that of the killed one");
    assert!(waiting.take_turn(TurnKind::Write, Duration::ZERO).unwrap().last_owner_died());
}

#[test]
fn a_killed_process_holds_nothing_while_children_of_it_live_on() {
    let file = Scratch::new("children");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    let child = Stayed(other.ask("leave a child").parse().unwrap());
    other.hear("answer ");
    for what in ["take", "pin", "read"] {
        other.ask(what);
    }
    assert!(refused(&handle, SHORT).message().contains("process"));
    let keeps = |index| handle.is_byte_locked(index);
    let index = (0..2).find(|index| *index != handle.index).unwrap();
    assert!(!handle.is_alone() && keeps(index));
    other.kill();
    assert!(keeps(index), "the child has the file open");
    assert!(handle.is_alone());
    assert!(write_turn(&handle).last_owner_died());
    assert_eq!(states(&handle), [(41, 42), (43, 44)]);
    assert_eq!((handle.sweep(), handle.sweep()), (1, 0));
    assert_eq!(states(&handle), []);
    assert_eq!(join(&file.0).index, 2, "a record that the child keeps is passed");
    drop(child);
    while keeps(index) {
        std::thread::yield_now();
    }
    assert_eq!(join(&file.0).index, index);
}

#[test]
fn a_stopped_process_keeps_its_turn_and_goes_on() {
    let file = Scratch::new("stopped");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    other.ask("take");
    other.signal(Signal::STOP);
    let error = refused(&handle, Duration::from_millis(400));
    let holder = format!("found it taken by process {} (", other.process.id());
    assert!(error.message().contains(&holder), "{error}");
    assert!(!handle.is_alone());
    assert_eq!(handle.sweep(), 0);
    other.signal(Signal::CONT);
    other.ask("give");
    assert!(!write_turn(&handle).last_owner_died());
}

#[test]
fn processes_that_are_killed_at_any_moment_lose_no_step_that_they_told() {
    let file = Scratch::new("counted");
    let handle = join(&file.0);
    let mut random = u64::from(std::process::id());
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        (random >> 33) % below
    };
    let mut others: Vec<Other> = Vec::new();
    let (mut told, mut killed) = (0, 0);
    for _ in 0..30 {
        while others.len() < 8 {
            let mut other = Other::start(&file.0);
            other.tell("count");
            others.push(other);
        }
        std::thread::sleep(Duration::from_micros(next(20_000)));
        let index = next(8) as usize;
        told += others.swap_remove(index).counted();
        killed += 1;
    }
    for other in others {
        told += other.counted();
        killed += 1;
    }
    let turn = write_turn(&handle);
    let sum = handle.owner_words()[0].load(Relaxed);
    assert!((told..=told + killed).contains(&sum), "{sum} of {told} by {killed}");
    drop(turn);
    handle.sweep();
    assert!(handle.is_alone());
}

#[test]
fn what_a_killed_reader_reads_and_has_pinned_is_freed_by_a_sweep() {
    let file = Scratch::new("reader");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    other.ask("read");
    other.ask("pin");
    other.ask("pin");
    assert_eq!(states(&handle), [(41, 42), (43, 44)]);
    assert_eq!(handle.sweep(), 0);
    other.kill();
    assert_eq!(handle.sweep(), 1);
    assert_eq!(states(&handle), []);
}

#[test]
fn states_are_told_while_they_are_read_or_pinned() {
    let file = Scratch::new("states");
    let [reader, writer] = [join(&file.0), join(&file.0)];
    assert_eq!(states(&writer), []);
    reader.begin_reading(0, 7).unwrap();
    assert_eq!(states(&writer), [(0, 7)]);
    let pin = reader.pin(0, 7).unwrap();
    reader.begin_reading(1, 8).unwrap();
    let again = reader.pin(0, 7).unwrap();
    assert_eq!(states(&writer), [(0, 7), (1, 8)], "each once");
    reader.unpin(pin);
    reader.end_reading();
    assert_eq!(states(&writer), [(0, 7)]);
    reader.unpin(again);
    assert_eq!(states(&writer), []);
    assert_eq!(reader.pin(u64::MAX, 1).unwrap_err().kind(), ErrorKind::Internal);
    let _ = reader.pin(5, 6).unwrap();
    drop(reader);
    assert_eq!(states(&writer), [], "what a handle has goes with it");
}

#[test]
fn a_state_that_is_held_by_turns_is_never_missing_and_none_is_made_up() {
    let file = Scratch::new("moving");
    let [reader, writer] = [join(&file.0), join(&file.0)];
    let is_over = &std::sync::atomic::AtomicBool::new(false);
    reader.begin_reading(7, 70).unwrap();
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            while !is_over.load(Relaxed) {
                let pin = reader.pin(7, 70).unwrap();
                reader.begin_reading(8, 80).unwrap();
                reader.begin_reading(7, 70).unwrap();
                reader.unpin(pin);
            }
        });
        for _ in 0..20_000 {
            let found = states(&writer);
            let known = found.iter().all(|state| [(7, 70), (8, 80)].contains(state));
            assert!(known && found.contains(&(7, 70)), "{found:?}");
        }
        is_over.store(true, Relaxed);
        reading.join().unwrap();
    });
}

#[test]
fn records_are_used_again() {
    let file = Scratch::new("records");
    let stays = join(&file.0);
    for _ in 0..2 * HANDLES_MAX {
        assert_eq!(join(&file.0).index, 1);
    }
    for _ in 0..3 {
        let mut other = Other::start(&file.0);
        other.ask("pin");
        other.kill();
        assert_eq!(join(&file.0).index, 1);
        assert_eq!(states(&stays), [], "what its last one had is freed");
    }
}

#[test]
fn one_handle_or_one_pin_too_many_is_an_error_that_says_so() {
    let file = Scratch::new("limits");
    let words = words(&file.0);
    let join = || Attachment::join(opened(&file.0), words.clone(), |_, _| Ok(()));
    let mut handles: Vec<Handle> = (0..HANDLES_MAX).map(|_| join().unwrap()).collect();
    let error = join().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("fewer than 512 handles"), "{error}");
    handles.truncate(2);
    let mut pins: Vec<_> = (0..PINS_MAX as u64)
        .map(|number| handles[number as usize % 2].pin(number, number).unwrap())
        .collect();
    let error = handles[0].pin(1, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("fewer than 768 snapshots"), "{error}");
    assert_eq!(states(&handles[0]).len(), PINS_MAX);
    handles[1].unpin(pins.pop().unwrap());
    let _ = handles[0].pin(1, 1).unwrap();
}

#[test]
fn pins_of_the_killed_are_freed_when_all_are_in_use() {
    let file = Scratch::new("pins_of_killed");
    let handle = join(&file.0);
    let mut other = Other::start(&file.0);
    other.ask("pin");
    let _pins: Vec<_> = (1..PINS_MAX as u64).map(|number| handle.pin(number, 0).unwrap()).collect();
    other.kill();
    let _ = handle.pin(1, 0).unwrap();
    assert!(handle.pin(1, 0).is_err());
}

#[test]
fn an_area_is_anew_for_the_first_and_after_the_last_who_leaves() {
    let file = Scratch::new("anew");
    let (first, is_new) = joined(&file.0);
    assert!(is_new);
    let number = first.use_number();
    first.owner_words()[127].store(9, Relaxed);
    let (second, is_new) = joined(&file.0);
    assert!(!is_new && second.owner_words()[127].load(Relaxed) == 9);
    assert_eq!(second.use_number(), number);
    first.leave(|_| panic!("another one is there"));
    let mut seen = 0;
    second.leave(|words| seen = words[127].load(Relaxed));
    assert_eq!(seen, 9);
    let (third, is_new) = joined(&file.0);
    assert!(is_new && third.owner_words()[127].load(Relaxed) == 0);
    assert_ne!(third.use_number(), number);
}

#[test]
fn an_area_of_killed_processes_keeps_its_words_and_nothing_of_theirs() {
    let file = Scratch::new("all_killed");
    let mut other = Other::start(&file.0);
    for what in ["take", "pin", "read"] {
        other.ask(what);
    }
    words(&file.0)[32].store(5, Relaxed);
    other.kill();
    let (handle, is_new) = joined(&file.0);
    assert!(!is_new && handle.owner_words()[0].load(Relaxed) == 5);
    assert_eq!((handle.index, states(&handle)), (0, vec![]));
    assert!(write_turn(&handle).last_owner_died());
}

#[test]
fn an_area_of_another_start_of_the_system_or_of_another_file_is_made_anew() {
    let file = Scratch::new("stale");
    // Layout, boot, device and inode.
    for stale in 0..5 {
        let words = words(&file.0);
        drop(join(&file.0));
        for word in words.iter().skip(8) {
            word.store(u64::MAX, Relaxed);
        }
        words[stale].fetch_xor(1, Relaxed);
        let (handle, is_new) = joined(&file.0);
        assert!(is_new, "{stale}");
        assert!(handle.owner_words().iter().all(|word| word.load(Relaxed) == 0));
        assert_eq!(states(&handle), []);
        assert!(!write_turn(&handle).last_owner_died());
    }
    let copy = Scratch::new("stale_copy");
    let _handle = join(&file.0);
    std::fs::copy(&file.0, &copy.0).unwrap();
    assert!(joined(&copy.0).1);
}

#[test]
fn a_file_that_another_machine_uses_is_refused() {
    let file = Scratch::new("machine");
    let words = words(&file.0);
    let handle = join(&file.0);
    for (word, found) in [(1, "another machine"), (3, "another version of Bytewright")] {
        words[word].fetch_xor(1, Relaxed);
        let refused = Attachment::join(opened(&file.0), words.clone(), |_, _| Ok(()));
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lock);
        assert!(error.message().contains(found), "{error}");
        words[word].fetch_xor(1, Relaxed);
    }
    assert!(!joined(&file.0).1);
    drop(handle);
}

#[test]
fn an_error_of_the_preparation_leaves_a_new_area_unset_and_a_used_one_as_it_is() {
    let file = Scratch::new("preparation");
    let failing = |expected| {
        let refuse = |is_new, words: &[AtomicU64]| {
            assert_eq!((is_new, words.len()), (expected, 128));
            Err(Error::new(ErrorKind::Corrupt, "no"))
        };
        Attachment::join(opened(&file.0), words(&file.0), refuse).unwrap_err()
    };
    assert_eq!(failing(true).kind(), ErrorKind::Corrupt);
    let (handle, is_new) = joined(&file.0);
    assert!(is_new && handle.index == 0);
    assert_eq!(failing(false).kind(), ErrorKind::Corrupt);
    assert!(handle.is_alone());
    assert!(!joined(&file.0).1);
}

#[test]
fn a_file_that_cannot_be_written_and_an_area_that_is_too_small_are_errors() {
    let file = Scratch::new("refused");
    let words = words(&file.0);
    let read_only = File::open(&file.0).unwrap();
    let error = Attachment::join(read_only, words, |_, _| Ok(())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{error}");
    let few = Arc::new(Mapping::anonymous(AREA_WORDS - 1).unwrap());
    let error = Attachment::join(opened(&file.0), few, |_, _| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
}

#[test]
fn a_turn_that_outlives_its_handle_is_told_as_one_of_the_dead_and_changes_nothing() {
    let file = Scratch::new("outlives");
    let [first, second] = [join(&file.0), join(&file.0)];
    let turn = write_turn(&first);
    drop(first);
    let mut taken = second.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
    assert!(taken.last_owner_died());
    taken.mend();
    drop(turn);
    let third = join(&file.0);
    refused(&third, Duration::ZERO);
    drop(taken);
    assert!(!write_turn(&third).last_owner_died());
}

#[test]
fn a_forked_child_can_use_nothing_of_a_handle_and_takes_nothing_away() {
    let file = Scratch::new("forked");
    let [handle, other] = [join(&file.0), join(&file.0)];
    let turn = write_turn(&handle);
    handle.begin_reading(3, 4).unwrap();
    let pin = handle.pin(5, 6).unwrap();
    let mut held = Some((handle, turn, pin));
    let is_content = in_forked_child(|| {
        let (handle, turn, pin) = held.take().unwrap();
        let is_closed = handle.take_turn(TurnKind::Sync, LONG).unwrap_err().kind()
            == ErrorKind::Closed
            && handle.begin_reading(1, 1).unwrap_err().kind() == ErrorKind::Closed
            && handle.pin(1, 1).unwrap_err().kind() == ErrorKind::Closed;
        handle.end_reading();
        handle.unpin(pin);
        drop(turn);
        let swept = handle.sweep();
        handle.leave(|_| panic!("not its own to end"));
        // Its own place it can have.
        let own = join(&file.0);
        refused(&own, Duration::ZERO);
        is_closed && swept == 0
    });
    assert!(is_content);
    let (handle, turn, _pin) = held.take().unwrap();
    assert_eq!(states(&other), [(3, 4), (5, 6)]);
    refused(&other, Duration::ZERO);
    assert!(!other.is_alone());
    drop(turn);
    drop(write_turn(&other));
    drop(handle);
    assert!(other.is_alone());
}
