//! `Bytewright::Flow` and `Bytewright::FlowStore`.

use std::borrow::Cow;
use std::path::Path;

use bytewright::ask::{CaptureMerge, FlowMergeField, FlowQuestion, Question, Run, ToldFlows};
use bytewright::batch;
use bytewright::export::OutputOptions;
use bytewright::flow::{Flow, FlowField, FlowFormat, FlowOptions};
use bytewright::host::{FlowTableFile, OpenFlowLog};
use bytewright::input::CaptureOptions;
use bytewright::options::NamedOptions;
use bytewright::sums::FlowEntry;
use magnus::{
    Error, RArray, RHash, RString, Ruby, TryConvert, Value, function, method, prelude::*,
};

use crate::border::{bytes_of, lend, lock, path_of};
use crate::class;
use crate::error::{damage, raised};
use crate::host::RubyHost;
use crate::options::{settings, settings_of_open};
use crate::reading::Reading;
use crate::record::{Record, define_getters, not_dumped, row_to_hash};

/// One flow.
#[magnus::wrap(class = "Bytewright::Flow", free_immediately, size)]
pub(crate) struct FlowObject(pub(crate) Flow);

impl FlowObject {
    /// `flow._dump(depth)`, which Marshal calls.
    fn dump(ruby: &Ruby, this: &Self, _depth: Value) -> RString {
        ruby.str_from_slice(&FlowEntry::flow_to_bytes(&this.0))
    }

    /// `Flow._load(bytes)`, which Marshal calls.
    fn load(ruby: &Ruby, dumped: RString) -> Result<FlowObject, Error> {
        let flow = FlowEntry::flow_of_bytes(&bytes_of(dumped));
        flow.map(FlowObject).ok_or_else(|| not_dumped(ruby, "Flow"))
    }

    fn is_equal(&self, other: Value) -> bool {
        <&FlowObject>::try_convert(other).is_ok_and(|other| self.0 == other.0)
    }
}

impl Record for FlowObject {
    type Field = FlowField;

    const ALL: &'static [FlowField] = FlowField::ALL;

    fn name(field: FlowField) -> &'static str {
        field.name()
    }

    fn named(name: &str) -> bytewright::Result<FlowField> {
        FlowField::named(name)
    }

    fn fields(&self) -> Cow<'static, [FlowField]> {
        self.0.fields().into()
    }

    fn field(&self, field: FlowField) -> batch::Value<'_> {
        self.0.value(field)
    }
}

/// Flows under way over one or more captures, one pass after another.
#[magnus::wrap(class = "Bytewright::OpenFlows", free_immediately, size)]
pub(crate) struct OpenFlows {
    pub(crate) question: FlowQuestion,
    pub(crate) run: Run,
}

impl OpenFlows {
    /// `OpenFlows.new(options, is_open)`: options of captures are among them unless these are open.
    fn new(ruby: &Ruby, options: RHash, is_open: bool) -> Result<Self, Error> {
        let tables = &[FlowOptions::OPTIONS, ToldFlows::OPTIONS, CaptureOptions::OPTIONS];
        let settings = match is_open {
            true => settings_of_open(ruby, &tables[..2], options)?,
            false => settings(ruby, tables, options)?,
        };
        let question = raised(ruby, FlowQuestion::of(&settings))?;
        let run = Run::new(Question::Flows(Vec::new(), question.clone()));
        Ok(OpenFlows { question, run })
    }
}

/// A file of flows in the words of another program, under way over one or more captures.
#[magnus::wrap(class = "Bytewright::OpenFlowLog", free_immediately, size)]
pub(crate) struct FlowLogObject(pub(crate) OpenFlowLog);

impl FlowLogObject {
    /// `OpenFlowLog.new(path, format, options, is_open)`: options of captures are among them unless these are open.
    fn new(
        ruby: &Ruby,
        path: RString,
        format: String,
        options: RHash,
        is_open: bool,
    ) -> Result<Self, Error> {
        let path = path_of(path)?;
        let format = raised(ruby, FlowFormat::by_name(&format))?;
        let tables = &[
            FlowOptions::OPTIONS,
            ToldFlows::OPTIONS,
            OutputOptions::OPTIONS,
            CaptureOptions::OPTIONS,
        ];
        let settings = match is_open {
            true => settings_of_open(ruby, &tables[..3], options)?,
            false => settings(ruby, tables, options)?,
        };
        let OutputOptions { force, .. } = raised(ruby, settings.take())?;
        let question = raised(ruby, FlowQuestion::of(&settings))?;
        let create = || OpenFlowLog::create(&path, format, question.clone(), force);
        Ok(FlowLogObject(raised(ruby, lock::to_the_end(ruby, create)?)?))
    }

    /// Gives the file its name; the number of its flows.
    fn finish(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        raised(ruby, lock::to_the_end(ruby, || this.0.finish())?)
    }

    /// Gives the file up, unless it was finished.
    fn discard(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        lock::to_the_end(ruby, || this.0.discard())
    }
}

/// Flows of many captures, in a file.
#[magnus::wrap(class = "Bytewright::FlowStore", free_immediately, size)]
pub(crate) struct StoreObject(pub(crate) FlowTableFile);

impl StoreObject {
    /// `FlowStore.open_path(path, read_only)`.
    fn open_path(ruby: &Ruby, path: RString, read_only: bool) -> Result<Value, Error> {
        let open = if read_only { FlowTableFile::open_read_only } else { FlowTableFile::open };
        Self::open(ruby, path, open)
    }

    /// `FlowStore.open_to_count(path)`.
    fn open_to_count(ruby: &Ruby, path: RString) -> Result<Value, Error> {
        Self::open(ruby, path, FlowTableFile::open_to_count)
    }

    fn open(
        ruby: &Ruby,
        path: RString,
        open: fn(&Path) -> bytewright::Result<FlowTableFile>,
    ) -> Result<Value, Error> {
        let path = path_of(path)?;
        let store = raised(ruby, lock::to_the_end(ruby, || open(&path))?)?;
        lend(ruby, ruby.obj_wrap(StoreObject(store)).as_value())
    }

    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.0.close(&RubyHost::new(ruby))
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn len(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        raised(ruby, this.0.len())
    }

    /// Every capture that was counted, as Hashes.
    fn captures(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        let list = ruby.ary_new();
        for capture in raised(ruby, this.0.captures())? {
            let hash = ruby.hash_new();
            hash.aset(ruby.to_symbol("name"), capture.name)?;
            hash.aset(ruby.to_symbol("content_id"), hex(&capture.content_id))?;
            hash.aset(ruby.to_symbol("packets"), capture.packets)?;
            list.push(hash)?;
        }
        Ok(list.as_value())
    }

    /// A pass that merges table files.
    fn read_merges(ruby: &Ruby, this: &Self, paths: RArray) -> Result<Reading, Error> {
        let paths = paths.into_iter().map(|path| path_of(RString::try_convert(path)?));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        Ok(Reading::new(ruby, raised(ruby, this.0.merge(paths))?, None, Vec::new()))
    }

    /// A pass over the flows in the file.
    fn read_flows(ruby: &Ruby, this: &Self) -> Result<Reading, Error> {
        Ok(Reading::new(ruby, raised(ruby, this.0.flows())?, None, Vec::new()))
    }
}

/// Returns the outcome of merging a capture, as a Hash.
pub(crate) fn merge_to_hash(ruby: &Ruby, merge: &CaptureMerge) -> Result<Value, Error> {
    let hash = row_to_hash(ruby, &merge.to_batch(), 0)?;
    let damage = damage(ruby, merge.damage.as_ref())?;
    hash.aset(ruby.to_symbol(FlowMergeField::Damage.name()), damage)?;
    Ok(hash.as_value())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<FlowObject>(ruby, "Flow")?;
    define_getters! { class FlowObject }
    class.define_method("[]", method!(FlowObject::fetch, 1))?;
    class.define_method("to_h", method!(FlowObject::to_hash, 0))?;
    class.define_method("==", method!(FlowObject::is_equal, 1))?;
    class.define_private_method("_dump", method!(FlowObject::dump, 1))?;
    class.define_singleton_method("_load", function!(FlowObject::load, 1))?;
    class.const_set("FIELDS", FlowObject::names(ruby))?;

    let open_flows = class::define::<OpenFlows>(ruby, "OpenFlows")?;
    open_flows.define_singleton_method("new", function!(OpenFlows::new, 2))?;

    let log = class::define::<FlowLogObject>(ruby, "OpenFlowLog")?;
    log.define_singleton_method("new", function!(FlowLogObject::new, 4))?;
    log.define_method("finish", method!(FlowLogObject::finish, 0))?;
    log.define_method("discard", method!(FlowLogObject::discard, 0))?;

    let store = class::define::<StoreObject>(ruby, "FlowStore")?;
    store.define_singleton_method("open_path", function!(StoreObject::open_path, 2))?;
    let open_to_count = function!(StoreObject::open_to_count, 1);
    store.define_singleton_method("open_to_count", open_to_count)?;
    store.define_method("name", method!(StoreObject::name, 0))?;
    store.define_method("close", method!(StoreObject::close, 0))?;
    store.define_method("closed?", method!(StoreObject::is_closed, 0))?;
    store.define_method("size", method!(StoreObject::len, 0))?;
    store.define_method("captures", method!(StoreObject::captures, 0))?;
    store.define_method("read_flows", method!(StoreObject::read_flows, 0))?;
    store.define_method("read_merges", method!(StoreObject::read_merges, 1))?;
    Ok(())
}
