//! Questions about rows, whatever they are rows of: which of them hold a condition, and what they add up to by group.
//!
//! A [`Condition`] and a [`GroupBy`] are compiled for one [`Schema`](crate::batch::Schema), and then shown rows as
//! functions from the place of a field to its [`Value`](crate::batch::Value). They know nothing of packets or flows.

mod condition;
mod groups;
mod key;
mod lexer;
mod literal;
mod time_bins;

pub use condition::Condition;
pub use groups::{GROUPS_MAX, GroupBy, Groups};
pub use literal::{interval, time};
pub use time_bins::TimeBins;
