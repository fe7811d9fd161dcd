//! Identity of a table's file: a handle never writes over another's table, and a file that takes the place of
//! another is for the same people.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions};

use crate::{CREATE, LOG_START, READ, WRITE, get, kind, path};

/// Changes enough to begin a compaction, to go on with it and to end it.
fn overwrite(table: &mut HashTable) {
    for number in 0..400_u16 {
        table.put(&[number as u8 % 4], &vec![1; 20_000]).unwrap();
    }
}

// Promise (hash-table-file): A handle never replaces another table.
#[test]
fn a_handle_whose_file_was_replaced_does_not_write_over_the_other_table() {
    let (path, other) = (path("replaced"), path("replacing"));
    let mut stale = HashTable::open(&path, CREATE).unwrap();
    stale.put(b"old", b"1").unwrap();
    drop(HashTable::open(&other, CREATE).unwrap());
    fs::rename(&other, &path).unwrap();
    let mut table = HashTable::open(&path, WRITE).unwrap();
    table.put(b"new", b"2").unwrap();
    let error = stale.compact().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock);
    assert!(error.to_string().contains("another file in its place"), "{error}");
    // Compaction by itself is not done either, and costs no commit.
    overwrite(&mut stale);
    stale.close().unwrap();
    assert_eq!(get(&table, b"new").as_deref(), Some(&b"2"[..]));
    drop(table);
    let table = HashTable::open(&path, READ).unwrap();
    assert_eq!((table.len().unwrap(), get(&table, b"old")), (1, None));
}

#[test]
fn a_handle_whose_file_was_removed_does_not_bring_it_back() {
    let path = path("unlinked");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(kind(table.compact()), ErrorKind::Lock);
    overwrite(&mut table);
    assert_eq!(get(&table, b"a").as_deref(), Some(&b"1"[..]));
    table.close().unwrap();
    assert!(!path.exists());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

// Promise (hash-table-file): Owner, mode and access control list stay.
#[test]
fn compacting_and_repairing_keep_the_mode() {
    let path = path("mode");
    for wanted in [0o600, 0o660, 0o644] {
        let _ = fs::remove_file(&path);
        drop(HashTable::open(&path, CREATE).unwrap());
        fs::set_permissions(&path, PermissionsExt::from_mode(wanted)).unwrap();
        let mut table = HashTable::open(&path, WRITE).unwrap();
        (0..1_000_u16).for_each(|n| table.put(&n.to_le_bytes(), &[1; 400]).unwrap());
        table.compact().unwrap();
        assert_eq!(mode(&path), wanted, "compacted");
        overwrite(&mut table);
        assert!(fs::metadata(&path).unwrap().len() < 4 << 20, "compacted by itself");
        table.close().unwrap();
        assert_eq!(mode(&path), wanted, "closed");
        let mut bytes = fs::read(&path).unwrap();
        // The first frame with records, behind the first rooms.
        let at = bytes[LOG_START as usize + 64..].windows(3).position(|b| b == b"\xf5BW").unwrap();
        bytes[LOG_START as usize + 64 + at + 100] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(HashTable::repair(&path, CREATE.timeout).unwrap().lost_bytes > 0);
        assert_eq!(mode(&path), wanted, "repaired");
    }
}

/// An access control list as Linux keeps it: version 2, then tag, permissions and number of each entry.
fn acl() -> Vec<u8> {
    let everyone = u32::MAX;
    let entries =
        [(1, 6, everyone), (2, 4, 4_321), (4, 0, everyone), (16, 4, everyone), (32, 0, everyone)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, number) in entries {
        acl.extend([[tag, 0], [permissions, 0]].concat());
        acl.extend(u32::to_le_bytes(number));
    }
    acl
}

// Promise (hash-table-file): also Owner, mode and access control list stay
#[test]
fn compacting_keeps_an_access_control_list() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const NAME: &str = "system.posix_acl_access";
    let path = path("acl");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    if setxattr(&path, NAME, &acl(), XattrFlags::empty()).is_err() {
        println!("gap: the file system keeps no access control lists");
        return;
    }
    table.compact().unwrap();
    let mut found = [0; 256];
    let len = getxattr(&path, NAME, &mut found[..]).unwrap();
    assert_eq!(found[..len], acl()[..]);
}

// Promise (hash-table-file): also Owner, mode and access control list stay
#[test]
fn an_owner_is_kept_or_the_table_is_not_compacted() {
    if !rustix::process::geteuid().is_root() {
        println!("gap: only root can give files away");
        return;
    }
    let folder = std::env::temp_dir().join(format!("bytewright_owner_{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    let path = folder.join("x.bwh");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    std::os::unix::fs::chown(&path, Some(4_321), Some(4_322)).unwrap();
    table.compact().unwrap();
    let status = fs::metadata(&path).unwrap();
    assert_eq!((status.uid(), status.gid()), (4_321, 4_322));
    drop(table);
    fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = crate::processes::in_child_of_user(4_444, || {
        let mut table = HashTable::open(&path, OpenOptions { verify: false, ..WRITE }).unwrap();
        let error = table.compact().unwrap_err();
        let is_refused =
            error.kind() == ErrorKind::Io(Some(1)) && error.to_string().contains("owner");
        overwrite(&mut table);
        is_refused && table.len().unwrap() == 5
    });
    assert!(refused);
    assert!(fs::read(&path).unwrap().len() > before.len() + (1 << 20), "it is gone on with");
    assert_eq!(fs::metadata(&path).unwrap().uid(), 4_321);
    fs::remove_dir_all(&folder).unwrap();
}
