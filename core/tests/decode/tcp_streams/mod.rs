//! Goal: the bytes of a connection come out in order, whatever order its segments come in, with what is missing
//! told as gaps, in bounded memory, and the same on every run.
//!
//! Method: examples of what captures have; and random segments of known streams (late, twice, overlapping with
//! other content, lost, around 2^32) against a twin that keeps every byte by itself.

mod conversation;
mod examples;
mod memory;
mod twin;
