//! Calls added up by method.

use std::collections::HashMap;

use super::Histogram;
use super::call::{Call, Outcome};

// Bound (Flows): distinct methods = 4,096.
/// Calls of others are added up under one name.
const METHODS_MAX: usize = 4096;

/// The name of all methods beyond [`METHODS_MAX`]. It is no identifier, so that no method has it.
const OTHERS: &str = "(others)";

/// Counts and latencies of the calls of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodSummary {
    /// Calls, of which one of call and answer may be missing.
    pub calls: u64,
    /// Calls that answered an exception or failed.
    pub errors: u64,
    /// Calls that failed in a way that they do not declare; they are errors, too.
    pub failures: u64,
    /// Calls whose answer is not in the capture, without those that have none.
    pub unanswered: u64,
    /// Calls that have no answer.
    pub oneway: u64,
    /// Bytes of the calls, with their frames.
    pub request_bytes: u64,
    /// Bytes of the answers, with their frames.
    pub reply_bytes: u64,
    /// Nanoseconds from the first byte of a call to the last one of its answer.
    pub latency: Histogram,
}

/// Calls by method, in bounded memory.
#[derive(Debug, Clone, Default)]
pub struct CallSummary {
    methods: HashMap<Box<str>, MethodSummary>,
}

impl CallSummary {
    /// No call yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a call.
    pub fn add(&mut self, call: &Call) {
        let known = self.methods.len() < METHODS_MAX || self.methods.contains_key(&call.method);
        let name = if known { &call.method } else { OTHERS };
        if let Some(method) = self.methods.get_mut(name) {
            return method.add(call);
        }
        self.methods.entry(name.into()).or_default().add(call);
    }

    /// The methods that were called, in the order of their names.
    pub fn into_sorted(self) -> Vec<(Box<str>, MethodSummary)> {
        let mut methods: Vec<_> = self.methods.into_iter().collect();
        methods.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        methods
    }

    /// Returns true if there was no call.
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }
}

impl MethodSummary {
    /// Counts a call.
    pub fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.errors += u64::from(call.outcome.is_error());
        self.failures += u64::from(call.outcome == Outcome::Failure);
        self.unanswered += u64::from(call.outcome == Outcome::Unanswered);
        self.oneway += u64::from(call.outcome == Outcome::Oneway);
        self.request_bytes = self.request_bytes.saturating_add(call.request_bytes.unwrap_or(0));
        self.reply_bytes = self.reply_bytes.saturating_add(call.reply_bytes.unwrap_or(0));
        if let Some(latency) = call.latency {
            self.latency.add(latency);
        }
    }

    /// Counts what another one has counted.
    pub fn merge(&mut self, other: &MethodSummary) {
        let sums = [
            (&mut self.calls, other.calls),
            (&mut self.errors, other.errors),
            (&mut self.failures, other.failures),
            (&mut self.unanswered, other.unanswered),
            (&mut self.oneway, other.oneway),
            (&mut self.request_bytes, other.request_bytes),
            (&mut self.reply_bytes, other.reply_bytes),
        ];
        for (sum, added) in sums {
            *sum = sum.saturating_add(added);
        }
        self.latency.merge(&other.latency);
    }

    /// Bytes of calls and answers.
    pub fn bytes(&self) -> u64 {
        self.request_bytes.saturating_add(self.reply_bytes)
    }
}
