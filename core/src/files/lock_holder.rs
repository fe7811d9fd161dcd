//! Which process has a file locked, for the errors of those that it keeps out. Linux tells below `/proc`, of processes of the
//! same user: the locks of an open file are in `fdinfo` (proc(5)).

use std::fs;
use std::path::{Path, PathBuf};

use super::storage::FileId;

/// Who has a file locked: "process 4711 (ruby)", or in general words where the system does not tell.
pub(crate) fn lock_holder(file: Option<FileId>) -> String {
    file.and_then(told_holder).unwrap_or_else(|| "another process or handle".to_owned())
}

fn told_holder(file: FileId) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let number = numbers.find(|number| has_locked(*number, file))?;
    if number == std::process::id() {
        return Some("another object of this process".to_owned());
    }
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    Some(format!("process {number} ({})", name.trim_end()))
}

fn has_locked(process: u32, file: FileId) -> bool {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let Ok(open) = fs::read_dir(folder.join("fd")) else { return false };
    open.flatten().any(|entry| {
        let is_this = fs::metadata(entry.path()).is_ok_and(|found| FileId::of(&found) == file);
        is_this && shows_lock(&folder.join("fdinfo").join(entry.file_name()))
    })
}

fn shows_lock(fdinfo: &Path) -> bool {
    fs::read_to_string(fdinfo).is_ok_and(|text| text.lines().any(|line| line.starts_with("lock:")))
}
