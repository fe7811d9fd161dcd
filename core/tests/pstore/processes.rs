//! Several stores on one file, in threads and in processes: no update is lost, none is mixed when one
//! is killed, and a forked child leaves alone what its parent has.

#![allow(unsafe_code, reason = "there is no safe way to fork")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::pstore::{Access, Begun, Durability, Options, Store};

use crate::folder::Folder;
use crate::generate::seeds;
use crate::model::{Table, content};
use crate::rounds;

const PATH: &str = "BYTEWRIGHT_PSTORE";

fn counter(number: u32) -> Table {
    Table(vec![("count".to_owned(), number.to_le_bytes().to_vec())])
}

fn number_in(bytes: &[u8]) -> u32 {
    match bytes {
        [] => 0,
        bytes => u32::from_le_bytes(bytes[bytes.len() - 4..].try_into().unwrap()),
    }
}

fn begin(store: &mut Store, path: &Path, access: Access) {
    loop {
        match store.try_begin(path, access).unwrap() {
            Begun::Ready | Begun::Missing => return,
            Begun::Stale => return store.load().unwrap(),
            Begun::Busy => while !store.wait().unwrap() {},
        }
    }
}

fn count(store: &mut Store, path: &Path, durability: Durability) {
    begin(store, path, Access::Write);
    let number = number_in(&content(store));
    store.replace(counter(number + 1).dump(), durability).unwrap();
    store.end();
}

/// Not a test by itself: what the other processes do.
#[test]
fn counts_to_a_hundred() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let mut store = Store::new(Options::default());
    for number in 0..100 {
        let durability = if number % 20 == 0 { Durability::Power } else { Durability::Process };
        count(&mut store, Path::new(&path), durability);
        if number % 30 == 29 {
            store = Store::new(Options::default());
        }
    }
}

/// Not a test by itself: what the process does that is killed. It says on standard error which value
/// it is about to write.
#[test]
fn fills_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let mut store = Store::new(Options::default());
    for number in 0_usize.. {
        begin(&mut store, Path::new(&path), Access::Write);
        let len = 300_000 + number * 7919 % 600_000;
        let table = Table(vec![("a".to_owned(), vec![number as u8; len])]);
        std::io::stderr().write_all(&[1]).unwrap();
        store.replace(table.dump(), Durability::Process).unwrap();
        store.end();
    }
}

fn spawn(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("processes::{test}"), "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn no_process_or_thread_loses_an_update_of_another() {
    let folder = Folder::new("count");
    let path = folder.path("x");
    let children: Vec<Child> = (0..3).map(|_| spawn("counts_to_a_hundred", &path)).collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut store = Store::new(Options::default());
                (0..200).for_each(|_| count(&mut store, &path, Durability::Process));
            });
        }
    });
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(number_in(&fs::read(&path).unwrap()), 900);
    assert_eq!(folder.names(), ["x"], "the last one to go removes the journal");
}

#[test]
fn a_writer_that_is_killed_leaves_one_whole_value() {
    let folder = Folder::new("killed");
    let path = folder.path("x");
    seeds(rounds(15), |random| {
        let mut writer = spawn("fills_until_it_is_killed", &path);
        let mut out = writer.stderr.take().unwrap();
        let mut said = vec![0; 2 + random.below(30)];
        std::io::Read::read_exact(&mut out, &mut said).unwrap();
        std::thread::sleep(Duration::from_micros(random.below(1_500) as u64));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut store = Store::new(Options::default());
        begin(&mut store, &path, Access::Read);
        let found = content(&store);
        store.end();
        let value = &found[found.len() - 300_000..];
        assert!(value.iter().all(|byte| *byte == value[0]));
        assert_eq!(Table(vec![("a".to_owned(), vec![value[0]; value_len(&found)])]).dump(), found);
    });
}

/// Returns the length of the value of a table of one root `a`.
fn value_len(bytes: &[u8]) -> usize {
    let count = usize::from(bytes[8]);
    let mut len = [0; 4];
    len[..count].copy_from_slice(&bytes[9..9 + count]);
    u32::from_le_bytes(len) as usize
}

#[test]
fn who_waits_for_the_lock_gets_it() {
    let folder = Folder::new("wait");
    let path = folder.path("x");
    let (mut one, mut other) = (Store::new(Options::default()), Store::new(Options::default()));
    begin(&mut one, &path, Access::Write);
    for access in [Access::Read, Access::Write] {
        assert_eq!(other.try_begin(&path, access).unwrap(), Begun::Busy);
        other.end();
    }
    one.end();
    begin(&mut one, &path, Access::Read);
    begin(&mut other, &path, Access::Read);
    other.end();
    assert_eq!(other.try_begin(&path, Access::Write).unwrap(), Begun::Busy);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            while !other.wait().unwrap() {}
            begin(&mut other, &path, Access::Write);
            let number = number_in(&content(&other));
            other.end();
            number
        });
        one.end();
        assert_eq!(waiting.join().unwrap(), 0);
    });
    // Who gives up has no lock.
    begin(&mut one, &path, Access::Write);
    one.end();
}

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Runs `child` in a forked process, where it says whether all is well. Only what works there without
/// the other threads may be in it.
fn in_child(child: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child does file work and allocates, which the C library allows after a fork, and
    // ends without running anything of the test harness.
    unsafe {
        let process = fork();
        if process == 0 {
            _exit(if child() { 0 } else { 1 });
        }
        process
    }
}

fn is_well(process: i32) -> bool {
    let mut status = -1;
    // SAFETY: the status outlives the call.
    unsafe { waitpid(process, &mut status, 0) == process && status == 0 }
}

#[test]
fn a_child_does_not_touch_the_transaction_of_its_parent() {
    let folder = Folder::new("fork");
    let path = folder.path("x");
    let mut store = Store::new(Options::default());
    count(&mut store, &path, Durability::Process);
    begin(&mut store, &path, Access::Write);
    let process = in_child(|| {
        let refused = store.replace(counter(50).dump(), Durability::Process);
        let is_refused = refused.is_err_and(|error| error.kind() == ErrorKind::Closed);
        store.end();
        // The parent has the lock still.
        is_refused && store.try_begin(&path, Access::Write).is_ok_and(|begun| begun == Begun::Busy)
    });
    assert!(is_well(process));
    let mut other = Store::new(Options::default());
    assert_eq!(other.try_begin(&path, Access::Write).unwrap(), Begun::Busy);
    other.end();
    store.replace(counter(2).dump(), Durability::Process).unwrap();
    store.end();
    assert!(folder.names().contains(&"x.journal".to_owned()), "the parent's journal is there");
    assert_eq!(number_in(&fs::read(&path).unwrap()), 2);
}

#[test]
fn parent_and_child_count_on_with_what_they_had() {
    let folder = Folder::new("forks");
    let path = folder.path("x");
    let mut store = Store::new(Options::default());
    count(&mut store, &path, Durability::Process);
    let process = in_child(|| {
        (0..300).for_each(|_| count(&mut store, &path, Durability::Process));
        true
    });
    (0..300).for_each(|_| count(&mut store, &path, Durability::Process));
    assert!(is_well(process));
    assert_eq!(number_in(&fs::read(&path).unwrap()), 601);
}

/// Gives up the rights of the superuser, for whom any file is writable; returns true if they are gone.
fn becomes_nobody() -> bool {
    unsafe extern "C" {
        fn geteuid() -> u32;
        fn setuid(user: u32) -> i32;
    }
    // SAFETY: both only look at or change the rights of a child that has one thread.
    unsafe { geteuid() != 0 || setuid(65_534) == 0 }
}

// Promise (pstore-journal): also If the journal cannot be written
#[test]
fn a_store_beside_a_journal_that_cannot_be_written_is_written_without_one_unless_that_is_live() {
    let folder = Folder::new("unwritable");
    let (path, journal) = (folder.path("x"), folder.path("x.journal"));
    let set = |value: u32, durability| {
        let mut store = Store::new(Options::default());
        if store.try_begin(&path, Access::Write)? == Begun::Stale {
            store.load()?;
        }
        store.replace(counter(value).dump(), durability)
    };
    let live = {
        // A journal is live until the change that it tells of is written, and has one byte to say so.
        let mut store = Store::new(Options::default());
        count(&mut store, &path, Durability::Process);
        let mut bytes = fs::read(&journal).unwrap();
        bytes[16] = 1;
        bytes
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let void = [&live[..16], &[0], &live[17..]].concat();
    for (beside, is_written) in [(&void[..], true), (b"a diary of mine", true), (&live, false)] {
        let _ = fs::remove_file(&journal);
        fs::write(&journal, beside).unwrap();
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o444)).unwrap();
        fs::write(&path, counter(1).dump()).unwrap();
        let process = in_child(|| {
            becomes_nobody()
                && set(2, Durability::Process).is_ok() == is_written
                && set(3, Durability::Power).is_err()
        });
        assert!(is_well(process), "beside {beside:02x?}");
        assert_eq!(number_in(&fs::read(&path).unwrap()), if is_written { 2 } else { 1 });
        assert_eq!(fs::read(&journal).unwrap(), beside);
    }
}
