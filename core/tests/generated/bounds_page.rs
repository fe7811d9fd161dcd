//! `docs/bounds.md`: a row for each comment in the sources that tells a bound. It ends with the comment that it begins:
//!
//! ```text
//! // Bound (Captures): captured length = 256 KiB; 16 MiB for USB and
//! // D-Bus.
//! const CAPLEN_MAX: u32 = 262_144;
//! ```

use crate::comments::{Comment, comments_of, place_among, rows_of, unlike};
use crate::list::{table, wrapped};

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

const FORM: &str = "`Bound (SECTION): WHAT = BOUND.`";

#[derive(Debug, PartialEq)]
struct Bound {
    section: usize,
    path: String,
    what: String,
    bound: String,
}

pub(crate) fn page() -> String {
    let mut bounds = rows_of(bounds_of);
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
        let rows = bounds.iter().filter(|row| row.section == section);
        let rows = rows.map(|row| [row.what.clone(), row.bound.clone(), format!("`{}`", row.path)]);
        page += &format!("\n## {heading}\n\n{}", table(&["what", "bound", "where"], rows));
    }
    page
}

/// The bounds that a file tells; an error for what looks like one and is none.
fn bounds_of(path: &str, text: &str) -> Result<Vec<Bound>, String> {
    let found = comments_of("Bound", FORM, path, text)?;
    match found.first() {
        Some(Comment { place, .. }) if !FOLDERS.iter().any(|folder| path.starts_with(folder)) => {
            Err(format!(
                "{place}: a bound in no folder of {}, which lists those that are read",
                file!()
            ))
        }
        _ => found.iter().map(|comment| bound(path, comment)).collect(),
    }
}

fn bound(path: &str, Comment { place, name, words, .. }: &Comment) -> Result<Bound, String> {
    let parts = words.strip_suffix('.').and_then(|row| row.split_once(" = "));
    let (what, bound) = parts
        .filter(|(_, bound)| !bound.contains(" = ") && !words.contains('|'))
        .ok_or_else(|| unlike(place, FORM, words))?;
    let sections = SECTIONS.iter().map(|heading| first_word(heading));
    let section = place_among(sections, "a section", place, name)?;
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
