//! `Bytewright::Flow` and `Bytewright::FlowStore`, and the passes that make flows.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytewright::batch;
use bytewright::flow::{Flow, FlowField, FlowOptions, FlowTable};
use bytewright::scan::{Background, CaptureMerge, CaptureReader, Outlet};
use bytewright::stream::Cancel;
use bytewright::sums::{FlowStore, Merged};
use magnus::{Error, RString, Ruby, TryConvert, Value, method, prelude::*};

use crate::border::{lock, path_of};
use crate::class;
use crate::error::{closed, raised, to_ruby};
use crate::reading::{Item, Passes, Reading};
use crate::record::{Record, define_getters};

/// Flows that are handed to Ruby together.
const BATCH_LEN: usize = 1024;

/// One flow.
#[magnus::wrap(class = "Bytewright::Flow", free_immediately, size)]
pub(crate) struct FlowObject(Flow);

impl FlowObject {
    pub(crate) fn new(flow: Flow) -> Self {
        FlowObject(flow)
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

    fn field(&self, field: FlowField) -> batch::Value<'_> {
        self.0.value(field)
    }
}

/// Flows under way over one or more captures, one pass after another.
#[magnus::wrap(class = "Bytewright::OpenFlows", free_immediately, size)]
pub(crate) struct OpenFlows {
    pub(crate) options: FlowOptions,
    table: Arc<Mutex<Option<FlowTable>>>,
}

impl OpenFlows {
    /// `OpenFlows.new(idle_timeout, active_timeout, max_flows)`, the timeouts in nanoseconds.
    pub(crate) fn new(idle: Option<i64>, active: Option<i64>, max_flows: usize) -> Self {
        let options = FlowOptions { idle_timeout: idle, active_timeout: active, max_flows };
        let table = Arc::new(Mutex::new(Some(FlowTable::new(options))));
        OpenFlows { options, table }
    }

    /// What a pass does: adds the packets of one capture, and hands over the flows that end; all of
    /// them where it is the last capture, damaged or not.
    pub(crate) fn work(
        &self,
        is_last: bool,
    ) -> impl FnOnce(CaptureReader, &Outlet<Item>) -> bytewright::Result<()> + Send + 'static {
        let open = Arc::clone(&self.table);
        move |mut reader, outlet| {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(table) = open.as_mut() else { return Ok(()) };
            let result = loop {
                let step = reader.each_while(|packet, _| {
                    table.add(packet);
                    table.finished_len() < BATCH_LEN
                });
                let finished: Vec<Flow> = table.drain_finished().collect();
                if !finished.is_empty() {
                    outlet.send(Item::Flows(finished))?;
                }
                match step {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            if (is_last || result.is_err())
                && let Some(table) = open.take()
            {
                send_all(outlet, table.finish().map(Ok))?;
            }
            result
        }
    }
}

/// Hands flows over in batches.
fn send_all(
    outlet: &Outlet<Item>,
    flows: impl Iterator<Item = bytewright::Result<Flow>>,
) -> bytewright::Result<()> {
    let mut flows = flows.peekable();
    while flows.peek().is_some() {
        let batch = flows.by_ref().take(BATCH_LEN).collect::<bytewright::Result<Vec<_>>>()?;
        outlet.send(Item::Flows(batch))?;
    }
    Ok(())
}

/// Flows of many captures, in a file.
#[magnus::wrap(class = "Bytewright::FlowStore", free_immediately, size)]
pub(crate) struct StoreObject {
    name: String,
    store: RefCell<Option<Arc<FlowStore>>>,
    passes: Passes,
}

impl StoreObject {
    /// `FlowStore.open_path(path, read_only)`.
    pub(crate) fn open_path(ruby: &Ruby, path: RString, read_only: bool) -> Result<Self, Error> {
        Self::open(ruby, path, &|path| match read_only {
            true => FlowStore::open_read_only(path),
            false => FlowStore::open(path),
        })
    }

    /// `FlowStore.open_to_count(path)`.
    pub(crate) fn open_to_count(ruby: &Ruby, path: RString) -> Result<Self, Error> {
        Self::open(ruby, path, &|path| FlowStore::open_to_count(path))
    }

    fn open(
        ruby: &Ruby,
        path: RString,
        open: &dyn Fn(&PathBuf) -> bytewright::Result<FlowStore>,
    ) -> Result<Self, Error> {
        let path: PathBuf = path_of(path)?;
        let open = || open(&path);
        let opened = lock::to_the_end(ruby, open)?;
        let opened = raised(ruby, opened)?;
        Ok(StoreObject {
            name: path.display().to_string(),
            store: RefCell::new(Some(Arc::new(opened))),
            passes: Passes::default(),
        })
    }

    fn store(&self, ruby: &Ruby) -> Result<Arc<FlowStore>, Error> {
        self.store
            .borrow()
            .clone()
            .ok_or_else(|| closed(ruby, "expected an open flow store, found it closed"))
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        // Taken first, so that no pass begins while others are waited for.
        let store = this.store.borrow_mut().take();
        let ended = this.passes.close(ruby);
        drop(store);
        ended
    }

    fn is_closed(&self) -> bool {
        self.store.borrow().is_none()
    }

    fn len(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        raised(ruby, this.store(ruby)?.len())
    }

    /// Every capture that was counted, as Hashes.
    fn captures(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        let list = ruby.ary_new();
        for capture in raised(ruby, this.store(ruby)?.captures())? {
            let hash = ruby.hash_new();
            hash.aset(ruby.to_symbol("name"), capture.name)?;
            hash.aset(ruby.to_symbol("content_id"), hex(&capture.content_id))?;
            hash.aset(ruby.to_symbol("packets"), capture.packets)?;
            list.push(hash)?;
        }
        Ok(list.as_value())
    }

    /// A pass over the flows in the file.
    fn read_flows(ruby: &Ruby, this: &Self) -> Result<Reading, Error> {
        let store = this.store(ruby)?;
        let background =
            Background::start(Cancel::new(), 2, move |outlet, _| send_all(outlet, store.flows()?));
        let background = Arc::new(background.map_err(|error| to_ruby(ruby, &error))?);
        this.passes.add(&background);
        Ok(Reading::new(ruby, background, None, Vec::new()))
    }

    /// What a pass does that merges the flows of one capture into the file.
    pub(crate) fn work(
        &self,
        ruby: &Ruby,
        options: FlowOptions,
    ) -> Result<
        impl FnOnce(CaptureReader, &Outlet<Item>) -> bytewright::Result<()> + Send + 'static,
        Error,
    > {
        let store = self.store(ruby)?;
        Ok(move |mut reader: CaptureReader, outlet: &Outlet<Item>| {
            let merge = bytewright::scan::merge_flows(&mut reader, options, &store)?;
            outlet.send(Item::Merge(Box::new(merge)))
        })
    }
}

/// What became of a capture that was to be merged, as a Hash.
pub(crate) fn merge_to_hash(ruby: &Ruby, merge: &CaptureMerge) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    let (added, flows, new_flows, counted_as) = match &merge.merged {
        Merged::Added { flows, new_flows } => (true, *flows, *new_flows, None),
        Merged::AlreadyCounted(counted) => (false, 0, 0, Some(counted.name.as_str())),
    };
    hash.aset(ruby.to_symbol("added"), added)?;
    hash.aset(ruby.to_symbol("packets"), merge.packets)?;
    hash.aset(ruby.to_symbol("packets_without_flow"), merge.packets_without_flow)?;
    hash.aset(ruby.to_symbol("flows"), flows)?;
    hash.aset(ruby.to_symbol("new_flows"), new_flows)?;
    hash.aset(ruby.to_symbol("counted_as"), counted_as)?;
    hash.aset(ruby.to_symbol("content_id"), merge.content_id.to_string())?;
    let damage = merge.damage.as_ref().and_then(|error| to_ruby(ruby, error).value());
    hash.aset(ruby.to_symbol("damage"), damage)?;
    Ok(hash.as_value())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<FlowObject>(ruby, "Flow")?;
    define_getters! { class FlowObject FlowField:
        ts Ts, src_ip SrcIp, dst_ip DstIp, src_port SrcPort, dst_port DstPort, proto Proto,
        packets Packets, bytes Bytes, rev_packets RevPackets, rev_bytes RevBytes,
        duration Duration, tcp_flags TcpFlags, rev_tcp_flags RevTcpFlags,
        community_id CommunityId,
    }
    class.define_method("[]", method!(FlowObject::fetch, 1))?;
    class.define_method("to_h", method!(FlowObject::to_hash, 0))?;
    class.define_method("==", method!(FlowObject::is_equal, 1))?;
    class.const_set("FIELDS", FlowObject::names(ruby))?;

    let open_flows = class::define::<OpenFlows>(ruby, "OpenFlows")?;
    open_flows.define_singleton_method("new", magnus::function!(OpenFlows::new, 3))?;

    let store = class::define::<StoreObject>(ruby, "FlowStore")?;
    store.define_singleton_method("open_path", magnus::function!(StoreObject::open_path, 2))?;
    let open_to_count = magnus::function!(StoreObject::open_to_count, 1);
    store.define_singleton_method("open_to_count", open_to_count)?;
    store.define_method("name", method!(StoreObject::name, 0))?;
    store.define_method("close", method!(StoreObject::close, 0))?;
    store.define_method("closed?", method!(StoreObject::is_closed, 0))?;
    store.define_method("size", method!(StoreObject::len, 0))?;
    store.define_method("captures", method!(StoreObject::captures, 0))?;
    store.define_method("read_flows", method!(StoreObject::read_flows, 0))?;
    Ok(())
}
