//! Parts of files that are otherwise written by hand. Each stands between two marks, the first of which begins with its name:
//!
//! ```text
//! <!-- generated promises by `make generate`, of comments at the tests -->
//! ...
//! <!-- generated end -->
//! ```

use std::fs;

use crate::root;

/// Beginning of the first mark and all of the second, of a kind of files.
pub(crate) struct Marks {
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
}

impl Marks {
    /// Those of a page.
    pub(crate) const MARKDOWN: Marks =
        Marks { begin: "<!-- generated ", end: "<!-- generated end -->\n" };

    /// The file with that path, with what is made by the name in each mark.
    pub(crate) fn filled(&self, path: &str, part: impl Fn(&str) -> String) -> String {
        let Marks { begin, end } = self;
        let text = fs::read_to_string(root().join(path)).unwrap();
        let (mut made, mut rest) = (String::new(), text.as_str());
        while let Some((before, after)) = rest.split_once(begin) {
            let (mark, after) = after.split_once('\n').unwrap();
            let (_, after) = after.split_once(end).unwrap();
            let (name, _) = mark.split_once(' ').unwrap();
            made += &format!("{before}{begin}{mark}\n\n{}{end}", part(name));
            rest = after;
        }
        assert!(!made.is_empty(), "{path} has a part that is made");
        made + rest
    }
}
