//! One value of a column of lists, structs or maps.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Column, DataType, Field, Value};

/// A list, a struct or a map in a column, which it borrows.
#[derive(Clone, Copy)]
pub struct NestedValue<'a> {
    column: &'a Column,
    row: usize,
}

impl<'a> NestedValue<'a> {
    /// The value in a row of a column that is nested.
    pub(super) fn new(column: &'a Column, row: usize) -> Self {
        NestedValue { column, row }
    }

    /// Its type: [`DataType::List`], [`DataType::Struct`] or [`DataType::Map`].
    pub fn data_type(&self) -> DataType {
        self.column.data_type()
    }

    /// The field of the elements of a list, the fields of a struct, the struct of the key and the value of a map.
    pub fn children(&self) -> &'a [Field] {
        self.column.child_fields()
    }

    /// The elements of a list; of a map, the structs of a key and a value. None of a struct.
    pub fn elements(self) -> impl ExactSizeIterator<Item = Value<'a>> {
        let child = self.column.children().first();
        let rows = self.column.elements_of(self.row);
        rows.map(move |row| child.map_or(Value::Null, |child| child.value(row)))
    }

    /// The fields of a struct with their values; of others, none.
    pub fn fields(self) -> impl ExactSizeIterator<Item = (&'a Field, Value<'a>)> {
        let columns = match self.data_type() {
            DataType::Struct => self.column.children(),
            _ => &[],
        };
        let row = self.row;
        self.column
            .child_fields()
            .iter()
            .zip(columns)
            .map(move |(field, column)| (field, column.value(row)))
    }

    /// The keys of a map with their values; of others, none.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Value<'a>, Value<'a>)> {
        let structs = match self.data_type() {
            DataType::Map => self.column.children().first().map(Column::children),
            _ => None,
        };
        let (keys, values) = match structs {
            Some([keys, values]) => (Some(keys), Some(values)),
            _ => (None, None),
        };
        let value = |column: Option<&'a Column>, row| {
            column.map_or(Value::Null, |column| column.value(row))
        };
        let rows = if structs.is_some() { self.column.elements_of(self.row) } else { 0..0 };
        rows.map(move |row| (value(keys, row), value(values, row)))
    }

    /// Returns true if a column has values of the same type.
    pub(super) fn is_of(&self, column: &Column) -> bool {
        self.data_type() == column.data_type() && self.children() == column.child_fields()
    }

    /// Appends it to a column of the same type. What no column can count any more is a null.
    pub(super) fn push_to(self, column: &mut Column) {
        let rows = column.len();
        if column.append_rows(self.column, self.row..self.row + 1).is_err() {
            column.truncate(rows);
            column.push_null();
        }
    }
}

impl PartialEq for NestedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NestedValue<'_> {}

impl PartialOrd for NestedValue<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NestedValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let kinds = self.data_type().name().cmp(other.data_type().name());
        let values = |of: &Self| of.fields().map(|(_, value)| value);
        kinds
            .then_with(|| self.elements().cmp(other.elements()))
            .then_with(|| values(self).cmp(values(other)))
    }
}

impl Hash for NestedValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let elements = self.elements();
        elements.len().hash(state);
        elements.for_each(|value| value.hash(state));
        self.fields().for_each(|(_, value)| value.hash(state));
    }
}

impl fmt::Debug for NestedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.data_type() {
            DataType::Struct => f
                .debug_map()
                .entries(self.fields().map(|(field, value)| (field.name(), value)))
                .finish(),
            DataType::Map => f.debug_map().entries(self.entries()).finish(),
            _ => f.debug_list().entries(self.elements()).finish(),
        }
    }
}
