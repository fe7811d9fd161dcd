//! `--where`, `--group-by`, `--sum` and `--every`: which rows, and what they add up to.

use std::io;

use bytewright::batch::{Schema, Value};
use bytewright::input::WantedRecords;
use bytewright::query::{Condition, GROUPS_MAX, GroupBy, Groups};
use bytewright::{Error, ErrorKind, Result};

use crate::args::QuestionArgs;
use crate::output::Output;
use crate::plot;
use crate::rows::Rows;

/// Question to the rows of a schema.
pub(crate) struct Question {
    condition: Option<Condition>,
    groups: Option<Groups>,
    /// The places of the fields that the groups look at.
    grouped: Vec<usize>,
    /// Of the rows that are printed.
    schema: Schema,
    top: Option<usize>,
    /// The interval, where groups are drawn.
    plot: Option<i64>,
}

impl Question {
    /// Makes the question of `args` to rows of `schema`, of which the fields `shown` are printed; `top` counts groups.
    ///
    /// # Errors
    /// Returns the errors of [`Condition::new`] and [`GroupBy::new`].
    pub(crate) fn new(
        args: &QuestionArgs,
        schema: &Schema,
        shown: Schema,
        top: Option<usize>,
    ) -> Result<Self> {
        let condition = args.condition.as_ref().map(|text| Condition::new(text, schema));
        let by = args.groups().then(|| GroupBy::new(schema, &args.group_by, &args.sum, args.every));
        let by = by.transpose()?;
        if args.plot && by.as_ref().is_some_and(|by| !by.is_additive()) {
            let found = args.sum.first().map_or("", String::as_str);
            let message =
                format!("expected a field first in --sum for --plot, which adds up, found {found}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let schema = by.as_ref().map_or(shown, |by| by.schema().clone());
        let grouped = by.as_ref().map(GroupBy::places).unwrap_or_default();
        let groups = by.map(|by| by.groups(GROUPS_MAX));
        let plot = args.every.filter(|_| args.plot);
        Ok(Question { condition: condition.transpose()?, groups, grouped, schema, top, plot })
    }

    /// Adds a condition that rows have to hold, too.
    #[must_use]
    pub(crate) fn also(mut self, condition: Condition) -> Self {
        self.condition = Some(match self.condition.take() {
            Some(other) => other.and(condition),
            None => condition,
        });
        self
    }

    /// The records of packets that meet the condition.
    pub(crate) fn wanted(&self) -> WantedRecords {
        WantedRecords::of(self.condition.as_ref())
    }

    /// The places of the fields that it looks at.
    pub(crate) fn places(&self) -> Vec<usize> {
        let condition = self.condition.as_ref().map(Condition::places).unwrap_or_default();
        [condition, self.grouped.clone()].concat()
    }

    /// Returns the schema of the rows that are printed.
    pub(crate) fn schema(&self) -> Schema {
        self.schema.clone()
    }

    /// True where rows are added up.
    pub(crate) fn has_groups(&self) -> bool {
        self.groups.is_some()
    }

    /// Gives the condition away, to where rows are left out before they come here.
    pub(crate) fn take_condition(&mut self) -> Option<Condition> {
        self.condition.take()
    }

    /// Returns true if a row is asked for; `value` gives the value of the field at a place of the schema.
    #[inline]
    pub(crate) fn holds<'v>(&self, value: impl Fn(usize) -> Value<'v>) -> bool {
        self.condition.as_ref().is_none_or(|condition| condition.holds(value))
    }

    /// Adds a row to its group; says whether there are groups.
    #[inline]
    pub(crate) fn counts<'v>(&mut self, value: impl Fn(usize) -> Value<'v>) -> bool {
        match &mut self.groups {
            Some(groups) => {
                groups.add(value);
                true
            }
            None => false,
        }
    }

    /// Prints the groups.
    pub(crate) fn finish(self, rows: &mut Rows, output: &mut Output) -> io::Result<()> {
        let Some(groups) = self.groups else { return Ok(()) };
        let batch = groups.finish(self.top);
        if let Some(every) = self.plot.filter(|_| !batch.is_empty()) {
            rows.are_drawn();
            return plot::print(&batch, every, output);
        }
        (0..batch.len()).try_for_each(|row| rows.push(output, |column| batch.value(row, column)))
    }
}
