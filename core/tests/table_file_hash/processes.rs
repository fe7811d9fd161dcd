//! Processes: one that writes is killed while others read, and one that has a table open forks.

#![allow(unsafe_code, reason = "there is no safe way to fork")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};

use crate::generate::seeds;
use crate::{CREATE, READ, WRITE, get, kind, path};

const PATH: &str = "BYTEWRIGHT_KILLED_WRITER";

/// Not a test by itself: what the killed process does. It says on standard error which commit it has
/// made, after making it.
#[test]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let options = OpenOptions { sync: SyncMode::Interval, ..CREATE };
    let mut table = HashTable::open(Path::new(&path), options).unwrap();
    let mut number = table.get(b"left").unwrap().map_or(0, |value| number_in(&value));
    let mut out = std::io::stderr();
    loop {
        number += 1;
        let value = [number.to_le_bytes().to_vec(), vec![number as u8; (number % 700) as usize]];
        if number.is_multiple_of(500) {
            table.compact().unwrap();
        }
        table.begin().unwrap();
        table.put(b"left", &value.concat()).unwrap();
        table.put(&(number % 1000).to_le_bytes(), &value.concat()).unwrap();
        table.put(b"right", &value.concat()).unwrap();
        table.commit().unwrap();
        if out.write_all(&number.to_le_bytes()).is_err() {
            return;
        }
    }
}

fn number_in(value: &[u8]) -> u64 {
    let number = u64::from_le_bytes(value[..8].try_into().unwrap());
    assert!(value[8..].iter().all(|byte| *byte == number as u8));
    assert_eq!(value.len() as u64, 8 + number % 700);
    number
}

fn spawn_writer(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "processes::writes_until_it_is_killed",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(PATH, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The last number that the writer said.
fn last_said(out: &mut dyn Read, said: &mut Vec<u8>) -> u64 {
    out.read_to_end(said).unwrap();
    said.chunks_exact(8).last().map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
}

/// Both sides of one moment, which every commit changes together.
fn look(reader: &HashTable) -> u64 {
    let snapshot = reader.snapshot().unwrap();
    let side = |key: &[u8]| {
        let mut number = 0;
        snapshot.get_with(key, &mut |value| number = number_in(value)).unwrap();
        number
    };
    assert_eq!(side(b"left"), side(b"right"), "a commit is seen as a whole");
    side(b"left")
}

// Promise (hash-table-file): No commit is lost by the death of the process.
#[test]
fn a_killed_writer_loses_nothing_it_had_said_and_its_readers_read_on() {
    let rounds = std::env::var("BYTEWRIGHT_KILLS").map_or(20, |n| n.parse().unwrap());
    let path = path("killed");
    HashTable::open(&path, CREATE).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    seeds(rounds, |random| {
        let mut writer = spawn_writer(&path);
        let mut out = writer.stderr.take().unwrap();
        let mut said = vec![0; 64 + random.below(4_000)];
        out.read_exact(&mut said).unwrap();
        let before = look(&reader);
        let young = HashTable::open(&path, READ).unwrap();
        assert!(look(&young) >= before);
        writer.kill().unwrap();
        writer.wait().unwrap();
        let said = last_said(&mut out, &mut said);
        let after = look(&reader);
        assert!(after == said || after == said + 1, "said {said}, found {after}");
        assert_eq!(look(&young), after);
        // One look at all of it, by a writer.
        let table = HashTable::open(&path, WRITE).unwrap();
        assert_eq!(look(&table), after);
        for number in after.saturating_sub(999).max(1)..=after {
            let value = get(&table, &(number % 1000).to_le_bytes()).unwrap();
            assert_eq!(number_in(&value), number);
        }
    });
    assert!(look(&reader) > 0);
}

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Runs `child` in a forked process, and says whether it was content.
pub(crate) fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `child`, which takes no lock that another thread of the tests may hold,
    // and ends without unwinding or running what the test harness has to do at the end.
    unsafe {
        match fork() {
            0 => {
                let is_content = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
                _exit(i32::from(!is_content.unwrap_or(false)))
            }
            process => {
                let mut status = -1;
                assert_eq!(waitpid(process, &mut status, 0), process);
                status == 0
            }
        }
    }
}

/// Runs `child` in a forked process with the rights of another user, and says whether it was content.
pub(crate) fn in_child_of_user(user: u32, child: impl FnOnce() -> bool) -> bool {
    unsafe extern "C" {
        fn setuid(user: u32) -> i32;
    }
    // SAFETY: it changes the rights of the child's only thread.
    in_child(|| unsafe { setuid(user) == 0 } && child())
}

#[test]
fn a_forked_child_reads_and_writes_for_itself() {
    let path = path("forked");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    for number in 0..500_u16 {
        table.put(&number.to_le_bytes(), &[1; 40]).unwrap();
    }
    let snapshot = table.snapshot().unwrap();
    table.begin().unwrap();
    table.put(b"pending", b"").unwrap();
    let (mut from_child, mut to_parent) = std::io::pipe().unwrap();
    let (mut from_parent, mut to_child) = std::io::pipe().unwrap();
    let content = std::thread::scope(|scope| {
        let parent = scope.spawn(|| {
            // The child has looked at what was committed when it was forked.
            from_child.read_exact(&mut [0]).unwrap();
            to_child.write_all(&[1]).unwrap();
        });
        let content = in_child(|| {
            let reads = table.len().unwrap() == 500 && !table.contains(b"pending").unwrap();
            // The parent has the turn.
            let refused = kind(table.put(b"x", b"")) == ErrorKind::Lock
                && kind(snapshot.scan()) == ErrorKind::Closed;
            to_parent.write_all(&[1]).unwrap();
            from_parent.read_exact(&mut [0]).unwrap();
            drop(table);
            drop(snapshot);
            reads && refused
        });
        parent.join().unwrap();
        content
    });
    assert!(content, "the child");
}

#[test]
fn a_child_follows_what_its_parent_writes_and_its_end_changes_nothing() {
    let path = path("followed");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let (mut from_parent, mut to_child) = std::io::pipe().unwrap();
    let (mut from_child, mut to_parent) = std::io::pipe().unwrap();
    // SAFETY: as in `in_child`.
    let process = unsafe { fork() };
    if process == 0 {
        let followed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            assert_eq!(get(&table, b"a").as_deref(), Some(&b"1"[..]));
            to_parent.write_all(&[1]).unwrap();
            from_parent.read_exact(&mut [0]).unwrap();
            assert_eq!(get(&table, b"a").as_deref(), Some(&b"2"[..]));
            table.put(b"of the child", b"").unwrap();
            table.close().unwrap();
        }));
        // SAFETY: the child ends here, and nothing of the parent's is run.
        unsafe { _exit(i32::from(followed.is_err())) }
    }
    from_child.read_exact(&mut [0]).unwrap();
    table.put(b"a", b"2").unwrap();
    table.compact().unwrap();
    to_child.write_all(&[1]).unwrap();
    let mut status = -1;
    // SAFETY: the number is that of our own child, and the status is ours to be written.
    assert_eq!(unsafe { waitpid(process, &mut status, 0) }, process);
    assert_eq!(status, 0, "the child");
    assert!(table.contains(b"of the child").unwrap());
    table.put(b"a", b"3").unwrap();
    drop(table);
    assert_eq!(get(&HashTable::open(&path, WRITE).unwrap(), b"a").as_deref(), Some(&b"3"[..]));
}

#[test]
fn a_table_that_was_made_by_a_relative_path_stays_where_it_is_when_the_current_directory_changes() {
    let path = path("relative");
    let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap());
    let elsewhere = folder.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    assert!(in_child(|| {
        std::env::set_current_dir(folder).unwrap();
        let mut table = HashTable::open(name, CREATE).unwrap();
        std::env::set_current_dir(&elsewhere).unwrap();
        (0..20_000_u32).for_each(|n| table.put(&n.to_le_bytes(), &[1; 100]).unwrap());
        table.compact().unwrap();
        table.close().unwrap();
        std::fs::read_dir(&elsewhere).unwrap().next().is_none()
    }));
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 20_000);
}
