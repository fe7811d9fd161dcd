//! Flows of captures that are read one after another, in a file of another program, as a host has it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::kept_damage::KeptDamage;
use crate::ask::{Answer, Answers, FlowLog, FlowQuestion, Question, Run};
use crate::export::OutputOptions;
use crate::files::{FileId, ProcessMark};
use crate::flow::FlowFormat;
use crate::input::CaptureReader;
use crate::{Error, ErrorKind, Result};

/// A file of flows under way over one or more captures, one pass after another. Clones are the same file.
///
/// Flows of an interface, which nobody can read again, are kept: where reading it ends with an error, such as an interrupt,
/// the file has its name then, with the flows so far.
#[derive(Clone)]
pub struct OpenFlowLog {
    run: Run,
    open: Arc<Mutex<LogUnderWay>>,
    /// The process that began it: in a forked child, a thread that is not there may hold the lock for ever.
    process: ProcessMark,
}

struct LogUnderWay {
    log: LogState,
    /// True once packets of an interface were read.
    has_live: bool,
    /// The files that were read.
    inputs: Vec<FileId>,
    output: PathBuf,
}

/// The state of the file.
enum LogState {
    Open(Box<FlowLog>),
    /// It has its name, and so many flows, though nobody asked for its end.
    Kept(u64),
    Over,
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
        let log = LogState::Open(Box::new(FlowLog::create(path, format, &options)?));
        let run = Run::new(Question::Flows(format.features().to_vec(), question));
        let (has_live, inputs, output) = (false, Vec::new(), path.to_owned());
        let open = Arc::new(Mutex::new(LogUnderWay { log, has_live, inputs, output }));
        Ok(OpenFlowLog { run, open, process: ProcessMark::new() })
    }

    /// Adds the flows of a capture, whose packets are in the file `input`, if they are in one. After an error of reading it, the
    /// file is given up or kept.
    pub(super) fn read(
        &self,
        reader: &mut CaptureReader,
        input: Option<FileId>,
        damage: &KeptDamage,
    ) -> Result<()> {
        let mut open = self.lock();
        let LogUnderWay { log: state, has_live, inputs, output } = &mut *open;
        // Where the capture is not read to its end, flows are missing in it.
        let mut log = match std::mem::replace(state, LogState::Over) {
            LogState::Open(log) => log,
            other => {
                *state = other;
                return Err(over());
            }
        };
        inputs.extend(input);
        let options = OutputOptions { force: true, inputs: inputs.clone() };
        let name = output.to_string_lossy();
        options.check_inputs(output, &name)?;
        let to_log = &mut FlowsToLog { log: &mut log, damage: Some(damage) };
        let read = self.run.read(reader, damage.policy(), to_log)?;
        *has_live |= reader.is_of_interface();
        match read {
            Ok(()) => {
                // A message of IPFIX ends with its capture, whoever has the file written.
                log.flush()?;
                *state = LogState::Open(log);
                Ok(())
            }
            Err(error) if *has_live => {
                *state = LogState::Kept(self.end(LogState::Open(log))?);
                Err(error.saying(format_args!("{name} has the flows before that")))
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the flows that are open, and gives the file its name, once all captures were read. Returns the number of flows.
    ///
    /// # Errors
    /// Those of [`FlowLog::finish`]; `Closed` where it was finished or given up before, and in a forked child.
    pub fn finish(&self) -> Result<u64> {
        if !self.process.is_here() {
            return Err(over());
        }
        let log = std::mem::replace(&mut self.lock().log, LogState::Over);
        self.end(log)
    }

    /// Gives the file up where not even the beginning of a capture could be read: its flows are missing. A file with packets of an
    /// interface is finished as it is.
    pub fn give_up_unread(&self) {
        if !self.process.is_here() {
            return;
        }
        let mut open = self.lock();
        if !open.has_live && matches!(open.log, LogState::Open(_)) {
            open.log = LogState::Over;
        }
    }

    /// Gives the file up, unless it was finished: nothing of it is left, but that it is finished where packets of an
    /// interface were read. A pass over a capture ends first. A forked child leaves it to its parent.
    pub fn discard(&self) {
        if !self.process.is_here() {
            return;
        }
        let mut open = self.lock();
        let log = std::mem::replace(&mut open.log, LogState::Over);
        if open.has_live {
            // Whoever gives it up is told of another failure already.
            let _ = self.end(log);
        }
    }

    fn end(&self, log: LogState) -> Result<u64> {
        match log {
            LogState::Open(mut log) => {
                self.run.finish(&mut FlowsToLog { log: &mut log, damage: None })?;
                log.finish()
            }
            LogState::Kept(flows) => Ok(flows),
            LogState::Over => Err(over()),
        }
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
