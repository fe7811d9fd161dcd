//! Templates: text with directives, `{{word argument}}`, that stand for what the tables say.

use std::fs;

use crate::root;

/// The template in `gen/` with that name. `written` says what stands for the directive of a word and an argument.
///
/// A directive that is a line of its own stands for whole lines, or for none.
pub(crate) fn filled(name: &str, written: fn(&str, &str) -> String) -> String {
    let template = fs::read_to_string(root().join("gen").join(name)).unwrap();
    let mut text = head(name);
    for line in template.split_inclusive('\n') {
        text += &filled_line(line, written);
    }
    text
}

fn filled_line(line: &str, written: fn(&str, &str) -> String) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("{{") {
        let (directive, after) = after.split_once("}}").unwrap();
        let (word, argument) = directive.split_once(' ').unwrap();
        text += before;
        text += &written(word, argument);
        rest = after;
    }
    match rest.trim().is_empty() && text.ends_with('\n') {
        true => text,
        false => text + rest,
    }
}

/// The first line, in the notation of the file.
fn head(name: &str) -> String {
    let told =
        format!("Generated from gen/{name} and the core's tables by `make generate`. Do not edit.");
    match name.ends_with(".md") {
        true => format!("<!-- {told} -->\n\n"),
        false => format!("# {told}\n"),
    }
}
