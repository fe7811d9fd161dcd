//! Facts about a capture, as a Hash.

use bytewright::ask::{CaptureInfo, CutTotals, InfoField};
use bytewright::batch::Batch;
use magnus::{Error, Ruby, Value, prelude::*};

use crate::error::damage;
use crate::record::{fact_of, row_to_hash};

/// The facts of `info` under the names that the command's `--json` prints.
pub(crate) fn to_hash(ruby: &Ruby, info: &CaptureInfo) -> Result<Value, Error> {
    let batch = info.to_batch();
    let hash = ruby.hash_new();
    for (place, field) in InfoField::ALL.iter().enumerate() {
        let value = batch.value(0, place);
        let object = match field {
            InfoField::Format | InfoField::ByteOrder | InfoField::Compression => {
                ruby.to_symbol(value.text().unwrap_or_default()).as_value()
            }
            InfoField::Interfaces => rows(ruby, &info.interface_rows())?,
            InfoField::LinkTypes => rows(ruby, &info.link_type_rows())?,
            InfoField::Damage => damage(ruby, info.damage.as_ref())?,
            _ => fact_of(ruby, value)?,
        };
        hash.aset(ruby.to_symbol(field.name()), object)?;
    }
    Ok(hash.as_value())
}

/// Returns the totals of a cut; the damage of the capture that was read is an error in it, or nil.
pub(crate) fn cut_to_hash(ruby: &Ruby, totals: &CutTotals) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    for (name, count) in totals.counts() {
        hash.aset(ruby.to_symbol(name), count)?;
    }
    hash.aset(ruby.to_symbol("damage"), damage(ruby, totals.damage.first())?)?;
    Ok(hash.as_value())
}

/// A Hash for each row.
pub(crate) fn rows(ruby: &Ruby, batch: &Batch) -> Result<Value, Error> {
    let list = ruby.ary_new_capa(batch.len());
    for row in 0..batch.len() {
        list.push(row_to_hash(ruby, batch, row)?)?;
    }
    Ok(list.as_value())
}
