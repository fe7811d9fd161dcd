//! tshark's answers: one row per packet, columns parted by `|`, named by the first line.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::files;

/// End of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every byte was read.
    Whole,
    /// Damage after some packets.
    Cut,
    /// Nothing of it could be read.
    Refused,
}

impl Verdict {
    /// A file that is damaged before its first packet is cut for one reader and refused for another.
    pub(crate) fn agrees_with(self, other: Verdict) -> bool {
        (self == Verdict::Whole) == (other == Verdict::Whole)
    }
}

/// Answer of tshark for one file.
pub(crate) struct Answer {
    pub(crate) file: String,
    pub(crate) verdict: Verdict,
    pub(crate) rows: Vec<Row>,
}

/// Answer of tshark for one packet.
pub(crate) struct Row {
    columns: Rc<HashMap<String, usize>>,
    line: String,
}

impl Row {
    /// The value of a field, where tshark found one.
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        let index = self.columns.get(column).unwrap_or_else(|| panic!("a column {column}"));
        self.line.split('|').nth(*index).filter(|value| !value.is_empty())
    }

    /// The dissectors that looked at the frame, outermost first.
    pub(crate) fn protocols(&self) -> Vec<&str> {
        self.text("frame.protocols").unwrap_or_default().split(':').collect()
    }
}

/// The answers for every file, in the order of the oracle's table.
pub(crate) fn answers(folder: &Path) -> Vec<Answer> {
    let table = files::plain(&folder.join("tshark.psv.gz"));
    let table = String::from_utf8_lossy(&table);
    let mut lines = table.lines();
    let header = lines.next().expect("a first line that names the columns");
    let columns = header.split('|').map(str::to_owned).zip(0..).collect::<HashMap<_, _>>();
    let columns = Rc::new(columns);
    let mut answers: Vec<Answer> = Vec::new();
    for line in lines {
        let row = Row { columns: Rc::clone(&columns), line: line.to_owned() };
        let file = row.text("file").expect("a file in every row").to_owned();
        let verdict = match row.text("status") {
            None | Some("none") => Verdict::Whole,
            Some("cut") => Verdict::Cut,
            Some(_) => Verdict::Refused,
        };
        if answers.last().is_none_or(|last| last.file != file) {
            answers.push(Answer { file, verdict, rows: Vec::new() });
        }
        let is_packet = line.split('|').count() > 2;
        answers.last_mut().expect("one was pushed").rows.extend(is_packet.then_some(row));
    }
    answers
}
