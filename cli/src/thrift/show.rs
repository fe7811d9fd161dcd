//! Values of a message as people read them.

mod people;

pub(super) use people::{line, people};
