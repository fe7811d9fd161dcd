//! Process as others of the machine know it: by its number, its start, and the namespaces that give these a meaning.
//! Linux tells below `/proc` (proc(5)).

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::files::lock_holder::{UNKNOWN_HOLDER, named_process};

/// Number in the record of a process that is known to be gone, while forked children of it keep its lock.
const GONE: u64 = u64::MAX;

/// Process that has a file open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessIdentity {
    /// 0 where it is not told.
    pub(super) number: u64,
    /// Ticks from the start of the system to that of the process.
    pub(super) start: u64,
    /// Namespaces of its numbers and of its times; 0 where it could not tell.
    pub(super) namespaces: u64,
}

impl ProcessIdentity {
    /// No process.
    pub(super) const NONE: ProcessIdentity = ProcessIdentity { number: 0, start: 0, namespaces: 0 };

    /// A process that is known to be gone.
    pub(super) const GONE: ProcessIdentity =
        ProcessIdentity { number: GONE, start: 0, namespaces: 0 };

    /// Returns this process.
    pub(super) fn own() -> ProcessIdentity {
        let number = u64::from(std::process::id());
        let told = own_namespaces().zip(ProcessStat::of(number));
        let (namespaces, start) = told.map_or((0, 0), |(found, stat)| (found, stat.start));
        ProcessIdentity { number, start, namespaces }
    }

    /// Returns true if the record that names it is in use.
    pub(super) fn is_told(&self) -> bool {
        !matches!(self.number, 0 | GONE)
    }

    /// Returns true if it is sure to have ended, as `own` sees it: one of other namespaces never is.
    pub(super) fn is_gone(&self, own: &ProcessIdentity) -> bool {
        if self.number == GONE {
            return true;
        }
        if self.number == 0 || self.namespaces == 0 || self.namespaces != own.namespaces {
            return false;
        }
        let number = i32::try_from(self.number).ok().and_then(Pid::from_raw);
        // Where processes of others are hidden below /proc, the system still tells that they are there.
        if number.is_some_and(|number| test_kill_process(number) == Err(Errno::SRCH)) {
            return true;
        }
        let stat = ProcessStat::of(self.number);
        stat.is_some_and(|stat| stat.start != self.start || stat.has_ended)
    }

    /// Names it for an error that `own` gets: "process 4711 (ruby)".
    pub(super) fn describe(&self, own: &ProcessIdentity) -> String {
        match u32::try_from(self.number) {
            Ok(0) | Err(_) => UNKNOWN_HOLDER.to_owned(),
            Ok(number) if self.namespaces == own.namespaces => named_process(number),
            Ok(number) => format!("process {number} of another namespace"),
        }
    }
}

/// The namespaces of the numbers and times of this process as one word. None where `/proc` shows those of others.
fn own_namespaces() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    // With more than one, /proc counts processes from a namespace around ours.
    if numbers.trim().parse() != Ok(std::process::id()) {
        return None;
    }
    let numbers = fs::metadata("/proc/self/ns/pid").ok()?.ino();
    let times = fs::metadata("/proc/self/ns/time").map_or(0, |found| found.ino());
    Some(numbers.rotate_left(32) ^ times)
}

/// Process as `/proc` tells of it.
struct ProcessStat {
    start: u64,
    /// All its threads have ended, and its parent has not asked for it yet.
    has_ended: bool,
}

impl ProcessStat {
    fn of(number: u64) -> Option<ProcessStat> {
        ProcessStat::parse(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<ProcessStat> {
        // The name, in parentheses, may hold anything.
        let (_, behind_name) = text.rsplit_once(')')?;
        let mut fields = behind_name.split_whitespace();
        let state = fields.next()?;
        let thread_count: u64 = fields.nth(16)?.parse().ok()?;
        let start = fields.nth(1)?.parse().ok()?;
        // The first thread may end before the others.
        let has_ended = matches!(state, "Z" | "X" | "x") && thread_count <= 1;
        Some(ProcessStat { start, has_ended })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    //! Goal: a process that lives is never taken for one that is gone, and one that is gone is known where it can be.

    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;

    #[test]
    fn this_process_is_there_and_has_a_start() {
        let own = ProcessIdentity::own();
        assert!(own.is_told() && own.start > 0 && own.namespaces > 0, "{own:?}");
        assert!(!own.is_gone(&own));
        assert_eq!(own.describe(&own), "another object of this process");
    }

    #[test]
    fn a_process_is_gone_when_it_ended_or_when_its_number_is_anothers() {
        let own = ProcessIdentity::own();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let number = u64::from(child.id());
        let start = ProcessStat::of(number).unwrap().start;
        let found = ProcessIdentity { number, start, ..own };
        assert!(!found.is_gone(&own));
        assert!(found.describe(&own).starts_with(&format!("process {number} (")));
        assert!(ProcessIdentity { start: start + 1, ..found }.is_gone(&own));
        child.kill().unwrap();
        while !found.is_gone(&own) {
            std::thread::yield_now();
        }
        assert!(ProcessStat::of(number).unwrap().has_ended, "nobody asked for it yet");
        child.wait().unwrap();
        assert!(found.is_gone(&own));
    }

    #[test]
    fn nobody_is_called_gone_of_whom_nothing_is_known() {
        let own = ProcessIdentity::own();
        let elsewhere = ProcessIdentity { number: 4_194_305, start: 1, namespaces: 1 };
        assert!(!elsewhere.is_gone(&own));
        assert_eq!(elsewhere.describe(&own), "process 4194305 of another namespace");
        assert!(!ProcessIdentity::NONE.is_gone(&own));
        assert!(!ProcessIdentity { namespaces: 0, ..elsewhere }.is_gone(&own));
        assert!(ProcessIdentity::GONE.is_gone(&own));
    }

    #[test]
    fn a_process_with_threads_that_go_on_has_not_ended() {
        let stat = |state, threads| {
            format!("7 (a ) b) {state} 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 4711 0 0\n")
        };
        let parse = |text: String| ProcessStat::parse(&text).unwrap();
        assert_eq!(parse(stat("S", 1)).start, 4711);
        assert!(!parse(stat("S", 1)).has_ended && !parse(stat("Z", 2)).has_ended);
        assert!(parse(stat("Z", 1)).has_ended);
    }
}
