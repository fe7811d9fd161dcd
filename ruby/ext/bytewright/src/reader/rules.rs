//! What a reader is told once and then uses many times: what a line is, which bytes are looked for, what a
//! record holds.

use bytewright::stream::{LineRule, Search, Separator};
use bytewright::wire::RecordTemplate;
use magnus::{Error, RString, Ruby, function, prelude::*};

use crate::border::bytes_of;
use crate::class;
use crate::error::raised;

/// What a line is, for as long as lines are read by it.
#[magnus::wrap(class = "Bytewright::LineRule", free_immediately, size)]
pub(crate) struct LineRuleObject {
    pub(crate) rule: LineRule,
}

impl LineRuleObject {
    /// `LineRule.new(separator, limit, keeps_characters, chomp)`.
    fn new(
        separator: Option<RString>,
        limit: Option<usize>,
        keeps_characters: bool,
        chomp: bool,
    ) -> Self {
        let separator =
            separator.map_or(Separator::None, |separator| Separator::new(&bytes_of(separator)));
        LineRuleObject { rule: LineRule { separator, limit, keeps_characters, chomp } }
    }
}

/// Bytes that are looked for.
#[magnus::wrap(class = "Bytewright::Search", free_immediately, size)]
pub(super) struct SearchObject {
    pub(super) search: Search,
}

impl SearchObject {
    /// `Search.new(pattern)`.
    fn new(ruby: &Ruby, pattern: RString) -> Result<Self, Error> {
        Ok(SearchObject { search: raised(ruby, Search::new(&bytes_of(pattern)))? })
    }
}

/// What records hold.
#[magnus::wrap(class = "Bytewright::RecordTemplate", free_immediately, size)]
pub(crate) struct TemplateObject {
    pub(crate) template: RecordTemplate,
}

impl TemplateObject {
    /// `RecordTemplate.new(text)`.
    fn new(ruby: &Ruby, text: String) -> Result<Self, Error> {
        Ok(TemplateObject { template: raised(ruby, RecordTemplate::parse(&text))? })
    }
}

pub(super) fn init(ruby: &Ruby) -> Result<(), Error> {
    let rule = class::define::<LineRuleObject>(ruby, "LineRule")?;
    rule.define_singleton_method("new", function!(LineRuleObject::new, 4))?;
    let search = class::define::<SearchObject>(ruby, "Search")?;
    search.define_singleton_method("new", function!(SearchObject::new, 1))?;
    let template = class::define::<TemplateObject>(ruby, "RecordTemplate")?;
    template.define_singleton_method("new", function!(TemplateObject::new, 1))?;
    Ok(())
}
