//! Levels of values in lists, structs and maps (<https://parquet.apache.org/docs/file-format/nestedencoding/>): how many of the
//! optional and repeated parts on the way to a value are there, and which of the repeated ones goes on.

use crate::batch::{Column, DataType, Field};

/// Levels of one column of Parquet, and the rows that have a value in the column of a batch that it is made of.
#[derive(Debug, Default)]
pub(super) struct LeafLevels {
    pub(super) definition: Vec<i16>,
    pub(super) repetition: Vec<i16>,
    pub(super) rows: Vec<u32>,
    /// True if there is a list or a map on the way.
    pub(super) is_repeated: bool,
}

/// A value on the way: its levels so far, and its row in the column that was reached, where it has one.
#[derive(Debug, Clone, Copy)]
struct LeveledValue {
    definition: i16,
    repetition: i16,
    row: Option<u32>,
}

/// The places of children that lead to each column of Parquet of a field, in their order.
pub(super) fn leaves(field: &Field) -> Vec<Vec<usize>> {
    if !field.data_type().is_nested() {
        return vec![Vec::new()];
    }
    let inside = field.children().iter().enumerate().flat_map(|(place, child)| {
        leaves(child).into_iter().map(move |mut leaf| {
            leaf.insert(0, place);
            leaf
        })
    });
    inside.collect()
}

impl LeafLevels {
    /// The column that is reached from `column` by the places of children, and its levels.
    pub(super) fn of<'c>(
        column: &'c Column,
        field: &Field,
        places: &[usize],
    ) -> (&'c Column, LeafLevels) {
        let rows = 0..column.len() as u32;
        let begun = |row| LeveledValue { definition: 0, repetition: 0, row: Some(row) };
        let mut slots: Vec<LeveledValue> = rows.map(begun).collect();
        let (mut column, mut field, mut repeated) = (column, field, 0);
        for place in places {
            define(&mut slots, column, field);
            if field.data_type() != DataType::Struct {
                repeated += 1;
                slots = repeat(&slots, column, repeated);
            }
            let child = (column.children().get(*place), field.children().get(*place));
            let (Some(inside), Some(inner)) = child else { break };
            (column, field) = (inside, inner);
        }
        define(&mut slots, column, field);
        let levels = LeafLevels {
            definition: slots.iter().map(|slot| slot.definition).collect(),
            repetition: slots.iter().map(|slot| slot.repetition).collect(),
            rows: slots.iter().filter_map(|slot| slot.row).collect(),
            is_repeated: repeated > 0,
        };
        (column, levels)
    }
}

/// Counts the values that are there, of a column that may have nulls.
fn define(slots: &mut [LeveledValue], column: &Column, field: &Field) {
    if !field.is_nullable() {
        return;
    }
    for slot in slots {
        slot.row = slot.row.filter(|row| column.is_valid(*row as usize));
        slot.definition += i16::from(slot.row.is_some());
    }
}

/// The elements of the lists or maps of a column, each of which goes on with the level `repeated` but for the first; a list
/// without elements stays as one slot.
fn repeat(slots: &[LeveledValue], column: &Column, repeated: i16) -> Vec<LeveledValue> {
    let mut inside = Vec::with_capacity(slots.len());
    for slot in slots {
        let elements = slot.row.map_or(0..0, |row| column.elements_of(row as usize));
        if elements.is_empty() {
            inside.push(LeveledValue { row: None, ..*slot });
        }
        for (place, row) in elements.enumerate() {
            let repetition = if place == 0 { slot.repetition } else { repeated };
            let (definition, row) = (slot.definition + 1, Some(row as u32));
            inside.push(LeveledValue { definition, repetition, row });
        }
    }
    inside
}
