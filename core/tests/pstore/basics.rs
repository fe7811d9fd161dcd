//! Tests of one store with one file of this machine.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::marshal::{Edit, Hooks, RootStream};
use bytewright::pstore::{Access, Begun, Content, Durability, Options, Store};

use crate::folder::Folder;
use crate::generate::seeds;
use crate::model::{Table, begin, change, content, read};

const ENOENT: i32 = 2;
const EISDIR: i32 = 21;

fn table(value: &[u8]) -> Table {
    Table(vec![("a".to_owned(), value.to_vec())])
}

fn set(store: &mut Store, path: &Path, table: &Table, durability: Durability) -> bool {
    change(store, path, (table, &Table::default(), &[]), durability, false).unwrap()
}

#[test]
fn reading_makes_no_file_and_writing_makes_an_empty_one() {
    let folder = Folder::new("made");
    let path = folder.path("x");
    let mut store = Store::new(Options::default());
    assert_eq!(store.try_begin(&path, Access::Read).unwrap(), Begun::Missing);
    assert!(matches!(store.content(), Content::Empty));
    store.end();
    assert!(!path.exists());
    begin(&mut store, &path, Access::Write);
    assert!(matches!(store.content(), Content::Empty));
    assert!(!store.replace(Table::default().dump(), Durability::Process).unwrap());
    store.end();
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(folder.names(), ["x"]);
}

#[test]
fn what_random_changes_leave_is_what_dumping_writes() {
    let folder = Folder::new("random");
    seeds(15, |random| {
        let path = folder.path("x");
        let _ = fs::remove_file(&path);
        let (mut ours, mut table) = (Store::new(Options::default()), Table::default());
        for _ in 0..25 {
            let (new, changes, edits) = table.changed(random);
            let durability = random.pick(&[Durability::Process, Durability::Power]);
            let of_table = (&new, &changes, &edits[..]);
            let by_roots = random.once_in(2);
            let changed = change(&mut ours, &path, of_table, durability, by_roots).unwrap();
            assert_eq!(changed, new != table);
            table = new;
            if changed {
                assert_eq!(fs::read(&path).unwrap(), table.dump());
            }
            if random.once_in(5) {
                ours = Store::new(Options::default());
            }
        }
    });
}

// Promise (pstore-journal): A transaction reads and writes what it touches.
#[test]
fn what_does_not_change_is_not_written() {
    let folder = Folder::new("unchanged");
    let path = folder.path("x");
    let mut store = Store::new(Options::default());
    assert!(set(&mut store, &path, &table(b"one"), Durability::Process));
    let before = fs::metadata(&path).unwrap();
    assert!(!set(&mut store, &path, &table(b"one"), Durability::Process));
    begin(&mut store, &path, Access::Write);
    let changes = RootStream::scan(table(b"one").dump(), Hooks::Known).unwrap();
    let edit = Edit::Replace { root: 0, with: 0 };
    assert!(!store.change(&changes, &[edit], Durability::Process).unwrap().unwrap());
    store.end();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.mtime(), before.mtime_nsec()), (after.mtime(), after.mtime_nsec()));
    assert_eq!(before.ctime_nsec(), after.ctime_nsec());
}

// Promise (pstore-journal): The journal is deleted with the last object, and has the mode of the
// store.
#[test]
fn links_modes_and_inodes_stay() {
    for durability in [Durability::Process, Durability::Power] {
        let folder = Folder::new("link");
        let (path, link) = (folder.path("below/x"), folder.path("link"));
        fs::create_dir(folder.path("below")).unwrap();
        fs::write(&path, table(b"one").dump()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("below/x", &link).unwrap();
        let before = fs::metadata(&path).unwrap();
        let mut store = Store::new(Options::default());
        set(&mut store, &link, &table(&[7; 10_000]), durability);
        assert_eq!(fs::read(&path).unwrap(), table(&[7; 10_000]).dump());
        let after = fs::metadata(&path).unwrap();
        assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let journal = fs::metadata(folder.path("below/x.journal")).unwrap();
        assert_eq!(journal.mode() & 0o777, 0o600);
        for mode in [0o640, 0o600] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            set(&mut store, &link, &table(&[mode as u8; 10_000]), durability);
            let journal = fs::metadata(folder.path("below/x.journal")).unwrap();
            assert_eq!(journal.mode() & 0o777, mode, "it follows a change of the mode");
        }
        drop(store);
        assert!(!folder.path("below/x.journal").exists(), "nobody needs the journal");
    }
}

#[test]
fn what_the_system_refuses_has_its_number() {
    let folder = Folder::new("refused");
    fs::create_dir(folder.path("directory")).unwrap();
    let mut store = Store::new(Options::default());
    for access in [Access::Read, Access::Write] {
        let refused = store.try_begin(&folder.path("directory"), access).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Io(Some(EISDIR)), "{refused}");
    }
    let refused = store.try_begin(&folder.path("none/x"), Access::Write).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Io(Some(ENOENT)), "{refused}");
    assert_eq!(store.try_begin(&folder.path("none/x"), Access::Read).unwrap(), Begun::Missing);
    store.end();
}

#[test]
fn bytes_that_are_no_table_are_given_as_a_whole() {
    let folder = Folder::new("whole");
    let path = folder.path("x");
    let mut trailing = table(b"one").dump();
    trailing.extend_from_slice(b"garbage");
    for bytes in [&b"\x04"[..], b"not a table", &trailing] {
        fs::write(&path, bytes).unwrap();
        let mut store = Store::new(Options::default());
        begin(&mut store, &path, Access::Write);
        assert!(matches!(store.content(), Content::Whole { why: Some(_), .. }));
        assert_eq!(content(&store), bytes);
        let changes = RootStream::scan(table(b"two").dump(), Hooks::Known).unwrap();
        let edit = Edit::Replace { root: 0, with: 0 };
        assert!(store.change(&changes, &[edit], Durability::Process).unwrap().is_err());
        assert!(store.replace(table(b"one").dump(), Durability::Process).unwrap());
        store.end();
        assert_eq!(fs::read(&path).unwrap(), table(b"one").dump());
        assert_eq!(read(&mut store, &path), table(b"one").dump());
    }
}

#[test]
fn the_roots_need_not_be_looked_for() {
    let folder = Folder::new("unscanned");
    let path = folder.path("x");
    fs::write(&path, table(b"one").dump()).unwrap();
    let mut store = Store::new(Options::default());
    assert_eq!(store.try_begin(&path, Access::Read).unwrap(), Begun::Stale);
    store.load_whole().unwrap();
    assert!(matches!(store.content(), Content::Whole { why: None, .. }));
    store.load().unwrap();
    assert!(matches!(store.content(), Content::Roots(_)));
    store.end();
}

#[test]
fn the_path_is_looked_at_in_each_transaction() {
    let folder = Folder::new("path");
    let (path, other) = (folder.path("x"), folder.path("y"));
    let mut store = Store::new(Options::default());
    set(&mut store, &path, &table(b"one"), Durability::Process);
    fs::write(&other, table(b"other").dump()).unwrap();
    assert_eq!(read(&mut store, &other), table(b"other").dump());
    fs::rename(&other, &path).unwrap();
    assert_eq!(read(&mut store, &path), table(b"other").dump());
    fs::remove_file(&path).unwrap();
    assert_eq!(store.try_begin(&path, Access::Read).unwrap(), Begun::Missing);
    store.end();
    set(&mut store, &path, &table(b"new"), Durability::Process);
    assert_eq!(fs::read(&path).unwrap(), table(b"new").dump());
}

#[test]
fn changes_outside_of_a_transaction_that_writes_are_refused() {
    let folder = Folder::new("outside");
    let path = folder.path("x");
    fs::write(&path, table(b"one").dump()).unwrap();
    let mut store = Store::new(Options::default());
    let refused = store.replace(Vec::new(), Durability::Process).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Argument);
    begin(&mut store, &path, Access::Read);
    let refused = store.replace(Vec::new(), Durability::Process).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Argument);
    assert_eq!(store.try_begin(&path, Access::Read).unwrap_err().kind(), ErrorKind::Argument);
    store.end();
}

// Promise (pstore-journal): If the journal cannot be written, the store is written without one,
// unless a journal there is live.
#[test]
fn a_file_of_that_name_that_is_no_journal_stays_as_it_is() {
    let folder = Folder::new("taken");
    let path = folder.path("x");
    fs::write(folder.path("x.journal"), table(b"diary").dump()).unwrap();
    let mut store = Store::new(Options::default());
    assert!(set(&mut store, &path, &table(b"one"), Durability::Process));
    assert_eq!(fs::read(&path).unwrap(), table(b"one").dump());
    begin(&mut store, &path, Access::Write);
    store.replace(table(b"two").dump(), Durability::Power).unwrap_err();
    store.end();
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), table(b"one").dump());
    assert_eq!(fs::read(folder.path("x.journal")).unwrap(), table(b"diary").dump());
}

#[test]
fn a_journal_counts_only_where_it_is_of_somebody_who_may_write_the_store() {
    let folder = Folder::new("strangers");
    let (path, place, target) = (folder.path("x"), folder.path("x.journal"), folder.path("target"));
    fs::write(&path, table(b"one").dump()).unwrap();
    // One that counts is refused for its format.
    let mut journal = b"\x89BWJ\r\n\x1a\n\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0".to_vec();
    journal.resize(200, 0);
    fs::write(&target, &journal).unwrap();
    let refused = |found: &str| {
        for durability in [Durability::Process, Durability::Power] {
            let mut store = Store::new(Options::default());
            assert_eq!(store.try_begin(&path, Access::Write).unwrap(), Begun::Stale);
            let read = store.load().unwrap_err();
            let written = store.replace(table(b"two").dump(), durability);
            store.end();
            assert!(read.to_string().contains(found), "{read}");
            assert!(written.is_err(), "{durability:?} beside {found}");
            assert_eq!(fs::read(&path).unwrap(), table(b"one").dump());
            assert_eq!(fs::read(&place).unwrap(), journal);
        }
    };
    std::os::unix::fs::symlink(&target, &place).unwrap();
    refused(
        "x.journal: expected a journal that belongs to the owner of the file beside it, to root or to you, found a symbolic link",
    );
    fs::remove_file(&place).unwrap();
    fs::hard_link(&target, &place).unwrap();
    refused("found a file with several names");
    fs::remove_file(&place).unwrap();
    fs::write(&place, &journal).unwrap();
    match std::os::unix::fs::chown(&place, Some(65_534), None) {
        Ok(()) => refused("found a file of the user with the number 65534"),
        Err(_) => println!("gap: files of another user are not tried, which takes root"),
    }
}

#[test]
fn the_journal_of_a_newer_format_is_refused() {
    let folder = Folder::new("newer");
    let path = folder.path("x");
    fs::write(&path, table(b"one").dump()).unwrap();
    let mut journal = b"\x89BWJ\r\n\x1a\n\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0".to_vec();
    journal.resize(200, 0);
    fs::write(folder.path("x.journal"), &journal).unwrap();
    let mut store = Store::new(Options::default());
    assert_eq!(store.try_begin(&path, Access::Read).unwrap(), Begun::Stale);
    let refused = store.load().unwrap_err();
    store.end();
    assert_eq!(refused.kind(), ErrorKind::Format);
    assert!(refused.to_string().contains("format 1, found format 2"), "{refused}");
}

#[test]
fn a_device_a_fifo_and_a_socket_are_refused_at_once() {
    let folder = Folder::new("not_regular");
    let (fifo, socket) = (folder.path("fifo"), folder.path("socket"));
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let device = std::path::Path::new("/dev/null");
    for (path, what) in [(device, "a device"), (&*fifo, "a FIFO"), (&*socket, "a socket")] {
        for access in [Access::Read, Access::Write] {
            let mut store = Store::new(Options::default());
            let refused = store.try_begin(path, access).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Format, "{refused}");
            assert!(refused.to_string().contains(what), "{refused}");
            assert_eq!(refused.file(), path.to_str());
        }
    }
}
