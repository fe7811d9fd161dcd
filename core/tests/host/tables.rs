//! Goal: a host's threads and fibers share a table by turns, and nothing that a caller leaves in the middle stays.
//!
//! Method: a host made for the test, which says who calls it and notes what it is asked. One thread plays all callers, so
//! that every order of events can be told; real threads are the faces' to test.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use bytewright::host::table::{self, AnySnapshot, Cost, EntryWalk, TableHandle, TriedBegin};
use bytewright::host::{Failure, Host, TurnHost};
use bytewright::table::file::{OpenOptions, SyncMode, TableKind};
use bytewright::table::{BackupOptions, DumpFormat, KeyRange, PackedEntries, Selection};
use bytewright::{Error, ErrorKind};

use crate::folder::Folder;

/// A thread and a fiber of it, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Strand(u32, u32);

/// Call to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Lock,
    Unlock,
    Wait,
}

struct Script {
    caller: Cell<Strand>,
    /// True if fibers are scheduled.
    schedules: Cell<bool>,
    /// The mutex, and whether to give it to whoever asks, as in a forked child.
    is_locked: Cell<bool>,
    /// Error that the next check for interrupts raises.
    interrupt: Cell<Option<&'static str>>,
    /// Number of waits that find an interrupt pending and do not do their work.
    interrupted_waits: Cell<u32>,
    asked: RefCell<Vec<Asked>>,
    memory: Cell<isize>,
}

impl Script {
    fn new() -> Script {
        Script {
            caller: Cell::new(Strand(1, 1)),
            schedules: Cell::new(false),
            is_locked: Cell::new(false),
            interrupt: Cell::new(None),
            interrupted_waits: Cell::new(0),
            asked: RefCell::default(),
            memory: Cell::new(0),
        }
    }

    fn by(&self, thread: u32, fiber: u32) -> &Script {
        self.caller.set(Strand(thread, fiber));
        self
    }

    fn taken(&self) -> Vec<Asked> {
        self.asked.take()
    }
}

impl Host for Script {
    type Error = String;

    fn error(&self, error: Error) -> String {
        format!("{:?}: {error}", error.kind())
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        _wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>, String> {
        self.asked.borrow_mut().push(Asked::Wait);
        if let Some(left) = self.interrupted_waits.get().checked_sub(1) {
            self.interrupted_waits.set(left);
            self.interrupt.set(Some("interrupted"));
            return Ok(None);
        }
        Ok(Some(work()))
    }

    fn check_interrupts(&self) -> Result<(), String> {
        self.interrupt.take().map_or(Ok(()), |raised| Err(raised.to_owned()))
    }
}

impl TurnHost for Script {
    type Caller = Strand;

    fn caller(&self) -> Result<Strand, String> {
        Ok(self.caller.get())
    }

    fn is_running(&self, holder: &Strand) -> Result<bool, String> {
        Ok(*holder == self.caller.get())
    }

    fn is_of_this_thread(&self, holder: &Strand) -> bool {
        holder.0 == self.caller.get().0
    }

    fn try_lock_turn(&self) -> Result<bool, String> {
        Ok(!self.is_locked.replace(true))
    }

    fn lock_turn(&self) -> Result<(), String> {
        self.asked.borrow_mut().push(Asked::Lock);
        match self.is_locked.replace(true) {
            // A real host would wait here for ever, as its only thread has the turn.
            true => Err("would wait".to_owned()),
            false => Ok(()),
        }
    }

    fn unlock_turn(&self) -> Result<(), String> {
        self.asked.borrow_mut().push(Asked::Unlock);
        self.is_locked.set(false);
        Ok(())
    }

    fn schedules_strands(&self) -> Result<bool, String> {
        Ok(self.schedules.get())
    }

    fn adjust_memory(&self, bytes: isize) {
        self.memory.set(self.memory.get() + bytes);
    }
}

type Handle = TableHandle<Strand>;

const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: false,
    sync: SyncMode::Interval,
    timeout: Duration::ZERO,
    values: None,
};

fn put(handle: &Handle, host: &Script, key: &[u8], value: &[u8]) -> Result<(), Failure<String>> {
    handle.change_by_cost(host, Cost::Brief, |table| table.put(key, value))
}

fn get(handle: &Handle, host: &Script, key: &[u8]) -> Result<Option<Vec<u8>>, Failure<String>> {
    handle.read(host, |content| content.table()?.get(key))
}

fn in_file(folder: &Folder, kind: TableKind, host: &Script, options: OpenOptions) -> Handle {
    let path = folder.path(&format!("table.{}", kind.extension()));
    TableHandle::in_file(table::open(host, &path, Some(kind), options).unwrap(), options)
}

/// A table of each kind, in memory and in a file.
fn each_kind(name: &str, test: impl Fn(&Handle, &Script)) {
    let folder = Folder::new(name);
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let host = Script::new();
        test(&TableHandle::in_memory(kind), &host);
        let host = Script::new();
        let handle = in_file(&folder, kind, &host, CREATE);
        host.taken();
        test(&handle, &host);
        handle.close(host.by(1, 1)).unwrap();
    }
}

fn kind_of<T: std::fmt::Debug>(outcome: Result<T, Failure<String>>) -> ErrorKind {
    match outcome.unwrap_err() {
        Failure::Core(error) => error.kind(),
        Failure::Host(raised) => panic!("the host raised {raised}"),
    }
}

#[test]
fn another_thread_waits_for_the_end_of_a_transaction() {
    each_kind("host-tables-1", |handle, host| {
        handle.begin(host.by(1, 1)).unwrap();
        put(handle, host, b"a", b"1").unwrap();
        assert_eq!(host.taken(), [Asked::Lock], "its own calls wait for nobody");
        for waiting in [
            get(handle, host.by(2, 2), b"a").map(drop),
            put(handle, host, b"a", b"2"),
            handle.begin(host).map(drop),
            handle.snapshot(host).map(drop),
            handle.clear(host),
        ] {
            assert!(matches!(waiting, Err(Failure::Host(raised)) if raised == "would wait"));
        }
        assert!(handle.is_in_use(host).unwrap());
        assert_eq!(handle.depth(host).unwrap(), 0, "the transaction is not theirs");
        handle.end(host, 0, true).unwrap();
        assert_eq!(handle.depth(host.by(1, 1)).unwrap(), 1, "nor theirs to end");
        handle.end(host, 0, true).unwrap();
        assert_eq!(get(handle, host.by(2, 2), b"a").unwrap().as_deref(), Some(&b"1"[..]));
    });
}

#[test]
fn another_fiber_of_the_thread_reads_within_a_transaction_and_is_refused_changes() {
    each_kind("host-tables-2", |handle, host| {
        handle.begin(host.by(1, 1)).unwrap();
        put(handle, host, b"a", b"1").unwrap();
        assert_eq!(get(handle, host.by(1, 2), b"a").unwrap().as_deref(), Some(&b"1"[..]));
        assert!(!handle.is_in_use(host).unwrap());
        assert_eq!(kind_of(put(handle, host, b"a", b"2")), ErrorKind::Lock);
        assert_eq!(kind_of(handle.begin(host)), ErrorKind::Lock);
        host.schedules.set(true);
        assert!(matches!(get(handle, host, b"a"), Err(Failure::Host(_))), "it waits where it can");
        host.schedules.set(false);
        handle.end(host.by(1, 1), 0, false).unwrap();
        assert_eq!(get(handle, host.by(1, 2), b"a").unwrap(), None);
    });
}

#[test]
fn a_transaction_that_is_left_ends_down_to_where_its_caller_was() {
    each_kind("host-tables-3", |handle, host| {
        handle.begin(host).unwrap();
        put(handle, host, b"kept", b"1").unwrap();
        let depth = handle.depth(host).unwrap();
        for _ in 0..3 {
            handle.begin(host).unwrap();
            put(handle, host, b"left", b"1").unwrap();
        }
        handle.end(host, depth, false).unwrap();
        assert_eq!(handle.depth(host).unwrap(), depth);
        handle.end(host, 0, true).unwrap();
        assert_eq!(handle.len(host).unwrap(), 1);
        assert!(!host.is_locked.get(), "it is nobody's turn");
    });
}

#[test]
fn a_transaction_of_a_thread_that_a_fork_left_behind_is_taken_back() {
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let (handle, host) = (TableHandle::in_memory(kind), Script::new());
        put(&handle, &host, b"a", b"1").unwrap();
        handle.begin(host.by(1, 1)).unwrap();
        handle.clear(&host).unwrap();
        // A child has the mutex free, and of the threads only the one that forked.
        host.is_locked.set(false);
        assert_eq!(get(&handle, host.by(2, 2), b"a").unwrap().as_deref(), Some(&b"1"[..]));
        put(&handle, &host, b"b", b"2").unwrap();
        assert_eq!(handle.depth(&host).unwrap(), 0);
        assert!(!host.is_locked.get());
    }
}

#[test]
fn a_table_that_a_thread_was_changing_when_the_process_was_forked_says_so() {
    let (handle, host) = (TableHandle::in_memory(TableKind::Hashed), Script::new());
    handle.begin(host.by(1, 1)).unwrap();
    let changing = handle.content().borrow_mut();
    host.is_locked.set(false);
    assert_eq!(kind_of(get(&handle, host.by(2, 2), b"a")), ErrorKind::Closed);
    assert!(!host.is_locked.get());
    drop(changing);
}

#[test]
fn what_takes_long_runs_without_the_hosts_lock_and_what_is_brief_does_not() {
    let (handle, host) = (TableHandle::in_memory(TableKind::Hashed), Script::new());
    let mut entries = PackedEntries::default();
    entries.push(b"a", b"1");
    handle.put_packed(&host, &entries).unwrap();
    handle.clear(&host).unwrap();
    handle.compact(&host).unwrap();
    assert_eq!(host.taken(), []);
    entries.push(b"b", &vec![0; 2 << 20]);
    handle.put_packed(&host, &entries).unwrap();
    assert_eq!(host.taken(), [Asked::Lock, Asked::Wait, Asked::Unlock]);
    handle.begin(&host).unwrap();
    host.taken();
    handle.put_packed(&host, &entries).unwrap();
    assert_eq!(host.taken(), [Asked::Wait], "its caller has the turn already");
    handle.end(&host, 0, true).unwrap();
    assert_eq!(Cost::of_entries(1), Cost::Brief);
    assert_eq!(Cost::of_entries(1_000_000), Cost::Long);
}

#[test]
fn a_commit_that_waits_for_the_disk_lets_other_threads_run() {
    let folder = Folder::new("session_tables_commit");
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let host = Script::new();
        let options = OpenOptions { sync: SyncMode::Commit, ..CREATE };
        let handle = in_file(&folder, kind, &host, options);
        handle.begin(&host).unwrap();
        put(&handle, &host, b"a", b"1").unwrap();
        host.taken();
        handle.end(&host, 0, true).unwrap();
        assert_eq!(host.taken(), [Asked::Wait, Asked::Unlock]);
        put(&handle, &host, b"a", b"2").unwrap();
        assert_eq!(host.taken(), [Asked::Lock, Asked::Wait, Asked::Unlock]);
        handle.close(&host).unwrap();
    }
}

#[test]
fn interrupts_one_after_the_other_leave_no_transaction_and_no_file_open() {
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let folder = Folder::new(&format!("interrupted-{kind:?}"));
        let host = Script::new();
        let options = OpenOptions { sync: SyncMode::Commit, ..CREATE };
        let handle = in_file(&folder, kind, &host, options);
        put(&handle, &host, b"a", b"1").unwrap();
        handle.begin(&host).unwrap();
        put(&handle, &host, b"a", b"2").unwrap();
        host.interrupted_waits.set(2);
        assert!(matches!(handle.end(&host, 0, true), Err(Failure::Host(_))), "{kind:?}");
        host.interrupted_waits.set(0);
        // Another thread finds what was committed, and no transaction that its changes would become a part of.
        assert_eq!(get(&handle, host.by(2, 1), b"a").unwrap(), Some(b"1".to_vec()), "{kind:?}");
        put(&handle, &host, b"b", b"1").unwrap();

        host.interrupted_waits.set(1);
        assert!(matches!(handle.close(&host), Err(Failure::Host(_))), "{kind:?}");
        assert!(handle.is_closed(), "{kind:?}");
        let again = in_file(&folder, kind, &host, options);
        assert_eq!(get(&again, &host, b"b").unwrap(), Some(b"1".to_vec()), "{kind:?}");
    }
}

#[test]
fn waiting_for_another_writer_ends_in_time_or_when_it_is_interrupted() {
    let folder = Folder::new("session_tables_waiting");
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let host = Script::new();
        let path = folder.path(&format!("table.{}", kind.extension()));
        let exclusive = OpenOptions { exclusive: true, ..CREATE };
        let writer = in_file(&folder, kind, &host, exclusive);
        let patient = OpenOptions { timeout: Duration::from_millis(120), ..CREATE };
        let begin = Instant::now();
        assert_eq!(kind_of(table::open(&host, &path, None, patient).map(drop)), ErrorKind::Lock);
        assert!(begin.elapsed() >= patient.timeout);
        host.interrupt.set(Some("interrupted"));
        let endless = OpenOptions { timeout: Duration::MAX, ..CREATE };
        let outcome = table::open(&host, &path, None, endless);
        assert!(matches!(outcome, Err(Failure::Host(raised)) if raised == "interrupted"));
        writer.close(&host).unwrap();
        host.interrupt.set(Some("interrupted"));
        assert!(table::open(&host, &path, None, CREATE).is_err());
        table::open(&host, &path, None, CREATE).unwrap();
    }
}

#[test]
fn a_closed_table_says_so_and_may_be_closed_again() {
    each_kind("host-tables-4", |handle, host| {
        handle.begin(host).unwrap();
        handle.close(host).unwrap();
        handle.close(host).unwrap();
        assert_eq!(kind_of(handle.end(host, 0, true)), ErrorKind::Closed, "it is taken back");
        handle.end(host, 0, true).unwrap();
        assert!(handle.is_closed());
        assert_eq!(kind_of(get(handle, host, b"a")), ErrorKind::Closed);
        assert_eq!(kind_of(handle.first_in(host, &KeyRange::ALL)), ErrorKind::Closed);
        assert_eq!(kind_of(handle.snapshot(host).map(drop)), ErrorKind::Closed);
        assert!(!host.is_locked.get());
    });
}

#[test]
fn a_snapshot_is_of_the_kind_of_its_table_and_selects_where_there_is_order() {
    each_kind("host-tables-5", |handle, host| {
        for key in [b"a", b"b", b"c"] {
            put(handle, host, key, key).unwrap();
        }
        let snapshot = handle.snapshot(host).unwrap();
        let range = KeyRange::ALL.starting_at(b"b");
        let selection = Selection { range: range.clone(), limit: Some(1) };
        let selected = snapshot.scan(Some(&selection));
        match (&snapshot, handle.kind()) {
            (AnySnapshot::Hashed(_), TableKind::Hashed) => {
                assert_eq!(selected.err().unwrap().kind(), ErrorKind::Argument);
            }
            (AnySnapshot::Ordered(_), TableKind::Ordered) => {
                let walk = EntryWalk::new(selected.unwrap());
                assert_eq!(walk.count(host).unwrap(), 1);
                assert_eq!(walk.count(host).unwrap(), 0, "the walk is over");
                let first = snapshot.first_in(range).unwrap();
                assert_eq!(first, Some((b"b".to_vec(), b"b".to_vec())));
            }
            (_, kind) => panic!("another snapshot than of {kind:?}"),
        }
        let walk = || EntryWalk::new(snapshot.scan(None).unwrap());
        assert_eq!(walk().key_of(host, b"c").unwrap().as_deref(), Some(&b"c"[..]));
        assert_eq!(walk().key_of(host, b"d").unwrap(), None);
        host.interrupt.set(Some("interrupted"));
        assert!(matches!(walk().count(host), Err(Failure::Host(_))));
    });
}

#[test]
fn a_dump_is_written_beside_others_and_loaded_in_one_turn() {
    let folder = Folder::new("session_tables_dump");
    each_kind("host-tables-9", |handle, host| {
        put(handle, host, b"a", b"1").unwrap();
        put(handle, host, b"b", b"2").unwrap();
        let path = folder.path(&format!("{}.{}", handle.is_in_file(), handle.kind().extension()));
        host.taken();
        for format in DumpFormat::ALL {
            assert_eq!(handle.dump(host, &path, *format, false).unwrap(), 2);
        }
        assert_eq!(host.taken(), [Asked::Wait; 3]);
        put(handle, host, b"b", b"new").unwrap();
        host.by(1, 1).interrupted_waits.set(1);
        assert!(matches!(handle.load(host, &path), Err(Failure::Host(_))));
        assert!(!handle.turn().is_taken());
        assert_eq!(value_of(handle, host, b"b").as_deref(), Some(&b"new"[..]));
        handle.begin(host).unwrap();
        put(handle, host, b"c", b"3").unwrap();
        assert_eq!(kind_of(handle.dump(host, &path, DumpFormat::Db, false)), ErrorKind::Argument);
        assert_eq!(handle.load(host, &path).unwrap(), 2);
        assert_eq!(kind_of(handle.load(host, &folder.path("missing"))), ErrorKind::Io(Some(2)));
        assert_eq!(handle.depth(host).unwrap(), 1);
        assert_eq!(kind_of(handle.load(host.by(1, 2), &path)), ErrorKind::Lock);
        handle.end(host.by(1, 1), 0, true).unwrap();
        assert_eq!(value_of(handle, host, b"b").as_deref(), Some(&b"2"[..]));
        assert_eq!(handle.len(host).unwrap(), 3);
    });
}

fn value_of(handle: &TableHandle<Strand>, host: &Script, key: &[u8]) -> Option<Vec<u8>> {
    handle.read(host, |content| content.table()?.get(key)).unwrap()
}

#[test]
fn a_range_is_deleted_by_turns_and_in_the_transaction_of_its_caller() {
    each_kind("host-tables-8", |handle, host| {
        for key in [b"a", b"b", b"c"] {
            put(handle, host, key, key).unwrap();
        }
        let selection = Selection { range: KeyRange::ALL.starting_at(b"b"), limit: None };
        if handle.kind() == TableKind::Hashed {
            assert_eq!(kind_of(handle.delete_range(host, &selection)), ErrorKind::Argument);
            assert_eq!(handle.len(host).unwrap(), 3);
            return;
        }
        handle.begin(host.by(1, 1)).unwrap();
        assert_eq!(handle.delete_range(host, &selection).unwrap(), 2);
        assert_eq!(kind_of(handle.delete_range(host.by(1, 2), &selection)), ErrorKind::Lock);
        handle.end(host.by(1, 1), 0, false).unwrap();
        assert_eq!(handle.delete_range(host.by(1, 2), &selection).unwrap(), 2);
        assert_eq!(handle.len(host).unwrap(), 1);
        handle.close(host).unwrap();
        assert_eq!(kind_of(handle.delete_range(host, &selection)), ErrorKind::Closed);
    });
}

#[test]
fn a_backup_is_written_without_the_hosts_lock_and_leaves_the_turn_to_others() {
    let folder = Folder::new("session_tables_backup");
    each_kind("host-tables-6", |handle, host| {
        put(handle, host, b"a", b"1").unwrap();
        let path = folder.path(&format!("{}.{}", handle.is_in_file(), handle.kind().extension()));
        host.taken();
        handle.backup(host, &path, BackupOptions::default()).unwrap();
        assert_eq!(host.taken(), [Asked::Wait]);
        let copy = table::open(host, &path, None, OpenOptions { create: false, ..CREATE }).unwrap();
        assert_eq!(copy.as_table().get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
        handle.begin(host).unwrap();
        let again = handle.backup(host, &path, BackupOptions { replace: true });
        assert_eq!(kind_of(again), ErrorKind::Argument);
        handle.end(host, 0, false).unwrap();
    });
}

#[test]
fn the_host_is_told_of_memory_in_coarse_steps() {
    let (handle, host) = (TableHandle::in_memory(TableKind::Hashed), Script::new());
    for number in 0..5000_u32 {
        put(&handle, &host, &number.to_le_bytes(), &[0; 100]).unwrap();
    }
    assert!(host.memory.get() > 100_000, "{}", host.memory.get());
    assert_eq!(host.memory.get(), handle.reported_bytes());
}

#[test]
fn a_transaction_ends_by_its_caller_and_innermost_first_or_stays_as_it_was() {
    each_kind("host-tables-7", |handle, host| {
        let outer = handle.begin(host.by(1, 1)).unwrap();
        put(handle, host, b"outer", b"1").unwrap();
        let inner = handle.begin(host).unwrap();
        put(handle, host, b"inner", b"1").unwrap();
        assert_eq!(kind_of(handle.check_end(host, outer, true)), ErrorKind::Argument);
        for (thread, fiber) in [(1, 2), (2, 3)] {
            let ended = handle.check_end(host.by(thread, fiber), inner, true);
            assert_eq!(kind_of(ended), ErrorKind::Lock);
        }
        assert_eq!(handle.depth(host.by(1, 1)).unwrap(), 2);
        assert!(handle.check_end(host, inner, true).unwrap());
        handle.end_one(host, inner, true).unwrap();
        assert!(!handle.check_end(host, inner, true).unwrap(), "it is over");
        handle.end_one(host, inner, false).unwrap();
        handle.end_one(host, outer, true).unwrap();
        assert_eq!(handle.len(host).unwrap(), 2);
        assert!(!host.is_locked.get());
    });
}

#[test]
fn a_transaction_whose_object_is_gone_is_taken_back_with_those_inside() {
    each_kind("host-tables-8", |handle, host| {
        let kept = handle.begin(host.by(1, 1)).unwrap();
        put(handle, host, b"kept", b"1").unwrap();
        let lost = handle.begin(host).unwrap();
        handle.begin(host).unwrap();
        put(handle, host, b"lost", b"1").unwrap();
        handle.abandon(host, lost);
        assert_eq!(handle.depth(host).unwrap(), 1);
        handle.end_one(host, kept, true).unwrap();
        assert_eq!(handle.len(host).unwrap(), 1);
        // While the table is changed without the host's lock, that waits for the end of the change.
        let lost = handle.begin(host).unwrap();
        let changing = handle.content().borrow_mut();
        handle.abandon(host, lost);
        drop(changing);
        assert!(host.is_locked.get());
        handle.change_at_length(host, |content| content.table()?.len()).unwrap();
        assert!(!host.is_locked.get());
        assert_eq!(handle.depth(host).unwrap(), 0);
    });
}

#[test]
fn a_caller_that_must_not_wait_begins_a_transaction_only_where_nobody_has_the_table() {
    each_kind("host-tables-9", |handle, host| {
        handle.begin(host.by(1, 1)).unwrap();
        assert!(matches!(handle.try_begin(host.by(1, 2)).unwrap(), TriedBegin::InUse));
        assert!(matches!(handle.try_begin(host.by(2, 2)).unwrap(), TriedBegin::InUse));
        let inner = handle.try_begin(host.by(1, 1)).unwrap();
        assert!(matches!(inner, TriedBegin::Begun(_)), "in its own");
        handle.end(host, 0, true).unwrap();
        assert!(matches!(handle.try_begin(host.by(1, 2)).unwrap(), TriedBegin::Begun(_)));
        assert_eq!(handle.depth(host).unwrap(), 1);
        handle.end(host, 0, true).unwrap();
    });
}
