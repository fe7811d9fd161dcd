//! Values of a message as people read them.

mod text;

pub(super) use text::{line, text};
