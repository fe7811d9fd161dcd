//! Tables of what formats of files promise: a row for each promise that a comment above a test tells. A comment above another test
//! of it begins with `also`, and with words that no other promise of the page begins with. In Ruby it is the last of the comments
//! there, and one above a class means all tests of the file.
//!
//! ```text
//! // Promise (hash-table-file): What is evicted is gone, and the rest is as it was.
//! #[test]
//! fn what_is_evicted_is_gone_and_the_rest_is_as_it_was() {
//!
//! // Promise (hash-table-file): also What is evicted
//! #[test]
//! fn an_index_that_is_made_anew_has_what_was_not_evicted() {
//! ```

use std::sync::LazyLock;

use crate::comments::{Comment, comments_of, place_among, rows_of, unlike};
use crate::list;

/// Name of the table in the mark on a page.
pub(crate) const MARK: &str = "promises";

/// The pages, each with the folders that its rows leave out. Tests in these come first.
const PAGES: &[(&str, &[&str])] = &[
    ("hash-table-file", &["core/tests/table_file_hash/"]),
    ("pstore-journal", &["core/tests/pstore/", "ruby/test/"]),
    ("tree-table-file", &["core/tests/table/file_tree/"]),
];

const FORM: &str = "`Promise (PAGE): SENTENCE.` or `Promise (PAGE): also BEGINNING`";

/// Beginning of the words at another test of a promise.
const ALSO: &str = "also ";

/// Beginnings of lines that define a test, up to its name, and that of the name. `same` is a method of
/// `ruby/test/pstore_contract_test.rb`.
const DEFINITIONS: &[(&str, &str)] = &[
    ("fn ", ""),
    ("def test_", "test_"),
    ("define_method(\"test_", "test_"),
    ("same(\"", "test_"),
];

#[derive(Clone, Debug)]
struct Promise {
    page: usize,
    /// Number of the page's folder that the file is in, or that of all folders, and its path from there.
    file: (usize, String),
    /// Number of the line below the comment.
    line: usize,
    /// None for all of the file.
    test: Option<String>,
    place: String,
    words: String,
}

static PROMISES: LazyLock<Vec<Promise>> = LazyLock::new(|| rows_of(promises_of));

/// Returns true for the name of a page that promises something.
pub(crate) fn are_of(page: &str) -> bool {
    PAGES.iter().any(|(name, _)| *name == page)
}

/// The table of the page with that name.
pub(crate) fn table_of_page(page: &str) -> String {
    let page = PAGES.iter().position(|(name, _)| *name == page).unwrap();
    let promises = PROMISES.iter().filter(|promise| promise.page == page).cloned().collect();
    table(promises).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The promises that a file tells; an error for what looks like one and is none.
fn promises_of(path: &str, text: &str) -> Result<Vec<Promise>, String> {
    let promise = |Comment { place, below, name, words }: Comment| {
        let pages = PAGES.iter().map(|(page, _)| *page);
        let page = place_among(pages, "a page", &place, &name)?;
        if !words.starts_with(ALSO) && !is_sentence(&words) {
            return Err(unlike(&place, FORM, &words));
        }
        let test = test_below(text.lines().skip(below))
            .ok_or_else(|| format!("{place}: expected a test right below the promise"))?;
        let folders = PAGES[page].1;
        let short = folders
            .iter()
            .enumerate()
            .find_map(|(at, folder)| path.strip_prefix(folder).map(|path| (at, path)));
        let (at, path) = short.unwrap_or((folders.len(), path));
        let file = (at, path.to_owned());
        Ok(Promise { page, file, line: below, test, place, words })
    };
    comments_of("Promise", FORM, path, text)?.into_iter().map(promise).collect()
}

/// Returns true for one sentence that can stand in a table. A second one is a comment that was meant for readers of the test.
fn is_sentence(words: &str) -> bool {
    let is_one = words.ends_with('.') && !words.contains(". ");
    words.starts_with(char::is_uppercase) && is_one && !words.contains('|')
}

/// The name of the test that lines begin with, or none if it is a class of them. Comments and attributes may stand above it.
fn test_below<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Option<String>> {
    let mut has_attribute = false;
    let line = lines.map(str::trim).find(|line| {
        has_attribute |= *line == "#[test]";
        !line.starts_with("//") && !line.starts_with('#')
    })?;
    if line.starts_with("class ") {
        return Some(None);
    }
    let found =
        DEFINITIONS.iter().find_map(|(begin, name)| Some((line.strip_prefix(begin)?, name)));
    let (rest, begin) = found.filter(|_| has_attribute || !line.starts_with("fn "))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    // Of the name of one of several, what they have in common.
    Some(Some(format!("{begin}{}", rest[..end].trim_end_matches('_'))))
}

/// The rows of the promises of a page, in the order of their first tests.
fn table(mut promises: Vec<Promise>) -> Result<String, String> {
    promises.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    spell_out(&mut promises)?;
    let mut rows: Vec<(&str, Vec<&Promise>)> = Vec::new();
    for promise in &promises {
        match rows.iter_mut().find(|(words, _)| *words == promise.words) {
            Some((_, tests)) => tests.push(promise),
            None => rows.push((&promise.words, vec![promise])),
        }
    }
    let rows = rows.iter().map(|(words, tests)| [(*words).to_owned(), cell(tests)]);
    Ok(list::table(&["promise", "test"], rows) + "\n")
}

/// Replaces the words of further tests by those of the promise that they mean.
fn spell_out(promises: &mut [Promise]) -> Result<(), String> {
    let mut whole: Vec<(String, String)> = Vec::new();
    for Promise { place, words, .. } in promises.iter() {
        if let Some((_, other)) = whole.iter().find(|(one, _)| one == words) {
            return Err(format!("{place}: promised at {other}, too; say `also`"));
        }
        if !words.starts_with(ALSO) {
            whole.push((words.clone(), place.clone()));
        }
    }
    for Promise { place, words, .. } in promises {
        let Some(beginning) = words.strip_prefix(ALSO) else { continue };
        let meant: Vec<_> = whole.iter().filter(|(one, _)| one.starts_with(beginning)).collect();
        let [(one, _)] = meant.as_slice() else {
            let count = meant.len();
            return Err(format!(
                "{place}: expected the beginning of one promise, found `{beginning}` of {count}"
            ));
        };
        words.clone_from(one);
    }
    Ok(())
}

/// Files with the names of their tests.
fn cell(tests: &[&Promise]) -> String {
    let files = tests.chunk_by(|a, b| a.file == b.file).map(|tests| {
        let file = &tests[0].file.1;
        let names = tests.iter().map(|test| Some(format!("`{}`", test.test.as_ref()?)));
        match names.collect::<Option<Vec<_>>>() {
            Some(names) => format!("`{file}`: {}", names.join(", ")),
            None => format!("all of `{file}`"),
        }
    });
    files.collect::<Vec<_>>().join("; ")
}

/// The table of the first page of what files tell, by their paths and texts.
fn table_of(files: &[(&str, &str)]) -> Result<String, String> {
    let found: Result<Vec<_>, String> =
        files.iter().map(|(path, text)| promises_of(path, text)).collect();
    let made = table(found?.concat())?;
    Ok(made.strip_prefix("| promise | test |\n|---|---|\n").unwrap().trim_end().to_owned())
}

#[test]
fn a_promise_is_a_row_with_its_tests() {
    let rust = "// More.\n// Promise (hash-table-file): A b\n// c.\n/// Doc.\n#[test]\nfn d() {\n}\n\n    // Promise (hash-table-file): also E\n    #[test]\n    fn f()\n";
    let ruby = "# Goal: all.\n# Promise (hash-table-file): also A b c.\nclass A\n  # Promise (hash-table-file): E.\n  same(\"g\") do |h|\n  # Promise (hash-table-file): also E.\n  define_method(\"test_i_#{j}_k\") do\n  # Promise (hash-table-file): also E.\n  def test_l\n";
    assert_eq!(
        table_of(&[("ruby/test/b.rb", ruby), ("core/tests/table_file_hash/a.rs", rust)]).unwrap(),
        "| A b c. | `a.rs`: `d`; all of `ruby/test/b.rb` |\n| E. | `a.rs`: `f`; `ruby/test/b.rb`: `test_g`, `test_i`, `test_l` |"
    );
}

#[test]
fn a_promise_in_another_form_is_found() {
    for (promise, expected) in [
        ("Promise (hash-table-file): A", "a.rs:1: expected `Promise"),
        ("Promise (hash-table-file): a.", "a.rs:1: expected `Promise"),
        ("Promise (hash-table-file): A. B.", "a.rs:1: expected `Promise"),
        ("Promise (hash-table-file): A | b.", "a.rs:1: expected `Promise"),
        ("Promise (hash-table-file) A.", "a.rs:1: expected `Promise"),
        ("Promise: A.", "a.rs:1: expected `Promise"),
        ("/ Promise (hash-table-file): A.", "a.rs:1: expected `Promise"),
        ("Promise (nothing): A.", "a.rs:1: expected a page of hash-table-file, "),
        ("Promise (hash-table-file): also The fire", "a.rs:1: expected the beginning of one"),
        ("Promise (hash-table-file): also The f", "found `The f` of 2"),
        ("Promise (hash-table-file): The file.", "b.rs:1: promised at a.rs:1, too"),
    ] {
        let others = "// Promise (hash-table-file): The file.\n#[test]\nfn b() {\n// Promise (hash-table-file): The format.\n#[test]\nfn c() {\n";
        let text = format!("// {promise}\n#[test]\nfn a() {{\n");
        let found = table_of(&[("a.rs", &text), ("b.rs", others)]).unwrap_err();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn a_promise_without_a_test_is_found() {
    for below in [
        "",
        "\n#[test]\nfn a() {\n",
        "fn a() {\n",
        "const A: u8 = 1;\n#[test]\nfn a() {\n",
        "def a\n",
    ] {
        let text = format!("// Promise (hash-table-file): A.\n{below}");
        let found = table_of(&[("a.rs", &text)]).unwrap_err();
        assert_eq!(found, "a.rs:1: expected a test right below the promise");
    }
}
