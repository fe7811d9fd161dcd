//! Code that takes `unsafe`: each file holds one thing that the rest of the face can use safely.

#![allow(unsafe_code)]

mod arrow;
mod descriptor;
mod locked;
mod memory;
mod objects;
mod pending;

pub(crate) use arrow::read_schema;
pub(crate) use descriptor::{descriptor_of, duplicate};
pub(crate) use locked::{Locked, check as check_lock};
pub(crate) use memory::PinnedMemory;
pub(crate) use objects::{Fresh, Maker, changed, each_entry, list};
pub(crate) use pending::{raise_soon, run_soon};
