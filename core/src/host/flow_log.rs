//! Flows of captures that are read one after another, in a file of another program, as a host has it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::kept_damage::KeptDamage;
use crate::ask::{Answer, Answers, FlowLog, FlowQuestion, Question, Run};
use crate::export::OutputOptions;
use crate::files::FileId;
use crate::flow::FlowFormat;
use crate::input::CaptureReader;
use crate::{Error, ErrorKind, Result};

/// A file of flows under way over one or more captures, one pass after another. Clones are the same file.
#[derive(Clone)]
pub struct OpenFlowLog {
    run: Run,
    open: Arc<Mutex<LogUnderWay>>,
}

struct LogUnderWay {
    /// None once it was finished or given up.
    log: Option<FlowLog>,
    /// The files that were read.
    inputs: Vec<FileId>,
    output: PathBuf,
}

impl OpenFlowLog {
    /// Begins the file at `path`, of no capture yet. It replaces a capture, a table or a store only with `force`.
    ///
    /// # Errors
    /// Those of [`FlowLog::create`].
    pub fn create(
        path: &Path,
        format: FlowFormat,
        question: FlowQuestion,
        force: bool,
    ) -> Result<Self> {
        let options = OutputOptions { force, inputs: Vec::new() };
        let log = Some(FlowLog::create(path, format, &options)?);
        let run = Run::new(Question::Flows(format.features().to_vec(), question));
        let open = LogUnderWay { log, inputs: Vec::new(), output: path.to_owned() };
        Ok(OpenFlowLog { run, open: Arc::new(Mutex::new(open)) })
    }

    /// Adds the flows of a capture, whose packets are in the file `input`, if they are in one.
    pub(super) fn read(
        &self,
        reader: &mut CaptureReader,
        input: Option<FileId>,
        damage: &KeptDamage,
    ) -> Result<()> {
        let mut open = self.lock();
        let LogUnderWay { log, inputs, output } = &mut *open;
        inputs.extend(input);
        let options = OutputOptions { force: true, inputs: inputs.clone() };
        options.check_inputs(output, &output.to_string_lossy())?;
        let log = log.as_mut().ok_or_else(over)?;
        self.run.read(reader, damage.policy(), &mut FlowsToLog { log, damage: Some(damage) })?
    }

    /// Ends the flows that are open, and gives the file its name, once all captures were read. Returns the number of flows.
    ///
    /// # Errors
    /// Those of [`FlowLog::finish`]; `Closed` where it was finished or given up before.
    pub fn finish(&self) -> Result<u64> {
        let mut log = self.lock().log.take().ok_or_else(over)?;
        self.run.finish(&mut FlowsToLog { log: &mut log, damage: None })?;
        log.finish()
    }

    /// Gives the file up, unless it was finished: nothing of it is left. A pass over a capture ends first.
    pub fn discard(&self) {
        drop(self.lock().log.take());
    }

    fn lock(&self) -> MutexGuard<'_, LogUnderWay> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over() -> Error {
    Error::new(
        ErrorKind::Closed,
        "expected a file of flows under way, found it written or given up",
    )
}

/// Flows on their way to a file.
struct FlowsToLog<'l> {
    log: &'l mut FlowLog,
    damage: Option<&'l KeptDamage>,
}

impl Answers for FlowsToLog<'_> {
    type Error = Error;

    fn take(&mut self, answer: Answer) -> Result<()> {
        if let Answer::Flows(flows) = answer {
            flows.iter().try_for_each(|flow| self.log.push(flow))?;
        }
        self.log.settle()
    }

    fn note_damage(&mut self, found: Error) -> Result<()> {
        self.damage.map_or(Ok(()), |damage| {
            damage.note(found);
            Ok(())
        })
    }

    fn note_index(&mut self, fault: Error) -> Result<()> {
        self.damage.map_or(Ok(()), |damage| {
            damage.note_index(fault);
            Ok(())
        })
    }
}
