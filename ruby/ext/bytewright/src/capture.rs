//! `Bytewright::Capture`: where a capture comes from and how it is read. Each pass over it is a
//! [`Reading`] of its own.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

use bytewright::packet::{Columns, Field};
use bytewright::scan::{self, Background, CaptureOptions, CaptureReader, FrameBatch, Outlet};
use bytewright::stream::{ByteStream, Cancel, InflateChoice};
use magnus::{Error, RArray, RString, Ruby, Symbol, Value, prelude::*, value::Opaque};

use crate::border::{lock, path_of};
use crate::call;
use crate::error::{closed, guarded, raised, to_ruby};
use crate::fields::{field_named, fields_named};
use crate::flow::{OpenFlows, StoreObject};
use crate::memory_report::{MemoryReport, REPORTED};
use crate::reading::{Item, Passes, Reading};

/// Batches of frames, of some 300 KB each, that the reading thread may be ahead of Ruby.
const FRAMES_AHEAD: usize = 8;

/// A capture file, or an object to read one from.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Capture", free_immediately, mark, size)]
pub(crate) struct Capture {
    name: String,
    origin: Origin,
    options: CaptureOptions,
    /// The reader that opening made, for the first pass.
    opened: RefCell<Option<CaptureReader>>,
    /// The process that opened it: a forked child shares the file's offset and must open its own.
    process: u32,
    passes: Passes,
    is_closed: Cell<bool>,
    /// Of the reader that opening made.
    memory: MemoryReport,
}

enum Origin {
    Path(PathBuf),
    /// Anything with `readpartial` or `read`; it can be read once.
    Object {
        object: Opaque<Value>,
        is_used: Cell<bool>,
    },
}

impl magnus::DataTypeFunctions for Capture {
    fn mark(&self, marker: &magnus::gc::Marker) {
        if let Origin::Object { object, .. } = &self.origin {
            marker.mark(*object);
        }
    }
}

impl Capture {
    /// `Capture.open_path(path, filter, inner, inflate)`.
    pub(crate) fn open_path(
        ruby: &Ruby,
        path: RString,
        filter: Option<String>,
        inner: bool,
        inflate: Symbol,
    ) -> Result<Self, Error> {
        REPORTED.collect(ruby)?;
        let path = path_of(path)?;
        let name = path.display().to_string();
        let cancel = Cancel::new();
        let mut options = options(ruby, filter, inner, inflate)?;
        options.stream.cancel = Some(cancel.clone());
        let opened = lock::to_the_end(ruby, || CaptureReader::open(&path, &options))?;
        Ok(Capture::new(name, Origin::Path(path), options, raised(ruby, opened).map(Some)?))
    }

    /// `Capture.open_object(object, filter, inner, inflate)`.
    pub(crate) fn open_object(
        ruby: &Ruby,
        object: Value,
        filter: Option<String>,
        inner: bool,
        inflate: Symbol,
    ) -> Result<Self, Error> {
        let options = options(ruby, filter, inner, inflate)?;
        if let Some(expression) = &options.filter {
            raised(ruby, scan::Filter::new(expression))?;
        }
        let name = format!("{}", object.class());
        let origin = Origin::Object { object: object.into(), is_used: Cell::new(false) };
        Ok(Capture::new(name, origin, options, None))
    }

    fn new(
        name: String,
        origin: Origin,
        options: CaptureOptions,
        opened: Option<CaptureReader>,
    ) -> Self {
        let memory = opened.as_ref().map_or(0, |reader| reader.stream().memory_bytes());
        Capture {
            name,
            origin,
            options,
            opened: RefCell::new(opened),
            process: std::process::id(),
            passes: Passes::default(),
            is_closed: Cell::new(false),
            memory: MemoryReport::of(memory),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.name.clone()
    }

    pub(crate) fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.is_closed.set(true);
        this.opened.borrow_mut().take();
        this.memory.set(0);
        this.passes.close(ruby)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// A pass that gives packets one by one; `fields` are those of `each_row`.
    pub(crate) fn read_frames(ruby: &Ruby, this: &Self, fields: RArray) -> Result<Reading, Error> {
        let fields = fields_named(ruby, fields)?;
        this.start(ruby, fields, FRAMES_AHEAD, |mut reader, outlet| {
            loop {
                let mut batch = match outlet.spare() {
                    Some(Item::Frames(batch)) => batch,
                    _ => FrameBatch::new(),
                };
                reader.read_frames(&mut batch)?;
                if batch.is_empty() {
                    return Ok(());
                }
                outlet.send(Item::Frames(batch))?;
            }
        })
    }

    /// A pass that gives batches of up to `rows` packets as columns of `fields`.
    pub(crate) fn read_columns(
        ruby: &Ruby,
        this: &Self,
        fields: RArray,
        rows: usize,
    ) -> Result<Reading, Error> {
        let fields = fields_named(ruby, fields)?;
        if rows == 0 {
            return Err(Error::new(ruby.exception_arg_error(), "expected rows above 0, found 0"));
        }
        this.start(ruby, fields.clone(), 1, move |mut reader, outlet| {
            let mut columns = Columns::new(&fields);
            loop {
                reader.read_columns(&mut columns, rows)?;
                if columns.is_empty() {
                    return Ok(());
                }
                outlet.send(Item::Columns(columns.take()))?;
            }
        })
    }

    /// A pass that counts packets by the value of one field.
    pub(crate) fn read_counts(ruby: &Ruby, this: &Self, field: Symbol) -> Result<Reading, Error> {
        let field = field_named(ruby, field)?;
        this.start(ruby, vec![field], 1, move |mut reader, outlet| {
            let (counts, result) = scan::count_by(&mut reader, field);
            result?;
            outlet.send(Item::Counts(counts.into_sorted()))
        })
    }

    /// A pass that says what the capture is.
    pub(crate) fn read_info(ruby: &Ruby, this: &Self) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), 1, |reader, outlet| {
            outlet.send(Item::Info(Box::new(scan::info(reader)?)))
        })
    }

    /// A pass that adds the packets to flows under way and gives those that end.
    pub(crate) fn read_flows(
        ruby: &Ruby,
        this: &Self,
        flows: &OpenFlows,
        is_last: bool,
    ) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), 2, flows.work(is_last))
    }

    /// A pass that merges the flows of the capture into a file.
    pub(crate) fn read_merge(
        ruby: &Ruby,
        this: &Self,
        store: &StoreObject,
        flows: &OpenFlows,
    ) -> Result<Reading, Error> {
        this.start(ruby, Vec::new(), 1, store.work(ruby, flows.options)?)
    }

    /// A pass that finds the Thrift calls, of an IDL file's service where there is one.
    pub(crate) fn read_calls(
        ruby: &Ruby,
        this: &Self,
        idl: Option<RString>,
        service: Option<String>,
        include: RArray,
    ) -> Result<Reading, Error> {
        let methods = call::methods(ruby, idl, service, include)?;
        this.start(ruby, Vec::new(), 2, call::work(methods))
    }

    /// Starts `work` on a thread of its own, over this capture from its beginning.
    fn start(
        &self,
        ruby: &Ruby,
        fields: Vec<Field>,
        queue_max: usize,
        work: impl FnOnce(CaptureReader, &Outlet<Item>) -> bytewright::Result<()> + Send + 'static,
    ) -> Result<Reading, Error> {
        REPORTED.collect(ruby)?;
        guarded(ruby, || {
            if self.is_closed() {
                return Err(closed(ruby, "expected an open capture, found it closed"));
            }
            let opened = self.opened.borrow_mut().take();
            self.memory.set(0);
            let opened = opened.filter(|_| self.process == std::process::id());
            let mut options = self.options.clone();
            let cancel =
                opened.as_ref().map_or_else(Cancel::new, |reader| reader.stream().cancel());
            options.stream.cancel = Some(cancel.clone());
            let (path, object) = match &self.origin {
                Origin::Path(path) => (Some(path.clone()), None),
                Origin::Object { is_used, .. } if is_used.get() => {
                    let message = "expected input that was not read yet, found an IO, which can be read \
                                   once; open the capture again";
                    return Err(closed(ruby, message));
                }
                Origin::Object { object, is_used } => {
                    is_used.set(true);
                    (None, Some(*object))
                }
            };
            let name = self.name.clone();
            let background = Background::start(cancel, queue_max, move |outlet, host| {
                let reader = match (opened, path) {
                    (Some(reader), _) => reader,
                    (None, Some(path)) => CaptureReader::open(&path, &options)?,
                    (None, None) => {
                        let stream = ByteStream::new(Box::new(host), &name, &options.stream)?;
                        CaptureReader::new(stream, &options)?
                    }
                };
                work(reader, outlet)
            });
            let background = Arc::new(background.map_err(|error| to_ruby(ruby, &error))?);
            self.passes.add(&background);
            Ok(Reading::new(ruby, background, object, fields))
        })
    }
}

fn options(
    ruby: &Ruby,
    filter: Option<String>,
    inner: bool,
    inflate: Symbol,
) -> Result<CaptureOptions, Error> {
    let mut options = CaptureOptions { filter, ..CaptureOptions::default() };
    options.decode.inner = inner;
    let inflate = inflate.name()?;
    options.stream.inflate = match inflate.as_ref() {
        "auto" => InflateChoice::Auto,
        "zlib_rs" => InflateChoice::ZlibRs,
        "isal" => InflateChoice::Isal,
        other => {
            let message = format!("expected inflate: :auto, :zlib_rs or :isal, found :{other}");
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
    };
    Ok(options)
}
