//! Conditions on rows: `dst_port == 443 and (bytes > 1e6 or duration > 5s)`.

use std::cmp::Ordering;

use super::intervals::Intervals;
use super::literal::{Literal, Literals, compare, compare_values, integer};
use super::parser;
use super::text_test::TextTest;
use crate::Result;
use crate::batch::{Schema, Value};

/// Condition that rows have to fulfil.
///
/// ```text
/// condition   ::= all ("or" all)*
/// all         ::= test ("and" test)*
/// test        ::= "not" test | "(" condition ")" | comparison
/// comparison  ::= field ("==" | "!=" | "<" | "<=" | ">" | ">=") (value | field)
///               | field ["not"] "in" value ("," value)* | field ["not"] "in" "(" value ("," value)* ")"
///               | field "is" "null" | field "is" "not" "null"
///               | field "has" bits | field "&" bits [("==" | "!=") bits]       of a field of whole numbers
///               | field ("contains" | "startswith" | "endswith") text       of a field of text
///               | field ("~" | "!~") ("/" expression "/" | text)            likewise
///               | field                                                    of a field that is true or false
/// ```
///
/// Behind `==`, `!=` and `in`, a value may be a range of numbers, `53-80`, or a network. A word that is a field and no value, or is text
/// without quotes, is the field. `&&`, `||`, `!`, `=` and, for `~`, `matches` are other spellings. A field is one of the schema; `host` and `port` are those of either
/// side. A comparison with a field that has no value does not hold.
#[derive(Debug, Clone)]
pub struct Condition(ConditionNode);

/// A part of a condition. Fields are places of the schema.
#[derive(Debug, Clone)]
pub(super) enum ConditionNode {
    All(Vec<ConditionNode>),
    Any(Vec<ConditionNode>),
    Not(Box<ConditionNode>),
    Null(usize),
    Compare(usize, Operator, Literal),
    CompareFields(usize, Operator, usize),
    In(usize, Literals),
    Bits(usize, BitTest),
    Text(usize, Box<TextTest>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Condition {
    /// Compiles a condition on rows of `schema`.
    ///
    /// # Errors
    /// `Argument` with the column: for an unknown field, with the one that was probably meant; for a value that does not
    /// fit its field; for text that is not a condition.
    pub fn new(text: &str, schema: &Schema) -> Result<Self> {
        parser::parse(text, schema).map(Condition)
    }

    /// Both conditions.
    #[must_use]
    pub fn and(self, other: Condition) -> Condition {
        Condition(ConditionNode::All(vec![self.0, other.0]))
    }

    /// The places of the fields that it looks at.
    pub fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        self.0.add_places(&mut places);
        places
    }

    /// The integers that the field at a place may have in a row that fulfils it; all where the field may have no value.
    pub fn intervals(&self, place: usize) -> Intervals {
        self.0.intervals(place)
    }

    /// Returns true if a row fulfils it; `value` gives the value of the field at a place of the schema.
    #[inline]
    pub fn holds<'v>(&self, value: impl Fn(usize) -> Value<'v>) -> bool {
        self.0.holds(&value)
    }
}

impl ConditionNode {
    fn add_places(&self, places: &mut Vec<usize>) {
        match self {
            ConditionNode::All(nodes) | ConditionNode::Any(nodes) => {
                nodes.iter().for_each(|node| node.add_places(places));
            }
            ConditionNode::Not(node) => node.add_places(places),
            ConditionNode::CompareFields(place, _, other) => places.extend([*place, *other]),
            ConditionNode::Null(place)
            | ConditionNode::Compare(place, ..)
            | ConditionNode::In(place, _)
            | ConditionNode::Bits(place, _)
            | ConditionNode::Text(place, _) => places.push(*place),
        }
    }

    fn intervals(&self, place: usize) -> Intervals {
        match self {
            ConditionNode::All(nodes) => {
                nodes.iter().fold(Intervals::all(), |all, node| all.and(&node.intervals(place)))
            }
            ConditionNode::Any(nodes) => {
                let each = nodes.iter().map(|node| node.intervals(place));
                each.reduce(|any, more| any.or(&more)).unwrap_or(Intervals::of(Vec::new()))
            }
            ConditionNode::Compare(of, operator, Literal::Integer(number)) if *of == place => {
                operator.intervals(*number)
            }
            ConditionNode::In(of, literals) if *of == place => literals.intervals(),
            ConditionNode::Not(_)
            | ConditionNode::Null(_)
            | ConditionNode::Compare(..)
            | ConditionNode::CompareFields(..)
            | ConditionNode::In(..)
            | ConditionNode::Bits(..)
            | ConditionNode::Text(..) => Intervals::all(),
        }
    }

    fn holds<'v>(&self, value: &impl Fn(usize) -> Value<'v>) -> bool {
        match self {
            ConditionNode::All(nodes) => nodes.iter().all(|node| node.holds(value)),
            ConditionNode::Any(nodes) => nodes.iter().any(|node| node.holds(value)),
            ConditionNode::Not(node) => !node.holds(value),
            ConditionNode::Null(place) => value(*place).is_null(),
            ConditionNode::Compare(place, operator, literal) => {
                compare(&value(*place), literal).is_some_and(|order| operator.holds(order))
            }
            ConditionNode::In(place, literals) => literals.have(&value(*place)),
            more => more.holds_rarely(value),
        }
    }

    /// Checks a row by the rarer tests, apart from the others, so that the code for each packet stays small.
    #[inline(never)]
    fn holds_rarely<'v>(&self, value: &impl Fn(usize) -> Value<'v>) -> bool {
        match self {
            ConditionNode::CompareFields(place, operator, other) => {
                compare_values(&value(*place), &value(*other))
                    .is_some_and(|order| operator.holds(order))
            }
            ConditionNode::Text(place, test) => test.holds(&value(*place)),
            ConditionNode::Bits(place, test) => {
                integer(&value(*place)).is_some_and(|bits| test.holds(bits))
            }
            _ => false,
        }
    }
}

/// Test of the bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BitTest {
    /// One of these is set.
    Any(i128),
    /// Those in the mask are as in the number.
    Masked { mask: i128, expected: i128 },
}

impl BitTest {
    fn holds(self, bits: i128) -> bool {
        match self {
            BitTest::Any(mask) => bits & mask != 0,
            BitTest::Masked { mask, expected } => bits & mask == expected,
        }
    }
}

impl Operator {
    /// The integers that it holds for beside a number.
    fn intervals(self, number: i128) -> Intervals {
        let (first, last) = match self {
            Operator::Equal => (number, number),
            Operator::Less => (i128::MIN, number.saturating_sub(1)),
            Operator::LessOrEqual => (i128::MIN, number),
            Operator::Greater => (number.saturating_add(1), i128::MAX),
            Operator::GreaterOrEqual => (number, i128::MAX),
        };
        Intervals::between(first, last)
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Equal => order.is_eq(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
        }
    }
}
