//! Goal: on the same bytes, well-known parsers and ours say the same.
//!
//! Method: random and collected captures go through pcap-parser and our capture decoder, the frames
//! through etherparse and our packet decoder. A difference must be explained by a named rule.

mod capture;
mod packet;

use std::collections::BTreeMap;

/// Differences by the rule that explains them.
#[derive(Default)]
struct Tally {
    compared: usize,
    explained: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts a difference, or fails where no rule explains it.
    fn add(&mut self, rule: Option<&'static str>, difference: impl FnOnce() -> String) {
        let Some(rule) = rule else { panic!("unexplained: {}", difference()) };
        *self.explained.entry(rule).or_default() += 1;
    }

    fn print(&self, what: &str) {
        println!("{what}: {} compared, differences explained: {:?}", self.compared, self.explained);
    }
}
