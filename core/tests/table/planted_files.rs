//! Goal: what lies beside a table under a name that the product makes or finds by itself is neither followed, nor
//! believed, nor lost: a link, a stranger's file, a file of the user's own.
//!
//! Method: a matrix. Beside a table lies one planted thing under one name, and one operation is done. Afterwards the thing
//! and what it leads to are as before, nothing else lies there, and the operation has done its work or has an error that
//! names the planted file. As root, files belong to another user; the matrix runs once more as nobody.

use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytewright::Result;
use bytewright::rpc::CallSummary;
use bytewright::sums::{CallStore, FlowStore};
use bytewright::table::file::{OpenOptions, SyncMode, TableKind, open};
use bytewright::table::{Backup, BackupOptions, ConvertOptions, Origin, convert};

const NOBODY: u32 = 65_534;

const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: false,
    sync: SyncMode::Interval,
    timeout: std::time::Duration::ZERO,
    values: None,
};
const WRITE: OpenOptions = OpenOptions { create: false, ..CREATE };
const READ: OpenOptions = OpenOptions { read_only: true, ..WRITE };

/// Endings of the names of files beside a table, in this or in some earlier version.
const ENDINGS: [&str; 6] = [".log", ".idx", ".new", ".idx.new", ".part", ".part.log"];

/// Tells the program that it runs as nobody.
const AS_NOBODY: &str = "BYTEWRIGHT_AS_NOBODY";

/// File planted under the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planted {
    LinkToFile,
    LinkToNothing,
    HardLink,
    OwnFile,
    StrangersFile,
    Directory,
    Fifo,
}

const PLANTED: [Planted; 7] = [
    Planted::LinkToFile,
    Planted::LinkToNothing,
    Planted::HardLink,
    Planted::OwnFile,
    Planted::StrangersFile,
    Planted::Directory,
    Planted::Fifo,
];

/// Operation done beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    FillEmptyFile,
    Write,
    Compact,
    Read,
    Backup,
    BackupOver,
    Convert,
    /// Counts as `flows --into` and `rpc --into` do.
    CountFlows,
    CountCalls,
}

const OPERATIONS: [Operation; 10] = [
    Operation::Create,
    Operation::FillEmptyFile,
    Operation::Write,
    Operation::Compact,
    Operation::Read,
    Operation::Backup,
    Operation::BackupOver,
    Operation::Convert,
    Operation::CountFlows,
    Operation::CountCalls,
];

impl Operation {
    /// Returns true if it makes tables of that kind. Sums are in ordered ones only.
    fn is_of(self, kind: TableKind) -> bool {
        kind == TableKind::Ordered || !matches!(self, Operation::CountFlows | Operation::CountCalls)
    }

    /// Returns true if the table is there before.
    fn needs_table(self) -> bool {
        matches!(
            self,
            Operation::Write | Operation::Compact | Operation::Read | Operation::BackupOver
        )
    }

    fn run(self, path: &Path, kind: TableKind, other: &Path) -> Result<()> {
        match self {
            Operation::Create | Operation::FillEmptyFile => write(path, kind, CREATE),
            Operation::Write => write(path, kind, WRITE),
            Operation::Compact => {
                let mut table = open(path, Some(kind), WRITE)?;
                table.as_table_mut().compact()?;
                table.as_table_mut().close()
            }
            Operation::Read => {
                let table = open(path, Some(kind), READ)?;
                assert_eq!(table.as_table().len()?, 2);
                Ok(())
            }
            Operation::Backup | Operation::BackupOver => {
                let table = open(other, Some(kind), READ)?;
                let options = BackupOptions { replace: self == Operation::BackupOver };
                Backup::of(table.as_table(), kind)?.write(path, options).map(drop)
            }
            Operation::Convert => {
                let origin = Origin::open(other, false)?;
                convert(&origin, path, ConvertOptions::default(), &mut |_| ()).map(drop)
            }
            Operation::CountFlows => {
                let store = FlowStore::open_to_count(path)?;
                let counted = store.begin()?.commit(b"a capture", "trace.pcap", Some(1));
                counted.map(drop)
            }
            Operation::CountCalls => {
                let store = CallStore::open_to_count(path)?;
                let calls = CallSummary::new();
                store.begin()?.commit(b"a capture", "trace.pcap", Some(1), calls).map(drop)
            }
        }
    }
}

fn write(path: &Path, kind: TableKind, options: OpenOptions) -> Result<()> {
    let mut table = open(path, Some(kind), options)?;
    table.as_table_mut().put(b"b", b"2")?;
    table.as_table_mut().close()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let name = format!("bytewright-planted-{name}-{}", std::process::id());
    let path = std::env::temp_dir().canonicalize().unwrap().join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const SECRET: &[u8] = b"what belongs to somebody else";

impl Planted {
    /// Puts it at `place`; `target` is what it leads to. `false` where this user cannot.
    fn plant(self, place: &Path, target: &Path) -> bool {
        match self {
            Planted::LinkToFile | Planted::HardLink => {
                fs::write(target, SECRET).unwrap();
                match self {
                    Planted::HardLink => fs::hard_link(target, place).unwrap(),
                    _ => symlink(target, place).unwrap(),
                }
            }
            Planted::LinkToNothing => symlink(target, place).unwrap(),
            Planted::OwnFile => fs::write(place, SECRET).unwrap(),
            Planted::StrangersFile => {
                fs::write(place, SECRET).unwrap();
                return chown(place, Some(NOBODY), None).is_ok() && is_root();
            }
            Planted::Directory => fs::create_dir(place).unwrap(),
            Planted::Fifo => {
                assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
            }
        }
        true
    }
}

/// Returns the status and content of a file without following it.
fn seen(place: &Path) -> impl PartialEq + Debug {
    let status = fs::symlink_metadata(place).map(|status| {
        let kind = status.file_type();
        let content = if kind.is_file() { fs::read(place).unwrap() } else { Vec::new() };
        (status.ino(), status.uid(), status.mode(), kind.is_fifo(), status.nlink(), content)
    });
    status.ok()
}

fn check(kind: TableKind, operation: Operation, ending: &str, planted: Planted) {
    let what = format!("{operation:?} of {kind:?} beside {planted:?} at {ending}");
    let root = folder(&format!("{kind:?}-{operation:?}-{planted:?}{ending}"));
    let (folder, elsewhere) = (root.join("shared"), root.join("elsewhere"));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let path = folder.join(format!("x.{}", kind.extension()));
    let other = elsewhere.join(format!("other.{}", kind.extension()));
    for (path, is_made) in [(&path, operation.needs_table()), (&other, true)] {
        if is_made {
            let mut table = open(path, Some(kind), CREATE).unwrap();
            table.as_table_mut().put(b"a", b"1").unwrap();
            table.as_table_mut().put(b"b", b"1").unwrap();
            table.as_table_mut().close().unwrap();
        }
    }
    if operation == Operation::FillEmptyFile {
        fs::write(&path, b"").unwrap();
    }
    let (place, target) = (beside(&path, ending), root.join("target"));
    let _ = fs::remove_file(&place);
    planted.plant(&place, &target);
    let before = (seen(&place), seen(&target));
    let outcome = operation.run(&path, kind, &other);
    assert_eq!((seen(&place), seen(&target)), before, "{what}");
    let expected = [
        path.file_name().unwrap().to_string_lossy().into_owned(),
        place.file_name().unwrap().to_string_lossy().into_owned(),
    ];
    for name in names(&folder) {
        assert!(expected.contains(&name), "{what}: {name} was left");
    }
    outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
    open(&path, Some(kind), WRITE).map(drop).unwrap_or_else(|error| {
        assert_eq!(error.file(), Some(&*place.to_string_lossy()), "{what}: {error}");
    });
    fs::remove_dir_all(root).unwrap();
}

/// All of the matrix for tables of a kind.
fn check_all(kind: TableKind, endings: &[&str]) {
    if !is_root() {
        println!("gap: files of another user are not tried, which takes root");
    }
    for ending in endings {
        for planted in PLANTED {
            if planted == Planted::StrangersFile && !is_root() {
                continue;
            }
            let operations = OPERATIONS.iter().filter(|operation| operation.is_of(kind));
            operations.for_each(|operation| check(kind, *operation, ending, planted));
        }
    }
}

#[test]
fn what_lies_beside_a_hashed_table_is_neither_followed_nor_believed_nor_lost() {
    check_all(TableKind::Hashed, &ENDINGS);
}

// Promise (tree-table-file): Nothing beside the table is followed, believed or lost because of its
// name.
#[test]
fn what_lies_beside_an_ordered_table_is_neither_followed_nor_believed_nor_lost() {
    check_all(TableKind::Ordered, &ENDINGS);
}

/// Not a test by itself: the part that a user without rights runs.
#[test]
fn as_a_user_without_rights() {
    if std::env::var_os(AS_NOBODY).is_some() {
        check_all(TableKind::Hashed, &[".idx", ".new", ".part"]);
        check_all(TableKind::Ordered, &[".log", ".new", ".part"]);
    }
}

#[test]
fn the_same_holds_for_a_user_without_rights() {
    if !is_root() {
        println!("gap: this user is not root, so the matrix runs for this user only");
        return;
    }
    let program = std::env::temp_dir().join(format!("bytewright-planted-{}", std::process::id()));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program);
    command.args(["planted_files::as_a_user_without_rights", "--exact"]).env(AS_NOBODY, "1");
    let done = command.uid(NOBODY).gid(NOBODY).current_dir("/").output();
    fs::remove_file(&program).unwrap();
    let done = done.unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && told.contains("1 passed"), "{told}");
}
