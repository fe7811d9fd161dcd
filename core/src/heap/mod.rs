//! Records in memory that is never zeroed and never moves under who uses it.

pub mod record;
