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

fn shown_lock(fdinfo: &Path) -> Option<Lock> {
    strongest_lock(&fs::read_to_string(fdinfo).ok()?)
}

/// The strongest lock in lines as `lock: 1: FLOCK ADVISORY WRITE 4711 08:01:131 0 EOF`. Those of other kinds are on single
/// bytes, by which the handles of a shared area know each other, and keep nobody out.
fn strongest_lock(fdinfo: &str) -> Option<Lock> {
    let has = |line: &str, name| line.split_whitespace().any(|word| word == name);
    let locks = fdinfo.lines().filter(|line| line.starts_with("lock:") && has(line, "FLOCK"));
    let kind = |line| match has(line, "WRITE") {
        true => Lock::Exclusive,
        false => Lock::Shared,
    };
    locks.map(kind).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_on_a_byte_keeps_nobody_out() {
        let byte = "pos:\t0\nlock:\t1: OFDLCK  ADVISORY  WRITE -1 08:01:131 9 9\n";
        let shared = "lock:\t2: FLOCK  ADVISORY  READ 4711 08:01:131 0 EOF\n";
        let exclusive = "lock:\t3: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF\n";
        assert!(strongest_lock(byte).is_none());
        assert!(strongest_lock(&format!("{byte}{shared}")) == Some(Lock::Shared));
        assert!(strongest_lock(&format!("{byte}{shared}{exclusive}")) == Some(Lock::Exclusive));
    }
}
