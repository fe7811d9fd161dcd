//! Goal: the Thrift calls of a capture are found, each once and with its answer, however their bytes are cut into
//! segments and whatever of them is lost; what is no Thrift gives none; memory is bounded.
//!
//! Method: messages are written by the core's writers, so that a test knows the calls that are in its segments;
//! samples and other people's captures stand beside them.

mod batches;
mod bounds;
mod captures;
mod header_frames;
mod json;
mod matching;
mod nothing;
mod random;
mod talk;
