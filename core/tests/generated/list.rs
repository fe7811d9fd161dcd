//! Text in lines that people read: paragraphs, lists in comments, and tables of pages.

/// An entry of a list, each line behind `margin`.
pub(crate) fn entry(margin: &str, text: &str) -> String {
    wrapped(&format!("{margin}- "), &format!("{margin}  "), text)
}

/// A text in lines: `begin` stands before the first, and `margin` before each other.
pub(crate) fn wrapped(begin: &str, margin: &str, text: &str) -> String {
    const WIDTH: usize = 120;
    let mut words = text.split(' ');
    let (mut lines, mut line) =
        (String::new(), begin.to_owned() + words.next().unwrap_or_default());
    for word in words {
        if line.len() + 1 + word.len() > WIDTH {
            lines += &format!("{line}\n");
            line = format!("{margin}{word}");
        } else {
            line += &format!(" {word}");
        }
    }
    lines + &line + "\n"
}

/// A table of a page: its heads, and rows of as many cells.
pub(crate) fn table<Cells: AsRef<[String]>>(
    heads: &[&str],
    rows: impl IntoIterator<Item = Cells>,
) -> String {
    let head = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    let line = |row: Cells| {
        let cells: Vec<String> = row.as_ref().iter().map(|cell| cell_of(cell)).collect();
        assert_eq!(cells.len(), heads.len(), "cells of {heads:?}");
        format!("| {} |\n", cells.join(" | "))
    };
    head + &rows.into_iter().map(line).collect::<String>()
}

/// A text as a cell. A bar would end it, also in code, where a backslash in front of it is not read in the same way everywhere.
fn cell_of(text: &str) -> String {
    let is_code = |at: usize| at % 2 == 1;
    let part = |(at, part): (usize, &str)| match (is_code(at), part.contains('|')) {
        (true, true) => format!("<code>{}</code>", escaped(part)),
        (true, false) => format!("`{part}`"),
        (false, _) => part.replace('|', "&#124;"),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Code as HTML.
fn escaped(code: &str) -> String {
    code.replace('&', "&amp;").replace('<', "&lt;").replace('|', "&#124;")
}

#[test]
fn a_bar_does_not_end_a_cell() {
    let row = ["a | `b`".to_owned(), "`c`, `<|`".to_owned()];
    assert_eq!(
        table(&["d", "e"], [row]),
        "| d | e |\n|---|---|\n| a &#124; `b` | `c`, <code>&lt;&#124;</code> |\n"
    );
}
