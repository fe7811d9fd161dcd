//! `docs/bounds.md`: a row for each comment in the sources that tells a bound. It ends with the comment that it begins:
//!
//! ```text
//! // Bound (Captures): captured length = 256 KiB; 16 MiB for USB and
//! // D-Bus.
//! const CAPLEN_MAX: u32 = 262_144;
//! ```

use std::fs;

use crate::list::wrapped;
use crate::root;

/// The sections, in their order. A comment names one by the first word.
const SECTIONS: &[&str] = &[
    "Streams and binary files",
    "Captures",
    "Queries and reports",
    "Flows, connections and calls",
    "Thrift",
    "Tables",
    "Marshal streams and stores",
];

/// Folders whose comments are read. In other sources there must be no such comment, since nobody would see it.
const FOLDERS: &[&str] = &[
    "c/ext/bytewright/src/",
    "cli/src/",
    "core/src/",
    "duckdb/ext/bytewright/src/",
    "page/ext/bytewright/src/",
    "perl/lib/",
    "perl/xs/",
    "python/bytewright/",
    "python/ext/bytewright/src/",
    "ruby/ext/bytewright/src/",
    "ruby/lib/",
];

/// Ends of the names of sources.
const ENDINGS: &[&str] = &["c", "h", "pl", "pm", "py", "rb", "rs", "t", "xs"];

/// Folders of what is built or fetched.
const MADE: &[&str] = &["target", "blib", "data", "pkg"];

/// This file, which shows such comments.
const THIS: &str = "core/tests/generated/bounds_page.rs";

const FORM: &str = "`Bound (SECTION): WHAT = BOUND.`";

#[derive(Debug, PartialEq)]
struct Bound {
    section: usize,
    path: String,
    what: String,
    bound: String,
}

pub(crate) fn page() -> String {
    let mut bounds = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        bounds.extend(bounds_of(&path, &text).unwrap_or_else(|wrong| panic!("{wrong}")));
    }
    // Those of one file stay in their order.
    bounds.sort_by(|a, b| (a.section, &a.path).cmp(&(b.section, &b.path)));
    let mut page = String::from(
        "<!-- Generated from comments in the sources by `make generate`. Do not edit. -->\n\n# Bounds\n\n",
    );
    page += &wrapped(
        "",
        "",
        "No length, count or depth that input controls is without a bound, so hostile or damaged input does not make memory \
         grow. A result that the caller asks for has no bound here. Each row is a comment above the constant or the code \
         that sets the bound, `// Bound (Captures): captured length = 256 KiB; 16 MiB for USB and D-Bus.`, in the file that \
         it names; paths without another top folder are below `core/src/`.",
    );
    for (section, heading) in SECTIONS.iter().enumerate() {
        page += &format!("\n## {heading}\n\n| what | bound | where |\n|---|---|---|\n");
        for Bound { path, what, bound, .. } in bounds.iter().filter(|row| row.section == section) {
            page += &format!("| {what} | {bound} | `{path}` |\n");
        }
    }
    page
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
            } else if kind.is_file() && path != THIS && is_source(&name) {
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

/// The bounds that a file tells; an error for what looks like one and is none.
fn bounds_of(path: &str, text: &str) -> Result<Vec<Bound>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for (line, number) in text.lines().zip(1..) {
        match (plain_comment(line), found.last_mut()) {
            (Some(words), _) if begins(words) => {
                found.push((format!("{path}:{number}"), words.to_owned()));
                is_open = true;
            }
            _ if line.contains("Bound (") => {
                return Err(format!("{path}:{number}: expected {FORM} to begin a plain comment"));
            }
            (Some(words), Some((_, told))) if is_open && !words.is_empty() => {
                *told += &format!(" {words}");
            }
            _ => is_open = false,
        }
    }
    match found.first() {
        Some((place, _)) if !FOLDERS.iter().any(|folder| path.starts_with(folder)) => {
            Err(format!("{place}: a bound in no folder of {THIS}, which lists those that are read"))
        }
        _ => found.iter().map(|(place, told)| bound(path, place, told)).collect(),
    }
}

/// The words of a line that is a comment, and none of documentation.
fn plain_comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let words = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
    (words.is_empty() || words.starts_with(' ')).then(|| words.trim_start())
}

/// Returns true for words that are meant to tell a bound.
fn begins(words: &str) -> bool {
    words.strip_prefix("Bound").is_some_and(|rest| rest.trim_start().starts_with(['(', ':']))
}

fn bound(path: &str, place: &str, told: &str) -> Result<Bound, String> {
    let row = told.strip_prefix("Bound (").and_then(|rest| rest.split_once("): "));
    let parts = row.and_then(|(section, row)| {
        let (what, bound) = row.strip_suffix('.')?.split_once(" = ")?;
        (!bound.contains(" = ") && !row.contains('|')).then_some((section, what, bound))
    });
    let (name, what, bound) =
        parts.ok_or_else(|| format!("{place}: expected {FORM}, found `{told}`"))?;
    let section = SECTIONS.iter().position(|heading| first_word(heading) == name);
    let section = section.ok_or_else(|| {
        let names: Vec<&str> = SECTIONS.iter().map(|heading| first_word(heading)).collect();
        format!("{place}: expected a section of {}, found {name}", names.join(", "))
    })?;
    let path = path.strip_prefix("core/src/").unwrap_or(path).to_owned();
    Ok(Bound { section, path, what: what.to_owned(), bound: bound.to_owned() })
}

fn first_word(heading: &str) -> &str {
    heading.split([' ', ',']).next().unwrap_or(heading)
}

#[test]
fn a_comment_that_tells_a_bound_is_a_row() {
    let row = |section, path: &str, what: &str, bound: &str| {
        let (what, bound) = (what.to_owned(), bound.to_owned());
        Bound { section, path: path.to_owned(), what, bound }
    };
    let rust = "// Bound (Captures): a: b =\n// 1; 2. 3.\n/// Doc.\nconst A: u8 = 1;\n\n    // More.\n    // Bound (Tables): c = 4.\n";
    assert_eq!(
        bounds_of("core/src/a.rs", rust),
        Ok(vec![row(1, "a.rs", "a: b", "1; 2. 3"), row(5, "a.rs", "c", "4")])
    );
    let python = "# Bound (Thrift): d = 5.\n#: Doc.\nA = 1\n# Bound of nothing.\n";
    assert_eq!(
        bounds_of("python/bytewright/a.py", python),
        Ok(vec![row(4, "python/bytewright/a.py", "d", "5")])
    );
}

#[test]
fn a_comment_that_tells_a_bound_in_another_form_is_found() {
    for (path, text, expected) in [
        ("core/src/a.rs", "\n// Bound (Captures): a = 1", "core/src/a.rs:2: expected `Bound"),
        ("core/src/a.rs", "// Bound (Captures): a: 1.", "core/src/a.rs:1: expected `Bound"),
        ("core/src/a.rs", "// Bound (Captures) a = 1.", "core/src/a.rs:1: expected `Bound"),
        ("core/src/a.rs", "// Bound: a = 1.", "core/src/a.rs:1: expected `Bound"),
        ("core/src/a.rs", "// Bound (Captures): a = 1 = 2.", "core/src/a.rs:1: expected `Bound"),
        ("core/src/a.rs", "// Bound (Nothing): a = 1.", "core/src/a.rs:1: expected a section of"),
        ("core/src/a.rs", "/// Bound (Captures): a = 1.", "expected `Bound (SECTION): WHAT"),
        ("core/src/a.rs", "let a = 1; // Bound (Captures): a = 1.", "to begin a plain comment"),
        (
            "core/tests/a.rs",
            "// Bound (Captures): a = 1.",
            "core/tests/a.rs:1: a bound in no folder",
        ),
    ] {
        let found = bounds_of(path, text).unwrap_err();
        assert!(found.contains(expected), "{text}: {found}");
    }
}
