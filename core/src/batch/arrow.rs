//! Arrow's C data interface and C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>,
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>): batches for other libraries in the same process,
//! without copying.
//!
//! Each struct owns what it points to, through `private_data`, and `release` frees it. Whoever takes one over copies
//! the struct and clears `release` in the old place, which then owns nothing; so dropping a struct that was taken
//! over does nothing. Children are structs of their own and can be taken over one by one.

#![allow(unsafe_code)]

use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Arc;
use std::{ptr, slice};

use super::export::{Export, ExportOptions};
use super::request::{self, ArrowForm, LaidOut, OutputColumn, RequestedColumn};
use super::{Batch, Column, DataType, Field, Schema};
use crate::{Error, ErrorKind, Result, panics};

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// Target of buffers without bytes: memory that is aligned, and nobody's.
static NOTHING: [u64; 8] = [0; 8];

/// Errors of the system (errno(3)) that stream functions return.
const EIO: c_int = 5;
const EINVAL: c_int = 22;

/// Arrow form of the columns of batches of one schema.
#[derive(Debug, Clone)]
pub struct Layout {
    export: Export,
    /// The columns in the order of the output.
    columns: Vec<OutputColumn>,
}

/// The names, types and meanings of columns: `struct ArrowSchema`. A reference to one leads to one of this module, or of
/// another program that keeps the rules of the interface.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// A column, or a batch as a column of rows: `struct ArrowArray`.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Batches that come one after the other: `struct ArrowArrayStream`.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// Memory owned by an [`ArrowSchema`].
struct SchemaParts {
    /// The names that it points to.
    format: CString,
    name: CString,
    metadata: Vec<u8>,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// The owner of the memory that an array shows: a batch or a column that others may share, or buffers.
type Memory = Arc<dyn Any + Send + Sync>;

/// Memory owned by an [`ArrowArray`].
struct ArrayParts {
    /// The owner of the memory that `pointers` lead to.
    _memory: Memory,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

/// State owned by an [`ArrowArrayStream`].
struct StreamParts {
    layout: Layout,
    metadata: Vec<(String, String)>,
    next: Box<dyn FnMut() -> Result<Option<Batch>> + Send>,
    /// The error that ended it, which every call returns from then on.
    failure: Option<(c_int, CString)>,
}

impl Layout {
    /// Returns the layout of batches of `schema` that leave with `options`.
    pub fn new(schema: &Schema, options: ExportOptions) -> Self {
        let export = Export::new(schema, options);
        let fields = export.schema().fields().iter().enumerate();
        let columns = fields.map(|(place, field)| OutputColumn {
            place,
            form: ArrowForm::Own,
            is_nullable: field.is_nullable(),
        });
        Layout { columns: columns.collect(), export }
    }

    /// Returns the layout for a program that requests the columns in the order and in the types of `requested`, as
    /// Arrow's PyCapsule interface has it. These types are made:
    ///
    /// - of integers, all integers;
    /// - of times and durations, seconds to nanoseconds, and any time zone;
    /// - of text, strings with offsets of 32 and 64 bits and as views, dictionaries of them, and the same of bytes;
    /// - of bytes, the same without strings;
    /// - of addresses, those of text, and 16 bytes.
    ///
    /// A column keeps its own type if the requested one is of the same kind, but none of these. A batch fails with
    /// `Limit` if a value does not fit: nothing is rounded.
    ///
    /// # Errors
    /// `Argument` if `requested` does not have the same columns, or one of them is of another kind.
    pub fn requested(
        schema: &Schema,
        options: ExportOptions,
        requested: &ArrowSchema,
    ) -> Result<Self> {
        let (export, columns) = request::answer(&requested.columns()?, schema, options)?;
        Ok(Layout { export, columns })
    }

    /// The names, types and meanings of the columns; `metadata` is about all of them.
    pub fn schema(&self, metadata: &[(String, String)]) -> ArrowSchema {
        let fields = self.export.schema().fields();
        let columns = self.columns.iter();
        let children = columns.filter_map(|column| {
            let field = fields.get(column.place)?;
            Some(ArrowSchema::field(field, &column.form, column.is_nullable))
        });
        ArrowSchema::build("+s", "", 0, metadata, children.collect(), None)
    }

    /// The rows of a batch. Columns that need no conversion are moved.
    ///
    /// # Errors
    /// `Format` where text is not UTF-8, `Limit` where a value does not fit.
    pub fn array(&self, batch: Batch) -> Result<ArrowArray> {
        let batch = self.export.convert(batch)?;
        let row_count = batch.len();
        let columns = batch.into_columns().into_iter().map(Cow::Owned).collect();
        self.rows(row_count, columns, &no_memory())
    }

    /// The rows of a batch that others have, too. Columns that need no conversion are shared with them, also after they let
    /// the batch go.
    ///
    /// # Errors
    /// As [`Layout::array`].
    pub fn shared_array(&self, batch: &Arc<Batch>) -> Result<ArrowArray> {
        let memory: Memory = Arc::<Batch>::clone(batch);
        self.rows(batch.len(), self.export.convert_shared(batch)?, &memory)
    }

    /// The rows of converted columns; `memory` owns those that are borrowed.
    fn rows(
        &self,
        row_count: usize,
        columns: Vec<Cow<'_, Column>>,
        memory: &Memory,
    ) -> Result<ArrowArray> {
        let mut columns: Vec<Option<Cow<'_, Column>>> = columns.into_iter().map(Some).collect();
        let mut children = Vec::with_capacity(columns.len());
        for (output, field) in self.columns.iter().filter_map(|output| {
            self.export.schema().fields().get(output.place).map(|field| (output, field))
        }) {
            match (columns.get_mut(output.place).and_then(Option::take), &output.form) {
                (Some(Cow::Borrowed(column)), ArrowForm::Own) => {
                    children.push(ArrowArray::view(column, memory));
                }
                (Some(column), form) => {
                    let laid_out = form.laid_out(column.into_owned(), field.name())?;
                    children.push(ArrowArray::column(laid_out));
                }
                (None, _) => {}
            }
        }
        Ok(ArrowArray::build((row_count, 0), no_memory(), vec![ptr::null()], children, None))
    }

    /// A stream of the batches that `next` gives until it has none, or fails; `metadata` is about all of them. An error
    /// reaches the program that reads as a number of the system and the error's text, and comes again however often it
    /// asks.
    pub fn stream(
        self,
        metadata: Vec<(String, String)>,
        next: impl FnMut() -> Result<Option<Batch>> + Send + 'static,
    ) -> ArrowArrayStream {
        let parts = StreamParts { layout: self, metadata, next: Box::new(next), failure: None };
        ArrowArrayStream {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(parts)).cast(),
        }
    }
}

impl ArrowSchema {
    /// Describes the columns of batches of `schema` that leave with `options`; `metadata` is about all of them.
    pub fn new(schema: &Schema, options: ExportOptions, metadata: &[(String, String)]) -> Self {
        Layout::new(schema, options).schema(metadata)
    }

    fn field(field: &Field, form: &ArrowForm, is_nullable: bool) -> Self {
        let flags = if is_nullable { NULLABLE } else { 0 };
        let mut metadata = Vec::new();
        if !field.meaning().is_empty() {
            metadata.push(("meaning".to_owned(), field.meaning().to_owned()));
        }
        if field.data_type() == DataType::Uuid {
            metadata.push(("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned()));
            metadata.push(("ARROW:extension:metadata".to_owned(), String::new()));
        }
        let dictionary = form
            .dictionary_format()
            .map(|values| ArrowSchema::build(values, "", NULLABLE, &[], Vec::new(), None));
        let children = field.children().iter();
        let children =
            children.map(|child| ArrowSchema::field(child, &ArrowForm::Own, child.is_nullable()));
        let format = form.format(field.data_type());
        ArrowSchema::build(format, field.name(), flags, &metadata, children.collect(), dictionary)
    }

    fn build(
        format: &str,
        name: &str,
        flags: i64,
        metadata: &[(String, String)],
        children: Vec<ArrowSchema>,
        dictionary: Option<ArrowSchema>,
    ) -> Self {
        let (format, name) = (c_text(format), c_text(name));
        let metadata = packed(metadata);
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let dictionary = boxed(dictionary);
        let mut parts = Box::new(SchemaParts { format, name, metadata, children, dictionary });
        ArrowSchema {
            format: parts.format.as_ptr(),
            name: parts.name.as_ptr(),
            metadata: match parts.metadata.is_empty() {
                true => ptr::null(),
                false => parts.metadata.as_ptr().cast(),
            },
            flags,
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    /// The columns that another program's schema consists of.
    fn columns(&self) -> Result<Vec<RequestedColumn>> {
        if self.release.is_none() {
            let message = "expected a requested schema, found one that was released";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let format = text_of(self.format)?;
        if format != "+s" {
            let message = format!("expected a requested schema of columns (+s), found {format}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let children = match usize::try_from(self.n_children) {
            // SAFETY: the schema is alive, and the interface demands as many pointers as it says.
            Ok(count) if count > 0 && !self.children.is_null() => unsafe {
                slice::from_raw_parts(self.children, count)
            },
            _ => &[],
        };
        let child = |child: &*mut ArrowSchema| {
            // SAFETY: as above; each leads to a schema that lives as long as its parent, or to nothing.
            let column = unsafe { child.as_ref() }.ok_or_else(no_text)?;
            // SAFETY: the same.
            let dictionary = unsafe { column.dictionary.as_ref() };
            Ok(RequestedColumn {
                name: if column.name.is_null() { String::new() } else { text_of(column.name)? },
                format: text_of(column.format)?,
                dictionary: dictionary.map(|values| text_of(values.format)).transpose()?,
                is_nullable: column.flags & NULLABLE != 0,
            })
        };
        children.iter().map(child).collect()
    }
}

/// Text of another program's schema.
fn text_of(text: *const c_char) -> Result<String> {
    if text.is_null() {
        return Err(no_text());
    }
    // SAFETY: it is not null, and the interface demands that it ends in a byte 0 and lives as long as the schema.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(str::to_owned).map_err(|_| no_text())
}

#[cold]
fn no_text() -> Error {
    let message = "expected names and types in the requested schema, found none in UTF-8";
    Error::new(ErrorKind::Argument, message)
}

/// The owner of the memory of an array that has none.
fn no_memory() -> Memory {
    Arc::new(())
}

/// A place of its own for a struct; null for none.
fn boxed<T>(value: Option<T>) -> *mut T {
    value.map_or(ptr::null_mut(), |value| Box::into_raw(Box::new(value)))
}

impl ArrowArray {
    /// The rows of a batch that leave with `options`. Columns that need no conversion are moved.
    ///
    /// # Errors
    /// `Format` where text is not UTF-8, `Limit` where a number does not fit.
    pub fn new(batch: Batch, options: ExportOptions) -> Result<Self> {
        Layout::new(batch.schema(), options).array(batch)
    }

    fn column(column: LaidOut) -> Self {
        match column {
            LaidOut::Own(column) => {
                let column = Arc::new(column);
                let memory: Memory = Arc::<Column>::clone(&column);
                ArrowArray::view(&column, &memory)
            }
            LaidOut::Anew { row_count, null_count, validity, buffers, dictionary } => {
                let dictionary = dictionary.map(|values| ArrowArray::column(*values));
                let mut pointers = vec![validity_of(null_count, &validity)];
                pointers.extend(buffers.iter().map(|buffer| start_of(buffer)));
                let counts = (row_count, null_count);
                let memory: Memory = Arc::new((validity, buffers));
                ArrowArray::build(counts, memory, pointers, Vec::new(), dictionary)
            }
        }
    }

    /// The rows of a column, which `memory` owns and nothing changes.
    fn view(column: &Column, memory: &Memory) -> Self {
        let mut pointers = vec![validity_of(column.null_count(), column.validity())];
        match column.data_type() {
            DataType::Struct => {}
            DataType::List | DataType::Map => pointers.push(start_of(column.list_offsets())),
            data_type if data_type.is_variable() => {
                pointers.extend([start_of(column.offsets()), start_of(column.values())]);
            }
            _ => pointers.push(start_of(column.values())),
        }
        let children = column.children().iter();
        let children = children.map(|child| ArrowArray::view(child, memory)).collect();
        let counts = (column.len(), column.null_count());
        ArrowArray::build(counts, Arc::clone(memory), pointers, children, None)
    }

    fn build(
        (row_count, null_count): (usize, usize),
        _memory: Memory,
        pointers: Vec<*const c_void>,
        children: Vec<ArrowArray>,
        dictionary: Option<ArrowArray>,
    ) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let dictionary = boxed(dictionary);
        let mut parts = Box::new(ArrayParts { _memory, pointers, children, dictionary });
        ArrowArray {
            length: row_count as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: parts.pointers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.pointers.as_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    /// An array that was released: what a stream gives at its end.
    fn released() -> Self {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl ArrowArrayStream {
    /// A stream of the batches of `schema`, which leave with `options`: see [`Layout::stream`].
    pub fn new(
        schema: &Schema,
        options: ExportOptions,
        metadata: Vec<(String, String)>,
        next: impl FnMut() -> Result<Option<Batch>> + Send + 'static,
    ) -> Self {
        Layout::new(schema, options).stream(metadata, next)
    }
}

impl StreamParts {
    fn next(&mut self) -> std::result::Result<ArrowArray, c_int> {
        if let Some((number, _)) = &self.failure {
            return Err(*number);
        }
        let StreamParts { next, layout, .. } = self;
        let convert = |batch: Option<Batch>| match batch {
            Some(batch) => layout.array(batch),
            None => Ok(ArrowArray::released()),
        };
        // A panic must not go through the functions of another language.
        let array = panics::catch(|| next().and_then(convert))
            .unwrap_or_else(|panic| Err(Error::internal(panic)));
        array.map_err(|error| {
            let number = number_of(&error);
            self.failure = Some((number, c_text(&error.to_string())));
            number
        })
    }
}

/// Returns the format string of a type in Arrow.
pub(super) fn format_of(data_type: DataType) -> &'static str {
    match data_type {
        DataType::TimeNs => "tsn:UTC",
        DataType::TimeUs => "tsu:UTC",
        DataType::DurationUs => "tDu",
        DataType::Address | DataType::Uuid => "w:16",
        DataType::U8 | DataType::Enumeration(_) => "C",
        DataType::U16 | DataType::TcpFlags => "S",
        DataType::U32 => "I",
        DataType::U64 => "L",
        DataType::I8 => "c",
        DataType::I16 => "s",
        DataType::I32 => "i",
        DataType::I64 => "l",
        DataType::Double => "g",
        DataType::Bool => "b",
        DataType::Text | DataType::Json => "U",
        DataType::Bytes => "Z",
        DataType::List => "+l",
        DataType::Struct => "+s",
        DataType::Map => "+m",
    }
}

/// The number of the system for an error: its own, or whether the input is at fault.
fn number_of(error: &Error) -> c_int {
    match error.kind() {
        ErrorKind::Io(Some(number)) if number != 0 => number,
        ErrorKind::Io(_) | ErrorKind::Internal | ErrorKind::Lock | ErrorKind::Closed => EIO,
        _ => EINVAL,
    }
}

/// Text as C has it, up to a byte 0 if there is one.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(text.get(..end).unwrap_or_default()).unwrap_or_default()
}

/// Keys and values as the interface packs them: how many, and of each text its length before it. Nothing for none.
fn packed(pairs: &[(String, String)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !pairs.is_empty() {
        bytes.extend((pairs.len() as i32).to_ne_bytes());
    }
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as i32).to_ne_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Returns the address of the first value, or of aligned memory if there is none.
fn start_of<T>(values: &[T]) -> *const c_void {
    if values.is_empty() { NOTHING.as_ptr().cast() } else { values.as_ptr().cast() }
}

/// Returns the address of the bits that say which rows have a value; null if all have one.
fn validity_of(null_count: usize, validity: &[u8]) -> *const c_void {
    if null_count == 0 { ptr::null() } else { start_of(validity) }
}

/// Frees what a schema owns, unless others took it over.
///
/// # Safety
/// `schema` is one of this module, not in use by another thread, and not released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller gives a schema that was not released, so its private data is the box that `build` made, and
    // it is taken out of it once: `release` is cleared.
    let parts = unsafe {
        (*schema).release = None;
        Box::from_raw((*schema).private_data.cast::<SchemaParts>())
    };
    let dictionary = (!parts.dictionary.is_null()).then_some(parts.dictionary);
    for child in parts.children.into_iter().chain(dictionary) {
        // SAFETY: the pointers are boxes that `build` made; a child that others took over has no `release`.
        drop(unsafe { Box::from_raw(child) });
    }
}

/// Frees what an array owns, unless others took it over.
///
/// # Safety
/// `array` is one of this module, not in use by another thread, and not released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    let parts = unsafe {
        (*array).release = None;
        Box::from_raw((*array).private_data.cast::<ArrayParts>())
    };
    let dictionary = (!parts.dictionary.is_null()).then_some(parts.dictionary);
    for child in parts.children.into_iter().chain(dictionary) {
        // SAFETY: as in `release_schema`.
        drop(unsafe { Box::from_raw(child) });
    }
}

/// Frees what a stream owns.
///
/// # Safety
/// `stream` is one of this module, not in use by another thread, and not released.
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the caller gives a stream that was not released, so its private data is the box that `new` made, and it
    // is taken out of it once: `release` is cleared.
    let parts = unsafe {
        (*stream).release = None;
        Box::from_raw((*stream).private_data.cast::<StreamParts>())
    };
    // The freed values are the caller's; a panic of theirs must not go through the functions of another language.
    drop(panics::catch(|| drop(parts)));
}

/// # Safety
/// `stream` is one of this module, not released, and not in use by another thread; `out` is memory for a schema.
unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: a stream that was not released has the box that `new` made, and nobody else uses it meanwhile.
    let parts = unsafe { &*(*stream).private_data.cast::<StreamParts>() };
    let schema = parts.layout.schema(&parts.metadata);
    // SAFETY: `out` is memory for a schema; what it had before is not looked at.
    unsafe { out.write(schema) };
    0
}

/// # Safety
/// `stream` is one of this module, not released, and not in use by another thread; `out` is memory for an array.
unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`.
    let parts = unsafe { &mut *(*stream).private_data.cast::<StreamParts>() };
    match parts.next() {
        Ok(array) => {
            // SAFETY: `out` is memory for an array; what it had before is not looked at.
            unsafe { out.write(array) };
            0
        }
        Err(number) => number,
    }
}

/// # Safety
/// `stream` is one of this module, not released, and not in use by another thread.
unsafe extern "C" fn stream_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: as in `stream_schema`.
    let parts = unsafe { &*(*stream).private_data.cast::<StreamParts>() };
    parts.failure.as_ref().map_or(ptr::null(), |(_, text)| text.as_ptr())
}

/// Releases a struct that nobody took over, and lets it go to another thread.
macro_rules! owned {
    ($($struct:ty),*) => {
        $(
            impl Drop for $struct {
                fn drop(&mut self) {
                    if let Some(release) = self.release {
                        // SAFETY: it was not released, and whoever drops it is the only one who has it.
                        unsafe { release(self) }
                    }
                }
            }

            // SAFETY: what it owns is memory that no thread has a part in, and for a stream a function that may go
            // to another thread; the interface demands that it is used by one thread at a time.
            unsafe impl Send for $struct {}
        )*
    };
}

owned! { ArrowSchema, ArrowArray, ArrowArrayStream }
