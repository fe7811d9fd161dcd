//! Rows that are copied from one column to another of the same type.

use std::ops::Range;

use super::Column;
use super::nested::too_many_elements;
use crate::Result;

impl Column {
    /// Appends all rows of another column. Where this one has none, nothing is copied.
    ///
    /// # Errors
    /// `Limit` as for [`Column::end_list`].
    pub(crate) fn append(&mut self, from: Column) -> Result<()> {
        if self.is_empty() {
            *self = from;
            return Ok(());
        }
        self.append_rows(&from, 0..from.len())
    }

    /// Appends rows of another column of the same type.
    ///
    /// # Errors
    /// `Limit` as for [`Column::end_list`].
    pub(crate) fn append_rows(&mut self, from: &Column, rows: Range<usize>) -> Result<()> {
        debug_assert_eq!(self.data_type, from.data_type);
        let before = self.len();
        self.validity.extend_range(&from.validity, rows.clone());
        self.null_count += match from.null_count {
            0 => 0,
            _ => (before..self.len()).filter(|row| !self.is_valid(*row)).count(),
        };
        match self.data_type.width() {
            Some(width) => {
                let values = from.values.get(rows.start * width..rows.end * width);
                self.values.extend_from_slice(values.unwrap_or_default());
            }
            None if self.data_type.is_variable() => self.append_bytes(from, rows),
            None if self.nested.is_none() => self.bools.extend_range(&from.bools, rows),
            None => self.append_nested(from, rows)?,
        }
        Ok(())
    }

    fn append_bytes(&mut self, from: &Column, rows: Range<usize>) {
        let offsets = from.offsets.get(rows.start..=rows.end).unwrap_or_default();
        let (Some(start), Some(end)) = (offsets.first(), offsets.last()) else { return };
        let moved = self.values.len() as i64 - start;
        let values = from.values.get(*start as usize..*end as usize);
        self.values.extend_from_slice(values.unwrap_or_default());
        self.offsets.extend(offsets.iter().skip(1).map(|end| end + moved));
    }

    fn append_nested(&mut self, from: &Column, rows: Range<usize>) -> Result<()> {
        let (Some(nested), Some(given)) = (&mut self.nested, &from.nested) else { return Ok(()) };
        let mut inside = rows.clone();
        if !nested.offsets.is_empty() {
            let offsets = given.offsets.get(rows.start..=rows.end).unwrap_or_default();
            let (Some(start), Some(end)) = (offsets.first(), offsets.last()) else { return Ok(()) };
            inside = *start as usize..*end as usize;
            let before = nested.offsets.last().copied().unwrap_or_default();
            let moved = i64::from(before) - i64::from(*start);
            if i32::try_from(i64::from(*end) + moved).is_err() {
                return Err(too_many_elements((i64::from(*end) + moved) as usize));
            }
            nested
                .offsets
                .extend(offsets.iter().skip(1).map(|end| (i64::from(*end) + moved) as i32));
        }
        for (child, given) in nested.children.iter_mut().zip(&given.children) {
            child.append_rows(given, inside.clone())?;
        }
        Ok(())
    }

    /// Returns a column with the rows that are listed, in that order.
    ///
    /// # Errors
    /// `Limit` as for [`Column::end_list`].
    pub(crate) fn gather(&self, rows: &[u32]) -> Result<Column> {
        let mut gathered = self.emptied();
        match self.data_type.width() {
            Some(1) => self.gather_fixed::<1>(rows, &mut gathered),
            Some(2) => self.gather_fixed::<2>(rows, &mut gathered),
            Some(4) => self.gather_fixed::<4>(rows, &mut gathered),
            Some(8) => self.gather_fixed::<8>(rows, &mut gathered),
            _ => {
                for row in rows {
                    let row = *row as usize;
                    gathered.append_rows(self, row..row + 1)?;
                }
            }
        }
        Ok(gathered)
    }

    fn gather_fixed<const N: usize>(&self, rows: &[u32], into: &mut Column) {
        let (values, _) = self.values.as_chunks::<N>();
        let value = |row: &u32| values.get(*row as usize).copied().unwrap_or([0; N]);
        into.extend_fixed(rows.iter().map(value));
        if self.null_count == 0 {
            return into.extend_validity_with(true, rows.len());
        }
        for row in rows {
            into.extend_validity_with(self.is_valid(*row as usize), 1);
        }
    }

    /// A column of the same type without rows.
    pub(crate) fn emptied(&self) -> Column {
        let mut nested = self.nested.as_ref().map(|nested| super::NestedParts {
            offsets: if nested.offsets.is_empty() { Vec::new() } else { vec![0] },
            fields: nested.fields.clone(),
            children: Vec::new(),
        });
        if let (Some(emptied), Some(nested)) = (&mut nested, &self.nested) {
            emptied.children = nested.children.iter().map(Column::emptied).collect();
        }
        Column { nested: nested.map(Box::new), ..Column::new(self.data_type) }
    }

    /// Bytes that the values of rows take, without validity and offsets of text.
    pub(crate) fn value_bytes(&self, rows: Range<usize>) -> u64 {
        let Some(nested) = &self.nested else {
            return match self.data_type.width() {
                Some(width) => (rows.len() * width) as u64,
                None => match (self.offsets.get(rows.start), self.offsets.get(rows.end)) {
                    (Some(start), Some(end)) => (end - start) as u64 + 8 * rows.len() as u64,
                    _ => rows.len() as u64,
                },
            };
        };
        let (inside, own) = match (nested.offsets.get(rows.start), nested.offsets.get(rows.end)) {
            (Some(start), Some(end)) => (*start as usize..*end as usize, 4 * rows.len() as u64),
            _ => (rows.clone(), rows.len() as u64),
        };
        nested.children.iter().fold(own, |sum, child| sum + child.value_bytes(inside.clone()))
    }
}
