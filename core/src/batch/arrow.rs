//! Arrow's C data interface and C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>,
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>): batches for other libraries in the same process,
//! without copying.
//!
//! Each struct owns what it points to, through `private_data`, and `release` frees it. Whoever takes one over copies
//! the struct and clears `release` in the old place, which then owns nothing; so dropping a struct that was taken
//! over does nothing. Children are structs of their own and can be taken over one by one.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use super::export::{Export, ExportOptions};
use super::{Batch, Buffers, Column, DataType, Field, Schema};
use crate::{Error, ErrorKind, Result, panics};

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// What buffers without bytes point to: memory that is aligned, and nobody's.
static NOTHING: [u64; 8] = [0; 8];

/// Errors of the system (errno(3)) that stream functions answer.
const EIO: c_int = 5;
const EINVAL: c_int = 22;

/// The names, types and meanings of columns: `struct ArrowSchema`.
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

/// What an [`ArrowSchema`] owns.
struct SchemaParts {
    /// The names that it points to.
    format: CString,
    name: CString,
    metadata: Vec<u8>,
    children: Vec<*mut ArrowSchema>,
}

/// What an [`ArrowArray`] owns.
struct ArrayParts {
    /// The memory that `pointers` lead to.
    _buffers: Buffers,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// What an [`ArrowArrayStream`] owns.
struct StreamParts {
    export: Export,
    metadata: Vec<(String, String)>,
    next: Box<dyn FnMut() -> Result<Option<Batch>> + Send>,
    /// The error that ended it, which every call answers from then on.
    failure: Option<(c_int, CString)>,
}

impl ArrowSchema {
    /// What the columns of batches of `schema` are when they leave with `options`; `metadata` is about all of them.
    pub fn new(schema: &Schema, options: ExportOptions, metadata: &[(String, String)]) -> Self {
        ArrowSchema::of(Export::new(schema, options).schema(), metadata)
    }

    fn of(schema: &Schema, metadata: &[(String, String)]) -> Self {
        let children = schema.fields().iter().map(ArrowSchema::field).collect();
        ArrowSchema::build("+s", "", 0, metadata, children)
    }

    fn field(field: &Field) -> Self {
        let flags = if field.is_nullable() { NULLABLE } else { 0 };
        let mut metadata = Vec::new();
        if !field.meaning().is_empty() {
            metadata.push(("meaning".to_owned(), field.meaning().to_owned()));
        }
        if field.data_type() == DataType::Uuid {
            metadata.push(("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned()));
            metadata.push(("ARROW:extension:metadata".to_owned(), String::new()));
        }
        ArrowSchema::build(format_of(field.data_type()), field.name(), flags, &metadata, Vec::new())
    }

    fn build(
        format: &str,
        name: &str,
        flags: i64,
        metadata: &[(String, String)],
        children: Vec<ArrowSchema>,
    ) -> Self {
        let (format, name) = (c_text(format), c_text(name));
        let metadata = packed(metadata);
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut parts = Box::new(SchemaParts { format, name, metadata, children });
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
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

impl ArrowArray {
    /// The rows of a batch that leave with `options`. Columns that need no conversion are moved.
    ///
    /// # Errors
    /// `Format` where text is not UTF-8, `Limit` where a number does not fit.
    pub fn new(batch: Batch, options: ExportOptions) -> Result<Self> {
        let export = Export::new(batch.schema(), options);
        Ok(ArrowArray::of(export.convert(batch)?))
    }

    fn of(batch: Batch) -> Self {
        let row_count = batch.len();
        let children = batch.into_columns().into_iter().map(ArrowArray::column).collect();
        ArrowArray::build(row_count, 0, Buffers::default(), vec![ptr::null()], children)
    }

    fn column(column: Column) -> Self {
        let (row_count, null_count) = (column.len(), column.null_count());
        let is_variable = column.data_type().is_variable();
        let buffers = column.into_buffers();
        let validity = if null_count == 0 { ptr::null() } else { start_of(&buffers.validity) };
        let mut pointers = vec![validity];
        if is_variable {
            pointers.push(start_of(&buffers.offsets));
        }
        pointers.push(start_of(&buffers.values));
        ArrowArray::build(row_count, null_count, buffers, pointers, Vec::new())
    }

    fn build(
        row_count: usize,
        null_count: usize,
        buffers: Buffers,
        pointers: Vec<*const c_void>,
        children: Vec<ArrowArray>,
    ) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut parts = Box::new(ArrayParts { _buffers: buffers, pointers, children });
        ArrowArray {
            length: row_count as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: parts.pointers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.pointers.as_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
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
    /// A stream of the batches of `schema` that `next` gives until it has none, or fails. They leave with `options`;
    /// `metadata` is about all of them. An error reaches the program that reads as a number of the system and the
    /// error's text, and comes again however often it asks.
    pub fn new(
        schema: &Schema,
        options: ExportOptions,
        metadata: Vec<(String, String)>,
        next: impl FnMut() -> Result<Option<Batch>> + Send + 'static,
    ) -> Self {
        let export = Export::new(schema, options);
        let parts = StreamParts { export, metadata, next: Box::new(next), failure: None };
        ArrowArrayStream {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(parts)).cast(),
        }
    }
}

impl StreamParts {
    fn next(&mut self) -> std::result::Result<ArrowArray, c_int> {
        if let Some((number, _)) = &self.failure {
            return Err(*number);
        }
        let StreamParts { next, export, .. } = self;
        let convert = |batch: Option<Batch>| match batch {
            Some(batch) => export.convert(batch).map(ArrowArray::of),
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

/// How Arrow writes a type.
fn format_of(data_type: DataType) -> &'static str {
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

/// Where values begin.
fn start_of<T>(values: &[T]) -> *const c_void {
    if values.is_empty() { NOTHING.as_ptr().cast() } else { values.as_ptr().cast() }
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
    for child in parts.children {
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
    for child in parts.children {
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
    // What is freed is the caller's; a panic of it must not go through the functions of another language.
    drop(panics::catch(|| drop(parts)));
}

/// # Safety
/// `stream` is one of this module, not released, and not in use by another thread; `out` is memory for a schema.
unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: a stream that was not released has the box that `new` made, and nobody else uses it meanwhile.
    let parts = unsafe { &*(*stream).private_data.cast::<StreamParts>() };
    let schema = ArrowSchema::of(parts.export.schema(), &parts.metadata);
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
