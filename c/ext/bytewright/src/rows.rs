//! Rows of captures: packets, flows and Thrift calls, in batches or as a stream of Arrow's.

use std::cell::RefCell;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytewright::ask::{
    CallOptions, FlowQuestion, PacketOptions, Question, QuestionSpec, ToldFlows,
};
use bytewright::batch::arrow::ArrowArrayStream;
use bytewright::batch::{Batch, ExportOptions, RowOrigin, Schema};
use bytewright::export::OutputOptions;
use bytewright::flow::{FlowField, FlowOptions};
use bytewright::host::{CaptureSource, FlowTableFile, Item, RowStep, Rows};
use bytewright::options::{NamedOptions, OptionSpec, Settings};
use bytewright::packet::Field;
use bytewright::rpc::{CallColumn, CallField};
use bytewright::{Error, ErrorKind, Result};

use crate::batch::bw_batch;
use crate::buffer::{Place, free, given, handle, held, take_back};
use crate::capture::bw_capture;
use crate::error::{bw_error, bw_status, guard};
use crate::host::CallerHost;
use crate::idl::bw_idl;
use crate::in_use::{self, RunsProgram};
use crate::named;
use crate::schema::{bw_schema, fields_named};
use crate::sized_struct::{self, sized_struct};
use crate::text::{bw_names, text};

/// Rows in a batch by default.
pub(crate) const ROWS_DEFAULT: usize = 65_536;

/// Rows that come in batches of columns. Damage ends them: the rows before it come first. They are prepared on a thread of
/// their own, a few batches ahead. One thread at a time may use it.
pub struct bw_rows {
    next: RefCell<NextBatch>,
    schema: Arc<bw_schema>,
    origin: RowOrigin,
}

/// Source of the batches of rows, with nothing after the last.
pub(crate) type NextBatch = Box<dyn FnMut() -> Result<Option<Batch>> + Send>;

/// The way through some captures.
pub(crate) struct Reading {
    pub(crate) rows: Rows,
    /// Of each capture.
    hosts: Vec<CallerHost>,
}

impl Reading {
    /// Returns the next item; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Item>> {
        loop {
            let host = self.hosts.get(self.rows.place()).copied().unwrap_or_default();
            match self.rows.step(&host)? {
                RowStep::Item(item) => return Ok(Some(item)),
                RowStep::NextCapture => {}
                RowStep::End => return Ok(None),
            }
        }
    }

    /// Hands the rows to C.
    pub(crate) fn into_handle(mut self, origin: RowOrigin) -> *mut bw_rows {
        let schema = self.rows.schema().clone();
        let next = move || {
            while let Some(item) = self.next()? {
                if let Some(batch) = self.rows.batch(item) {
                    return Ok(Some(batch));
                }
            }
            Ok(None)
        };
        bw_rows::handle_of(schema, origin, Box::new(next))
    }
}

impl bw_rows {
    /// Hands rows of `schema` to C, which are made of `origin`.
    pub(crate) fn handle_of(schema: Schema, origin: RowOrigin, next: NextBatch) -> *mut bw_rows {
        let next = RefCell::new(next);
        handle(bw_rows { next, schema: Arc::new(bw_schema::new(schema)), origin })
    }
}

impl RunsProgram for bw_rows {}

/// When flows end. Initialize it with `BW_FLOW_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_flow_options {
    /// Bytes of the struct, which `BW_FLOW_OPTIONS_INIT` sets.
    pub size: usize,
    /// A flow without a packet for more than so many seconds has ended; below 0 for never.
    pub idle_timeout: f64,
    /// A flow that began more than so many seconds before a packet has ended; below 0 for never.
    pub active_timeout: f64,
    /// Open flows at one time, at most 16 million; 0 for a million. One more makes a flow end.
    pub max_flows: u64,
    /// Options by name, as "name=value": those of flows in docs/options.md. They count over the fields above.
    pub named: bw_names,
}

sized_struct!(bw_flow_options { idle_timeout, active_timeout, max_flows, named } + {});

impl bw_flow_options {
    /// # Safety
    /// `options` is initialized and has texts.
    pub(crate) unsafe fn of_core(options: *const bw_flow_options) -> Result<FlowQuestion> {
        // SAFETY: the caller's promise.
        unsafe {
            let options = sized_struct::copied(options)?;
            Self::by_tables(options.as_ref(), &[FlowOptions::OPTIONS, ToldFlows::OPTIONS])
        }
    }

    /// Options of flows that are written to a file, which may have those of an output among the named ones.
    ///
    /// # Safety
    /// `options` is initialized and has texts.
    pub(crate) unsafe fn of_log(
        options: *const bw_flow_options,
    ) -> Result<(FlowQuestion, OutputOptions)> {
        let tables = &[FlowOptions::OPTIONS, ToldFlows::OPTIONS, OutputOptions::OPTIONS];
        let mut output = OutputOptions::default();
        // SAFETY: the caller's promise.
        unsafe {
            let options = sized_struct::copied(options)?;
            let question = Self::by_tables(options.as_ref(), tables)?;
            named::fill(&mut output, tables, options.as_ref().map(|options| &options.named))?;
            Ok((question, output))
        }
    }

    /// # Safety
    /// `options` has texts.
    unsafe fn by_tables(
        options: Option<&bw_flow_options>,
        tables: &'static [&'static [OptionSpec]],
    ) -> Result<FlowQuestion> {
        let Some(options) = options else { return Ok(FlowQuestion::default()) };
        let mut found = FlowOptions {
            idle_timeout: nanoseconds(options.idle_timeout)?,
            active_timeout: nanoseconds(options.active_timeout)?,
            ..FlowOptions::default()
        };
        if options.max_flows > 0 {
            found.max_flows = usize::try_from(options.max_flows).unwrap_or(usize::MAX);
        }
        let mut told = ToldFlows::default();
        // SAFETY: the caller's promise.
        unsafe {
            named::fill(&mut found, tables, Some(&options.named))?;
            named::fill(&mut told, tables, Some(&options.named))?;
        }
        Ok(FlowQuestion { limits: found, told })
    }
}

/// Nanoseconds, at most as many as the core counts; none for never.
fn nanoseconds(seconds: f64) -> Result<Option<i64>> {
    if seconds.is_nan() {
        return Err(Error::new(ErrorKind::Argument, "expected a timeout in seconds, found NaN"));
    }
    Ok((seconds >= 0.0).then_some((seconds * 1e9) as i64))
}

/// The way through captures, to answer `question`, and what they are.
///
/// # Safety
/// `captures` points to `count` handles.
pub(crate) unsafe fn begin(
    captures: *const *mut bw_capture,
    count: usize,
    question: Question,
) -> Result<(Reading, RowOrigin)> {
    if captures.is_null() || count == 0 {
        return Err(Error::new(ErrorKind::Argument, "expected a capture, found none"));
    }
    let (mut sources, mut hosts, mut origin) = (Vec::new(), Vec::new(), RowOrigin::default());
    for place in 0..count {
        // SAFETY: the caller's promise; no call changes a capture.
        let capture = held(unsafe { (*captures.add(place)).as_ref() }, "a capture")?;
        capture.give_up_under_way();
        origin.sources.push(capture.capture.name().to_owned());
        origin.filter = origin.filter.or_else(|| capture.filter.clone());
        sources.push(CaptureSource::Open(Arc::clone(&capture.capture)));
        hosts.push(capture.host);
    }
    Ok((Reading { rows: Rows::new(sources, question), hosts }, origin))
}

impl Reading {
    /// The way through a store.
    pub(crate) fn of_store(store: &Arc<FlowTableFile>, question: Question) -> Reading {
        let sources = vec![CaptureSource::Stored(Arc::clone(store))];
        Reading { rows: Rows::new(sources, question), hosts: Vec::new() }
    }
}

/// Hands the answer to `question` to C.
///
/// # Safety
/// As [`begin`].
unsafe fn answer(
    captures: *const *mut bw_capture,
    count: usize,
    question: Question,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
) -> Result<bw_status> {
    let out = given(out, "a place for the rows")?;
    // SAFETY: the caller's promise.
    let (reading, origin) = unsafe { begin(captures, count, question) }?;
    out.write(reading.into_handle(origin));
    Ok(bw_status::Ok)
}

/// Begins to read packets of `count` captures, each behind the one before: of each packet the fields of those names, in
/// that order, or the fields that the command prints where `fields` is null or empty. A batch has at most `rows` rows; 0
/// for 65,536. `named` has options by name, as "name=value": those of packets in docs/options.md, which count over `rows`; it may
/// be null. Free it with `bw_rows_free`.
///
/// # Safety
/// `captures` points to `count` handles, and `fields` and `named` have texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_packets(
    captures: *const *mut bw_capture,
    count: usize,
    fields: Option<&bw_names>,
    rows: usize,
    named: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `fields`.
    let fields = unsafe { bw_names::texts(fields) };
    guard(error, || {
        let names = fields?;
        let fields = fields_named(&Field::SCHEMA, Field::ALL, &names, Field::DEFAULT)?;
        let mut options = PacketOptions::default();
        if rows > 0 {
            options.rows = rows;
        }
        // SAFETY: the caller's promise about `named`.
        unsafe { named::fill(&mut options, &[PacketOptions::OPTIONS], named) }?;
        // SAFETY: the caller's promise about `captures`.
        unsafe { answer(captures, count, Question::Packets(fields, options), out) }
    })
}

/// Begins to read the flows of `count` captures, which are read as one run: of each flow the fields of those names, or all
/// where `fields` is null or empty. `options` may be null. Free it with `bw_rows_free`.
///
/// # Safety
/// `captures` points to `count` handles, `options` is initialized, and `fields` and it have texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_flows(
    captures: *const *mut bw_capture,
    count: usize,
    fields: Option<&bw_names>,
    options: *const bw_flow_options,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `fields`.
    let fields = unsafe { bw_names::texts(fields) };
    guard(error, || {
        let names = fields?;
        // SAFETY: the caller's promise about `options`.
        let options = unsafe { bw_flow_options::of_core(options) }?;
        let default = options.default_fields();
        let fields = fields_named(&FlowField::SCHEMA, FlowField::ALL, &names, &default)?;
        // SAFETY: the caller's promise about `captures`.
        unsafe { answer(captures, count, Question::Flows(fields, options), out) }
    })
}

/// Begins to read the Thrift calls in the TCP connections of `count` captures, each behind the one before: of each call the
/// fields of those names, or all where `fields` is null or empty. With `idl`, only calls of its service's methods, which have two
/// fields more: `arguments` and `result`, as JSON with fields by name; null where they are not in the capture as a whole, or no
/// such struct by the IDL. `idl` may be null. `named` has options by name, as "name=value": those of calls in docs/options.md, which
/// count over `idl`; it may be null. Free it with `bw_rows_free`.
///
/// # Safety
/// `captures` points to `count` handles, `idl` is initialized, and `fields`, `idl` and `named` have texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_calls(
    captures: *const *mut bw_capture,
    count: usize,
    fields: Option<&bw_names>,
    idl: *const bw_idl,
    named: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `fields`.
    let fields = unsafe { bw_names::texts(fields) };
    guard(error, || {
        let names = fields?;
        // SAFETY: the caller's promise about `idl`.
        let mut options = unsafe { bw_idl::call_options(idl) }?;
        // SAFETY: the caller's promise about `named`.
        unsafe { named::fill(&mut options, &[CallOptions::OPTIONS], named) }?;
        let calls = options.load()?;
        let question = if calls.methods.is_some() {
            let (schema, all) = (CallColumn::schema(), CallColumn::all());
            Question::CallsCarrying(fields_named(&schema, &all, &names, &all)?, calls)
        } else {
            let (schema, all) = (CallField::SCHEMA, CallField::ALL);
            Question::Calls(fields_named(&schema, all, &names, all)?, calls)
        };
        // SAFETY: the caller's promise about `captures`.
        unsafe { answer(captures, count, question, out) }
    })
}

/// Asks `count` captures, which are read as one run, the question of that name: one of those in docs/questions.md, which has
/// the columns of each. `named` has its options by name, as "name=value": those in docs/options.md; it may be null. Free it
/// with `bw_rows_free`.
///
/// # Safety
/// `captures` points to `count` handles, `question` is text, and `named` has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_ask(
    captures: *const *mut bw_capture,
    count: usize,
    question: *const c_char,
    named: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `question` and `named`.
    let (name, named) = unsafe { (text(question, "a question"), bw_names::texts(named)) };
    guard(error, || {
        let question = QuestionSpec::named(name?)?;
        let mut settings = Settings::of(question.own_tables());
        settings.give_named(&named?)?;
        // SAFETY: the caller's promise about `captures`.
        unsafe { answer(captures, count, question.question(&settings)?, out) }
    })
}

/// The columns of the rows, for as long as the rows; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_rows_schema(rows: Option<&bw_rows>) -> Option<&bw_schema> {
    rows.map(|rows| &*rows.schema)
}

/// The next batch; `BW_STATUS_NONE` after the last. Free each with `bw_batch_free`. An error comes after all rows before it,
/// and again however often the call is made; after an interrupt the call goes on.
///
/// # Safety
/// `rows` is a handle, `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_rows_next(
    rows: *mut bw_rows,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `out`.
    let out = unsafe { Place::at(out, "a place for the batch") };
    let work = |rows: &bw_rows| {
        let out = out?;
        let Some(batch) = (rows.next.borrow_mut())()? else { return Ok(bw_status::None) };
        out.write(bw_batch::handle_of(batch, &rows.schema));
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `rows` and `error`.
    unsafe { in_use::call(rows, "rows", error, work) }
}

/// Makes a stream of Arrow's C stream interface of the rows that were not read yet, and takes the rows over, also where it
/// fails: they are not used again, nor freed. IP addresses are text. An error reaches the reader as a number of the system
/// and a text, and ends the stream, as an interrupt does. It is released by its `release`.
///
/// # Safety
/// `rows` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_rows_stream(
    rows: *mut bw_rows,
    stream: Option<&mut MaybeUninit<ArrowArrayStream>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `rows`.
    let rows = unsafe { take_back(rows, "rows") };
    guard(error, || {
        let rows = given(rows?, "rows")?;
        let stream = given(stream, "a place for the stream")?;
        let metadata = rows.origin.metadata(rows.schema.core());
        let (options, next) = (ExportOptions::default(), rows.next.into_inner());
        stream.write(ArrowArrayStream::new(rows.schema.core(), options, metadata, next));
        Ok(bw_status::Ok)
    })
}

/// Frees rows, and ends what prepares them. Null is allowed.
///
/// # Safety
/// `rows` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_rows_free(rows: *mut bw_rows) {
    // SAFETY: the caller's promise; what they drop is memory, and a thread that is told to end.
    unsafe { free(rows) };
}
