//! Captures that a page in a browser reads by itself: one question over files, which the page lends piece by piece.
//!
//! [`PageQuestion`] is the work, and compiles anywhere. `border/` is the way in and out for the scripts of the page.

#[cfg(target_family = "wasm")]
mod border;
mod page_question;

pub use page_question::PageQuestion;
