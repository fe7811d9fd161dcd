//! What the generators of inputs share, and a workload that must be the same for every engine.

pub mod random;
