//! Names of captures that are written one after another.

use std::path::{Path, PathBuf};

use super::capture_file::CaptureForm;
use crate::batch::notation;
use crate::{Error, ErrorKind, Result};

/// Names of the files of one capture.
#[derive(Debug, Clone)]
pub(super) struct PieceNames {
    parts: Vec<NamePart>,
    /// The name without a number that came last, and how often.
    last: (PathBuf, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamePart {
    Text(String),
    /// Year, month, day, hour, minute or second of the first packet, by its place in that order.
    Time(usize),
    /// Number of the file, from 1.
    Number,
}

/// Letters behind % that stand for parts of the time, in their order.
const TIME_LETTERS: &str = "YmdHMS";

impl PieceNames {
    /// Reads the form of the names: `%Y`, `%m`, `%d`, `%H`, `%M` and `%S` stand for the time of the first packet of each file, in
    /// UTC, `%n` for its number, and `%%` for %. A name with none of these gets `-%n` before its ending.
    ///
    /// # Errors
    /// `Argument` for another letter, for a name that is no text, and those of [`CaptureForm::of_name`].
    pub(super) fn of(path: &Path) -> Result<PieceNames> {
        CaptureForm::of_name(path)?;
        let refused = |message: String| {
            Error::new(ErrorKind::Argument, message).in_file(&path.to_string_lossy())
        };
        let name = path.to_str().ok_or_else(|| refused("expected a name in UTF-8".to_owned()))?;
        let (mut parts, mut text) = (Vec::new(), String::new());
        let mut letters = name.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                text.push(letter);
                continue;
            }
            let part = match letters.next() {
                Some('%') => {
                    text.push('%');
                    continue;
                }
                Some('n') => NamePart::Number,
                found => match found.and_then(|found| TIME_LETTERS.find(found)) {
                    Some(place) => NamePart::Time(place),
                    None => {
                        let found =
                            found.map_or("its end".to_owned(), |letter| format!("%{letter}"));
                        return Err(refused(format!(
                            "expected %Y, %m, %d, %H, %M, %S (of the first packet, in UTC), %n (the number of the file) or %% in \
                             the name of a rotated capture, found {found}"
                        )));
                    }
                },
            };
            parts.extend([NamePart::Text(std::mem::take(&mut text)), part]);
        }
        parts.push(NamePart::Text(text));
        if let [NamePart::Text(name)] = &*parts {
            let (stem, ending) = split_ending(name);
            let (stem, ending) = (format!("{stem}-"), ending.to_owned());
            parts = vec![NamePart::Text(stem), NamePart::Number, NamePart::Text(ending)];
        }
        Ok(PieceNames { parts, last: (PathBuf::new(), 0) })
    }

    /// Returns the name of the file with that number, whose first packet has the time `ts`, in nanoseconds since 1970. One that
    /// would have the name of the file before it gets a number, too.
    pub(super) fn next(&mut self, number: u64, ts: i64) -> PathBuf {
        let times = notation::civil_time(ts);
        let mut name = Vec::new();
        for part in &self.parts {
            match part {
                NamePart::Text(text) => name.extend_from_slice(text.as_bytes()),
                NamePart::Number => notation::padded(&mut name, number, 5),
                NamePart::Time(place) => {
                    let time = times.get(*place).copied().unwrap_or_default();
                    notation::padded(&mut name, time, if *place == 0 { 4 } else { 2 });
                }
            }
        }
        let name = String::from_utf8_lossy(&name).into_owned();
        let path = PathBuf::from(&name);
        if self.last.0 != path {
            self.last = (path.clone(), 1);
            return path;
        }
        self.last.1 += 1;
        let (stem, ending) = split_ending(&name);
        PathBuf::from(format!("{stem}-{}{ending}", self.last.1))
    }
}

/// Splits the name of a capture before its ending.
fn split_ending(name: &str) -> (&str, &str) {
    let endings = [".pcapng", ".pcap"];
    let at = endings.iter().filter_map(|ending| name.rfind(ending)).max().unwrap_or(name.len());
    name.split_at(at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_time_of_the_first_packet_and_a_number() {
        let ts = 1_795_293_456_000_000_000;
        let name = |pattern: &str| {
            PieceNames::of(Path::new(pattern)).unwrap().next(3, ts).to_str().unwrap().to_owned()
        };
        assert_eq!(name("web-%Y%m%d-%H%M%S.pcapng.zst"), "web-20261121-203736.pcapng.zst");
        assert_eq!(name("a/%n.pcap"), "a/00003.pcap");
        assert_eq!(name("out.pcap.gz"), "out-00003.pcap.gz");
        assert_eq!(name("100%%.pcap"), "100%-00003.pcap");
        assert_eq!(name("a.pcap.d/x.pcapng"), "a.pcap.d/x-00003.pcapng");
        let mut names = PieceNames::of(Path::new("%H.pcap")).unwrap();
        let next = [0, 0, 0, 3_600_000_000_000, 0].map(|ts| names.next(1, ts));
        let next = next.map(|path| path.to_str().unwrap().to_owned());
        assert_eq!(next, ["00.pcap", "00-2.pcap", "00-3.pcap", "01.pcap", "00.pcap"]);
        for pattern in ["%q.pcap", "%", "x%", "x.txt", "%Y.txt"] {
            let error = PieceNames::of(Path::new(pattern)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{pattern}");
        }
    }
}
