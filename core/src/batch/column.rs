//! The values of one field of many rows, as Arrow lays them out
//! (<https://arrow.apache.org/docs/format/Columnar.html>).

mod copying;
mod nested;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bits::Bits;
use super::{DataType, Field, NestedValue, Value};
use nested::NestedParts;

/// Nanoseconds in a microsecond.
pub(super) const MICROSECOND: i64 = 1000;

/// The values of one field, a value or a null for each row.
///
/// - Values of a fixed width are packed, little-endian, [`DataType::width`] bytes each. A null takes its place
///   with bytes that mean nothing.
/// - Booleans are bits, from the least significant.
/// - Text and bytes stand one after the other, and offsets say where each begins and ends. Offsets have 64 bits
///   (Arrow's `large_utf8`, `large_binary`): who collects rows without a bound never meets the one of 2 GiB that
///   32 bits have, and there is no error for it.
/// - A bit per row, from the least significant, is 1 where there is a value.
/// - Lists, structs and maps consist of other columns, [`Column::children`]. A null in a list takes no place in them, and a
///   null in a struct the place of a row.
#[derive(Debug, Clone)]
pub struct Column {
    data_type: DataType,
    values: Vec<u8>,
    offsets: Vec<i64>,
    bools: Bits,
    validity: Bits,
    null_count: usize,
    nested: Option<Box<NestedParts>>,
}

impl Column {
    /// No rows yet of a field.
    pub fn of(field: &Field) -> Self {
        let nested = field.data_type().is_nested().then(|| Box::new(NestedParts::of(field)));
        Column { nested, ..Column::new(field.data_type()) }
    }

    /// No rows yet of a type that is not nested.
    pub fn new(data_type: DataType) -> Self {
        Column {
            data_type,
            values: Vec::new(),
            offsets: if data_type.is_variable() { vec![0] } else { Vec::new() },
            bools: Bits::default(),
            validity: Bits::default(),
            null_count: 0,
            nested: None,
        }
    }

    /// Returns the type of the values.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.validity.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, packed little-endian; of booleans, bits; of text and bytes, all of them one after the other.
    pub fn values(&self) -> &[u8] {
        match self.data_type {
            DataType::Bool => self.bools.bytes(),
            _ => &self.values,
        }
    }

    /// Of text and bytes: 0, and for each row where its bytes end in [`Column::values`], which is where those of
    /// the next begin. Of others, nothing.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// One bit per row: bit `row % 8` of byte `row / 8` is 1 where there is a value.
    pub fn validity(&self) -> &[u8] {
        self.validity.bytes()
    }

    /// Rows without a value.
    pub fn null_count(&self) -> usize {
        self.null_count
    }

    /// Bytes of memory that it holds, used or not, and its own.
    pub fn memory_bytes(&self) -> usize {
        let bits = self.bools.capacity_bytes() + self.validity.capacity_bytes();
        let held = self.values.capacity() + self.offsets.capacity() * size_of::<i64>() + bits;
        let nested = self.nested.as_ref().map_or(0, |nested| nested.memory_bytes());
        size_of::<Self>() + held + nested
    }

    /// Returns these rows as values of another type, which keeps them in the same way.
    pub(super) fn with_type(self, data_type: DataType) -> Column {
        debug_assert_eq!(self.data_type.width(), data_type.width());
        Column { data_type, ..self }
    }

    /// Returns these rows with other values, and the same nulls.
    pub(super) fn with_values(
        &self,
        data_type: DataType,
        values: Vec<u8>,
        offsets: Vec<i64>,
    ) -> Column {
        let (validity, null_count) = (self.validity.clone(), self.null_count);
        Column {
            data_type,
            values,
            offsets,
            bools: Bits::default(),
            validity,
            null_count,
            nested: None,
        }
    }

    /// Returns true if `row` has a value.
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.get(row)
    }

    /// The value in `row`, null past the end. An address in the form `::ffff:a.b.c.d` is IPv4: the bytes of the
    /// two are the same. Text that is not UTF-8 is bytes.
    pub fn value(&self, row: usize) -> Value<'_> {
        if !self.is_valid(row) {
            return Value::Null;
        }
        match self.data_type {
            DataType::TimeNs => Value::Time(self.signed(row)),
            DataType::TimeUs => Value::Time(self.signed(row).saturating_mul(MICROSECOND)),
            DataType::DurationUs => Value::Duration(self.unsigned(row)),
            DataType::Address => Value::Address(ip_address(self.fixed(row))),
            DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 | DataType::TcpFlags => {
                Value::Unsigned(self.unsigned(row))
            }
            DataType::I8 | DataType::I16 | DataType::I32 | DataType::I64 => {
                Value::Signed(self.signed(row))
            }
            DataType::Double => Value::Double(f64::from_bits(self.unsigned(row))),
            DataType::Bool => Value::Bool(self.bools.get(row)),
            DataType::Text | DataType::Json => self.text(row),
            DataType::Bytes => Value::Bytes(self.bytes(row)),
            DataType::Uuid => Value::Uuid(self.fixed(row)),
            DataType::Enumeration(names) => {
                let number = self.unsigned(row);
                match names.name(number as u8) {
                    Some(name) if names.is_closed => Value::Text(name),
                    _ => Value::Unsigned(number),
                }
            }
            DataType::List | DataType::Struct | DataType::Map => {
                Value::Nested(NestedValue::new(self, row))
            }
        }
    }

    fn text(&self, row: usize) -> Value<'_> {
        match std::str::from_utf8(self.bytes(row)) {
            Ok(text) if self.data_type == DataType::Json => Value::Json(text),
            Ok(text) => Value::Text(text),
            Err(_) => Value::Bytes(self.bytes(row)),
        }
    }

    /// The bytes of a value of fixed width, text or bytes, valid or not; nothing past the end.
    pub fn bytes(&self, row: usize) -> &[u8] {
        let found = match self.data_type.width() {
            Some(width) => self.values.get(row * width..).and_then(|rest| rest.get(..width)),
            None => match (self.offsets.get(row), self.offsets.get(row + 1)) {
                (Some(start), Some(end)) => self.values.get(*start as usize..*end as usize),
                _ => None,
            },
        };
        found.unwrap_or_default()
    }

    /// The first row of [`DataType::Text`] whose bytes are not UTF-8, for readers that insist on it, such as
    /// Arrow's.
    pub fn invalid_text_row(&self) -> Option<usize> {
        if !matches!(self.data_type, DataType::Text | DataType::Json) || self.is_one_text() {
            return None;
        }
        (0..self.len()).find(|row| std::str::from_utf8(self.bytes(*row)).is_err())
    }

    /// Returns true if the bytes of all rows are UTF-8 and no row begins inside of a character.
    fn is_one_text(&self) -> bool {
        std::str::from_utf8(&self.values).is_ok_and(|text| {
            self.offsets.iter().all(|offset| text.is_char_boundary(*offset as usize))
        })
    }

    fn fixed<const N: usize>(&self, row: usize) -> [u8; N] {
        self.bytes(row).first_chunk::<N>().copied().unwrap_or([0; N])
    }

    fn unsigned(&self, row: usize) -> u64 {
        self.bytes(row).iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn signed(&self, row: usize) -> i64 {
        let unused = 64 - 8 * self.data_type.width().unwrap_or(8) as u32;
        (self.unsigned(row) << unused) as i64 >> unused
    }

    /// The integer, time or duration in `row`, as it is kept.
    pub(super) fn integer(&self, row: usize) -> i128 {
        match self.data_type.storage() {
            DataType::I8 | DataType::I16 | DataType::I32 | DataType::I64 => self.signed(row).into(),
            _ => self.unsigned(row).into(),
        }
    }

    /// Makes room for that many rows more, without a guess at the length of text.
    pub fn reserve(&mut self, rows: usize) {
        self.validity.reserve(rows);
        match self.data_type.width() {
            Some(width) => self.values.reserve(rows * width),
            None if self.data_type.is_variable() => self.offsets.reserve(rows),
            None => match &mut self.nested {
                None => self.bools.reserve(rows),
                Some(nested) => nested.reserve(rows),
            },
        }
    }

    /// Makes room for so many times the rows that it has, with as much text in each, and a little more.
    pub(crate) fn reserve_times(&mut self, times: usize) {
        let more =
            |len: usize| len.saturating_mul(times).saturating_add(len.saturating_mul(times) / 16);
        self.validity.reserve(more(self.validity.len()));
        self.bools.reserve(more(self.bools.len()));
        self.values.reserve(more(self.values.len()));
        self.offsets.reserve(more(self.offsets.len()));
        if let Some(nested) = &mut self.nested {
            nested.reserve_times(times);
        }
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.null_count = 0;
        self.keep(0);
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        if self.null_count > 0 {
            let forgotten = (rows..self.len()).filter(|row| !self.is_valid(*row)).count();
            self.null_count -= forgotten;
        }
        self.keep(self.len().min(rows));
    }

    /// Keeps the first rows, of which there are as many.
    fn keep(&mut self, rows: usize) {
        self.validity.truncate(rows);
        self.bools.truncate(rows);
        match self.data_type.width() {
            Some(width) => self.values.truncate(rows * width),
            None => {
                self.offsets.truncate(rows + 1);
                let end = self.offsets.last().copied().unwrap_or_default();
                self.values.truncate(end as usize);
            }
        }
        if let Some(nested) = &mut self.nested {
            nested.truncate(rows);
        }
    }

    /// Appends a value that is of the column's type; a number may be of another width, if it fits. A value of
    /// another type is a defect of the caller, and null.
    pub fn push(&mut self, value: Value<'_>) {
        match (self.data_type, value) {
            (_, Value::Null) => self.push_null(),
            (DataType::TimeNs, Value::Time(nanoseconds)) => {
                self.push_fixed(nanoseconds.to_le_bytes());
            }
            (DataType::TimeUs, Value::Time(nanoseconds)) => {
                self.push_fixed(nanoseconds.div_euclid(MICROSECOND).to_le_bytes());
            }
            (DataType::DurationUs, Value::Duration(microseconds)) => {
                self.push_fixed(microseconds.to_le_bytes());
            }
            (DataType::Address, Value::Address(address)) => self.push_fixed(address_bytes(address)),
            (_, Value::Unsigned(number)) => self.push_unsigned(number),
            (_, Value::Signed(number)) => self.push_signed(number),
            (DataType::Double, Value::Double(number)) => self.push_fixed(number.to_le_bytes()),
            (DataType::Bool, Value::Bool(value)) => self.push_bool(value),
            (DataType::Uuid, Value::Uuid(bytes)) => self.push_fixed(bytes),
            (DataType::Text | DataType::Bytes, Value::Bytes(bytes)) => self.push_bytes(bytes),
            (DataType::Text | DataType::Bytes, Value::Text(text)) => {
                self.push_bytes(text.as_bytes());
            }
            (DataType::Text | DataType::Bytes, Value::ShortText(text)) => {
                self.push_bytes(text.as_str().as_bytes());
            }
            (DataType::Json, Value::Json(text)) => self.push_bytes(text.as_bytes()),
            (_, Value::Nested(nested)) if nested.is_of(self) => nested.push_to(self),
            (DataType::Enumeration(names), Value::Text(name)) => match names.number(name) {
                Some(number) => self.push_fixed([number]),
                None => self.push_mistaken(value),
            },
            _ => self.push_mistaken(value),
        }
    }

    fn push_unsigned(&mut self, number: u64) {
        let fits = |max: u64| number <= max;
        match self.data_type {
            DataType::U8 | DataType::Enumeration(_) if fits(u8::MAX.into()) => {
                self.push_fixed([number as u8]);
            }
            DataType::U16 | DataType::TcpFlags if fits(u16::MAX.into()) => {
                self.push_fixed((number as u16).to_le_bytes())
            }
            DataType::U32 if fits(u32::MAX.into()) => {
                self.push_fixed((number as u32).to_le_bytes())
            }
            DataType::U64 => self.push_fixed(number.to_le_bytes()),
            _ => self.push_mistaken(Value::Unsigned(number)),
        }
    }

    fn push_signed(&mut self, number: i64) {
        let fits = |min: i64, max: i64| (min..=max).contains(&number);
        match self.data_type {
            DataType::I8 if fits(i8::MIN.into(), i8::MAX.into()) => {
                self.push_fixed((number as i8).to_le_bytes());
            }
            DataType::I16 if fits(i16::MIN.into(), i16::MAX.into()) => {
                self.push_fixed((number as i16).to_le_bytes());
            }
            DataType::I32 if fits(i32::MIN.into(), i32::MAX.into()) => {
                self.push_fixed((number as i32).to_le_bytes());
            }
            DataType::I64 => self.push_fixed(number.to_le_bytes()),
            _ => self.push_mistaken(Value::Signed(number)),
        }
    }

    #[cold]
    fn push_mistaken(&mut self, value: Value<'_>) {
        debug_assert!(false, "{value:?} is no value of a column of {}", self.data_type.name());
        self.push_null();
    }

    /// Appends a null.
    #[inline]
    pub(crate) fn push_null(&mut self) {
        self.null_count += 1;
        self.validity.push(false);
        match self.data_type.width() {
            // A length that is known is no call of memset.
            Some(8) => self.values.extend_from_slice(&[0; 8]),
            Some(4) => self.values.extend_from_slice(&[0; 4]),
            Some(width) => self.values.resize(self.values.len() + width, 0),
            None if self.data_type.is_variable() => self.offsets.push(self.values.len() as i64),
            None => match &mut self.nested {
                None => self.bools.push(false),
                Some(nested) => nested.push_null(),
            },
        }
    }

    /// Appends a value of a type that is `N` bytes wide.
    #[inline(always)]
    pub(crate) fn push_fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        debug_assert_eq!(self.data_type.width(), Some(N));
        self.validity.push(true);
        self.values.extend_from_slice(&bytes);
    }

    /// Appends text or bytes.
    #[inline(always)]
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(self.data_type.is_variable());
        self.validity.push(true);
        self.values.extend_from_slice(bytes);
        self.offsets.push(self.values.len() as i64);
    }

    /// Appends a boolean.
    #[inline(always)]
    pub(crate) fn push_bool(&mut self, value: bool) {
        debug_assert_eq!(self.data_type, DataType::Bool);
        self.validity.push(true);
        self.bools.push(value);
    }

    /// Appends the same validity for rows whose values follow, or were appended before.
    #[inline]
    pub(crate) fn extend_validity_with(&mut self, is_valid: bool, rows: usize) {
        self.validity.extend_with(is_valid, rows);
        self.null_count += if is_valid { 0 } else { rows };
    }

    /// Appends the validity of one row for each word: valid if the bit with number `bit` is set in it.
    #[inline]
    pub(crate) fn extend_validity_from(&mut self, words: &[u32], bit: u32) {
        self.null_count += words.len() - self.validity.extend_from(words, bit);
    }

    /// Appends the value of each item, which is `N` bytes wide, without its validity. The loop has no branch:
    /// give what is null a value, too.
    #[inline]
    pub(crate) fn extend_values<T, const N: usize>(
        &mut self,
        items: &[T],
        value: impl Fn(&T) -> [u8; N],
    ) {
        debug_assert_eq!(self.data_type.width(), Some(N));
        let start = self.values.len();
        self.values.resize(start + items.len() * N, 0);
        let (slots, _) = self.values.get_mut(start..).unwrap_or_default().as_chunks_mut::<N>();
        // Eight at a time, so that the loop costs little beside the copying.
        let (slot_groups, slots) = slots.as_chunks_mut::<8>();
        let (item_groups, items) = items.as_chunks::<8>();
        for (slots, items) in slot_groups.iter_mut().zip(item_groups) {
            for (slot, item) in slots.iter_mut().zip(items) {
                *slot = value(item);
            }
        }
        for (slot, item) in slots.iter_mut().zip(items) {
            *slot = value(item);
        }
    }

    /// Appends values, each `N` bytes wide, without their validity, from an iterator instead of a slice.
    #[inline]
    pub(crate) fn extend_fixed<const N: usize>(
        &mut self,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) {
        debug_assert_eq!(self.data_type.width(), Some(N));
        let start = self.values.len();
        self.values.resize(start + values.len() * N, 0);
        let (slots, _) = self.values.get_mut(start..).unwrap_or_default().as_chunks_mut::<N>();
        slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

/// The address that a column keeps in 16 bytes.
fn ip_address(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

/// The 16 bytes that a column keeps for an address.
fn address_bytes(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => mapped(address),
        IpAddr::V6(address) => address.octets(),
    }
}

/// The 16 bytes that a column keeps for an IPv4 address.
pub(crate) fn mapped(address: Ipv4Addr) -> [u8; 16] {
    address.to_ipv6_mapped().octets()
}
