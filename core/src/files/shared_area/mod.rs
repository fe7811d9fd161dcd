//! Memory that the processes which use one file share: who is there, whose turn it is to write, and which states are being
//! read. Nothing in it lasts: it counts for one start of the system and one file, and the disk may have any of it.
//!
//! An [`Attachment`] is one handle's place in it. Each has the file opened anew and keeps one byte of it locked, far behind
//! the data, so that the system tells whether it is there, however its process ends. A turn is a word that names the handle
//! which has it; who waits long takes it from one that is gone. What a dead handle read or pinned is freed by the next who
//! takes its record, and by [`Attachment::sweep`]. So a process can be killed at any instruction, and the others go on.
//!
//! A byte stays locked while any process has the open file: also children that were forked, and did not open anything. So
//! a handle is gone, too, if its process has ended as `/proc` tells. Where that is not known for sure, it is there.
//!
//! A forked child can use nothing of what it inherits here, and changes nothing by dropping it.

mod attachment;
mod kernel;
mod layout;
mod process;
mod reading;
mod turn;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod other_process;

pub(crate) use attachment::{Attachment, FoundArea};
pub(crate) use layout::{AREA_WORDS, TurnKind};
pub(crate) use reading::StatePin;
pub(crate) use turn::{SharedTurn, TurnWaiter};
