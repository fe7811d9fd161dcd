//! Goal: whoever makes the changes since a position to a copy of the table as it was there has the table as it is now,
//! whatever became of the file between: commits, savepoints taken back, compaction, other processes, repair, a cut of power.

use std::fs;

use bytewright::ErrorKind;
use bytewright::table::file::HashTable;
use bytewright::table::{Change, ChangePosition, Table, have_same_entries, memory};

use crate::generate::{Random, seeds};
use crate::simulated_disk::SimulatedDisk;
use crate::{CREATE, READ, WRITE, open_on, path};

/// A copy of a table, which the changes keep like it.
struct Replica {
    table: memory::HashTable,
    position: Option<ChangePosition>,
}

impl Replica {
    fn new() -> Replica {
        Replica { table: memory::HashTable::new(), position: None }
    }

    /// Makes the changes since the last time, and returns how many there were.
    fn follow(&mut self, source: &dyn Table) -> usize {
        let mut changes = source.changes_since(self.position.as_ref()).unwrap();
        let mut count = 0;
        while let Some(change) = changes.advance().unwrap() {
            count += 1;
            match change {
                Change::Clear => self.table.clear().unwrap(),
                Change::Put { key, value } => self.table.put(key, value).unwrap(),
                Change::Delete { key } => drop(self.table.delete(key).unwrap()),
            }
        }
        self.position = Some(changes.position());
        count
    }

    fn is_like(&self, source: &dyn Table) -> bool {
        let (copy, source) = (self.table.snapshot().unwrap(), source.snapshot().unwrap());
        have_same_entries(&*copy, &*source).unwrap()
    }
}

fn names_since(table: &dyn Table, since: Option<&ChangePosition>) -> Vec<String> {
    let mut changes = table.changes_since(since).unwrap();
    let mut names = Vec::new();
    while let Some(change) = changes.advance().unwrap() {
        let key = String::from_utf8_lossy(change.key().unwrap_or_default()).into_owned();
        names.push(format!("{} {key}", change.name()).trim_end().to_owned());
    }
    names
}

fn position_of(table: &dyn Table) -> ChangePosition {
    table.changes_since(None).unwrap().position()
}

fn key_of(random: &mut Random) -> Vec<u8> {
    format!("key {}", random.below(60)).into_bytes()
}

/// Changes the table as the random numbers say, within a transaction where one is open.
fn change(table: &mut HashTable, random: &mut Random) {
    match random.below(20) {
        0 => table.clear().unwrap(),
        1 => drop(table.shift(&mut |_, _| ()).unwrap()),
        2..=6 => drop(table.delete(&key_of(random)).unwrap()),
        _ => {
            let value = vec![random.below(256) as u8; random.below(300)];
            table.put(&key_of(random), &value).unwrap();
        }
    }
}

/// Makes some changes in a transaction, of which a part or all may be taken back.
fn transact(table: &mut HashTable, random: &mut Random) {
    table.begin().unwrap();
    for _ in 0..random.below(8) {
        change(table, random);
    }
    if random.below(2) == 0 {
        table.begin().unwrap();
        change(table, random);
        if random.below(2) == 0 { table.commit().unwrap() } else { table.abort().unwrap() }
    }
    if random.below(4) == 0 { table.abort().unwrap() } else { table.commit().unwrap() }
}

#[test]
fn a_copy_that_makes_the_changes_since_its_position_is_like_the_table() {
    seeds(12, |random| {
        let path = path(&format!("changes-{}", random.next()));
        let mut table = HashTable::open(&path, CREATE).unwrap();
        let (mut near, mut far) = (Replica::new(), Replica::new());
        for _ in 0..80 {
            match random.below(40) {
                0 => table.compact().unwrap(),
                1 => {
                    table.close().unwrap();
                    table = HashTable::open(&path, WRITE).unwrap();
                }
                2..=4 => change(&mut HashTable::open(&path, WRITE).unwrap(), random),
                5..=12 => transact(&mut table, random),
                _ => change(&mut table, random),
            }
            near.follow(&table);
            assert!(near.is_like(&table));
            if random.below(10) == 0 {
                far.follow(&HashTable::open(&path, READ).unwrap());
                assert!(far.is_like(&table));
            }
        }
        assert_eq!(near.follow(&table), 0);
        drop(table);
        fs::remove_file(&path).unwrap();
    });
}

#[test]
fn changes_begin_with_all_entries_and_go_on_from_a_position() {
    let mut table = open_on(&SimulatedDisk::new(), CREATE).unwrap();
    let nothing = position_of(&table);
    table.put(b"a", b"1").unwrap();
    table.put(b"b", b"2").unwrap();
    table.put(b"a", b"3").unwrap();
    let before = position_of(&table);
    assert_eq!(names_since(&table, None), ["clear", "put b", "put a"]);
    assert_eq!(names_since(&table, Some(&nothing)), ["put a", "put b", "put a"]);
    assert_eq!(names_since(&table, Some(&before)), [""; 0]);
    table.delete(b"b").unwrap();
    assert_eq!(names_since(&table, Some(&before)), ["delete b"]);
}

#[test]
fn an_open_transaction_is_no_change_yet() {
    let mut table = open_on(&SimulatedDisk::new(), CREATE).unwrap();
    let before = position_of(&table);
    table.begin().unwrap();
    table.put(b"long", &vec![b'x'; 9 << 20]).unwrap();
    assert_eq!(names_since(&table, Some(&before)), [""; 0]);
    table.commit().unwrap();
    assert_eq!(names_since(&table, Some(&before)), ["put long"]);
}

#[test]
fn closing_is_no_change_and_leaves_positions_as_they_are() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let before = position_of(&table);
    table.close().unwrap();
    let mut table = open_on(&disk, WRITE).unwrap();
    let closed = position_of(&table);
    assert_eq!(names_since(&table, Some(&before)), [""; 0]);
    table.put(b"b", b"2").unwrap();
    assert_eq!(names_since(&table, Some(&before)), ["put b"]);
    assert_eq!(names_since(&table, Some(&closed)), ["put b"]);
}

#[test]
fn after_a_compaction_the_changes_begin_with_all_entries() {
    let mut table = open_on(&SimulatedDisk::new(), CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    table.put(b"a", b"2").unwrap();
    let before = position_of(&table);
    table.compact().unwrap();
    table.put(b"b", b"3").unwrap();
    assert_eq!(names_since(&table, Some(&before)), ["clear", "put a", "put b"]);
}

#[test]
fn changes_are_those_of_the_moment_when_they_were_asked_for() {
    let mut table = open_on(&SimulatedDisk::new(), CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let mut changes = table.changes_since(None).unwrap();
    let position = changes.position();
    table.put(b"b", b"2").unwrap();
    table.compact().unwrap();
    assert_eq!(changes.advance().unwrap(), Some(Change::Clear));
    let put = Change::Put { key: b"a", value: b"1" };
    assert_eq!(changes.advance().unwrap(), Some(put));
    assert_eq!(changes.advance().unwrap(), None);
    assert_eq!(changes.advance().unwrap(), None);
    assert_eq!(changes.position(), position);
}

#[test]
fn a_position_of_another_table_is_refused_and_one_that_was_lost_gives_all_entries() {
    let mut table = open_on(&SimulatedDisk::new(), CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let position = position_of(&table).to_string();
    let other = position_of(&open_on(&SimulatedDisk::new(), CREATE).unwrap());
    let error = table.changes_since(Some(&other)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("of another table"), "{error}");
    // A position of a frame that the table does not have, as after its file was put back from a copy.
    let (rest, check) = position.rsplit_once('.').unwrap();
    let (rest, _) = rest.rsplit_once('.').unwrap();
    let lost = format!("{rest}.11001.{check}").parse().unwrap();
    assert_eq!(names_since(&table, Some(&lost)), ["clear", "put a"]);
    let lost = format!("{rest}.ffffffffffffffff.{check}").parse().unwrap();
    assert_eq!(names_since(&table, Some(&lost)), ["clear", "put a"]);
}

#[test]
fn tables_without_a_log_refuse() {
    let error = memory::HashTable::new().changes_since(None).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("expected a HashTable in a file"), "{error}");
}

#[test]
fn after_a_power_cut_a_copy_follows_to_what_the_disk_has() {
    seeds(40, |random| {
        let disk = SimulatedDisk::new();
        let mut table = open_on(&disk, CREATE).unwrap();
        let mut replica = Replica::new();
        for _ in 0..30 {
            change(&mut table, random);
            if random.below(8) == 0 {
                table.sync().unwrap();
            }
            if random.below(3) == 0 {
                replica.follow(&table);
            }
        }
        let cut = disk.cut(disk.calls(), random.next());
        let mut table = open_on(&cut, CREATE).unwrap();
        replica.follow_or_begin(&table);
        assert!(replica.is_like(&table));
        change(&mut table, random);
        replica.follow(&table);
        assert!(replica.is_like(&table));
    });
}

impl Replica {
    /// As [`Replica::follow`], also where the cut took the whole table, so that it is another one.
    fn follow_or_begin(&mut self, source: &dyn Table) {
        if source.changes_since(self.position.as_ref()).is_err() {
            self.position = None;
        }
        self.follow(source);
    }
}
