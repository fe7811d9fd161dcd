//! Goal: the disk on which tests cut the power keeps what was synced, loses and tears the rest, and
//! fails as it is told to; and the directory on disk does what the one of the tests does.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::files::{Directory, Displaced, FileDirectory, FileStorage, Storage, StorageMode};

use crate::simulated_disk::{EIO, ENOSPC, Failure, SimulatedDisk};

const NOW: Duration = Duration::ZERO;

fn errno(result: std::io::Result<()>) -> Option<i32> {
    result.unwrap_err().raw_os_error()
}

#[test]
fn a_power_cut_keeps_what_was_synced_and_of_the_rest_any_part() {
    let disk = SimulatedDisk::new();
    let file = disk.file("a");
    file.write_at(0, &[1; 2048]).unwrap();
    file.sync().unwrap();
    file.write_at(512, &[2; 1024]).unwrap();
    file.write_at(512, &[3; 1024]).unwrap();
    file.set_len(4096).unwrap();
    let mut outcomes = BTreeSet::new();
    for seed in 0..500 {
        let left = disk.cut(disk.calls(), seed).bytes("a").unwrap();
        assert!(left.len() == 2048 || left.len() == 4096);
        assert!(left[..512].iter().chain(&left[1536..2048]).all(|byte| *byte == 1));
        assert!(left[2048..].iter().all(|byte| *byte == 0));
        outcomes.insert(left);
    }
    let has = |wanted: &dyn Fn(&[u8]) -> bool| outcomes.iter().any(|left| wanted(&left[512..1536]));
    assert!(has(&|bytes| bytes == [1; 1024]), "nothing");
    assert!(has(&|bytes| bytes == [3; 1024]), "all");
    assert!(has(&|bytes| bytes[..512] == [1; 512] && bytes[512..] == [3; 512]), "one sector");
    assert!(has(&|bytes| bytes[..512] == [3; 512] && bytes[512..] == [2; 512]), "in another order");
    assert!(has(&|bytes| bytes[0] == 1 && bytes[511] == 3), "a torn sector");
    assert_eq!(disk.bytes("a").unwrap()[512..1536], [3; 1024], "programs see all");
}

#[test]
fn a_power_cut_is_as_of_its_call_and_repeats_with_its_seed() {
    let disk = SimulatedDisk::new();
    let file = disk.file("a");
    let before = disk.calls();
    file.write_at(0, b"one").unwrap();
    file.sync().unwrap();
    file.write_at(0, b"two").unwrap();
    file.sync().unwrap();
    for seed in 0..50 {
        let at = |call: u64| disk.cut(before + call, seed).bytes("a").unwrap();
        assert_eq!(at(1), at(1), "the same seed, the same disk");
        assert_eq!(at(4), b"two");
        assert!(at(2).iter().zip(b"one".iter().zip(b"two")).all(|(a, (b, c))| a == b || a == c));
    }
    let second = disk.cut(before + 2, 0);
    assert_eq!(second.calls(), 0, "a journal of its own");
    second.file("a").write_at(0, b"six").unwrap();
    assert_eq!(disk.bytes("a").unwrap(), b"two");
}

#[test]
fn a_renaming_that_was_not_synced_may_be_undone_and_one_that_was_is_not() {
    let disk = SimulatedDisk::new();
    let old = disk.file("a");
    old.write_at(0, b"old").unwrap();
    old.sync().unwrap();
    let new = disk.file("a.new");
    new.write_at(0, b"new").unwrap();
    new.sync().unwrap();
    disk.rename("a.new".as_ref(), "a".as_ref()).unwrap();
    let renamed = disk.calls();
    Directory::sync(&disk).unwrap();
    let after = |call, seed| disk.cut(call, seed).bytes("a").unwrap();
    let outcomes: BTreeSet<Vec<u8>> = (0..50).map(|seed| after(renamed, seed)).collect();
    assert_eq!(outcomes, BTreeSet::from([b"old".to_vec(), b"new".to_vec()]));
    assert!((0..50).all(|seed| after(renamed + 1, seed) == b"new"));
    assert_ne!(old.id().unwrap(), Directory::id(&disk, "a".as_ref()).unwrap());
    assert_eq!(new.id().unwrap(), Directory::id(&disk, "a".as_ref()).unwrap());
    disk.remove("a".as_ref()).unwrap();
    assert_eq!(disk.bytes("a"), None);
    assert!(disk.remove("a".as_ref()).is_err());
}

#[test]
fn a_file_that_was_published_and_not_synced_is_there_after_a_power_cut_or_not() {
    let disk = SimulatedDisk::new();
    let file = disk.create_unnamed("a".as_ref(), None).unwrap();
    file.write_at(0, b"new").unwrap();
    file.sync().unwrap();
    assert_eq!(disk.bytes("a"), None);
    disk.publish(&*file, "a".as_ref(), Displaced::Nothing).unwrap();
    let published = disk.calls();
    Directory::sync(&disk).unwrap();
    let after = |call, seed| disk.cut(call, seed).bytes("a");
    let outcomes: BTreeSet<_> = (0..50).map(|seed| after(published, seed)).collect();
    assert_eq!(outcomes, BTreeSet::from([None, Some(b"new".to_vec())]));
    assert!((0..50).all(|seed| after(published + 1, seed).is_some()));
    assert!(disk.publish(&*file, "a".as_ref(), Displaced::Nothing).is_err());
}

#[test]
fn calls_fail_as_planned() {
    let disk = SimulatedDisk::new();
    let file = disk.file("a");
    file.write_at(0, b"0123").unwrap();
    let planned = |failure| {
        let call = disk.calls();
        disk.fail(call..call + 1, failure);
    };
    planned(Failure::Io);
    assert_eq!(errno(file.write_at(0, b"abcd")), Some(EIO));
    planned(Failure::NoSpace);
    assert_eq!(errno(file.set_len(100)), Some(ENOSPC));
    planned(Failure::ShortWrite);
    assert_eq!(errno(file.write_at(0, b"abcd")), Some(ENOSPC));
    assert_eq!(disk.bytes("a").unwrap(), b"ab23");
    file.write_at(0, b"efgh").unwrap();
    disk.fail_reads(disk.reads()..disk.reads() + 1);
    assert_eq!(errno(file.read_at(0, &mut [0; 4])), Some(EIO));
    file.read_at(0, &mut [0; 4]).unwrap();
}

#[test]
fn after_a_failed_sync_the_next_one_does_not_bring_back_what_was_lost() {
    // Each number of sectors gives other random choices: of some of these, something is lost.
    let mut losses = 0;
    for sectors in 1..40 {
        let whole = vec![1; sectors as usize * 512];
        let after_failure = |failure| {
            let disk = SimulatedDisk::new();
            let file = disk.file("a");
            for number in 0..sectors {
                file.write_at(number * 512, &[1; 512]).unwrap();
            }
            disk.fail(disk.calls()..disk.calls() + 1, failure);
            assert_eq!(errno(file.sync()), Some(EIO));
            let seen = disk.bytes("a").unwrap();
            file.sync().unwrap();
            (seen, disk.cut(disk.calls(), 0).bytes("a").unwrap())
        };
        let (seen, left) = after_failure(Failure::Sync);
        assert!(seen == whole, "{sectors} sectors");
        losses += usize::from(left != whole);
        let (seen, left) = after_failure(Failure::SyncForgets);
        assert!(seen == left, "{sectors} sectors");
    }
    assert!(losses > 10, "{losses}");
}

#[test]
fn a_file_on_disk_is_replaced_by_another_with_its_lock_and_tells_so() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("directory");
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir(&path).unwrap();
    let (directory, name) = (FileDirectory::new(&path), OsStr::new("a"));
    let old = directory.open(name, StorageMode::Create, NOW).unwrap();
    let reader = directory.open(name, StorageMode::Follow, NOW).unwrap();
    let kind = |mode| directory.open(name, mode, NOW).unwrap_err().kind();
    assert_eq!(kind(StorageMode::Write), ErrorKind::Lock);
    assert_eq!(kind(StorageMode::Read), ErrorKind::Lock);
    let new = directory.open("a.new".as_ref(), StorageMode::Create, NOW).unwrap();
    new.write_at(0, b"new").unwrap();
    new.sync().unwrap();
    directory.rename("a.new".as_ref(), name).unwrap();
    directory.sync().unwrap();
    assert_ne!(reader.id().unwrap(), directory.id(name).unwrap());
    drop(old);
    assert_eq!(kind(StorageMode::Write), ErrorKind::Lock, "the new file has its own lock");
    drop(new);
    let opened = directory.open(name, StorageMode::Write, NOW).unwrap();
    assert_eq!(opened.len().unwrap(), 3);
    directory.remove(name).unwrap();
    assert_eq!(directory.id(name).unwrap(), None);
}

#[test]
fn a_lock_ends_with_its_handle_whoever_else_has_the_file_open() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unlocked");
    let first = FileStorage::open(&path, StorageMode::Create).unwrap();
    // As a process has it that a thread is about to start.
    let inherited = first.file().unwrap().try_clone().unwrap();
    assert_eq!(FileStorage::open(&path, StorageMode::Write).unwrap_err().kind(), ErrorKind::Lock);
    drop(first);
    drop(FileStorage::open(&path, StorageMode::Write).unwrap());
    drop(inherited);
}

#[test]
fn a_second_writer_waits_and_gets_the_file_that_took_the_place() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replaced");
    let _ = std::fs::remove_file(&path);
    let first = FileStorage::open(&path, StorageMode::Create).unwrap();
    let wait = Duration::from_secs(60);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| FileStorage::open_within(&path, StorageMode::Write, wait));
        let beside = path.with_extension("new");
        std::fs::write(&beside, b"new").unwrap();
        std::fs::rename(&beside, &path).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap().unwrap().len().unwrap(), 3);
    });
    let held = FileStorage::open(&path, StorageMode::Write).unwrap();
    let patience = Duration::from_millis(10);
    let error = FileStorage::open_within(&path, StorageMode::Write, patience).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock);
    assert!(error.to_string().contains("0.01 seconds"), "{error}");
    if cfg!(target_os = "linux") {
        assert!(
            error.to_string().contains("locked by another object of this process for"),
            "{error}"
        );
    }
    drop(held);
}
