//! Goal: any number of handles and processes write one file by turns. Each sees what the others committed, none waits for one
//! that is between two changes, and one that is killed, or stopped, takes nothing with it.
//! Method: two handles in one process; this program started again as several writers, which are killed and stopped at random.
//! Each counts in a key of its own, says how far it came, and moves amounts between accounts whose sum stays 0.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use bytewright::ErrorKind;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::table::{OrderedTable, Table, in_turn};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::{CREATE, READ, WRITE, all, harder, path};
use crate::generate::{Random, seeds};

const PATH: &str = "BYTEWRIGHT_TEST_COUNTS";
const KEY: &str = "BYTEWRIGHT_TEST_KEY";
const ACCOUNTS: usize = 40;
const SHORT: Duration = Duration::from_millis(60);

fn open(path: &Path) -> TreeTable {
    TreeTable::open(path, OpenOptions { sync: SyncMode::Never, ..CREATE }).unwrap()
}

fn number(table: &dyn Table, key: &str) -> i64 {
    let value = table.get(key.as_bytes()).unwrap();
    value.map_or(0, |digits| String::from_utf8(digits).unwrap().parse().unwrap())
}

fn move_between(table: &mut TreeTable, random: &mut Random) -> bytewright::Result<()> {
    table.begin()?;
    let amount = random.below(100) as i64;
    for by in [amount, -amount] {
        let account = format!("account {}", random.below(ACCOUNTS));
        if let Err(error) = table.increment(account.as_bytes(), by) {
            return table.abort().and(Err(error));
        }
    }
    table.commit()
}

fn sum_of_accounts(table: &TreeTable) -> i64 {
    let is_account = |key: &[u8]| key.starts_with(b"account");
    let amount = |value: Vec<u8>| String::from_utf8(value).unwrap().parse::<i64>().unwrap();
    all(table).into_iter().filter(|(key, _)| is_account(key)).map(|(_, value)| amount(value)).sum()
}

/// Counts, and moves amounts, until it is killed; passes without a path.
#[test]
fn the_counter_of_other_tests() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let key = std::env::var(KEY).unwrap();
    let options = OpenOptions { sync: SyncMode::Never, timeout: Duration::from_secs(60), ..CREATE };
    let mut table = TreeTable::open(&path, options).unwrap();
    let mut random = Random::new(u64::from(std::process::id()));
    println!();
    loop {
        match random.below(200) {
            0 => table.compact().unwrap(),
            1..20 => move_between(&mut table, &mut random).unwrap(),
            20..40 => {
                let name =
                    [format!("other {}", random.below(300)).into_bytes(), vec![b'x'; 200]].concat();
                match random.below(2) {
                    0 => table.put(&name, &vec![7; random.below(9000)]).unwrap(),
                    _ => drop(table.delete(&name).unwrap()),
                }
            }
            _ => println!("counted {}", table.increment(key.as_bytes(), 1).unwrap()),
        }
    }
}

/// A process that counts in a key.
struct Counter {
    key: String,
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Counter {
    fn start(path: &Path, key: String) -> Counter {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file_tree::turns::the_counter_of_other_tests", "--nocapture"])
            .env(PATH, path)
            .env(KEY, &key)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Counter { key, process, said }
    }

    /// Returns the next number that it says.
    fn hear(&mut self) -> i64 {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the counter has ended");
            // The last line of one that was killed may be cut off.
            if let Some(number) = line.strip_prefix("counted ").filter(|text| text.ends_with('\n'))
            {
                return number.trim_end().parse().unwrap();
            }
        }
    }

    /// Returns when it has stopped.
    fn stop(&self) {
        let process = Pid::from_child(&self.process);
        kill_process(process, Signal::STOP).unwrap();
        assert!(waitpid(Some(process), WaitOptions::UNTRACED).unwrap().unwrap().1.stopped());
    }

    fn go_on(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).unwrap();
    }

    /// Kills it, and returns the last number that it had said by then, or `heard`.
    fn kill(mut self, heard: i64) -> i64 {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let rest = std::io::read_to_string(&mut self.said).unwrap();
        let whole = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let numbers = whole.filter_map(|line| line.trim_end().strip_prefix("counted "));
        numbers.map(|number| number.parse().unwrap()).next_back().unwrap_or(heard)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Promise (tree-table-file): Processes write by turns, each sees the commits of the others, and one
// that is killed loses nothing that it was promised.
#[test]
fn handles_write_by_turns_and_see_each_others_commits_at_once() {
    let path = path("turns");
    let (mut one, mut other) = (open(&path), open(&path));
    let mut expected = BTreeMap::new();
    for step in 0..500_u32 {
        let table = if step % 3 == 0 { &mut one } else { &mut other };
        let (key, value) =
            ((step % 90).to_be_bytes().to_vec(), vec![step as u8; (step % 400) as usize]);
        table.put(&key, &value).unwrap();
        expected.insert(key, value);
        if step % 50 == 0 {
            assert_eq!((all(&one), all(&other)), (expected.clone(), expected.clone()));
        }
    }
    let snapshot = one.ordered_snapshot().unwrap();
    other.clear().unwrap();
    assert_eq!((one.len().unwrap(), snapshot.len().unwrap()), (0, 90));
    assert_eq!((one.increment(b"n", 2).unwrap(), other.increment(b"n", 3).unwrap()), (2, 5));
}

#[test]
fn a_handle_that_closes_beside_another_leaves_it_room_for_all_that_it_writes() {
    seeds(10, |random| {
        let path = path("closed_beside");
        let mut table = open(&path);
        let mut expected = BTreeMap::new();
        for step in 0..1000 * harder() as u32 {
            let value = vec![step as u8; random.below(9000)];
            table.put(&step.to_be_bytes(), &value).unwrap();
            expected.insert(step.to_be_bytes().to_vec(), value);
            if random.below(5) == 0 {
                drop(open(&path));
            }
        }
        assert_eq!(all(&table), expected);
    });
}

// Promise (tree-table-file): A transaction, or a process that is stopped, keeps writers waiting for
// their timeout and no reader.
#[test]
fn a_transaction_keeps_others_waiting_as_long_as_they_are_told_and_no_reader() {
    let path = path("turn_kept");
    let (mut one, mut other) = (open(&path), open(&path));
    one.put(b"a", b"1").unwrap();
    one.begin().unwrap();
    one.put(b"a", b"2").unwrap();
    let error = other.put(b"b", b"1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock);
    assert!(error.message().contains("another object of this process"), "{error}");
    assert_eq!(other.begin().unwrap_err().kind(), ErrorKind::Lock);
    assert_eq!(other.depth(), 0);
    other.set_timeout(SHORT);
    let began = Instant::now();
    assert_eq!(other.delete(b"a").unwrap_err().kind(), ErrorKind::Lock);
    assert!(began.elapsed() >= SHORT);
    assert_eq!(other.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    one.commit().unwrap();
    assert_eq!(other.increment(b"a", 1).unwrap(), 3);
    assert_eq!(one.get(b"a").unwrap().as_deref(), Some(&b"3"[..]));
}

#[test]
fn a_turn_is_kept_over_several_changes_and_given_back_however_they_end() {
    let path = path("turn_over");
    let (mut one, mut other) = (open(&path), open(&path));
    let failed = in_turn(&mut one, |table| {
        table.put(b"a", b"1")?;
        table.begin()?;
        table.put(b"a", b"2")?;
        table.commit()?;
        assert_eq!(other.put(b"a", b"3").unwrap_err().kind(), ErrorKind::Lock);
        table.increment(b"a", i64::MAX)
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Argument);
    other.put(b"a", b"3").unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        in_turn(&mut one, |_| -> bytewright::Result<()> { std::panic::panic_any(()) })
    }));
    assert!(panicked.is_err());
    other.put(b"a", b"4").unwrap();
    assert_eq!(one.get(b"a").unwrap().as_deref(), Some(&b"4"[..]));
}

#[test]
fn nobody_else_writes_to_a_table_that_was_opened_exclusively() {
    let path = path("exclusive");
    let exclusive = OpenOptions { exclusive: true, ..CREATE };
    let first = open(&path);
    assert_eq!(TreeTable::open(&path, exclusive).unwrap_err().kind(), ErrorKind::Lock);
    drop(first);
    let mut only = TreeTable::open(&path, exclusive).unwrap();
    only.put(b"a", b"1").unwrap();
    assert_eq!(TreeTable::open(&path, WRITE).unwrap_err().kind(), ErrorKind::Lock);
    assert_eq!(TreeTable::open(&path, READ).unwrap().len().unwrap(), 1);
    let both = TreeTable::open(&path, OpenOptions { exclusive: true, ..READ }).unwrap_err();
    assert_eq!(both.kind(), ErrorKind::Argument);
}

// Promise (tree-table-file): also Processes write by turns
#[test]
fn writers_that_are_killed_at_random_lose_nothing_they_said_and_leave_no_half() {
    seeds(1, |random: &mut Random| {
        let path = path("killed_by_turns");
        let mut counters: Vec<Counter> =
            (0..4).map(|number| Counter::start(&path, format!("key {number}"))).collect();
        for counter in &mut counters {
            counter.hear();
        }
        let reader = TreeTable::open(&path, READ).unwrap();
        for round in 0..25 * harder() {
            let place = random.below(counters.len());
            let mut heard = 0;
            for _ in 0..random.below(60) {
                heard = counters[place].hear();
            }
            let key = counters[place].key.clone();
            let killed =
                std::mem::replace(&mut counters[place], Counter::start(&path, key.clone()));
            let said = killed.kill(heard);
            // A handle that closes gives free room back, but not what the killed one left half done.
            drop(TreeTable::open(&path, WRITE).unwrap());
            let found = number(&reader, &key);
            let next = counters[place].hear();
            assert!(
                found >= said && next <= found.max(said) + 2,
                "round {round}: {said} {found} {next}"
            );
            assert_eq!(sum_of_accounts(&reader), 0, "round {round}");
        }
        drop(counters);
        let mut table = TreeTable::open(&path, OpenOptions { verify: true, ..WRITE }).unwrap();
        assert_eq!(sum_of_accounts(&table), 0);
        table.compact().unwrap();
        assert_eq!(sum_of_accounts(&TreeTable::open(&path, READ).unwrap()), 0);
    });
}

// Promise (tree-table-file): also A transaction, or a process that is stopped,
#[test]
fn a_process_that_is_stopped_keeps_nobody_from_reading_and_writers_for_their_timeout() {
    let path = path("stopped");
    let mut table = open(&path);
    table.set_timeout(SHORT);
    let (mut refused, mut written) = (0, 0);
    for round in 0..40 * harder() {
        let mut counter = Counter::start(&path, "stopped".to_owned());
        for _ in 0..=round % 7 {
            counter.hear();
        }
        counter.stop();
        let before = number(&table, "stopped");
        match table.put(b"mine", b"1") {
            Ok(()) => written += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Lock, "{error}");
                let name = format!("process {} (", counter.process.id());
                assert!(error.message().contains(&name), "{error}");
                refused += 1;
            }
        }
        assert_eq!(number(&table, "stopped"), before);
        assert_eq!(sum_of_accounts(&table), 0);
        match round % 2 {
            // It goes on where it was.
            0 => {
                counter.go_on();
                counter.hear();
            }
            _ => drop(counter.kill(0)),
        }
        table.set_timeout(Duration::from_secs(60));
        table.put(b"mine", b"2").unwrap();
        table.set_timeout(SHORT);
    }
    println!("{refused} refused, {written} written");
}
