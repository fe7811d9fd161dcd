//! `docs/errors.md`: the kinds of errors in all languages.

use bytewright::ErrorKind;

/// `kinds all`: a row for each kind.
pub(crate) fn written(_word: &str, _all: &str) -> String {
    ErrorKind::ALL.iter().map(|kind| row(*kind)).collect()
}

fn row(kind: ErrorKind) -> String {
    let (name, meaning, advice) = (kind.name(), kind.meaning(), kind.advice());
    let code = match kind {
        ErrorKind::MissingLibrary | ErrorKind::Argument => 2,
        _ => 1,
    };
    let class = class_of(name);
    let (ruby, python) = match kind {
        ErrorKind::Io(_) => ("`Errno::…`, `IOError`".to_owned(), "`OSError`".to_owned()),
        ErrorKind::Argument => (format!("{class}, `TypeError`"), format!("{class}, `TypeError`")),
        _ => (class.clone(), class),
    };
    let status = name.to_uppercase();
    format!(
        "| `{name}` | {code} | {ruby} | {python} | `{name}` | `BW_STATUS_{status}` | {meaning} | {advice} |\n"
    )
}

/// The class of a kind: `MissingLibraryError`.
fn class_of(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    format!("`{}Error`", name.split('_').map(word).collect::<String>())
}
