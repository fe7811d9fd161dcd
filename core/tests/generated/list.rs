//! Lists in comments.

/// An entry of a list in lines that people read, each behind `margin`.
pub(crate) fn entry(margin: &str, text: &str) -> String {
    const WIDTH: usize = 120;
    let (mut lines, mut line) = (String::new(), format!("{margin}-"));
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDTH {
            lines += &format!("{line}\n");
            line = format!("{margin} ");
        }
        line += " ";
        line += word;
    }
    lines + &line + "\n"
}
