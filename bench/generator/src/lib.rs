//! Code shared by the generators of inputs, and a workload that must be the same for every engine.

pub mod random;
