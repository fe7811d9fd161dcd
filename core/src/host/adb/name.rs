//! The names that open a database.

use std::collections::HashMap;
use std::time::Duration;

use super::shown;
use crate::error::{Error, ErrorKind, Result, excerpt_of_bytes};
use crate::table::ValueType;
use crate::table::file::{OpenOptions, SyncMode, TableKind};

/// The ends of the names of files, of our own, and of those of Tokyo Cabinet, which can be converted.
const ENDS: [(&str, TableKind); 6] = [
    (".bwh", TableKind::Hashed),
    (".bwt", TableKind::Ordered),
    (".tch", TableKind::Hashed),
    (".hdb", TableKind::Hashed),
    (".tcb", TableKind::Ordered),
    (".bdb", TableKind::Ordered),
];

/// `*`, `+` or a path, and behind it tuning, each parameter as `#key=value`. As Tokyo Cabinet does, it passes over a parameter
/// without `=` and one that it does not know.
#[derive(Debug)]
pub(super) struct DatabaseName {
    /// The name without its tuning.
    pub(super) path: Vec<u8>,
    pub(super) kind: TableKind,
    pub(super) is_in_memory: bool,
    pub(super) options: OpenOptions,
    /// Opening removes all entries.
    pub(super) truncates: bool,
    /// Number of entries that are kept in memory, or 0 for all.
    pub(super) capnum: u64,
    /// Number of bytes of entries that are kept in memory, or 0 for all.
    pub(super) capsiz: u64,
}

impl DatabaseName {
    /// Reads a name. [`ErrorKind::Argument`] and, for a file of Tokyo Cabinet, [`ErrorKind::Format`] where nothing of this name
    /// can be opened.
    pub(super) fn parse(name: &[u8]) -> Result<DatabaseName> {
        let mut parts = name.split(|byte| *byte == b'#');
        let path = parts.next().unwrap_or_default();
        let tuning = Tuning::of(parts);
        let (kind, is_in_memory) = match path {
            b"*" => (TableKind::Hashed, true),
            b"+" => (TableKind::Ordered, true),
            path => (kind_of_file(path)?, false),
        };
        let writes = tuning.has_mode(b'w');
        let options = OpenOptions {
            create: writes && tuning.has_mode(b'c'),
            read_only: !is_in_memory && !writes,
            // As in Tokyo Cabinet, one process writes.
            exclusive: !is_in_memory && writes,
            sync: tuning.sync()?,
            // Tokyo Cabinet waits as long as it takes.
            timeout: if tuning.has_mode(b'f') { Duration::ZERO } else { Duration::MAX },
            values: Some(ValueType::BYTES),
            ..OpenOptions::default()
        };
        Ok(DatabaseName {
            path: path.to_vec(),
            kind,
            is_in_memory,
            options,
            truncates: writes && tuning.has_mode(b't'),
            capnum: if is_in_memory { tuning.amount("capnum") } else { 0 },
            capsiz: if is_in_memory { tuning.amount("capsiz") } else { 0 },
        })
    }
}

fn kind_of_file(path: &[u8]) -> Result<TableKind> {
    let has_end = |(end, _): &&(&str, TableKind)| {
        let start = path.len().checked_sub(end.len());
        start.is_some_and(|start| path[start..].eq_ignore_ascii_case(end.as_bytes()))
    };
    match ENDS.iter().find(has_end).filter(|_| !path.contains(&0)) {
        Some((".bwh" | ".bwt", kind)) => Ok(*kind),
        Some((end, kind)) => Err(is_of_tokyo_cabinet(&path[..path.len() - end.len()], path, *kind)),
        None => {
            let found = excerpt_of_bytes(path);
            let message = format!("expected *, +, a .bwh or a .bwt file, found {found:?}");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

fn is_of_tokyo_cabinet(stem: &[u8], path: &[u8], kind: TableKind) -> Error {
    let (told, stem) = (excerpt_of_bytes(path), excerpt_of_bytes(stem));
    let message = format!(
        "expected a .bwh or .bwt file, found the name of one of Tokyo Cabinet; convert it with: \
         bytewright table convert {told} {stem}.{}",
        kind.extension()
    );
    Error::new(ErrorKind::Format, message).in_file(&shown(path))
}

/// The parameters of a name.
struct Tuning<'a>(HashMap<Vec<u8>, &'a [u8]>);

impl<'a> Tuning<'a> {
    /// Reads `key=value` from each part; of a key that comes again, the last.
    fn of(parts: impl Iterator<Item = &'a [u8]>) -> Tuning<'a> {
        let parameter = |part: &'a [u8]| {
            let place = part.iter().position(|byte| *byte == b'=')?;
            Some((part[..place].to_ascii_lowercase(), &part[place + 1..]))
        };
        Tuning(parts.filter_map(parameter).collect())
    }

    fn value(&self, key: &str) -> Option<&'a [u8]> {
        self.0.get(key.as_bytes()).copied()
    }

    /// Says whether a letter is in the mode: w to write, c to create, t to truncate, f not to wait for another process.
    /// Without w the file is read; the letter e, for no lock, has no meaning here.
    fn has_mode(&self, letter: u8) -> bool {
        self.value("mode").unwrap_or(b"wc").to_ascii_lowercase().contains(&letter)
    }

    /// When changes are made to survive a power cut: a parameter of our own.
    fn sync(&self) -> Result<SyncMode> {
        self.value("sync").map_or(Ok(SyncMode::Interval), |name| shown(name).parse())
    }

    /// A number, perhaps with a binary prefix behind it (k, m, g, t); 0 where it is not said.
    fn amount(&self, key: &str) -> u64 {
        let text = self.value(key).unwrap_or_default().trim_ascii_start();
        let digits_len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let power = match text.get(digits_len).map(u8::to_ascii_lowercase) {
            Some(b'k') => 10,
            Some(b'm') => 20,
            Some(b'g') => 30,
            Some(b't') => 40,
            _ => 0,
        };
        number(text).max(0).unsigned_abs().saturating_mul(1 << power)
    }
}

/// The number that a text begins with, as C's `atoi` reads it, and 0 where it begins with none.
pub(super) fn number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_i64, |sum, digit| {
        sum.saturating_mul(10).saturating_add(sign * i64::from(digit - b'0'))
    })
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_have_a_binary_prefix_in_tuning_and_is_read_as_c_reads_it() {
        let amounts =
            [("1k", 1 << 10), (" 2M5", 2 << 20), ("1g", 1 << 30), ("7x", 7), ("-3", 0), ("", 0)];
        for (text, amount) in amounts {
            let name = format!("+#capsiz={text}");
            let name = DatabaseName::parse(name.as_bytes()).expect("a name");
            assert_eq!((name.capnum, name.capsiz), (0, amount), "{text}");
        }
        let numbers = [(" 1x", 1), ("-2.7", -2), ("+3", 3), ("1_0", 1), ("1k", 1), ("x", 0)];
        for (text, expected) in numbers {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(number(b"99999999999999999999"), i64::MAX);
        assert_eq!(number(b"-99999999999999999999"), i64::MIN);
    }

    #[test]
    fn the_end_of_a_name_tells_its_kind_in_letters_of_any_case() {
        for (name, kind) in [("a.bwh", TableKind::Hashed), ("b/C.BWT#bnum=1", TableKind::Ordered)] {
            assert_eq!(DatabaseName::parse(name.as_bytes()).expect(name).kind, kind);
        }
        for (name, converted) in [
            ("a.TCH", "a.bwh"),
            ("a.hdb", "a.bwh"),
            ("a.b.tcb#mode=r", "a.b.bwt"),
            ("a.bdb", "a.bwt"),
        ] {
            let error = DatabaseName::parse(name.as_bytes()).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Format);
            assert!(error.message().ends_with(converted), "{error}");
        }
        for name in ["", "a", "bwh", "a.tct", "a\0.bwh", "a.bwh/", "*.bwh.x"] {
            let error = DatabaseName::parse(name.as_bytes()).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Argument, "{name}");
        }
    }
}
