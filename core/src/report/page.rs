//! The page: its template with a title and the data in it.

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 5] = [
    include_str!("page/format.js"),
    include_str!("page/elements.js"),
    include_str!("page/charts.js"),
    include_str!("page/tables.js"),
    include_str!("page/page.js"),
];

/// A page that is called `title` and shows `data`, which is JSON. Nothing in either becomes an element of the page or a
/// part of its script, whatever it holds.
pub(super) fn page(title: &str, data: &str) -> String {
    let mut page = String::new();
    let mut rest = TEMPLATE;
    while let Some((before, behind)) = rest.split_once("<!--") {
        let (name, behind) = behind.split_once("-->").unwrap_or((behind, ""));
        page.push_str(before);
        match name {
            "title" => page.push_str(&as_text(title)),
            "style" => page.push_str(STYLE),
            "data" => page.push_str(&as_data(data)),
            "script" => SCRIPTS.iter().for_each(|script| page.push_str(script)),
            _ => {}
        }
        rest = behind;
    }
    page + rest
}

/// Text of an element.
fn as_text(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            character if character.is_control() => shown.push(' '),
            character => shown.push(character),
        }
    }
    shown
}

/// JSON in an element `script`, which `</script>` would end and `<!--` would keep open: in JSON, these characters stand
/// in strings only, which may have them as escapes.
fn as_data(json: &str) -> String {
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_title_or_the_data_becomes_markup() {
        let hostile = "</script><script>alert(1)</script><!-- & \u{7}";
        let data = format!("{{\"method\":\"{hostile}\"}}");
        let page = page(hostile, &data);
        assert_eq!(page.matches("alert(1)").count(), 2, "the title and the data");
        assert!(!page.contains("</script><script>alert"));
        assert!(page.contains("&lt;/script&gt;"));
        assert!(page.contains("\\u003c/script\\u003e"));
        assert_eq!(page.matches("<script").count(), TEMPLATE.matches("<script").count());
    }
}
