//! Text in lines that people read: paragraphs, and lists in comments.

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
