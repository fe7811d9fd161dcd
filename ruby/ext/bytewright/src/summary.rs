//! `Bytewright::OpenSummary`: a question that is asked by its name.

use bytewright::ask::{QuestionSpec, Run};
use magnus::{Error, RHash, Ruby, function, prelude::*};

use crate::class;
use crate::error::raised;
use crate::options::{settings, settings_of_open};

/// A question under way over one or more captures, one pass after another.
#[magnus::wrap(class = "Bytewright::OpenSummary", free_immediately, size)]
pub(crate) struct OpenSummary(pub(crate) Run);

impl OpenSummary {
    /// `OpenSummary.new(name, options, is_open)`: options of captures are among them unless these are open.
    fn new(ruby: &Ruby, name: String, options: RHash, is_open: bool) -> Result<Self, Error> {
        let question = raised(ruby, QuestionSpec::named(&name))?;
        let settings = match is_open {
            true => settings_of_open(ruby, question.own_tables(), options)?,
            false => settings(ruby, question.tables, options)?,
        };
        Ok(OpenSummary(Run::new(raised(ruby, question.question(&settings))?)))
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<OpenSummary>(ruby, "OpenSummary")?;
    class.define_singleton_method("new", function!(OpenSummary::new, 3))
}
