//! Captures: opened from files or from what the program reads, counted and described.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::num::NonZero;
use std::sync::Arc;

use bytewright::ask::{CountOptions, Question};
use bytewright::batch::Batch;
use bytewright::host::{self, Item, Pass};
use bytewright::input::{CaptureOptions, DamagePolicy};
use bytewright::options::NamedOptions;
use bytewright::packet::Field;
use bytewright::{Error, ErrorKind, Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{Place, given, handle, held};
use crate::error::{bw_error, bw_status, guard, guard_raw};
use crate::host::{CallerHost, Context, Input, bw_interrupted, bw_read};
use crate::in_use::{self, InUse};
use crate::named;
use crate::sized_struct::{self, sized_struct};
use crate::text::{self, bw_names, text, text_or_none};

/// Treatment of a damaged capture. What is no capture is an error in any case.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_damage {
    /// The rows before the damage come first, and then its error.
    Raise = 0,
    /// The rows end before the damage; `bw_capture_damage` tells it.
    Keep = 1,
}

/// Options of reading a capture. Initialize it with `BW_CAPTURE_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_capture_options {
    /// Bytes of the struct, which `BW_CAPTURE_OPTIONS_INIT` sets.
    pub size: usize,
    /// A libpcap expression; packets that it does not match are left out. Null for all packets.
    pub filter: *const c_char,
    /// Follow tunnels (GRE, ERSPAN, IPIP, 6in4, VXLAN, GENEVE, GTP-U, MPLS over UDP), and report the innermost IP header instead of the outermost.
    pub inner: bool,
    /// Threads that decompress and decode; 0 for one on each core.
    pub jobs: u32,
    /// Function that returns true if a call that waits is to end; null for never.
    pub interrupted: bw_interrupted,
    /// Argument of `interrupted`.
    pub interrupted_context: *mut c_void,
    /// Treatment of a damaged capture: a `bw_damage`.
    pub damage: u32,
    /// Options by name, as "name=value": those of reading captures in docs/options.md. They count over the fields above.
    pub named: bw_names,
}

sized_struct!(
    bw_capture_options { filter, inner, jobs, interrupted, interrupted_context, damage, named } + {
    }
);

impl bw_capture_options {
    /// # Safety
    /// `options` is initialized and has texts, and its `interrupted` keeps the rules of `bw_interrupted`.
    pub(crate) unsafe fn of_core(
        options: *const bw_capture_options,
    ) -> Result<(CaptureOptions, CallerHost)> {
        let mut found = CaptureOptions::default();
        // SAFETY: the caller's promise.
        let Some(options) = unsafe { sized_struct::copied(options) }? else {
            found.stream.jobs = jobs(0);
            return Ok((found, CallerHost::default()));
        };
        // SAFETY: the caller's promise.
        found.filter = unsafe { text_or_none(options.filter, "a filter") }?.map(str::to_owned);
        found.decode.inner = options.inner;
        found.stream.jobs = jobs(options.jobs);
        found.damage = damage(options.damage)?;
        // SAFETY: the caller's promise.
        unsafe { named::fill(&mut found, &[CaptureOptions::OPTIONS], Some(&options.named)) }?;
        let host = CallerHost {
            input: None,
            interrupted: options.interrupted,
            interrupted_context: Context(options.interrupted_context),
        };
        Ok((found, host))
    }
}

fn jobs(count: u32) -> usize {
    match count {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        _ => count as usize,
    }
}

fn damage(number: u32) -> Result<DamagePolicy> {
    [DamagePolicy::Raise, DamagePolicy::Keep].get(number as usize).copied().ok_or_else(|| {
        let message = format!("expected a bw_damage from 0 to 1, found {number}");
        Error::new(ErrorKind::Argument, message)
    })
}

/// A capture. It can be read any number of times, also side by side; what comes from the program, once.
pub struct bw_capture {
    pub(crate) capture: Arc<host::Capture>,
    pub(crate) host: CallerHost,
    pub(crate) filter: Option<String>,
}

impl bw_capture {
    /// The batch that `to_batch` makes of the one result of a pass.
    pub(crate) fn batch_of(&self, pass: Result<Pass>) -> Result<Batch> {
        let (pass, _in_use) = (pass?, InUse::mark_shared(self));
        let result = pass.next(&self.host);
        if result.is_err() {
            // Who has the error may close the store that was merged into, and open its file again at once. It is the one
            // that counts.
            let _ = pass.close(&self.host);
        }
        result?
            .and_then(Item::into_batch)
            .ok_or_else(|| Error::internal("a pass without its result"))
    }

    /// Does the work of a call that hands a capture to C, which `open` opens; it may add to what the caller's functions do.
    pub(crate) fn hand_out_opened(
        options: Result<(CaptureOptions, CallerHost)>,
        out: Option<&mut MaybeUninit<*mut bw_capture>>,
        error: Option<&mut bw_error>,
        open: impl FnOnce(CaptureOptions, &mut CallerHost) -> Result<host::Capture>,
    ) -> bw_status {
        panics::catch_all();
        guard(error, || {
            let out = given(out, "a place for the capture")?;
            let (options, mut host) = options?;
            let filter = options.filter.clone();
            let capture = Arc::new(open(options, &mut host)?);
            out.write(handle(bw_capture { capture, host, filter }));
            Ok(bw_status::Ok)
        })
    }

    /// Does the work of a call that hands one batch about a capture to C, and may run functions of the program.
    ///
    /// # Safety
    /// `out` is null or a place, and `error` is null or an error.
    pub(crate) unsafe fn hand_out_batch(
        capture: Option<&bw_capture>,
        out: *mut *mut bw_batch,
        error: *mut bw_error,
        work: impl FnOnce(&bw_capture) -> Result<Batch>,
    ) -> bw_status {
        // SAFETY: the caller's promise about `out`.
        let out = unsafe { Place::at(out, "a place for the batch") };
        let work = || {
            let out = out?;
            out.write(bw_batch::handle_of_result(work(held(capture, "a capture")?)?));
            Ok(bw_status::Ok)
        };
        // SAFETY: the caller's promise about `error`.
        unsafe { guard_raw(error, work) }
    }
}

/// Opens the capture in the file at `path`: pcap or pcapng, plain, gzip or zstd. `options` may be null for
/// `BW_CAPTURE_OPTIONS_INIT`. Close it with `bw_capture_close`.
///
/// # Safety
/// `path` is text, and `options` is initialized and has texts; its `interrupted` keeps the rules of `bw_interrupted` until the
/// capture is closed and what reads it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_open(
    path: *const c_char,
    options: *const bw_capture_options,
    out: Option<&mut MaybeUninit<*mut bw_capture>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `path` and `options`.
    let (path, options) = unsafe { (text::path(path), bw_capture_options::of_core(options)) };
    bw_capture::hand_out_opened(options, out, error, |options, _| {
        host::Capture::open(path?, options)
    })
}

/// Opens a capture whose bytes `read` brings, which is given `context`; `name` is what errors call it. It can be read once.
/// `options` may be null. Close it with `bw_capture_close`.
///
/// # Safety
/// `name` is text, and `options` are as for `bw_capture_open`; `read` keeps the rules of `bw_read` until the capture is closed
/// and what reads it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_open_input(
    name: *const c_char,
    read: bw_read,
    context: *mut c_void,
    options: *const bw_capture_options,
    out: Option<&mut MaybeUninit<*mut bw_capture>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `name` and `options`.
    let (name, options) = unsafe { (text(name, "a name"), bw_capture_options::of_core(options)) };
    bw_capture::hand_out_opened(options, out, error, |options, host| {
        let read = given(read, "a function that reads")?;
        host.input = Some(Input { read, context: Context(context) });
        host::Capture::of_host(name?.to_owned(), options)
    })
}

/// Closes a capture and frees its handle, whatever it returns. Calls that still read it return `BW_STATUS_CLOSED` from then on.
/// Null is allowed.
///
/// # Safety
/// `capture` is a handle, which is not used again; `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_close(
    capture: *mut bw_capture,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        in_use::check(capture, "a capture")?;
        // SAFETY: the caller's promise about `capture`.
        let Some(closing) = (unsafe { capture.as_ref() }) else { return Ok(bw_status::Ok) };
        let in_use = InUse::mark_shared(capture);
        let closed = closing.capture.close(&closing.host);
        drop(in_use);
        // SAFETY: the same. Functions of the program that ran could not close it, as it was in use.
        drop(unsafe { Box::from_raw(capture) });
        closed.map(|()| bw_status::Ok)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// Fills `error` with the damage that the latest call or rows over a capture have kept what is before, as `BW_DAMAGE_KEEP`
/// asks, and returns its status; `BW_STATUS_NONE` where there was none, so far.
#[unsafe(no_mangle)]
pub extern "C" fn bw_capture_damage(
    capture: Option<&bw_capture>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let damage = held(capture, "a capture")?.capture.damage();
        damage.map_or(Ok(bw_status::None), Err)
    })
}

/// Fills `error` with the reason why the index of the capture was not used, or could not be made beside another answer, and returns
/// its status; `BW_STATUS_NONE` where there was no index, or it was used.
#[unsafe(no_mangle)]
pub extern "C" fn bw_capture_index_fault(
    capture: Option<&bw_capture>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let fault = held(capture, "a capture")?.capture.index_fault();
        fault.map_or(Ok(bw_status::None), Err)
    })
}

/// Reads all of a capture and says what it is: a batch of one row, with the columns `file`, `format`, `packets`, `bytes`,
/// `first_ts`, `interfaces`, `damage` and others that its schema names. Damage is in the row and no error of the call. Free
/// the batch with `bw_batch_free`.
///
/// # Safety
/// `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_info(
    capture: Option<&bw_capture>,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    let work = |capture: &bw_capture| capture.batch_of(capture.capture.ask(Question::Info));
    // SAFETY: the caller's promises about `out` and `error`.
    unsafe { bw_capture::hand_out_batch(capture, out, error, work) }
}

/// Counts packets by the value of a field: a batch with a row for each value, in their order. The first column is the field,
/// null for packets without it; the second one, `packets`, is how many (`BW_TYPE_U64`). `named` has options by name, as
/// "name=value": those of counts in docs/options.md; it may be null. Free the batch with `bw_batch_free`.
///
/// # Safety
/// `field` is text, `named` is null or has texts, `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_count_by(
    capture: Option<&bw_capture>,
    field: *const c_char,
    named: *const bw_names,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    let work = |capture: &bw_capture| {
        // SAFETY: the caller's promise about `field`.
        let place = Field::SCHEMA.place_of(unsafe { text(field, "a field") }?)?;
        let mut options = CountOptions::default();
        // SAFETY: the caller's promise about `named`, which is not used while functions of the program run.
        unsafe { named::fill(&mut options, &[CountOptions::OPTIONS], named.as_ref()) }?;
        let question = Question::Counts(Field::ALL[place], options);
        capture.batch_of(capture.capture.ask(question))
    };
    // SAFETY: the caller's promises about `out` and `error`.
    unsafe { bw_capture::hand_out_batch(capture, out, error, work) }
}
