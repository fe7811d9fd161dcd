//! Comments in the sources that are rows of documents. Each begins with a word and a name in parentheses, and ends with the
//! comment that it begins:
//!
//! ```text
//! // Bound (Captures): captured length = 256 KiB; 16 MiB for USB and
//! // D-Bus.
//! ```

use std::fs;

use crate::root;

/// Ends of the names of sources.
const ENDINGS: &[&str] = &["c", "h", "pl", "pm", "py", "rb", "rs", "t", "xs"];

/// Folders of what is built or fetched, by us or as README says.
const MADE: &[&str] = &["target", "blib", "data", "env", "pkg"];

/// This folder, whose files show such comments.
const THIS: &str = "core/tests/generated/";

#[derive(Debug)]
pub(crate) struct Comment {
    /// Path and number of its first line.
    pub(crate) place: String,
    /// Number of the line below it, from zero.
    pub(crate) below: usize,
    /// Text in the parentheses.
    pub(crate) name: String,
    /// Text that follows, in one line.
    pub(crate) words: String,
}

/// The rows that a function finds in the sources, each of which it is given by its path and its text.
pub(crate) fn rows_of<Row>(found: impl Fn(&str, &str) -> Result<Vec<Row>, String>) -> Vec<Row> {
    let mut rows = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        rows.extend(found(&path, &text).unwrap_or_else(|wrong| panic!("{wrong}")));
    }
    rows
}

/// The paths of all sources.
fn sources() -> Vec<String> {
    let (mut folders, mut found) = (vec![String::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let (kind, path) = (entry.file_type().unwrap(), format!("{folder}{name}"));
            if kind.is_dir() && !name.starts_with('.') && !MADE.contains(&name.as_str()) {
                folders.push(format!("{path}/"));
            } else if kind.is_file() && !path.starts_with(THIS) && is_source(&name) {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 1000, "the sources were found");
    found
}

fn is_source(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The comments of a file that begin with a word; an error for what looks like one and has not the form, which is told.
pub(crate) fn comments_of(
    word: &str,
    form: &str,
    path: &str,
    text: &str,
) -> Result<Vec<Comment>, String> {
    let opening = format!("{word} (");
    // The place of each, the number of the line below it, and all its words.
    let mut found: Vec<(String, usize, String)> = Vec::new();
    let mut is_open = false;
    for (line, number) in text.lines().zip(1..) {
        match (plain_comment(line), found.last_mut()) {
            (Some(words), _) if begins(word, words) => {
                found.push((format!("{path}:{number}"), number, words.to_owned()));
                is_open = true;
            }
            _ if line.contains(&opening) => {
                return Err(format!("{path}:{number}: expected {form} to begin a plain comment"));
            }
            (Some(words), Some((_, below, told))) if is_open && !words.is_empty() => {
                *told += &format!(" {words}");
                *below = number;
            }
            _ => is_open = false,
        }
    }
    let comment = |(place, below, told): (String, usize, String)| {
        let parts = told.strip_prefix(&opening).and_then(|rest| rest.split_once("): "));
        let (name, words) = parts.ok_or_else(|| unlike(&place, form, &told))?;
        Ok(Comment { name: name.to_owned(), words: words.to_owned(), place, below })
    };
    found.into_iter().map(comment).collect()
}

/// The place of a name among those that there are, which `what` says; an error for another.
pub(crate) fn place_among<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    what: &str,
    place: &str,
    name: &str,
) -> Result<usize, String> {
    names.clone().position(|known| known == name).ok_or_else(|| {
        let names: Vec<&str> = names.collect();
        format!("{place}: expected {what} of {}, found {name}", names.join(", "))
    })
}

/// Says that a comment has not the form.
pub(crate) fn unlike(place: &str, form: &str, found: &str) -> String {
    format!("{place}: expected {form}, found `{found}`")
}

/// The words of a line that is a comment, and none of documentation.
fn plain_comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let words = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
    (words.is_empty() || words.starts_with(' ')).then(|| words.trim_start())
}

/// Returns true for words that are meant to be a comment that begins with that word.
fn begins(word: &str, words: &str) -> bool {
    words.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with(['(', ':']))
}
