//! Task `trees`: gcbench, by John Ellis, Pete Kovac and Hans Boehm. Binary trees of many sizes are made
//! and dropped beside one that lives on, from the leaves up and from the root down.
//!
//! A decoder holds what it found in memory that is taken by moving on and given back all at once.
//! In the core that is the tape of a Thrift message, an array of words that is used again for the next
//! message; `tape` holds trees in the same way. `bumpalo` is the arena that Rust programs use.

use std::cell::Cell;
use std::hint::black_box;

use bumpalo::Bump;
use table_workload::{Report, processor_s};

/// Of the smallest trees.
const DEPTH_MIN: u32 = 4;
/// Numbers in an array beside the tree that lives on.
const LIVING_NUMBERS: usize = 500_000;

#[derive(Clone, Copy)]
enum Order {
    LeavesFirst,
    RootFirst,
}

/// Memory in which trees live.
trait Forest: Default {
    /// Makes a tree and drops all of it. Gives the sum of the nodes' numbers on its left edge.
    fn tree(&mut self, depth: u32, order: Order) -> u64 {
        self.grow(depth, order);
        let sum = self.left_edge();
        self.clear();
        sum
    }

    /// Makes a tree. Leaves are made without a call of their own, in all forests: those would be most of it.
    fn grow(&mut self, depth: u32, order: Order);
    fn left_edge(&self) -> u64;
    fn clear(&mut self);
}

/// Runs gcbench with a tree of `depth` at first. `None` where there is no such engine.
pub fn run(engine: &str, depth: u32) -> Option<Report> {
    match engine {
        "tape" => Some(measure::<Tape>(depth)),
        "bumpalo" => Some(measure::<Arena>(depth)),
        "boxes" => Some(measure::<Boxes>(depth)),
        _ => None,
    }
}

fn measure<F: Forest>(depth: u32) -> Report {
    let start_s = processor_s();
    let (nodes, sum) = gcbench::<F>(depth);
    let pass_s = processor_s() - start_s;
    let mut report = Report::default();
    report.answer("nodes", nodes).answer("sum", sum).figure("pass_s", pass_s);
    report
}

/// Nodes made, and the sum of their left edges.
fn gcbench<F: Forest>(depth: u32) -> (u64, u64) {
    let mut forest = F::default();
    let mut sum = forest.tree(depth, Order::LeavesFirst);
    let living_depth = depth.saturating_sub(2).max(DEPTH_MIN);
    let mut living = F::default();
    living.grow(living_depth, Order::RootFirst);
    let numbers: Vec<f64> = (1..=LIVING_NUMBERS).map(|number| 1.0 / number as f64).collect();
    let mut nodes = node_count(depth) + node_count(living_depth);
    for tree_depth in (DEPTH_MIN..=living_depth).step_by(2) {
        let count = 2 * node_count(depth) / node_count(tree_depth);
        for order in [Order::RootFirst, Order::LeavesFirst] {
            for _ in 0..count {
                sum += black_box(&mut forest).tree(tree_depth, order);
            }
            nodes += count * node_count(tree_depth);
        }
    }
    black_box(&numbers);
    (nodes, sum + living.left_edge())
}

fn node_count(depth: u32) -> u64 {
    (2 << depth) - 1
}

/// Nodes in an array, which is emptied and kept. A node is named by its place, for which 32 bits are enough,
/// as they are on a tape.
#[derive(Default)]
struct Tape {
    nodes: Vec<TapeNode>,
    root: u32,
}

struct TapeNode {
    number: u64,
    left: u32,
    right: u32,
}

const NO_NODE: u32 = u32::MAX;

impl Tape {
    fn add(&mut self, number: u32, left: u32, right: u32) -> u32 {
        self.nodes.push(TapeNode { number: number.into(), left, right });
        self.nodes.len() as u32 - 1
    }

    fn leaves_first(&mut self, depth: u32) -> u32 {
        let (left, right) = match depth {
            1 => (self.add(0, NO_NODE, NO_NODE), self.add(0, NO_NODE, NO_NODE)),
            _ => (self.leaves_first(depth - 1), self.leaves_first(depth - 1)),
        };
        self.add(depth, left, right)
    }

    fn root_first(&mut self, node: u32, depth: u32) {
        let left = self.add(depth - 1, NO_NODE, NO_NODE);
        let right = self.add(depth - 1, NO_NODE, NO_NODE);
        let parent = &mut self.nodes[node as usize];
        (parent.left, parent.right) = (left, right);
        if depth > 1 {
            self.root_first(left, depth - 1);
            self.root_first(right, depth - 1);
        }
    }
}

impl Forest for Tape {
    fn grow(&mut self, depth: u32, order: Order) {
        self.root = match order {
            Order::LeavesFirst => self.leaves_first(depth),
            Order::RootFirst => self.add(depth, NO_NODE, NO_NODE),
        };
        if let Order::RootFirst = order {
            self.root_first(self.root, depth);
        }
    }

    fn left_edge(&self) -> u64 {
        let mut sum = 0;
        let mut place = self.root;
        while let Some(node) = self.nodes.get(place as usize) {
            sum += node.number + (node.right != NO_NODE) as u64;
            place = node.left;
        }
        sum
    }

    fn clear(&mut self) {
        self.nodes.clear();
    }
}

/// Nodes in chunks of memory that is taken by moving on.
#[derive(Default)]
struct Arena {
    memory: Bump,
    /// Sum of the last tree's left edge, as nothing may point into an arena that is emptied.
    left_edge: u64,
}

struct ArenaNode<'a> {
    number: u64,
    left: Cell<Option<&'a ArenaNode<'a>>>,
    right: Cell<Option<&'a ArenaNode<'a>>>,
}

fn arena_node(memory: &Bump, number: u32) -> &ArenaNode<'_> {
    memory.alloc(ArenaNode { number: number.into(), left: Cell::new(None), right: Cell::new(None) })
}

fn arena_leaves_first(memory: &Bump, depth: u32) -> &ArenaNode<'_> {
    let [left, right] = match depth {
        1 => [arena_node(memory, 0), arena_node(memory, 0)],
        _ => [arena_leaves_first(memory, depth - 1), arena_leaves_first(memory, depth - 1)],
    };
    let [left, right] = [Cell::new(Some(left)), Cell::new(Some(right))];
    memory.alloc(ArenaNode { number: depth.into(), left, right })
}

fn arena_root_first<'a>(memory: &'a Bump, node: &ArenaNode<'a>, depth: u32) {
    let [left, right] = [arena_node(memory, depth - 1), arena_node(memory, depth - 1)];
    node.left.set(Some(left));
    node.right.set(Some(right));
    if depth > 1 {
        arena_root_first(memory, left, depth - 1);
        arena_root_first(memory, right, depth - 1);
    }
}

impl Forest for Arena {
    fn grow(&mut self, depth: u32, order: Order) {
        let root = match order {
            Order::LeavesFirst => arena_leaves_first(&self.memory, depth),
            Order::RootFirst => arena_node(&self.memory, depth),
        };
        if let Order::RootFirst = order {
            arena_root_first(&self.memory, root, depth);
        }
        let mut next = Some(root);
        let mut sum = 0;
        while let Some(node) = next {
            sum += node.number + node.right.get().is_some() as u64;
            next = node.left.get();
        }
        self.left_edge = sum;
    }

    fn left_edge(&self) -> u64 {
        self.left_edge
    }

    fn clear(&mut self) {
        self.memory.reset();
    }
}

/// A piece of memory for each node, by the allocator that the program has.
#[derive(Default)]
struct Boxes {
    root: Option<Box<BoxedNode>>,
}

#[derive(Default)]
struct BoxedNode {
    number: u64,
    left: Option<Box<BoxedNode>>,
    right: Option<Box<BoxedNode>>,
}

fn boxed_node(number: u32) -> Box<BoxedNode> {
    Box::new(BoxedNode { number: number.into(), left: None, right: None })
}

fn boxed_leaves_first(depth: u32) -> Box<BoxedNode> {
    let (left, right) = match depth {
        1 => (boxed_node(0), boxed_node(0)),
        _ => (boxed_leaves_first(depth - 1), boxed_leaves_first(depth - 1)),
    };
    Box::new(BoxedNode { number: depth.into(), left: Some(left), right: Some(right) })
}

fn boxed_root_first(node: &mut BoxedNode, depth: u32) {
    let left = node.left.insert(boxed_node(depth - 1));
    let right = node.right.insert(boxed_node(depth - 1));
    if depth > 1 {
        boxed_root_first(left, depth - 1);
        boxed_root_first(right, depth - 1);
    }
}

impl Forest for Boxes {
    fn grow(&mut self, depth: u32, order: Order) {
        self.root = Some(match order {
            Order::LeavesFirst => boxed_leaves_first(depth),
            Order::RootFirst => {
                let mut root = boxed_node(depth);
                boxed_root_first(&mut root, depth);
                root
            }
        });
    }

    fn left_edge(&self) -> u64 {
        let mut sum = 0;
        let mut next = &self.root;
        while let Some(node) = next {
            sum += node.number + node.right.is_some() as u64;
            next = &node.left;
        }
        sum
    }

    fn clear(&mut self) {
        self.root = None;
    }
}
