//! `Bytewright::Capture`: the core's session of a capture, each pass over which is a [`Reading`].

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use bytewright::ask::{CallOptions, CountOptions, CutOptions, PacketOptions, Question, SumOptions};
use bytewright::export::OutputOptions;
use bytewright::host::{self, Asked, Pass};
use bytewright::input::{CaptureOptions, LiveOptions};
use bytewright::options::NamedOptions;
use bytewright::packet::{Field, NetworkLabels};
use bytewright::terminal::Harmless;
use magnus::{
    Error, RArray, RHash, RString, Ruby, Symbol, Value, function, method, prelude::*, value::Opaque,
};

use crate::border::{class_name, lend, lock, path_of};
use crate::class;
use crate::error::{self, guarded, raised};
use crate::fields::{define_fields, field_named, fields_named};
use crate::flow::{FlowLogObject, OpenFlows, StoreObject};
use crate::host::RubyHost;
use crate::memory_report::{MemoryReport, REPORTED};
use crate::options::{settings, settings_of_open};
use crate::reading::Reading;
use crate::report::OpenReport;
use crate::summary::OpenSummary;

/// Hash of the latest warning of labels.
static TOLD_LAST: AtomicU64 = AtomicU64::new(0);

/// A capture file, a network interface, or an object to read a capture from.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Capture", free_immediately, mark, size)]
pub(crate) struct Capture {
    session: host::Capture,
    /// Anything with `readpartial` or `read`, where there is no file.
    object: Option<Opaque<Value>>,
    memory: MemoryReport,
}

impl magnus::DataTypeFunctions for Capture {
    fn mark(&self, marker: &magnus::gc::Marker) {
        if let Some(object) = self.object {
            marker.mark(object);
        }
    }
}

impl Capture {
    /// `Capture.open_path(path, options)`.
    fn open_path(ruby: &Ruby, path: RString, options: RHash) -> Result<Value, Error> {
        REPORTED.collect(ruby)?;
        let path = path_of(path)?;
        let options = capture_options(ruby, options)?;
        let opened = lock::to_the_end(ruby, || host::Capture::open(&path, options.clone()))?;
        Capture::lent(ruby, raised(ruby, opened)?, None)
    }

    /// `Capture.open_object(object, descriptor, options)`.
    fn open_object(
        ruby: &Ruby,
        object: Value,
        descriptor: Option<i32>,
        options: RHash,
    ) -> Result<Value, Error> {
        let options = capture_options(ruby, options)?;
        let session = host::Capture::of_host(class_name(object), options);
        let session = raised(ruby, session)?;
        let session = match descriptor {
            Some(descriptor) => session.of_descriptor(descriptor),
            None => session,
        };
        Capture::lent(ruby, session, Some(object.into()))
    }

    /// `Capture.open_interface(name, options)`.
    fn open_interface(ruby: &Ruby, name: String, options: RHash) -> Result<Value, Error> {
        let settings = settings(ruby, &[LiveOptions::OPTIONS, CaptureOptions::OPTIONS], options)?;
        let live: LiveOptions = raised(ruby, settings.take())?;
        let options: CaptureOptions = raised(ruby, settings.take())?;
        warn_of_replaced(ruby, &options)?;
        let open = || host::Capture::live(&name, live.clone(), options.clone());
        let opened = lock::to_the_end(ruby, open)?;
        Capture::lent(ruby, raised(ruby, opened)?, None)
    }

    fn lent(
        ruby: &Ruby,
        session: host::Capture,
        object: Option<Opaque<Value>>,
    ) -> Result<Value, Error> {
        let memory = MemoryReport::of(session.memory_bytes());
        lend(ruby, ruby.obj_wrap(Capture { session, object, memory }).as_value())
    }

    fn name(&self) -> String {
        self.session.name().to_owned()
    }

    /// The damage that the latest pass has kept the packets before; nil where there was none.
    fn damage(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        error::damage(ruby, this.session.damage().as_ref())
    }

    /// Reason why the index of the capture was not used, or not made; nil where there was none.
    fn index_fault(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        error::damage(ruby, this.session.index_fault().as_ref())
    }

    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.memory.set(0);
        this.session.close(&RubyHost::new(ruby))
    }

    fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    fn stop(&self) {
        self.session.stop();
    }

    /// Returns the counts of the passes over an interface; nil for other captures.
    fn live_counts(ruby: &Ruby, this: &Self) -> Result<Option<RHash>, Error> {
        let Some(counts) = this.session.live_counts() else { return Ok(None) };
        let hash = ruby.hash_new();
        hash.aset(ruby.to_symbol("captured"), counts.captured())?;
        hash.aset(ruby.to_symbol("dropped"), counts.dropped())?;
        hash.aset(ruby.to_symbol("dropped_by_interface"), counts.dropped_by_interface())?;
        Ok(Some(hash))
    }

    /// Packets one by one; `fields` are those of `each_row`.
    fn read_frames(ruby: &Ruby, this: &Self, fields: RArray) -> Result<Reading, Error> {
        this.start(ruby, fields_named(ruby, fields)?, |session| session.ask(Question::Frames))
    }

    /// The packet with a number.
    fn read_frame(ruby: &Ruby, this: &Self, number: u64) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.ask(Question::Frame(number)))
    }

    fn read_columns(
        ruby: &Ruby,
        this: &Self,
        fields: RArray,
        options: RHash,
    ) -> Result<Reading, Error> {
        let fields = fields_named(ruby, fields)?;
        let settings = settings_of_open(ruby, &[PacketOptions::OPTIONS], options)?;
        let options = raised(ruby, settings.take())?;
        this.start(ruby, Vec::new(), |session| session.ask(Question::Packets(fields, options)))
    }

    fn read_counts(
        ruby: &Ruby,
        this: &Self,
        field: Symbol,
        options: RHash,
    ) -> Result<Reading, Error> {
        let field = field_named(ruby, field)?;
        let settings = settings_of_open(ruby, &[CountOptions::OPTIONS], options)?;
        let options = raised(ruby, settings.take())?;
        this.start(ruby, Vec::new(), |session| session.ask(Question::Counts(field, options)))
    }

    /// Packets added up: the fields of these names, by what the options say.
    fn read_sums(
        ruby: &Ruby,
        this: &Self,
        sums: Vec<String>,
        options: RHash,
    ) -> Result<Reading, Error> {
        let settings = settings_of_open(ruby, &[SumOptions::OPTIONS], options)?;
        let options: SumOptions = raised(ruby, settings.take())?;
        let question = raised(ruby, options.question(&sums))?;
        this.start(ruby, Vec::new(), |session| session.ask(question))
    }

    /// Packets to a new capture.
    fn read_cut(ruby: &Ruby, this: &Self, path: RString, options: RHash) -> Result<Reading, Error> {
        let path = path_of(path)?;
        let tables = &[CutOptions::OPTIONS, OutputOptions::OPTIONS];
        let settings = settings_of_open(ruby, tables, options)?;
        let OutputOptions { force, .. } = raised(ruby, settings.take())?;
        let options = raised(ruby, settings.take())?;
        this.start(ruby, Vec::new(), |session| session.cut(path, options, force))
    }

    fn read_info(ruby: &Ruby, this: &Self) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.ask(Question::Info))
    }

    fn read_flows(
        ruby: &Ruby,
        this: &Self,
        flows: &OpenFlows,
        is_last: bool,
    ) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.ask(Asked::of_run(&flows.run, is_last)))
    }

    /// Flows to a file of another program.
    fn read_flow_log(ruby: &Ruby, this: &Self, log: &FlowLogObject) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.log_flows(&log.0))
    }

    fn read_merge(
        ruby: &Ruby,
        this: &Self,
        store: &StoreObject,
        flows: &OpenFlows,
    ) -> Result<Reading, Error> {
        let limits = raised(ruby, flows.question.merged())?;
        this.start(ruby, Vec::new(), |session| session.merge_flows(&store.0, limits))
    }

    /// A pass for a question that is asked by its name.
    fn read_summary(
        ruby: &Ruby,
        this: &Self,
        summary: &OpenSummary,
        is_last: bool,
    ) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.ask(Asked::of_run(&summary.0, is_last)))
    }

    fn read_report(ruby: &Ruby, this: &Self, report: &OpenReport) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), |session| session.report(&report.report))
    }

    /// The Thrift calls, of an IDL file's service where there is one.
    fn read_calls(ruby: &Ruby, this: &Self, options: RHash) -> Result<Reading, Error> {
        let settings = settings_of_open(ruby, &[CallOptions::OPTIONS], options)?;
        let options: CallOptions = raised(ruby, settings.take())?;
        let question = raised(ruby, options.load())?;
        this.start(ruby, Vec::new(), |session| session.ask(Question::Calls(Vec::new(), question)))
    }

    fn start(
        &self,
        ruby: &Ruby,
        fields: Vec<Field>,
        start: impl FnOnce(&host::Capture) -> bytewright::Result<Pass>,
    ) -> Result<Reading, Error> {
        REPORTED.collect(ruby)?;
        guarded(ruby, || {
            let pass = start(&self.session);
            self.memory.set(self.session.memory_bytes());
            Ok(Reading::new(ruby, raised(ruby, pass)?, self.object, fields))
        })
    }
}

fn capture_options(ruby: &Ruby, options: RHash) -> Result<CaptureOptions, Error> {
    let options = raised(ruby, settings(ruby, &[CaptureOptions::OPTIONS], options)?.take())?;
    warn_of_replaced(ruby, &options)?;
    Ok(options)
}

/// Warns of networks that the file of labels gives two, once for captures that are opened one after another with the same file.
fn warn_of_replaced(ruby: &Ruby, options: &CaptureOptions) -> Result<(), Error> {
    let replaced = options.labels.as_deref().and_then(NetworkLabels::replaced);
    let Some(replaced) = replaced.map(ToString::to_string) else { return Ok(()) };
    let mut hasher = DefaultHasher::new();
    replaced.hash(&mut hasher);
    let hash = hasher.finish();
    if TOLD_LAST.swap(hash, Ordering::Relaxed) == hash {
        return Ok(());
    }
    let text = Harmless::line(&replaced).to_string();
    ruby.module_kernel().funcall::<_, _, Value>("warn", (text,)).map(drop)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<Capture>(ruby, "Capture")?;
    define_fields(ruby, class)?;
    class.define_singleton_method("open_path", function!(Capture::open_path, 2))?;
    class.define_singleton_method("open_object", function!(Capture::open_object, 3))?;
    class.define_singleton_method("open_interface", function!(Capture::open_interface, 2))?;
    class.define_method("stop", method!(Capture::stop, 0))?;
    class.define_method("live_counts", method!(Capture::live_counts, 0))?;
    class.define_method("name", method!(Capture::name, 0))?;
    class.define_method("damage", method!(Capture::damage, 0))?;
    class.define_method("index_fault", method!(Capture::index_fault, 0))?;
    class.define_method("close", method!(Capture::close, 0))?;
    class.define_method("closed?", method!(Capture::is_closed, 0))?;
    class.define_method("read_frames", method!(Capture::read_frames, 1))?;
    class.define_method("read_frame", method!(Capture::read_frame, 1))?;
    class.define_method("read_columns", method!(Capture::read_columns, 2))?;
    class.define_method("read_counts", method!(Capture::read_counts, 2))?;
    class.define_method("read_flows", method!(Capture::read_flows, 2))?;
    class.define_method("read_flow_log", method!(Capture::read_flow_log, 1))?;
    class.define_method("read_merge", method!(Capture::read_merge, 2))?;
    class.define_method("read_report", method!(Capture::read_report, 1))?;
    class.define_method("read_calls", method!(Capture::read_calls, 1))?;
    class.define_method("read_sums", method!(Capture::read_sums, 2))?;
    class.define_method("read_summary", method!(Capture::read_summary, 2))?;
    class.define_method("read_cut", method!(Capture::read_cut, 2))?;
    class.define_method("read_info", method!(Capture::read_info, 0))?;
    Ok(())
}
