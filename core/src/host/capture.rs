//! A capture as a host has it: opened once, read in one pass after another or side by side, and closed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::asked::Asked;
use super::background::Outlet;
use super::flow_log::OpenFlowLog;
use super::flow_table::FlowTableFile;
use super::kept_damage::{KeptDamage, LatestDamage};
use super::live::LiveInput;
use super::pass::{Item, Pass, Passes};
use super::pass_host::Host;
use super::report::OpenReport;
use crate::ask::{self, CutOptions, CutOutput};
use crate::bytes::{ByteStream, Cancel};
use crate::export::OutputOptions;
use crate::files::{FileId, ProcessMark};
use crate::flow::FlowOptions;
use crate::forks::{Locked, ProcessLock};
use crate::input::{CaptureOptions, CaptureReader, Filter, LiveCounts, LiveOptions};
use crate::{Error, ErrorKind, Result};

/// A capture file, packets of a network interface as they come, or a capture that the host reads from an object of its
/// own. Each method that answers a [`Pass`] starts one over the packets from the first to the last.
pub struct Capture {
    name: String,
    input: CaptureInput,
    /// The file that the packets are in, where they are in one.
    file: Option<FileId>,
    options: CaptureOptions,
    state: ProcessLock<CaptureState>,
    /// The process that opened it: a forked child shares the file's offset and must open its own.
    process: ProcessMark,
    passes: Passes,
    damage: LatestDamage,
    index_fault: LatestDamage,
}

struct CaptureState {
    /// The reader that opening made, for the first pass.
    opened: Option<CaptureReader>,
    /// True after the bytes that the host brings were asked for.
    is_used: bool,
    is_closed: bool,
}

/// Input of a capture.
#[derive(Clone)]
enum CaptureInput {
    Path(PathBuf),
    Live(Arc<LiveInput>),
    /// The host brings the bytes, which it can do once.
    Host,
}

/// Source of the packets of a pass.
enum PassOrigin {
    Opened(Box<CaptureReader>),
    Anew(CaptureInput),
}

impl Capture {
    /// Opens the capture at `path`.
    ///
    /// # Errors
    /// Those of [`CaptureReader::open`].
    pub fn open(path: &Path, options: CaptureOptions) -> Result<Self> {
        let name = path.display().to_string();
        let reader = CaptureReader::open(path, &with_cancel(&options, Cancel::new()))?;
        Ok(Self::new(name, CaptureInput::Path(path.to_owned()), options, Some(reader)))
    }

    /// Captures from the network interface of that name: the first pass has the packets from here on, a later one those
    /// from its beginning on. A pass goes on until [`Capture::stop`].
    ///
    /// # Errors
    /// Those of [`CaptureReader::live`].
    pub fn live(interface: &str, live: LiveOptions, options: CaptureOptions) -> Result<Self> {
        let input = Arc::new(LiveInput::new(interface, live));
        let reader = input.open(&with_cancel(&options, Cancel::new()))?;
        input.begin(reader.cancel());
        Ok(Self::new(interface.to_owned(), CaptureInput::Live(input), options, Some(reader)))
    }

    /// A capture whose bytes the host brings, in one pass; `name` is what errors call it.
    ///
    /// # Errors
    /// Those of [`Filter::new`].
    pub fn of_host(name: String, options: CaptureOptions) -> Result<Self> {
        options.filter.as_deref().map(Filter::new).transpose()?;
        Ok(Self::new(name, CaptureInput::Host, options, None))
    }

    fn new(
        name: String,
        input: CaptureInput,
        options: CaptureOptions,
        opened: Option<CaptureReader>,
    ) -> Self {
        let state = ProcessLock::new(CaptureState { opened, is_used: false, is_closed: false });
        let (process, passes) = (ProcessMark::new(), Passes::over("capture"));
        let file = match &input {
            CaptureInput::Path(path) => FileId::at(path).ok(),
            CaptureInput::Live(_) | CaptureInput::Host => None,
        };
        let (damage, index_fault) = (LatestDamage::default(), LatestDamage::default());
        Capture { name, input, file, options, state, process, passes, damage, index_fault }
    }

    /// Sets the file that the host brings the bytes from, by its descriptor.
    #[must_use]
    pub fn of_descriptor(mut self, descriptor: i32) -> Self {
        self.file = FileId::at(Path::new(&format!("/dev/fd/{descriptor}"))).ok();
        self
    }

    /// The file that the packets are in, which no output must replace; none where they are in none that is known.
    pub fn file(&self) -> Option<FileId> {
        self.file
    }

    /// The path, the interface, or what the host calls its object.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true after it was closed.
    pub fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Damage that the latest pass to find some has kept the packets before; none with [`DamagePolicy::Raise`].
    ///
    /// [`DamagePolicy::Raise`]: crate::input::DamagePolicy::Raise
    pub fn damage(&self) -> Option<Error> {
        self.damage.get()
    }

    /// Reason why the latest pass that looked for the index of the capture did not use it, or could not make it; none where
    /// none did, or there was no index.
    pub fn index_fault(&self) -> Option<Error> {
        self.index_fault.get()
    }

    /// Bytes of memory that it holds beside its passes.
    pub fn memory_bytes(&self) -> usize {
        self.state().opened.as_ref().map_or(0, |reader| reader.memory_bytes())
    }

    /// Ends the passes under way over packets of an interface: they answer for the packets that came before. Others go
    /// on to the end of their capture.
    pub fn stop(&self) {
        if let CaptureInput::Live(live) = &self.input {
            live.stop();
        }
    }

    /// Returns the packet counts of all passes over an interface; None for other captures.
    pub fn live_counts(&self) -> Option<LiveCounts> {
        match &self.input {
            CaptureInput::Live(live) => Some(live.counts()),
            CaptureInput::Path(_) | CaptureInput::Host => None,
        }
    }

    /// Closes it, ends its passes and waits until they are gone.
    ///
    /// # Errors
    /// Those of the host; it is closed nevertheless.
    pub fn close<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        let mut state = self.state();
        state.is_closed = true;
        let opened = state.opened.take();
        drop(state);
        drop(opened);
        self.passes.close(host)
    }

    /// A pass that answers a question, with an [`Item::Answer`] for each piece.
    ///
    /// # Errors
    /// `Closed`, also where the host's bytes were read before; `Io` where the system gives no thread; `Argument` for batches
    /// without rows.
    pub fn ask(&self, asked: impl Into<Asked>) -> Result<Pass> {
        let asked = asked.into();
        asked.check()?;
        self.start(asked.ahead_max(), move |mut reader, outlet, damage| {
            asked.read(&mut reader, true, damage, outlet)
        })
    }

    /// A pass that writes packets to a new capture at `path`, and gives [`Item::Cut`], once, when the file is whole. It never
    /// replaces the file that the packets are in, and another capture, a table or a store only with `force`.
    ///
    /// # Errors
    /// Those of [`Capture::ask`].
    pub fn cut(&self, path: PathBuf, options: CutOptions, force: bool) -> Result<Pass> {
        let output = OutputOptions { force, inputs: self.file.into_iter().collect() };
        self.start(1, move |reader, outlet, damage| {
            let output = CutOutput::create(&path, &options, &output)?;
            let mut totals = ask::cut(vec![reader], &options, output)?;
            totals.index_faults.drain(..).for_each(|fault| damage.note_index(fault));
            outlet.send(Item::Cut(Box::new(totals)))
        })
    }

    /// A pass that merges the flows into a store, and gives [`Item::Merge`], once.
    ///
    /// # Errors
    /// `Closed` where the store is, and those of [`Capture::ask`].
    pub fn merge_flows(&self, store: &FlowTableFile, options: FlowOptions) -> Result<Pass> {
        let store = store.opened()?;
        self.start(1, move |mut reader, outlet, _| {
            let merge = ask::merge_flows(&mut reader, options, &store)?;
            // Who has the item may close the store, and open its file again at once.
            drop(store);
            outlet.send(Item::Merge(Box::new(merge)))
        })
    }

    /// A pass that adds the flows to a file of another program, and gives no item.
    ///
    /// # Errors
    /// Those of [`Capture::ask`].
    pub fn log_flows(&self, log: &OpenFlowLog) -> Result<Pass> {
        let (log, input) = (log.clone(), self.file);
        self.start(1, move |mut reader, _, damage| log.read(&mut reader, input, damage))
    }

    /// A pass that adds the capture to a report, and gives [`Item::Reported`], once.
    ///
    /// # Errors
    /// Those of [`Capture::ask`].
    pub fn report(&self, report: &OpenReport) -> Result<Pass> {
        let (report, input) = (report.clone(), self.file);
        self.start(1, move |mut reader, outlet, _| {
            outlet.send(Item::Reported(Box::new(report.read(&mut reader, input)?)))
        })
    }

    fn start(
        &self,
        ahead_max: usize,
        work: impl FnOnce(CaptureReader, &Outlet<Item>, &KeptDamage) -> Result<()> + Send + 'static,
    ) -> Result<Pass> {
        let origin = self.origin()?;
        let cancel = match &origin {
            PassOrigin::Opened(reader) => reader.cancel(),
            PassOrigin::Anew(_) => Cancel::new(),
        };
        if let PassOrigin::Anew(CaptureInput::Live(live)) = &origin {
            live.begin(cancel.clone());
        }
        let options = with_cancel(&self.options, cancel.clone());
        let name = self.name.clone();
        let damage = KeptDamage::new(options.damage, self.damage.clone())
            .with_index(self.index_fault.clone());
        let noted = damage.clone();
        let pass = self.passes.start(cancel, ahead_max, move |outlet, host| {
            let reader = match origin {
                PassOrigin::Opened(reader) => *reader,
                PassOrigin::Anew(CaptureInput::Path(path)) => CaptureReader::open(&path, &options)?,
                PassOrigin::Anew(CaptureInput::Live(live)) => live.open(&options)?,
                PassOrigin::Anew(CaptureInput::Host) => {
                    let stream = ByteStream::new(Box::new(host), &name, &options.stream)?;
                    CaptureReader::new(stream, &options)?
                }
            };
            work(reader, outlet, &noted)
        })?;
        Ok(pass.noting(damage))
    }

    fn origin(&self) -> Result<PassOrigin> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Error::new(ErrorKind::Closed, "expected an open capture, found it closed"));
        }
        let (opened, was_used) = (state.opened.take(), std::mem::replace(&mut state.is_used, true));
        // The mark of the process is a value of the process, too, which is not asked for behind a lock.
        drop(state);
        match (opened.filter(|_| self.process.is_here()), &self.input) {
            (Some(reader), _) => Ok(PassOrigin::Opened(Box::new(reader))),
            (None, CaptureInput::Host) if was_used => {
                let message = "expected input that was not read yet, found an IO, which can be read once; open \
                               the capture again";
                Err(Error::new(ErrorKind::Closed, message))
            }
            (None, input) => Ok(PassOrigin::Anew(input.clone())),
        }
    }

    fn state(&self) -> Locked<'_, CaptureState> {
        self.state.lock()
    }
}

fn with_cancel(options: &CaptureOptions, cancel: Cancel) -> CaptureOptions {
    let mut options = options.clone();
    options.stream.cancel = Some(cancel);
    options
}
