//! Goal: programs that know nothing but Arrow's C interface read the rows that were put into a batch, and free them.
//!
//! Method: the interface's structs are declared as its specification does and read by its rules alone, each value as
//! text; the same text is made of the values that went in. Run under the address sanitizer (`make test-unsafe`), each
//! test also shows that nothing is freed twice or never, and nothing read behind its end.

#![allow(unsafe_code, reason = "programs in C have no other way")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytewright::batch::arrow::{ArrowArray, ArrowArrayStream, ArrowSchema, Layout};
use bytewright::batch::{
    AddressForm, Batch, DataType, ExportOptions, Field, Schema, TimeUnit, Value,
};
use bytewright::{Error, ErrorKind};

use super::{Model, TYPES, push, schema};
use crate::generate::{Random, seeds};

#[repr(C)]
pub(super) struct CSchema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut CSchema,
    pub(super) dictionary: *mut CSchema,
    pub(super) release: Option<unsafe extern "C" fn(*mut CSchema)>,
    pub(super) private_data: *mut c_void,
}

#[repr(C)]
pub(super) struct CArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    buffers: *mut *const c_void,
    pub(super) children: *mut *mut CArray,
    pub(super) dictionary: *mut CArray,
    pub(super) release: Option<unsafe extern "C" fn(*mut CArray)>,
    pub(super) private_data: *mut c_void,
}

#[repr(C)]
pub(super) struct CStream {
    pub(super) get_schema: unsafe extern "C" fn(*mut CStream, *mut CSchema) -> c_int,
    pub(super) get_next: unsafe extern "C" fn(*mut CStream, *mut CArray) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut CStream) -> *const c_char,
    pub(super) release: Option<unsafe extern "C" fn(*mut CStream)>,
    pub(super) private_data: *mut c_void,
}

/// A struct in other hands: taken over byte by byte, and released at the end.
macro_rules! taken_over {
    ($c:ident of $ours:ident) => {
        impl $c {
            pub(super) fn take(ours: $ours) -> Self {
                let mut place = MaybeUninit::<$c>::uninit();
                // SAFETY: both are the struct that the specification declares; the old one is forgotten.
                unsafe {
                    std::ptr::copy_nonoverlapping((&raw const ours).cast(), place.as_mut_ptr(), 1);
                    std::mem::forget(ours);
                    place.assume_init()
                }
            }
        }

        impl Drop for $c {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it is alive, and nobody else has it.
                    unsafe { release(self) };
                    assert!(self.release.is_none(), "what was released says so");
                }
            }
        }
    };
}

taken_over!(CSchema of ArrowSchema);
taken_over!(CArray of ArrowArray);
taken_over!(CStream of ArrowArrayStream);

impl CSchema {
    pub(super) fn children(&self) -> &[&CSchema] {
        // SAFETY: there are as many pointers as it says, none of them null.
        unsafe { std::slice::from_raw_parts(self.children.cast(), self.n_children as usize) }
    }

    pub(super) fn text(text: *const c_char) -> String {
        // SAFETY: it ends in a byte 0.
        unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned()
    }

    /// Keys and values, as the specification packs them.
    fn metadata(&self) -> Vec<(String, String)> {
        let mut at = self.metadata.cast::<u8>();
        if at.is_null() {
            return Vec::new();
        }
        let mut number = || {
            // SAFETY: the struct is alive, and there are as many pairs as it says.
            unsafe {
                let number = i32::from_ne_bytes(at.cast::<[u8; 4]>().read_unaligned());
                let text = at.add(4);
                at = text;
                (number as usize, text, &mut at as *mut *const u8)
            }
        };
        let (count, _, _) = number();
        let mut text = || {
            let (len, text, at) = number();
            // SAFETY: as above.
            unsafe {
                *at = text.add(len);
                std::str::from_utf8(std::slice::from_raw_parts(text, len))
                    .expect("UTF-8")
                    .to_owned()
            }
        };
        (0..count).map(|_| (text(), text())).collect()
    }
}

impl CArray {
    pub(super) fn children(&self) -> &[&CArray] {
        // SAFETY: there are as many pointers as it says, none of them null.
        unsafe { std::slice::from_raw_parts(self.children.cast(), self.n_children as usize) }
    }

    /// Takes a child over, as the specification allows.
    pub(super) fn take_child(&self, place: usize) -> CArray {
        let mut taken = MaybeUninit::<CArray>::uninit();
        // SAFETY: the child is alive, and is told that it was taken over.
        unsafe {
            let child = *self.children.add(place);
            std::ptr::copy_nonoverlapping(child, taken.as_mut_ptr(), 1);
            (*child).release = None;
            taken.assume_init()
        }
    }

    pub(super) fn buffer<T: Copy>(&self, place: usize, index: usize) -> T {
        assert!((place as i64) < self.n_buffers);
        // SAFETY: the specification says how long the buffer is.
        unsafe { (*self.buffers.add(place)).cast::<T>().add(index).read() }
    }

    fn bit(&self, place: usize, row: usize) -> bool {
        self.buffer::<u8>(place, row / 8) >> (row % 8) & 1 == 1
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        // SAFETY: there is a pointer for each buffer; the first may be null where nothing is.
        let validity = unsafe { *self.buffers };
        !validity.is_null() && !self.bit(0, row)
    }

    fn bytes(&self, row: usize) -> Vec<u8> {
        let range = self.buffer::<i64>(1, row)..self.buffer::<i64>(1, row + 1);
        range.map(|at| self.buffer::<u8>(2, at as usize)).collect()
    }

    fn small_bytes(&self, row: usize) -> Vec<u8> {
        let range = self.buffer::<i32>(1, row)..self.buffer::<i32>(1, row + 1);
        range.map(|at| self.buffer::<u8>(2, at as usize)).collect()
    }

    /// Text or bytes of at most 12 bytes in a view, or where the view says.
    fn viewed(&self, row: usize) -> Vec<u8> {
        let len = self.buffer::<i32>(1, 4 * row) as usize;
        if len <= 12 {
            return (0..len).map(|at| self.buffer::<u8>(1, 16 * row + 4 + at)).collect();
        }
        let (buffer, start) =
            (self.buffer::<i32>(1, 4 * row + 2) as usize, self.buffer::<i32>(1, 4 * row + 3));
        let sizes_place = self.n_buffers as usize - 1;
        assert!(start as usize + len <= self.buffer::<i64>(sizes_place, buffer) as usize);
        let bytes: Vec<u8> =
            (0..len).map(|at| self.buffer::<u8>(2 + buffer, start as usize + at)).collect();
        let prefix = self.buffer::<[u8; 4]>(1, 4 * row + 1);
        assert_eq!(prefix, bytes[..4]);
        bytes
    }

    /// A value as text, by its format alone.
    pub(super) fn value(&self, format: &str, row: usize) -> String {
        if self.is_null(row) {
            return "null".to_owned();
        }
        match format {
            "C" => self.buffer::<u8>(1, row).to_string(),
            "S" => self.buffer::<u16>(1, row).to_string(),
            "I" => self.buffer::<u32>(1, row).to_string(),
            "L" => self.buffer::<u64>(1, row).to_string(),
            "c" => self.buffer::<i8>(1, row).to_string(),
            "s" => self.buffer::<i16>(1, row).to_string(),
            "i" => self.buffer::<i32>(1, row).to_string(),
            "l" => self.buffer::<i64>(1, row).to_string(),
            time if time.starts_with("ts") || time.starts_with("tD") => {
                self.buffer::<i64>(1, row).to_string()
            }
            "g" => self.buffer::<u64>(1, row).to_string(),
            "b" => self.bit(1, row).to_string(),
            "w:16" => hex(&self.buffer::<[u8; 16]>(1, row)),
            "U" => String::from_utf8(self.bytes(row)).expect("UTF-8"),
            "Z" => hex(&self.bytes(row)),
            "u" => String::from_utf8(self.small_bytes(row)).expect("UTF-8"),
            "z" => hex(&self.small_bytes(row)),
            "vu" => String::from_utf8(self.viewed(row)).expect("UTF-8"),
            "vz" => hex(&self.viewed(row)),
            other => panic!("no format of this crate: {other}"),
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The formats and texts of the columns that a value becomes; nothing where it does not fit.
pub(super) fn expected(
    data_type: DataType,
    value: Value<'_>,
    options: ExportOptions,
) -> Option<Vec<(&'static str, String)>> {
    let is_us = options.timestamps == TimeUnit::Microseconds;
    let format = match (data_type, options.signed) {
        (DataType::TimeNs, _) if is_us => "tsu:UTC",
        (DataType::TimeNs, _) => "tsn:UTC",
        (DataType::DurationUs, _) => "tDu",
        (DataType::Address, _) if options.addresses == AddressForm::Text => "U",
        (DataType::Address | DataType::Uuid, _) => "w:16",
        (DataType::Enumeration(names), _) if names.is_closed => "U",
        (DataType::U8 | DataType::Enumeration(_), false) => "C",
        (DataType::U16 | DataType::TcpFlags, false) => "S",
        (DataType::U32, false) => "I",
        (DataType::U64, false) => "L",
        (DataType::U8 | DataType::Enumeration(_), true) | (DataType::I16, _) => "s",
        (DataType::U16 | DataType::TcpFlags, true) | (DataType::I32, _) => "i",
        (DataType::U32 | DataType::U64, true) | (DataType::I64, _) => "l",
        (DataType::I8, _) => "c",
        (DataType::Double, _) => "g",
        (DataType::Bool, _) => "b",
        (DataType::Text | DataType::Json, _) => "U",
        (DataType::Bytes, _) => "Z",
        (DataType::TimeUs | DataType::List | DataType::Struct | DataType::Map, _) => {
            panic!("no field has it")
        }
    };
    let text = match value {
        Value::Null => "null".to_owned(),
        Value::Time(time) if is_us => time.div_euclid(1000).to_string(),
        Value::Double(number) => number.to_bits().to_string(),
        Value::Duration(number) => i64::try_from(number).ok()?.to_string(),
        Value::Unsigned(number) if options.signed => i64::try_from(number).ok()?.to_string(),
        Value::Address(std::net::IpAddr::V4(address)) if format == "w:16" => {
            hex(&address.to_ipv6_mapped().octets())
        }
        Value::Address(std::net::IpAddr::V6(address)) if format == "w:16" => hex(&address.octets()),
        Value::Uuid(bytes) => hex(&bytes),
        Value::Bytes(bytes) => hex(bytes),
        value => value.to_string(),
    };
    let rest = match value {
        Value::Time(time) => time.rem_euclid(1000).to_string(),
        _ => "null".to_owned(),
    };
    let rest = (format == "tsu:UTC").then_some(("s", rest));
    Some(std::iter::once((format, text)).chain(rest).collect())
}

fn options(random: &mut Random) -> ExportOptions {
    let timestamps = [TimeUnit::Nanoseconds, TimeUnit::Microseconds][random.below(2)];
    let addresses = [AddressForm::Text, AddressForm::Binary][random.below(2)];
    ExportOptions { timestamps, signed: random.once_in(2), addresses }
}

/// Rows of every type, and the rows as they were put in. Numbers fit 63 bits most of the time.
pub(super) fn rows(random: &mut Random, count: usize) -> (Batch, Vec<Vec<Model>>) {
    let (mut batch, mut model) = (Batch::new(schema()), Vec::new());
    push(&mut batch, &mut model, random, count);
    (batch, model)
}

/// Format and values of each column, as (format, texts).
type Columns = Vec<(String, Vec<String>)>;

fn read(schema: &CSchema, array: &CArray) -> Columns {
    assert_eq!((CSchema::text(schema.format).as_str(), array.offset), ("+s", 0));
    assert_eq!(schema.children().len(), array.children().len());
    let columns = schema.children().iter().zip(array.children()).map(|(schema, array)| {
        let format = CSchema::text(schema.format);
        let values: Vec<String> =
            (0..array.length as usize).map(|row| array.value(&format, row)).collect();
        let nulls = (0..values.len()).filter(|row| array.is_null(*row)).count();
        assert_eq!((array.null_count, array.offset), (nulls as i64, 0));
        assert_eq!(array.n_buffers, if matches!(format.as_str(), "U" | "Z") { 3 } else { 2 });
        (format, values)
    });
    columns.collect()
}

fn wanted(model: &[Vec<Model>], options: ExportOptions) -> Option<Columns> {
    let mut columns = Columns::new();
    for (place, data_type) in TYPES.iter().enumerate() {
        let start = columns.len();
        let formats = expected(*data_type, Value::Null, options)?;
        columns.extend(formats.iter().map(|(format, _)| ((*format).to_owned(), Vec::new())));
        for row in model {
            let values = expected(*data_type, row[place].value(), options)?;
            for (column, (_, text)) in columns[start..].iter_mut().zip(values) {
                column.1.push(text);
            }
        }
    }
    Some(columns)
}

#[test]
fn a_program_reads_by_the_specification_what_was_put_into_a_batch() {
    seeds(60, |random| {
        let count = random.below(30);
        let (options, (batch, model)) = (options(random), rows(random, count));
        let schema = CSchema::take(ArrowSchema::new(&schema(), options, &[]));
        let shared = Arc::new(batch.clone());
        let layout = Layout::new(batch.schema(), options);
        let arrays = [layout.shared_array(&shared), layout.array(batch)];
        drop(shared);
        for array in arrays {
            match wanted(&model, options) {
                Some(columns) => {
                    let array = CArray::take(array.expect("all of it fits"));
                    assert_eq!(array.length as usize, model.len());
                    assert_eq!(read(&schema, &array), columns);
                }
                None => assert_eq!(array.expect_err("a number").kind(), ErrorKind::Limit),
            }
        }
    });
}

/// The addresses of the values of a number and of a text behind it.
fn places(array: &CArray) -> [*const u8; 2] {
    [(0, 1), (1, 2)].map(|(child, place)| {
        let child = array.children()[child];
        // SAFETY: it has as many buffers.
        unsafe { *child.buffers.add(place) }.cast()
    })
}

#[test]
fn columns_that_need_no_conversion_leave_without_a_copy() {
    let numbers = Schema::new(
        "numbers",
        vec![
            Field::new("number".into(), DataType::U64, true, String::new()),
            Field::new("text".into(), DataType::Text, false, String::new()),
        ],
    );
    let mut batch = Batch::new(numbers);
    batch.push_row(|place| [Value::Unsigned(7), Value::Text("seven")][place]);
    let starts = [batch.columns()[0].values().as_ptr(), batch.columns()[1].values().as_ptr()];
    let batch = Arc::new(batch);
    let layout = Layout::new(batch.schema(), ExportOptions::default());
    let shared = [layout.shared_array(&batch), layout.shared_array(&batch)];
    let moved = Batch::clone(&batch);
    drop(batch);
    let [one, other] = shared.map(|array| CArray::take(array.expect("it fits")));
    assert_eq!(places(&one), starts, "all who have the batch share its memory");
    drop(one);
    assert_eq!(places(&other), starts, "and keep it for each other");
    let starts = [moved.columns()[0].values().as_ptr(), moved.columns()[1].values().as_ptr()];
    let array = CArray::take(layout.array(moved).expect("it fits"));
    assert_eq!(places(&array), starts, "a batch that nobody else has is moved");
}

#[test]
fn a_column_outlives_the_batch_that_it_was_taken_out_of() {
    let (batch, _) = rows(&mut Random::new(5), 40);
    let kept = batch.columns()[3].clone();
    let array = CArray::take(ArrowArray::new(batch, ExportOptions::default()).expect("it fits"));
    // SAFETY: the child is copied, and its old place cleared, as the specification says.
    let child = unsafe {
        let place = *array.children.add(3);
        let child = place.read();
        (*place).release = None;
        child
    };
    drop(array);
    for row in 0..kept.len() {
        let expected = if kept.is_valid(row) { kept.value(row).to_string() } else { "null".into() };
        assert_eq!(child.value("C", row), expected);
    }
}

#[test]
fn a_schema_says_what_its_fields_mean_and_which_may_be_null() {
    let field = |name: &str, data_type, is_nullable, meaning: &str| {
        Field::new(name.to_owned(), data_type, is_nullable, meaning.to_owned())
    };
    let schema = Schema::new(
        "rows",
        vec![
            field("ts", DataType::TimeNs, true, "When."),
            field("id", DataType::Uuid, false, ""),
            field("cut\0here", DataType::I8, false, ""),
        ],
    );
    let options = ExportOptions { timestamps: TimeUnit::Microseconds, ..ExportOptions::default() };
    let about = [("version".to_owned(), "1".to_owned()), ("filter".to_owned(), String::new())];
    let schema = CSchema::take(ArrowSchema::new(&schema, options, &about));
    assert_eq!(schema.metadata(), about);
    let found: Vec<_> = schema
        .children()
        .iter()
        .map(|child| (CSchema::text(child.name), child.flags, child.metadata()))
        .collect();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let rest = "Nanoseconds to be added to ts, 0 to 999.";
    let uuid = [pair("ARROW:extension:name", "arrow.uuid"), pair("ARROW:extension:metadata", "")];
    let expected = [
        ("ts".to_owned(), 2, vec![pair("meaning", "When.")]),
        ("ts_nanos".to_owned(), 2, vec![pair("meaning", rest)]),
        ("id".to_owned(), 0, uuid.to_vec()),
        ("cut".to_owned(), 0, Vec::new()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn text_that_is_not_utf_8_does_not_leave_as_text() {
    let field = Field::new("name".into(), DataType::Text, false, String::new());
    let mut batch = Batch::new(Schema::new("rows", vec![field]));
    batch.push_row(|_| Value::Bytes(b"a\xff"));
    let error = ArrowArray::new(batch, ExportOptions::default()).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "expected UTF-8 in the column name, found other bytes");
}

/// Calls for the next batch; the number of the error where there is one.
fn next(stream: &mut CStream) -> Result<CArray, c_int> {
    let mut place = MaybeUninit::<CArray>::uninit();
    // SAFETY: the stream is alive, and the place is for an array.
    unsafe {
        match (stream.get_next)(stream, place.as_mut_ptr()) {
            0 => Ok(place.assume_init()),
            number => Err(number),
        }
    }
}

fn last_error(stream: &mut CStream) -> Option<String> {
    // SAFETY: the stream is alive.
    let text = unsafe { (stream.get_last_error)(stream) };
    (!text.is_null()).then(|| CSchema::text(text))
}

/// A stream of two batches and then what `end` gives, and what shows whether its memory is freed.
fn stream(
    end: impl Fn() -> bytewright::Result<Option<Batch>> + Send + 'static,
) -> (CStream, Arc<()>) {
    let alive = Arc::new(());
    let (held, mut left) = (Arc::clone(&alive), 2);
    let next = move || {
        let _ = &held;
        if left == 0 {
            return end();
        }
        left -= 1;
        Ok(Some(rows(&mut Random::new(left), 10).0))
    };
    let stream = ArrowArrayStream::new(&schema(), ExportOptions::default(), Vec::new(), next);
    (CStream::take(stream), alive)
}

#[test]
fn a_stream_gives_its_batches_then_its_end_and_frees_what_it_held() {
    let (mut stream, alive) = stream(|| Ok(None));
    let mut place = MaybeUninit::<CSchema>::uninit();
    // SAFETY: the stream is alive, and the place is for a schema.
    let schema = unsafe {
        assert_eq!((stream.get_schema)(&mut stream, place.as_mut_ptr()), 0);
        place.assume_init()
    };
    for left in [1, 0] {
        let array = next(&mut stream).expect("a batch");
        let (_, model) = rows(&mut Random::new(left), 10);
        assert_eq!(Some(read(&schema, &array)), wanted(&model, ExportOptions::default()));
    }
    for _ in 0..2 {
        assert!(next(&mut stream).expect("the end").release.is_none());
    }
    assert_eq!((last_error(&mut stream), Arc::strong_count(&alive)), (None, 2));
    drop(stream);
    assert_eq!(Arc::strong_count(&alive), 1, "it was released once, and with it what it held");
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_a_number_and_a_text_and_stays() {
    let truncated = || Err(Error::truncated("a packet", 60, 8).at(24).in_file("web.pcap"));
    let io = || Err(Error::io("read", &std::io::Error::from_raw_os_error(28)));
    let panic: fn() -> bytewright::Result<Option<Batch>> = || panic!("a defect");
    let told = "web.pcap: byte 24: expected a packet of 60 bytes, found 8 before the input ends";
    for ((mut stream, alive), number, text) in [
        (stream(truncated), 22, told),
        (stream(io), 28, "cannot read"),
        (stream(panic), 5, "defect"),
    ] {
        for _ in 0..2 {
            drop(next(&mut stream).map_err(|number| panic!("{number}")));
        }
        for _ in 0..2 {
            assert_eq!(next(&mut stream).err(), Some(number));
            let told = last_error(&mut stream).expect("a text");
            assert!(told.contains(text), "{told}");
        }
        drop(stream);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
