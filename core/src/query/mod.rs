//! Queries on rows of any schema: which rows satisfy a condition, and the sums of rows by group.
//!
//! A [`Condition`] and a [`GroupBy`] are compiled for one [`Schema`](crate::batch::Schema). They read a row through a
//! function from the index of a field to its [`Value`](crate::batch::Value), and do not know packets or flows.

mod condition;
mod groups;
mod key;
mod lexer;
mod literal;
mod time;
mod time_bins;

pub use condition::Condition;
pub use groups::{GROUPS_MAX, GroupBy, Groups};
pub use time::{interval, time};
pub use time_bins::TimeBins;
