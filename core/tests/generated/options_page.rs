//! `docs/options.md`: the options of all calls.

use bytewright::options::OptionKind;

use crate::list::table;
use crate::tables::groups;

pub(crate) fn page() -> String {
    let mut page = String::from(
        "<!-- Generated from the core's tables of options by `make generate`. Do not edit. -->\n\n\
         # Options\n\n\
         Options have one name in all languages: a keyword of Ruby and Python, a name of Perl's options, `--name` of the command. \
         \
         Seconds in text, as in the command, may have a unit: `500ms`, `1m`, `2h`. What a language adds or spells differently is in its guide.\n",
    );
    for group in groups() {
        let rows = group.options().map(|option| {
            let value = value_of(option.kind, |word| format!("`{word}`"));
            let (name, summary) = (format!("`{}`", option.name), format!("{}.", option.summary));
            [name, value, option.default.to_owned(), summary]
        });
        let table = table(&["option", "value", "default", "meaning"], rows);
        page += &format!("\n## {}\n\n{table}", group.title);
    }
    page
}

/// The values of an option, in words; `marked` makes code of a word.
pub(crate) fn value_of(kind: OptionKind, marked: fn(&str) -> String) -> String {
    match kind {
        OptionKind::Choice(words) => {
            words.iter().copied().map(marked).collect::<Vec<_>>().join(", ")
        }
        OptionKind::Count { min, .. } => format!("integer from {min}"),
        other => other.expected().to_string(),
    }
}
