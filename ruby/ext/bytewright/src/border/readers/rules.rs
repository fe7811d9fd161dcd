//! Rules that a reader is told once and then uses many times: what a line is, which bytes are looked for, what a
//! record holds.

use bytewright::bytes::{LineRule, Search};
use bytewright::wire::RecordTemplate;

/// Rule for lines, for as long as lines are read by it.
#[magnus::wrap(class = "Bytewright::LineRule", free_immediately, size)]
pub(crate) struct LineRuleObject(pub(crate) LineRule);

/// Bytes that are looked for.
#[magnus::wrap(class = "Bytewright::Search", free_immediately, size)]
pub(crate) struct SearchObject(pub(crate) Search);

/// Layout of records.
#[magnus::wrap(class = "Bytewright::RecordTemplate", free_immediately, size)]
pub(crate) struct TemplateObject(pub(crate) RecordTemplate);
