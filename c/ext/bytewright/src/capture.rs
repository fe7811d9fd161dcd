//! Captures: opened from files or from what the program reads, counted and described.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::num::NonZero;
use std::sync::Arc;

use bytewright::ask::{CountOptions, Question};
use bytewright::batch::Batch;
use bytewright::flow::FlowOptions;
use bytewright::host::{self, FlowTableFile, Item, Pass};
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
use crate::under_way::{Begun, CallEnd, TellingHost, UnderWay};

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

/// Words of a question, as [`Call`] has them.
pub(crate) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
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
///
/// `bw_capture_info`, `bw_capture_count_by`, `bw_capture_sum` and `bw_capture_merge_flows` read all of it. One that was
/// interrupted, or whose `bw_read` failed, goes on when it is made again with equal arguments. Another call that reads the
/// capture gives it up, and begins as it would without it: of what comes from the program, with `BW_STATUS_CLOSED`.
pub struct bw_capture {
    pub(crate) capture: Arc<host::Capture>,
    pub(crate) host: CallerHost,
    pub(crate) filter: Option<String>,
    /// The call for a batch that a function of the program ended.
    pub(crate) under_way: Arc<UnderWay<Call>>,
}

/// A call that returns one batch about a capture, with all that its answer depends on.
pub(crate) enum Call {
    /// A question by its name, with the words that say what is asked.
    Question(&'static str, Vec<Vec<String>>),
    /// A merge of the flows into a store.
    Merge(Arc<FlowTableFile>, FlowOptions),
}

impl Call {
    fn is_same_as(&self, other: &Call) -> bool {
        match (self, other) {
            (Call::Question(name, words), Call::Question(other, others)) => {
                name == other && words == others
            }
            (Call::Merge(store, limits), Call::Merge(other, others)) => {
                Arc::ptr_eq(store, other) && limits == others
            }
            _ => false,
        }
    }

    /// Returns true if it can be made again.
    fn is_possible(&self) -> bool {
        match self {
            Call::Question(..) => true,
            Call::Merge(store, _) => !store.is_closed(),
        }
    }
}

impl bw_capture {
    /// The batch of the one result of a pass: of that which a function of the program ended the same call of, or of one that
    /// `begin` begins.
    pub(crate) fn batch_of(
        &self,
        call: Call,
        begin: impl FnOnce(&host::Capture) -> Result<Pass>,
    ) -> Result<Batch> {
        let begun = match self.under_way.take() {
            Some(begun) if begun.is_here() && begun.call.is_same_as(&call) => begun,
            other => {
                other.into_iter().for_each(Begun::give_up);
                Begun::new(call, begin(&self.capture)?)
            }
        };
        let _in_use = InUse::mark_shared(self);
        match begun.pass.next(&TellingHost(&self.host)) {
            Ok(item) => item
                .and_then(Item::into_batch)
                .ok_or_else(|| Error::internal("a pass without its result")),
            Err(CallEnd::OfProgram(error)) if begun.call.is_possible() => {
                self.under_way.keep(begun);
                Err(error)
            }
            Err(CallEnd::OfProgram(error) | CallEnd::OfPass(error)) => {
                // Who has the error may close the store that was merged into, and open its file again at once. It is the
                // one that counts.
                let _ = begun.pass.close(&self.host);
                Err(error)
            }
        }
    }

    /// Ends a call that a function of the program ended, because something else reads the capture from now on: both would take
    /// from one pipe.
    pub(crate) fn give_up_under_way(&self) {
        self.under_way.give_up_if(|_| true);
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
            let under_way = Arc::default();
            out.write(handle(bw_capture { capture, host, filter, under_way }));
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
    let work = |capture: &bw_capture| {
        let call = Call::Question("info", Vec::new());
        capture.batch_of(call, |capture| capture.ask(Question::Info))
    };
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
        let field = unsafe { text(field, "a field") }?;
        let place = Field::SCHEMA.place_of(field)?;
        let mut options = CountOptions::default();
        // SAFETY: the caller's promise about `named`, which is not used while functions of the program run.
        let named = unsafe {
            named::fill(&mut options, &[CountOptions::OPTIONS], named.as_ref())?;
            bw_names::texts(named.as_ref())?
        };
        let call = Call::Question("counts", vec![vec![field.to_owned()], owned(&named)]);
        let question = Question::Counts(Field::ALL[place], options);
        capture.batch_of(call, |capture| capture.ask(question))
    };
    // SAFETY: the caller's promises about `out` and `error`.
    unsafe { bw_capture::hand_out_batch(capture, out, error, work) }
}
