//! Flows of captures in a file of another program.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytewright::flow::FlowFormat;
use bytewright::host::{self, OpenFlowLog};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{free, given, handle, held};
use crate::capture::bw_capture;
use crate::error::{bw_error, bw_status, guard};
use crate::in_use::{self, InUse, RunsProgram};
use crate::rows::bw_flow_options;
use crate::text::{self, text};
use crate::under_way::{Begun, UnderWay};

/// A file of flows in the words of another program, under way over one or more captures. One thread at a time may use it.
pub struct bw_flow_log {
    log: OpenFlowLog,
    /// The capture in whose reading a call failed, as by an interrupt.
    under_way: UnderWay<Arc<host::Capture>>,
}

impl RunsProgram for bw_flow_log {}

impl bw_flow_log {
    /// Reads a capture to its end, from where a call was that failed.
    fn read(&self, capture: &bw_capture) -> Result<()> {
        let under_way = match self.under_way.take() {
            Some(under_way) if Arc::ptr_eq(&under_way.call, &capture.capture) => under_way,
            Some(other) => {
                let expected = other.call.name().to_owned();
                self.under_way.keep(other);
                let found = capture.capture.name();
                let message = format!(
                    "expected the capture that is not read to its end, {expected}, found {found}"
                );
                return Err(Error::new(ErrorKind::Argument, message));
            }
            None => {
                capture.give_up_under_way();
                let pass = capture.capture.log_flows(&self.log)?;
                Begun::new(Arc::clone(&capture.capture), pass)
            }
        };
        let _capture_in_use = InUse::mark_shared(capture);
        let read = under_way.pass.next(&capture.host).map(drop);
        if read.is_err() {
            self.under_way.keep(under_way);
        }
        read
    }

    /// Ends the reading of a capture in which a call failed.
    fn end_reading(&self) {
        if let Some(under_way) = self.under_way.take() {
            under_way.give_up();
            self.log.give_up_unread();
        }
    }
}

impl Drop for bw_flow_log {
    fn drop(&mut self) {
        self.end_reading();
        self.log.discard();
    }
}

/// Begins a file at `path` of the flows of captures, as another program has them: `format` is "zeek" (its conn.log), "zeek-json",
/// "ecs" (the Elastic Common Schema) or "ipfix". Add captures to it with `bw_capture_log_flows`. The file has its name after
/// `bw_flow_log_finish`; a named pipe is written as flows end. `options` may be null; `force=true` among its named ones replaces
/// a file that is a capture, a table or a store, too. Free it with `bw_flow_log_free`.
///
/// # Safety
/// `path` and `format` are text, and `options` is initialized and has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_log_create(
    path: *const c_char,
    format: *const c_char,
    options: *const bw_flow_options,
    out: Option<&mut MaybeUninit<*mut bw_flow_log>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `path`, `format` and `options`.
    let (path, format, options) =
        unsafe { (text::path(path), text(format, "a format"), bw_flow_options::of_log(options)) };
    panics::catch_all();
    guard(error, || {
        let out = given(out, "a place for the file of flows")?;
        let (format, (question, output)) = (FlowFormat::by_name(format?)?, options?);
        let log = OpenFlowLog::create(path?, format, question, output.force)?;
        out.write(handle(bw_flow_log { log, under_way: UnderWay::default() }));
        Ok(bw_status::Ok)
    })
}

/// Adds the flows of a capture to a file; captures that are added one after another are one run. A call that was interrupted, or
/// whose `bw_read` failed, goes on when it is made again with the same capture. Of an interface, it returns after
/// `bw_capture_stop`. A file whose captures were not all read to their ends is given up; but one with packets of an interface
/// gets its name with the flows so far.
///
/// # Safety
/// `log` is a handle, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_log_flows(
    capture: Option<&bw_capture>,
    log: *mut bw_flow_log,
    error: *mut bw_error,
) -> bw_status {
    let work = |log: &bw_flow_log| {
        log.read(held(capture, "a capture")?)?;
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `log` and `error`.
    unsafe { in_use::call(log, "a file of flows", error, work) }
}

/// Gives a file of flows its name; `flows`, which may be null, gets their number. `BW_STATUS_CLOSED` where it was given up or
/// finished before.
#[unsafe(no_mangle)]
pub extern "C" fn bw_flow_log_finish(
    log: Option<&bw_flow_log>,
    flows: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let log = held(log, "a file of flows")?;
        log.end_reading();
        let count = log.log.finish()?;
        if let Some(flows) = flows {
            flows.write(count);
        }
        Ok(bw_status::Ok)
    })
}

/// Frees a file of flows. One that was not finished is given up, and nothing of it is left, unless packets of an interface were
/// read: it has its name then. Null is allowed.
///
/// # Safety
/// `log` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_flow_log_free(log: *mut bw_flow_log) {
    // SAFETY: the caller's promise; where a call is under way, it is freed when that returns.
    unsafe { free(log) };
}
