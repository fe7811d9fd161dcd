//! Rows of captures as columns, for hosts: batches of one capture after another.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::asked::Asked;
use super::capture::Capture;
use super::flow_table::FlowTableFile;
use super::pass::{Item, Pass};
use super::pass_host::Host;
use super::side_by_side;
use crate::ask::{Answer, Question, Run};
use crate::batch::{Batch, Schema, Value};
use crate::input::CaptureOptions;
use crate::rpc::{Call, CallColumn, Methods};
use crate::thrift::Tape;
use crate::{Error, Result};

/// A capture whose rows are asked for.
#[derive(Clone)]
pub enum CaptureSource {
    /// One that the host has open.
    Open(Arc<Capture>),
    /// A file, which is opened when it is its turn.
    Path(PathBuf, Box<CaptureOptions>),
    /// A store, whose flows stand for those of the captures in it.
    Stored(Arc<FlowTableFile>),
}

/// The rows of captures, each capture behind the one before. Damage ends them: the rows before it come first, and then its
/// error as often as asked; or it ends the rows of its capture only, where the options of that say to keep them. Files that
/// follow each other are read side by side, where their options have more than one job.
pub struct Rows {
    schema: Schema,
    captures: VecDeque<CaptureSource>,
    /// Captures whose turn has come.
    begun: usize,
    run: Run,
    /// The capture stays open while it is read.
    pass: Option<(Option<Arc<Capture>>, Pass)>,
    /// Damage of passes that have ended.
    damage: Vec<Error>,
}

/// Result of [`Rows::step`].
#[derive(Debug)]
pub enum RowStep {
    /// Some records.
    Item(Item),
    /// It is the turn of the next capture.
    NextCapture,
    /// There are no more.
    End,
}

impl Rows {
    /// No row read yet.
    pub fn new(captures: Vec<CaptureSource>, question: Question) -> Self {
        let schema = question.schema();
        Rows {
            schema,
            captures: captures.into(),
            begun: 0,
            run: Run::new(question),
            pass: None,
            damage: Vec::new(),
        }
    }

    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The place of the capture that is read, or is the next to be, among those that were given; of files that are read
    /// side by side, that of the last.
    pub fn place(&self) -> usize {
        self.begun.saturating_sub(usize::from(self.pass.is_some()))
    }

    /// The next rows as columns; none at the end.
    ///
    /// # Errors
    /// Those of [`Rows::step`].
    pub fn next<H: Host>(&mut self, host: &H) -> Result<Option<Batch>, H::Error> {
        loop {
            match self.step(host)? {
                RowStep::Item(item) => return Ok(self.batch(item)),
                RowStep::NextCapture => {}
                RowStep::End => return Ok(None),
            }
        }
    }

    /// One step on. The host is that of the capture at [`Rows::place`].
    ///
    /// # Errors
    /// Those of [`Capture::open`] and [`Pass::next`].
    pub fn step<H: Host>(&mut self, host: &H) -> Result<RowStep, H::Error> {
        let Some((_, pass)) = &self.pass else {
            let Some(source) = self.captures.front().cloned() else { return Ok(RowStep::End) };
            let files = self.side_by_side();
            let count = files.len().max(1);
            let pass = self.start(source, files).map_err(|error| host.error(error))?;
            // Those that fail to start stay, so that their error comes again.
            self.captures.drain(..count);
            self.begun += count;
            self.pass = Some(pass);
            return Ok(RowStep::NextCapture);
        };
        match pass.next(host)? {
            Some(item) => Ok(RowStep::Item(item)),
            None => {
                self.damage.extend(pass.take_damage());
                self.pass = None;
                Ok(RowStep::NextCapture)
            }
        }
    }

    /// Takes the damage that was found since the last call and is kept, in the order of the captures: all of it at the
    /// end.
    pub fn take_damage(&mut self) -> Vec<Error> {
        let mut damage = std::mem::take(&mut self.damage);
        damage.extend(self.pass.iter().flat_map(|(_, pass)| pass.take_damage()));
        damage
    }

    /// Gives used records back, so that their memory serves again.
    pub fn recycle(&self, item: Item) {
        if let Some((_, pass)) = &self.pass {
            pass.recycle(item);
        }
    }

    /// Ends what is under way and waits until it is gone.
    ///
    /// # Errors
    /// Those of the host.
    pub fn close<H: Host>(&mut self, host: &H) -> Result<(), H::Error> {
        self.captures.clear();
        self.pass.take().map_or(Ok(()), |(_, pass)| pass.close(host))
    }

    /// The files that come next and are read in one pass, where there are several.
    fn side_by_side(&self) -> Vec<PathBuf> {
        let Some(CaptureSource::Path(_, first)) = self.captures.front() else { return Vec::new() };
        let files: Vec<_> = self
            .captures
            .iter()
            .map_while(|source| match source {
                CaptureSource::Path(path, options) if options == first => Some(path.clone()),
                _ => None,
            })
            .collect();
        if first.stream.jobs > 1 && files.len() > 1 { files } else { Vec::new() }
    }

    /// Starts the pass over the first of the captures that are left, or over those files.
    fn start(
        &self,
        source: CaptureSource,
        files: Vec<PathBuf>,
    ) -> Result<(Option<Arc<Capture>>, Pass)> {
        let is_last = self.captures.len() == files.len().max(1);
        let asked = Asked::of_run(&self.run, is_last);
        let capture = match source {
            CaptureSource::Path(_, options) if !files.is_empty() => {
                return Ok((None, side_by_side::start(asked, files, &options)?));
            }
            CaptureSource::Open(capture) => capture,
            CaptureSource::Path(path, options) => Arc::new(Capture::open(&path, *options)?),
            CaptureSource::Stored(store) => return Ok((None, store.flows()?)),
        };
        let pass = capture.ask(asked)?;
        Ok((Some(capture), pass))
    }

    /// Records as columns; none where they have none.
    pub fn batch(&self, item: Item) -> Option<Batch> {
        let Item::Answer(answer) = item else { return None };
        match (answer, self.run.question()) {
            (Answer::Flows(flows), Question::Flows(fields, _)) => {
                Some(self.filled(&flows, fields, |flow, field| flow.value(field)))
            }
            (Answer::Calls(calls, _), Question::Calls(fields, question)) => {
                let mut batch = self.filled(&calls, fields, |call, field| call.value(field));
                if let Some(structs) = &question.structs {
                    structs.fill(&calls, &mut batch, fields.len());
                }
                Some(batch)
            }
            (Answer::Calls(calls, Some(methods)), Question::CallsCarrying(columns, _)) => {
                Some(self.carrying(&calls, columns, &methods))
            }
            (answer, _) => answer.into_batch(),
        }
    }

    /// Calls with what they carry, of which only the columns that were asked for are read.
    fn carrying(&self, calls: &[Call], columns: &[CallColumn], methods: &Methods) -> Batch {
        let mut batch = Batch::new(self.schema.clone());
        batch.reserve(calls.len());
        let mut tape = Tape::new();
        for call in calls {
            let mut text = |column: &CallColumn| match column {
                CallColumn::Own(_) => None,
                CallColumn::Carried(field) => methods.json(call, *field, &mut tape),
            };
            let texts: Vec<_> = columns.iter().map(&mut text).collect();
            batch.push_row(|place| match columns.get(place) {
                Some(CallColumn::Own(field)) => call.value(*field),
                _ => texts.get(place).and_then(Option::as_deref).map_or(Value::Null, Value::Json),
            });
        }
        batch
    }

    fn filled<'r, R, F: Copy>(
        &self,
        records: &'r [R],
        fields: &[F],
        value: impl Fn(&'r R, F) -> Value<'r>,
    ) -> Batch {
        let mut batch = Batch::new(self.schema.clone());
        batch.reserve(records.len());
        for record in records {
            batch.push_row(|place| {
                fields.get(place).map_or(Value::Null, |field| value(record, *field))
            });
        }
        batch
    }
}
