//! `docs/options.md`: the options of all calls.

use bytewright::options::OptionKind;

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
        page += &format!(
            "\n## {}\n\n| option | value | default | meaning |\n|---|---|---|---|\n",
            group.title
        );
        for option in group.options() {
            let (name, default) = (option.name, option.default);
            let (value, summary) =
                (value_of(option.kind, |word| format!("`{word}`")), option.summary);
            page += &format!("| `{name}` | {value} | {default} | {summary}. |\n");
        }
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
