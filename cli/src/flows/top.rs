//! The largest flows of any number, with only those in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytewright::flow::Flow;

use crate::args::Size;

pub(super) struct Top {
    count: usize,
    by: Size,
    /// Flows pushed so far: of two that are alike, the earlier is the larger.
    pushed: u64,
    /// The smallest comes first, to be the first to go.
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Top {
    pub(super) fn new(count: usize, by: Size) -> Self {
        Top { count, by, pushed: 0, heap: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, flow: Flow) {
        let rank = (size(&flow, self.by), Reverse(self.pushed));
        self.pushed += 1;
        if self.heap.len() < self.count {
            self.heap.push(Reverse(Ranked { rank, flow }));
        } else if let Some(mut smallest) = self.heap.peek_mut()
            && rank > smallest.0.rank
        {
            *smallest = Reverse(Ranked { rank, flow });
        }
    }

    /// The flows, the largest first.
    pub(super) fn into_sorted(self) -> Vec<Flow> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked.flow).collect()
    }
}

fn size(flow: &Flow, by: Size) -> u64 {
    match by {
        Size::Bytes => flow.bytes().saturating_add(flow.rev_bytes()),
        Size::Packets => flow.packets().saturating_add(flow.rev_packets()),
        Size::Duration => flow.duration().unwrap_or(0),
    }
}

/// A flow that is ordered by its rank.
struct Ranked {
    rank: (u64, Reverse<u64>),
    flow: Flow,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ranked {}
