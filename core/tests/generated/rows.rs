//! Tables of pages whose rows are comments in the sources, above what they tell of. A comment names its table, and the part of it
//! where the table has parts. A bar is between cells, and none ends the row:
//!
//! ```text
//! // Row (conditions, null): `vlan is null`, `vlan is not null` | the row has no value in that field, or has one
//! fn is_null(&mut self, field: &ComparedField) -> Result<ConditionNode> {
//! ```
//!
//! Rules have names, which stand in quotes below the comment and are the first cells of their table:
//!
//! ```text
//! // Row (tshark-headers): zeek/ip6-trunc.pcap, packet 1 | source 2001:4f8:4:7:2e0:81ff:fe52:ffff | null, status `truncated` |
//! // Addresses come in pairs: of a cut header nothing is told.
//! ("IP header cut off", is_ip_header_cut_off),
//! ```

use std::sync::LazyLock;

use crate::comments::{Comment, comments_of, place_among, rows_of};
use crate::list;
use crate::marks::Marks;
use crate::promises;

struct Table {
    /// Its name in comments and in the mark on its page.
    name: &'static str,
    page: &'static str,
    heads: &'static [&'static str],
    /// In their order. Rows of a part are in that of their files and lines.
    parts: &'static [&'static str],
    /// True where the first cell is a name below the comment.
    is_named: bool,
}

/// The one part of a table that has none.
const WHOLE: &[&str] = &[""];

const TABLES: &[Table] = &[
    of_rules("tshark-files"),
    of_rules("tshark-frames"),
    of_rules("tshark-headers"),
    of_rules("tshark-applications"),
    Table {
        parts: &["values", "times", "lists", "fields", "flags", "text", "null", "logic"],
        ..of_forms("conditions", "conditions", &["in a condition", "means"])
    },
    of_forms("groups", "conditions", &["in `--group-by`", "means"]),
    of_forms("sums", "conditions", &["in `--sum`", "means"]),
    of_forms("frame-flags", "hash-table-file", &["flag", "meaning"]),
    of_forms("template-letters", "reader", &["letters", "values"]),
    of_forms("thrift-paths", "thrift", &["path", "column"]),
    Table {
        parts: &["values", "null", "calls"],
        ..of_forms("thrift-json", "thrift", &["value", "in JSON"])
    },
];

/// A table of differences from tshark.
const fn of_rules(name: &'static str) -> Table {
    let heads = &["kind", "example", "tshark", "Bytewright", "why"];
    Table { name, page: "tshark", heads, parts: WHOLE, is_named: true }
}

/// A table of notations, with what they mean.
const fn of_forms(name: &'static str, page: &'static str, heads: &'static [&'static str]) -> Table {
    Table { name, page, heads, parts: WHOLE, is_named: false }
}

const FORM: &str = "`Row (TABLE): CELL | CELL` or `Row (TABLE, PART): CELL | CELL`";

#[derive(Debug)]
struct Row {
    table: usize,
    part: usize,
    path: String,
    line: usize,
    cells: Vec<String>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| rows_of(rows_in));

/// The page with that name, with the rows of its tables, one of which may be that of promises.
pub(crate) fn filled(page: &str) -> String {
    let part = |name: &str| {
        if name == promises::MARK {
            return promises::table_of_page(page);
        }
        let table = TABLES.iter().position(|table| table.name == name && table.page == page);
        made_of(table.unwrap_or_else(|| panic!("{name} is a table of {page}")), &ROWS)
    };
    let made = Marks::MARKDOWN.filled(&format!("docs/{page}.md"), part);
    let tables = TABLES.iter().filter(|table| table.page == page).map(|table| table.name);
    for name in tables.chain(promises::are_of(page).then_some(promises::MARK)) {
        let marks = made.matches(&format!("{}{name} ", Marks::MARKDOWN.begin)).count();
        assert_eq!(marks, 1, "marks of {name} on its page");
    }
    made
}

/// The table with that number.
fn made_of(table: usize, rows: &[Row]) -> String {
    let mut rows: Vec<&Row> = rows.iter().filter(|row| row.table == table).collect();
    rows.sort_by_key(|row| (row.part, &row.path, row.line));
    list::table(TABLES[table].heads, rows.iter().map(|row| &row.cells)) + "\n"
}

/// The rows that a file tells; an error for what looks like one and is none.
fn rows_in(path: &str, text: &str) -> Result<Vec<Row>, String> {
    let row = |comment: Comment| {
        let below = text.lines().nth(comment.below).unwrap_or_default();
        row(path, below, comment)
    };
    comments_of("Row", FORM, path, text)?.into_iter().map(row).collect()
}

fn row(path: &str, below: &str, comment: Comment) -> Result<Row, String> {
    let Comment { place, below: line, name, words } = comment;
    let (table_name, part) = name.split_once(", ").unwrap_or((&name, ""));
    let tables = TABLES.iter().map(|table| table.name);
    let table = place_among(tables, "a table", &place, table_name)?;
    let Table { heads, parts, is_named, .. } = &TABLES[table];
    if *parts == WHOLE && !part.is_empty() {
        return Err(format!("{place}: expected no part of {table_name}, found {part}"));
    }
    let part = place_among(parts.iter().copied(), "a part", &place, part)?;
    let mut cells: Vec<String> = words.split(" | ").map(str::to_owned).collect();
    if *is_named {
        let name = below.split('"').nth(1);
        let name = name.ok_or_else(|| format!("{place}: expected a name in quotes right below"))?;
        cells.insert(0, name.to_owned());
    }
    if cells.len() != heads.len() || cells.iter().any(|cell| cell.trim().is_empty()) {
        let (heads, cells) = (heads.join(" | "), cells.join(" | "));
        return Err(format!("{place}: expected cells for {heads}, found {cells}"));
    }
    Ok(Row { table, part, path: path.to_owned(), line, cells })
}

/// The rows of a table in what files tell, by their paths and texts.
fn table_of(name: &str, files: &[(&str, &str)]) -> String {
    let rows: Vec<Row> =
        files.iter().flat_map(|(path, text)| rows_in(path, text).unwrap()).collect();
    made_of(TABLES.iter().position(|table| table.name == name).unwrap(), &rows)
}

#[test]
fn rows_are_in_the_order_of_parts_files_and_lines() {
    let one = "// Row (conditions, times): a `=` b | c\n// d.\n/// Doc.\nconst A: u8 = 1;\n\n    // Row (conditions, times): e | f\n";
    let other = "// Row (conditions, values): g | h\n// Row (conditions, times): i | j\n// Row (sums): k | l\n";
    assert_eq!(
        table_of("conditions", &[("b.rs", one), ("a.rs", other)]),
        "| in a condition | means |\n|---|---|\n| g | h |\n| i | j |\n| a `=` b | c d. |\n| e | f |\n\n"
    );
}

#[test]
fn a_row_of_a_rule_has_its_name() {
    let text = "// Row (tshark-files): b | c | d | e.\n(\"a b\", |case| case.is(\"f\")),\n";
    let row = "| a b | b | c | d | e. |\n\n";
    assert!(table_of("tshark-files", &[("a.rs", text)]).ends_with(row));
}

#[test]
fn a_row_in_another_form_is_found() {
    for (row, expected) in [
        ("Row (sums) a | b", "a.rs:1: expected `Row (TABLE)"),
        ("Row: a | b", "a.rs:1: expected `Row (TABLE)"),
        ("/ Row (sums): a | b", "a.rs:1: expected `Row (TABLE)"),
        ("Row (nothing): a | b", "a.rs:1: expected a table of tshark-files, "),
        ("Row (conditions): a | b", "a.rs:1: expected a part of values, times, "),
        ("Row (sums, times): a | b", "a.rs:1: expected no part of sums, found times"),
        ("Row (sums): a", "a.rs:1: expected cells for in `--sum` | means, found a"),
        ("Row (sums): a | b | c", "a.rs:1: expected cells for"),
        ("Row (sums): a |  | c", "a.rs:1: expected cells for"),
        ("Row (tshark-files): a | b | c | d", "a.rs:1: expected a name in quotes right below"),
    ] {
        let found = rows_in("a.rs", &format!("// {row}\nconst A: u8 = 1;\n")).unwrap_err();
        assert!(found.contains(expected), "{row}: {found}");
    }
}
