//! Queries on rows of any schema: which rows satisfy a condition, and the sums of rows by group.
//!
//! A [`Condition`] and a [`GroupBy`] are compiled for one [`Schema`](crate::batch::Schema). They read a row through a
//! function from the index of a field to its [`Value`](crate::batch::Value), and do not know packets or flows.

mod condition;
mod distinct;
mod group_key;
mod group_sum;
mod groups;
mod histogram;
mod intervals;
mod key;
mod lexer;
mod literal;
mod measure;
mod numbered_groups;
mod parser;
mod sides;
mod text_test;
mod time;
mod time_bins;

pub use condition::Condition;
pub use group_sum::Ways;
pub use groups::{GROUPS_MAX, GroupBy, Groups};
pub use histogram::Histogram;
pub use intervals::Intervals;
pub use time::{interval, now, shift, time};
pub use time_bins::TimeBins;
