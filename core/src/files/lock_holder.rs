//! Process that has a file locked, for the errors of those that it keeps out. Linux tells below `/proc`, of processes
//! of the same user: the locks of an open file are in `fdinfo` (proc(5)).

use std::fs;
use std::path::{Path, PathBuf};

use super::storage::FileId;

/// Words for a holder that the system does not tell.
pub(crate) const UNKNOWN_HOLDER: &str = "another process or handle";

/// Who has a file locked: "process 4711 (ruby)", or in general words where the system does not tell.
pub(crate) fn lock_holder(file: Option<FileId>) -> String {
    file.and_then(told_holder).unwrap_or_else(|| UNKNOWN_HOLDER.to_owned())
}

/// Words for a process that keeps others out.
pub(crate) fn named_process(number: u32) -> String {
    if number == std::process::id() {
        return "another object of this process".to_owned();
    }
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    format!("process {number} ({})", name.trim_end())
}

fn told_holder(file: FileId) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let locks = numbers.filter_map(|number| Some((lock_of(number, file)?, number)));
    // Readers may have locks on parts of a file that someone writes.
    let (_, number) = locks.max()?;
    Some(named_process(number))
}

/// The kinds of locks, the strongest last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Lock {
    Shared,
    Exclusive,
}

/// The strongest lock that a process has on the file.
fn lock_of(process: u32, file: FileId) -> Option<Lock> {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let open = fs::read_dir(folder.join("fd")).ok()?.flatten();
    let of_file = open
        .filter(|entry| fs::metadata(entry.path()).is_ok_and(|found| FileId::of(&found) == file));
    of_file.filter_map(|entry| shown_lock(&folder.join("fdinfo").join(entry.file_name()))).max()
}

/// The strongest lock in lines as `lock: 1: OFDLCK ADVISORY WRITE -1 08:01:131 0 EOF`.
fn shown_lock(fdinfo: &Path) -> Option<Lock> {
    let text = fs::read_to_string(fdinfo).ok()?;
    let locks = text.lines().filter(|line| line.starts_with("lock:"));
    let kind = |line: &str| match line.split_whitespace().any(|word| word == "WRITE") {
        true => Lock::Exclusive,
        false => Lock::Shared,
    };
    locks.map(kind).max()
}
