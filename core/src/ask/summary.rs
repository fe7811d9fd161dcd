//! Questions that packets are added up for, each asked by its name: in every language a method or a command of that name, which
//! is made of the table here.

use std::fmt::Debug;
use std::sync::Arc;

use super::both_ways::BothWaysOptions;
use super::index::IndexOptions;
use super::{Question, SumQuestion, endpoints, index, services};
use crate::batch::{Batch, Schema};
use crate::error::excerpt;
use crate::input::{CaptureOptions, CaptureReader, IndexUse, WantedRecords};
use crate::options::{NamedOptions, OptionSpec, Settings};
use crate::packet::Frame;
use crate::query::{Condition, GROUPS_MAX, Groups};
use crate::spelling::hint;
use crate::{Error, ErrorKind, Result};

/// A question by its name, as it is said once for all languages.
pub struct QuestionSpec {
    /// Its name: a noun in the plural, for the rows of the answer.
    pub name: &'static str,
    /// The answer: a sentence without its full stop.
    pub summary: &'static str,
    /// The tables of its own options, and of those of the captures that are opened for it.
    pub tables: &'static [&'static [OptionSpec]; 2],
    summary_of: fn(&Settings) -> Result<Arc<dyn Summary>>,
}

impl QuestionSpec {
    /// All questions that have a name.
    pub const ALL: &'static [QuestionSpec] = &[
        QuestionSpec {
            name: "endpoints",
            summary: endpoints::SUMMARY,
            tables: &[BothWaysOptions::OPTIONS, CaptureOptions::OPTIONS],
            summary_of: |settings| Ok(Arc::new(endpoints::question(settings.take()?)?)),
        },
        QuestionSpec {
            name: "services",
            summary: services::SUMMARY,
            tables: &[BothWaysOptions::OPTIONS, CaptureOptions::OPTIONS],
            summary_of: |settings| Ok(Arc::new(services::question(settings.take()?)?)),
        },
        QuestionSpec {
            name: "index",
            summary: index::SUMMARY,
            tables: &[IndexOptions::OPTIONS, CaptureOptions::OPTIONS],
            summary_of: |settings| Ok(Arc::new(index::Indexes(settings.take()?))),
        },
    ];

    /// The question with that name.
    ///
    /// # Errors
    /// `Argument` where there is none, with the names that there are and the one that was probably meant.
    pub fn named(name: &str) -> Result<&'static QuestionSpec> {
        QuestionSpec::ALL.iter().find(|question| question.name == name).ok_or_else(|| {
            let names: Vec<&str> = QuestionSpec::ALL.iter().map(|question| question.name).collect();
            let hint = hint(name, names.iter().copied());
            let (known, found) = (names.join(", "), excerpt(name));
            let message = format!("expected a question ({known}), found {found}{hint}");
            Error::new(ErrorKind::Argument, message)
        })
    }

    /// The table of its own options, for captures that are open.
    pub fn own_tables(&self) -> &'static [&'static [OptionSpec]] {
        &self.tables[..1]
    }

    /// The question with these settings.
    ///
    /// # Errors
    /// Those of the options.
    pub fn question(&self, settings: &Settings) -> Result<Question> {
        (self.summary_of)(settings).map(Question::Summary)
    }
}

/// A question whose answer is one table, of the packets of all captures that are read as one run.
pub trait Summary: Debug + Send + Sync {
    /// The schema of the table.
    fn schema(&self) -> Schema;

    /// The records whose packets count; others may be left out.
    fn wanted(&self) -> WantedRecords {
        WantedRecords::all()
    }

    /// Use of the indexes of the captures.
    fn index(&self) -> IndexUse {
        IndexUse::Use
    }

    /// No packet added yet.
    fn adder(&self) -> Box<dyn Adder>;
}

/// A table under way.
pub trait Adder: Send {
    /// Adds the packets of a capture. Those before its damage count.
    ///
    /// # Errors
    /// The end of reading, as [`CaptureReader::each`] tells it.
    fn read(&mut self, reader: &mut CaptureReader) -> Result<()>;

    /// The table.
    fn finish(self: Box<Self>) -> Batch;
}

impl Summary for SumQuestion {
    fn schema(&self) -> Schema {
        self.by.schema().clone()
    }

    fn wanted(&self) -> WantedRecords {
        WantedRecords::of(self.condition.as_ref()).up_to(self.last)
    }

    fn adder(&self) -> Box<dyn Adder> {
        let groups = self.by.clone().groups(GROUPS_MAX);
        let add = |groups: &mut Groups, frame: &Frame<'_>| {
            groups.add(|place| frame.value_at(place));
        };
        Box::new(GroupAdder { groups, condition: self.condition.clone(), top: self.top, add })
    }
}

/// Adds packets to groups; `add` says which values of a packet.
pub(super) struct GroupAdder<F> {
    pub(super) groups: Groups,
    /// The condition that packets meet.
    pub(super) condition: Option<Condition>,
    /// Groups at most, the largest.
    pub(super) top: Option<usize>,
    pub(super) add: F,
}

impl<F: FnMut(&mut Groups, &Frame<'_>) + Send> Adder for GroupAdder<F> {
    fn read(&mut self, reader: &mut CaptureReader) -> Result<()> {
        let GroupAdder { groups, condition, add, .. } = self;
        reader.each_frame(|frame| {
            let condition = condition.as_ref();
            if condition.is_none_or(|condition| condition.holds(|place| frame.value_at(place))) {
                add(groups, frame);
            }
        })
    }

    fn finish(self: Box<Self>) -> Batch {
        self.groups.finish(self.top)
    }
}
