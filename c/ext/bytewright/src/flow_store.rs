//! Flows of many captures, added up in a table file.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::{Arc, Weak};

use bytewright::ask::{FlowQuestion, Question};
use bytewright::batch::RowOrigin;
use bytewright::flow::FlowField;
use bytewright::forks::ProcessLock;
use bytewright::host::{Blocking, FlowTableFile};
use bytewright::{Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{given, handle, held, take_back};
use crate::capture::{Call, bw_capture};
use crate::error::{bw_error, bw_status, guard};
use crate::rows::{Reading, bw_flow_options, bw_rows};
use crate::schema::fields_named;
use crate::text::{self, bw_names};
use crate::under_way::UnderWay;

/// A table file with the flows of many captures. Each capture is in it wholly or not at all, and once. One thread at a time
/// may use it.
pub struct bw_flow_store {
    store: Arc<FlowTableFile>,
    /// The capture that was merged last, which may have that call under way still.
    merged_last: ProcessLock<Weak<UnderWay<Call>>>,
}

impl bw_flow_store {
    /// Notes a capture that is merged now; the merge of another one that is under way is given up.
    fn note_merge(&self, merged: &Arc<UnderWay<Call>>) {
        let last = std::mem::replace(&mut *self.merged_last.lock(), Arc::downgrade(merged));
        if let Some(last) = last.upgrade().filter(|last| !Arc::ptr_eq(last, merged)) {
            self.give_up(&last);
        }
    }

    /// Gives up a merge that is under way: it keeps the table locked.
    fn give_up_merge(&self) {
        // It stays noted: where the merge itself runs this call, it may be interrupted later.
        let last = self.merged_last.lock().upgrade();
        if let Some(last) = last {
            self.give_up(&last);
        }
    }

    fn give_up(&self, last: &UnderWay<Call>) {
        last.give_up_if(|call| match call {
            Call::Merge(store, _) => Arc::ptr_eq(store, &self.store),
            Call::Question(..) => false,
        });
    }
}

fn opened(
    path: Result<&Path>,
    out: Option<&mut MaybeUninit<*mut bw_flow_store>>,
    error: Option<&mut bw_error>,
    open: impl FnOnce(&Path) -> Result<FlowTableFile>,
) -> bw_status {
    panics::catch_all();
    guard(error, || {
        let out = given(out, "a place for the store")?;
        let store = Arc::new(open(path?)?);
        out.write(handle(bw_flow_store { store, merged_last: ProcessLock::default() }));
        Ok(bw_status::Ok)
    })
}

/// Opens the store in the file at `path` to merge captures into, or to read. A file that is not there is made with the
/// first capture. Close it with `bw_flow_store_close`.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_store_open(
    path: *const c_char,
    out: Option<&mut MaybeUninit<*mut bw_flow_store>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    opened(path, out, error, FlowTableFile::open_to_count)
}

/// Opens the store in the file at `path` to read, also while another process adds to it. Close it with
/// `bw_flow_store_close`.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_store_open_read_only(
    path: *const c_char,
    out: Option<&mut MaybeUninit<*mut bw_flow_store>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    opened(path, out, error, FlowTableFile::open_read_only)
}

/// Merges the flows of a capture into a store: a batch of one row that says what became of it, with the columns `added`,
/// `packets`, `flows`, `new_flows`, `damage` and others that its schema names. A capture that was merged before adds
/// nothing, and one that is damaged counts up to its damage. The flows are on disk when this returns. `options` may be
/// null. Free the batch with `bw_batch_free`.
///
/// A call that was interrupted has the table locked until it is made again, which returns what became of the whole capture,
/// or given up: as by another call that reads the capture, and by any call with the store. Given up before its end, it adds
/// nothing, also of an interface.
///
/// # Safety
/// `store` is a handle; `options` is initialized and has texts, `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_merge_flows(
    capture: Option<&bw_capture>,
    store: *mut bw_flow_store,
    options: *const bw_flow_options,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    let work = |capture: &bw_capture| {
        // SAFETY: the caller's promises about `store` and `options`; neither is used while functions of the program run.
        let (store, options) = unsafe { (store.as_ref(), bw_flow_options::of_core(options)) };
        let store = held(store, "a store")?;
        let limits = options?.merged()?;
        store.note_merge(&capture.under_way);
        let store = Arc::clone(&store.store);
        let call = Call::Merge(Arc::clone(&store), limits);
        capture.batch_of(call, |capture| capture.merge_flows(&store, limits))
    };
    // SAFETY: the caller's promises about `out` and `error`.
    unsafe { bw_capture::hand_out_batch(capture, out, error, work) }
}

/// Number of flows in a store.
#[unsafe(no_mangle)]
pub extern "C" fn bw_flow_store_len(
    store: Option<&bw_flow_store>,
    len: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let store = given(store, "a store")?;
        store.give_up_merge();
        let count = store.store.len()?;
        given(len, "a place for the length")?.write(count);
        Ok(bw_status::Ok)
    })
}

/// Begins to read the flows of a store in the order of their addresses: of each the fields of those names, or all where
/// `fields` is null or empty. Free it with `bw_rows_free`.
///
/// # Safety
/// `fields` has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_store_flows(
    store: Option<&bw_flow_store>,
    fields: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `fields`.
    let fields = unsafe { bw_names::texts(fields) };
    guard(error, || {
        let out = given(out, "a place for the rows")?;
        let store = given(store, "a store")?;
        store.give_up_merge();
        let store = &store.store;
        let names = fields?;
        let fields = fields_named(&FlowField::SCHEMA, FlowField::ALL, &names, FlowField::DEFAULT)?;
        let question = Question::Flows(fields, FlowQuestion::default());
        let origin = RowOrigin { sources: vec![store.name().to_owned()], filter: None };
        out.write(Reading::of_store(store, question).into_handle(origin));
        Ok(bw_status::Ok)
    })
}

/// Closes a store and frees its handle, whatever it returns. Calls that still read it return `BW_STATUS_CLOSED` from then on.
/// Null is allowed.
///
/// # Safety
/// `store` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_store_close(
    store: *mut bw_flow_store,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `store`.
    let store = unsafe { take_back(store, "a store") };
    guard(error, || {
        if let Some(store) = store? {
            store.give_up_merge();
            store.store.close(&Blocking)?;
        }
        Ok(bw_status::Ok)
    })
}
