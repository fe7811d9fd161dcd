//! Lists of options in Perl's POD. They stand in files that are otherwise written by hand, between two marks:
//!
//! ```text
//! =for generated CAPTURE by `make generate`, of the core's tables
//! ...
//! =for generated end
//! ```

use bytewright::options::OptionSpec;

use crate::list::wrapped;
use crate::marks::Marks;
use crate::options_page::value_of;
use crate::tables::group;

const MARKS: Marks = Marks { begin: "=for generated ", end: "=for generated end\n" };

/// The file with that path, with the lists that its marks name as the tables have them.
pub(crate) fn filled(path: &str) -> String {
    MARKS.filled(path, list)
}

/// The options of a group.
pub(crate) fn list(name: &str) -> String {
    let items: String = group(name).options().map(item).collect();
    format!("=over\n\n{items}=back\n\n")
}

fn item(option: &OptionSpec) -> String {
    let (summary, default) = (escaped(option.summary), escaped(option.default));
    let value = value_of(option.kind, |word| format!("C<{word}>"));
    let text = format!("{summary}. Value: {value}; default: {default}.");
    format!("=item {}\n\n{}\n", option.name, wrapped("", "", &text))
}

/// A text in which no letter begins a mark of POD.
fn escaped(text: &str) -> String {
    text.replace('<', "E<lt>")
}
