//! Conditions on rows: `dst_port == 443 and (bytes > 1e6 or duration > 5s)`.

use std::cmp::Ordering;

use super::lexer::{QueryToken, TokenKind, column_of, tokens, wrong};
use super::literal::{Literal, Literals, compare};
use crate::batch::{DataType, Field, Schema, Value, wireshark_names};
use crate::{Error, Result};

/// Maximum depth of nested parentheses and `not`.
const DEPTH_MAX: usize = 64;

/// Names that stand for a field of either side, as in libpcap's expressions.
const EITHER: [(&str, [&str; 2]); 2] =
    [("host", ["src_ip", "dst_ip"]), ("port", ["src_port", "dst_port"])];

/// Condition that rows have to fulfil.
///
/// ```text
/// condition   ::= all ("or" all)*
/// all         ::= test ("and" test)*
/// test        ::= "not" test | "(" condition ")" | comparison
/// comparison  ::= field ("==" | "!=" | "<" | "<=" | ">" | ">=") value
///               | field "in" value | field "in" "(" value ("," value)* ")"
///               | field "is" "null" | field "is" "not" "null"
///               | field                                                    of a field that is true or false
/// ```
///
/// `&&`, `||`, `!` and `=` are other spellings. A field is one of the schema; `host` and `port` are those of either
/// side. A comparison with a field that has no value does not hold.
#[derive(Debug, Clone)]
pub struct Condition(ConditionNode);

#[derive(Debug, Clone)]
enum ConditionNode {
    All(Vec<ConditionNode>),
    Any(Vec<ConditionNode>),
    Not(Box<ConditionNode>),
    Null(usize),
    Compare(usize, Operator, Literal),
    In(usize, Literals),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
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
        let end = column_of(text, text.len());
        let mut parser = ConditionParser { tokens: tokens(text)?, at: 0, end, schema, depth: 0 };
        let node = parser.any()?;
        match parser.peek() {
            None => Ok(Condition(node)),
            Some(_) => Err(parser.refusal("and, or, or the end")),
        }
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
            ConditionNode::Null(place)
            | ConditionNode::Compare(place, ..)
            | ConditionNode::In(place, _) => places.push(*place),
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
        }
    }
}

impl Operator {
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

struct ConditionParser<'s> {
    tokens: Vec<QueryToken>,
    at: usize,
    /// The column behind the last word.
    end: usize,
    schema: &'s Schema,
    depth: usize,
}

impl ConditionParser<'_> {
    fn any(&mut self) -> Result<ConditionNode> {
        let mut nodes = vec![self.all()?];
        while self.takes(&["or", "||"]) {
            nodes.push(self.all()?);
        }
        Ok(single_or(nodes, ConditionNode::Any))
    }

    fn all(&mut self) -> Result<ConditionNode> {
        let mut nodes = vec![self.test()?];
        while self.takes(&["and", "&&"]) {
            nodes.push(self.test()?);
        }
        Ok(single_or(nodes, ConditionNode::All))
    }

    fn test(&mut self) -> Result<ConditionNode> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.refusal(&format!("at most {DEPTH_MAX} parentheses in each other")));
        }
        let node = if self.takes(&["not", "!"]) {
            ConditionNode::Not(Box::new(self.test()?))
        } else if self.takes(&["("]) {
            let inside = self.any()?;
            self.take(")")?;
            inside
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn comparison(&mut self) -> Result<ConditionNode> {
        let places = self.field()?;
        let of_each = |test: &dyn Fn(usize) -> ConditionNode| {
            single_or(places.iter().map(|place| test(*place)).collect(), ConditionNode::Any)
        };
        let data_type = self.data_type(&places);
        if self.takes(&["is"]) {
            let is_not = self.takes(&["not"]);
            self.take("null")?;
            // Of two sides, one that has a value is enough.
            let is_null = ConditionNode::All(
                places.iter().map(|place| ConditionNode::Null(*place)).collect(),
            );
            return Ok(if is_not { ConditionNode::Not(Box::new(is_null)) } else { is_null });
        }
        if self.takes(&["in"]) {
            let literals = Literals::new(self.literals(data_type)?);
            return Ok(of_each(&|place| ConditionNode::In(place, literals.clone())));
        }
        if self.takes(&["!="]) {
            let literals = Literals::new(vec![self.literal(data_type)?]);
            let differs = |place| {
                let equal = ConditionNode::In(place, literals.clone());
                ConditionNode::All(vec![
                    ConditionNode::Not(Box::new(ConditionNode::Null(place))),
                    ConditionNode::Not(Box::new(equal)),
                ])
            };
            // Neither side is it.
            return Ok(ConditionNode::All(places.iter().map(|place| differs(*place)).collect()));
        }
        let Some(operator) = self.operator() else {
            return match data_type {
                DataType::Bool => Ok(of_each(&|place| {
                    ConditionNode::Compare(place, Operator::Equal, Literal::Bool(true))
                })),
                _ => Err(self.refusal("==, !=, <, <=, >, >=, in or is")),
            };
        };
        let column = self.column();
        let literal = self.literal(data_type)?;
        match (&literal, operator) {
            (Literal::Network { .. }, Operator::Equal) => {
                let literals = Literals::new(vec![literal]);
                Ok(of_each(&|place| ConditionNode::In(place, literals.clone())))
            }
            (Literal::Network { .. } | Literal::Bool(_), operator)
                if operator != Operator::Equal =>
            {
                Err(wrong(column, "a number or a time behind < and >", data_type.name()))
            }
            _ => Ok(of_each(&|place| ConditionNode::Compare(place, operator, literal.clone()))),
        }
    }

    /// The places of a field, or of both sides' fields.
    fn field(&mut self) -> Result<Vec<usize>> {
        let column = self.column();
        let Some(QueryToken { kind: TokenKind::Word(name), .. }) = self.next() else {
            self.at = self.at.saturating_sub(1);
            return Err(self.refusal("a field"));
        };
        if let Some(place) = self.schema.find(&name) {
            return Ok(vec![place]);
        }
        self.sides(&name).ok_or_else(|| {
            let error = self.no_field(&name);
            Error::new(error.kind(), format!("condition, column {column}: {}", error.message()))
        })
    }

    /// The places of the fields of both sides that a name stands for.
    fn sides(&self, name: &str) -> Option<Vec<usize>> {
        let (_, sides) = EITHER.iter().find(|(either, _)| *either == name)?;
        sides.iter().map(|side| self.schema.find(side)).collect()
    }

    /// The error of a name that no field has.
    fn no_field(&self, name: &str) -> Error {
        match wireshark_names::ours(name).filter(|ours| self.sides(ours).is_some()) {
            Some(either) => self.schema.no_field_but(name, Some(either)),
            None => self.schema.no_field(name),
        }
    }

    fn data_type(&self, places: &[usize]) -> DataType {
        let field = places.first().and_then(|place| self.schema.fields().get(*place));
        field.map_or(DataType::Bool, Field::data_type)
    }

    fn operator(&mut self) -> Option<Operator> {
        let operators = [
            ("==", Operator::Equal),
            ("=", Operator::Equal),
            ("<", Operator::Less),
            ("<=", Operator::LessOrEqual),
            (">", Operator::Greater),
            (">=", Operator::GreaterOrEqual),
        ];
        operators.into_iter().find(|(sign, _)| self.takes(&[sign])).map(|(_, operator)| operator)
    }

    fn literals(&mut self, data_type: DataType) -> Result<Vec<Literal>> {
        if !self.takes(&["("]) {
            return Ok(vec![self.literal(data_type)?]);
        }
        let mut literals = vec![self.literal(data_type)?];
        while self.takes(&[","]) {
            literals.push(self.literal(data_type)?);
        }
        self.take(")")?;
        Ok(literals)
    }

    fn literal(&mut self, data_type: DataType) -> Result<Literal> {
        match self.peek().and_then(|token| Literal::read(&token.kind, data_type)) {
            Some(literal) => {
                self.at += 1;
                Ok(literal)
            }
            None => Err(self.refusal(&Literal::expected(data_type))),
        }
    }

    fn peek(&self) -> Option<&QueryToken> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<QueryToken> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Takes the next word if it is one of these.
    fn takes(&mut self, words: &[&str]) -> bool {
        let is_one = self.peek().is_some_and(|token| match &token.kind {
            TokenKind::Word(word) => words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)),
            TokenKind::Sign(sign) => words.contains(sign),
            TokenKind::Quoted(_) => false,
        });
        self.at += usize::from(is_one);
        is_one
    }

    fn take(&mut self, word: &str) -> Result<()> {
        if self.takes(&[word]) { Ok(()) } else { Err(self.refusal(word)) }
    }

    fn column(&self) -> usize {
        self.peek().map_or(self.end, |token| token.column)
    }

    fn refusal(&self, expected: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |token| token.kind.shown());
        wrong(self.column(), expected, &found)
    }
}

/// The only one of them, or what they make together.
fn single_or(
    mut nodes: Vec<ConditionNode>,
    together: impl FnOnce(Vec<ConditionNode>) -> ConditionNode,
) -> ConditionNode {
    match nodes.pop() {
        Some(node) if nodes.is_empty() => node,
        Some(node) => {
            nodes.push(node);
            together(nodes)
        }
        None => together(nodes),
    }
}
