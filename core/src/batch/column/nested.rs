//! Columns that consist of others: lists, structs and maps.
//!
//! A row of a list is appended by its elements, in the column of the elements, and [`Column::end_list`] behind them; a row of a
//! struct by a value in any of its columns, and [`Column::end_struct`]. A map is a list of structs of a key and a value.

use std::sync::Arc;

use super::Column;
use crate::batch::{DataType, Field};
use crate::{Error, Result};

// Bound (Thrift): elements of the lists in a batch = 2^31 - 1.
/// Offsets of 32 bits can count as many. Other programs read these best, and Arrow has no others for maps.
pub(crate) const ELEMENTS_MAX: usize = i32::MAX as usize;

/// The columns that a column consists of.
#[derive(Debug, Clone)]
pub(super) struct NestedParts {
    /// Of lists and maps: 0, and for each row where its elements end. Of structs, nothing.
    pub(super) offsets: Vec<i32>,
    pub(super) fields: Arc<[Field]>,
    pub(super) children: Vec<Column>,
}

impl NestedParts {
    /// No rows yet of a field that is nested.
    pub(super) fn of(field: &Field) -> NestedParts {
        debug_assert!(field.data_type() == DataType::Struct || field.children().len() == 1);
        let fields = field.shared_children();
        let offsets = if field.data_type() == DataType::Struct { Vec::new() } else { vec![0] };
        NestedParts { offsets, children: fields.iter().map(Column::of).collect(), fields }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let children = self.children.iter().map(Column::memory_bytes);
        size_of::<Self>() + self.offsets.capacity() * size_of::<i32>() + children.sum::<usize>()
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        match self.offsets.is_empty() {
            true => self.children.iter_mut().for_each(|child| child.reserve(rows)),
            false => self.offsets.reserve(rows),
        }
    }

    pub(super) fn reserve_times(&mut self, times: usize) {
        self.offsets.reserve(self.offsets.len().saturating_mul(times));
        self.children.iter_mut().for_each(|child| child.reserve_times(times));
    }

    /// Keeps the first rows, also where one behind them was begun.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        let rows = self.offsets.last().map_or(rows, |end| *end as usize);
        self.children.iter_mut().for_each(|child| child.truncate(rows));
    }

    pub(super) fn push_null(&mut self) {
        match self.offsets.last() {
            Some(end) => self.offsets.push(*end),
            None => self.children.iter_mut().for_each(Column::push_null),
        }
    }
}

impl Column {
    /// The columns that a nested one consists of, as [`Field::children`] says; none of other types.
    pub fn children(&self) -> &[Column] {
        self.nested.as_ref().map(|nested| nested.children.as_slice()).unwrap_or_default()
    }

    /// The fields of [`Column::children`].
    pub fn child_fields(&self) -> &[Field] {
        self.nested.as_ref().map(|nested| &*nested.fields).unwrap_or_default()
    }

    /// Of lists and maps: 0, and for each row where its elements end in the one of [`Column::children`], which is where
    /// those of the next begin. Of others, nothing.
    pub fn list_offsets(&self) -> &[i32] {
        self.nested.as_ref().map(|nested| nested.offsets.as_slice()).unwrap_or_default()
    }

    /// The rows of the child that the elements of a row of a list or a map are.
    pub(crate) fn elements_of(&self, row: usize) -> std::ops::Range<usize> {
        match (self.list_offsets().get(row), self.list_offsets().get(row + 1)) {
            (Some(start), Some(end)) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The columns that a nested one consists of, for the values of a row: [`Column::end_list`] or [`Column::end_struct`]
    /// has to follow.
    #[inline(always)]
    pub fn children_mut(&mut self) -> &mut [Column] {
        self.nested.as_mut().map(|nested| nested.children.as_mut_slice()).unwrap_or_default()
    }

    /// Appends a list or a map of what was appended to its child.
    ///
    /// # Errors
    /// `Limit` where the rows have more than 2^31 - 1 elements together.
    #[inline]
    pub fn end_list(&mut self) -> Result<()> {
        let Some(nested) = &mut self.nested else { return Ok(()) };
        let end = nested.children.first().map_or(0, Column::len);
        match i32::try_from(end) {
            Ok(end) => nested.offsets.push(end),
            Err(_) => return Err(too_many_elements(end)),
        }
        self.validity.push(true);
        Ok(())
    }

    /// Appends a struct of what was appended to its children; a child without a value gets a null.
    #[inline]
    pub fn end_struct(&mut self) {
        self.validity.push(true);
        let rows = self.validity.len();
        for child in self.children_mut() {
            if child.len() < rows {
                child.push_null();
            }
        }
    }

    /// Returns the column with its children converted by `convert`, which is given the field of each.
    ///
    /// # Errors
    /// Those of `convert`.
    pub(in crate::batch) fn with_children(
        mut self,
        mut convert: impl FnMut(&Field, Column) -> Result<(Field, Column)>,
    ) -> Result<Column> {
        let Some(nested) = &mut self.nested else { return Ok(self) };
        let children = std::mem::take(&mut nested.children).into_iter();
        let converted =
            children.zip(nested.fields.iter()).map(|(child, field)| convert(field, child));
        let (fields, children) = converted.collect::<Result<(Vec<Field>, Vec<Column>)>>()?;
        (nested.fields, nested.children) = (fields.into(), children);
        Ok(self)
    }

    /// A column of lists that end where those of `self` end, with `elements` in them.
    pub(crate) fn lists_of(&self, element: &Field, elements: Column) -> Column {
        let nested = NestedParts {
            offsets: self.list_offsets().to_vec(),
            fields: [element.clone().named("item")].into(),
            children: vec![elements],
        };
        Column {
            validity: self.validity.clone(),
            null_count: self.null_count,
            nested: Some(Box::new(nested)),
            ..Column::new(DataType::List)
        }
    }
}

#[cold]
pub(super) fn too_many_elements(count: usize) -> Error {
    Error::limit("elements in the lists of a batch", ELEMENTS_MAX as u64, count as u64)
}
