//! The text of a condition, read as what it means for the fields of a schema.

use super::condition::{BitTest, ConditionNode, Operator};
use super::lexer::{QueryToken, TokenKind, column_of, tokens, wrong};
use super::literal::{Literal, Literals, are_comparable};
use super::sides::sides;
use super::text_test::TextTest;
use crate::batch::{DataType, Field, Schema, wireshark_names};
use crate::{Error, ErrorKind, Result};

// Bound (Queries): nesting of a condition = 64.
/// Parentheses and `not` in each other.
const DEPTH_MAX: usize = 64;

// Bound (Queries): regular expressions of a condition = 64.
const EXPRESSIONS_MAX: usize = 64;

/// Reads a condition on rows of `schema`.
///
/// # Errors
/// Those of [`Condition::new`](super::Condition::new).
pub(super) fn parse(text: &str, schema: &Schema) -> Result<ConditionNode> {
    let end = column_of(text, text.len());
    let mut parser =
        ConditionParser { tokens: tokens(text)?, at: 0, end, schema, depth: 0, expressions: 0 };
    let node = parser.any()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.refusal("and, or, or the end")),
    }
}

/// A field that is compared, or those of both sides.
struct ComparedField {
    places: Vec<usize>,
    data_type: DataType,
}

impl ComparedField {
    /// True for whole numbers, of which bits can be told.
    fn has_bits(&self) -> bool {
        self.data_type.is_integer() || self.data_type == DataType::TcpFlags
    }

    /// True for text and for bytes.
    fn has_text(&self) -> bool {
        match self.data_type {
            DataType::Text | DataType::Json | DataType::Bytes => true,
            DataType::Enumeration(names) => names.is_closed,
            _ => false,
        }
    }

    /// The operators that it may be in front of, for errors.
    fn operators(&self) -> &'static str {
        if self.has_bits() {
            "==, !=, <, <=, >, >=, &, has, in, not in or is"
        } else if self.has_text() {
            "==, !=, <, <=, >, >=, contains, startswith, endswith, ~, !~, in, not in or is"
        } else {
            "==, !=, <, <=, >, >=, in, not in or is"
        }
    }

    /// One of the sides passes a test.
    fn any(&self, test: impl Fn(usize) -> ConditionNode) -> ConditionNode {
        single_or(self.places.iter().map(|place| test(*place)).collect(), ConditionNode::Any)
    }

    /// Each of the sides has a value, which does not pass a test.
    fn none(&self, test: impl Fn(usize) -> ConditionNode) -> ConditionNode {
        let not = |node| ConditionNode::Not(Box::new(node));
        let fails =
            |place| ConditionNode::All(vec![not(ConditionNode::Null(place)), not(test(place))]);
        ConditionNode::All(self.places.iter().map(|place| fails(*place)).collect())
    }
}

struct ConditionParser<'s> {
    tokens: Vec<QueryToken>,
    at: usize,
    /// The column behind the last word.
    end: usize,
    schema: &'s Schema,
    depth: usize,
    /// Regular expressions so far.
    expressions: usize,
}

impl ConditionParser<'_> {
    // Row (conditions, logic): `and`, `or`, `not`, `( )` | `and` before `or`; also `&&`, `||`, `!`
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
        let field = self.field()?;
        if self.takes(&["is"]) {
            return self.is_null(&field);
        }
        if field.has_bits() {
            if self.takes(&["&"]) {
                return self.masked(&field);
            }
            // Row (conditions, flags): `tcp_flags has SYN`, `tcp_flags has SYN+ACK` | these flags are set, whatever
            // others are: `FIN`, `SYN`, `RST`, `PSH`, `ACK`, `URG`, `ECE`, `CWR`, `NS`; or letters, as in the output
            // (`SA`) and as of tcpdump (`S.`)
            if self.takes(&["has"]) {
                let mask = self.bits(&field)?;
                let test = BitTest::Masked { mask, expected: mask };
                return Ok(field.any(|place| ConditionNode::Bits(place, test)));
            }
        }
        if field.has_text()
            && let Some(node) = self.tested(&field)?
        {
            return Ok(node);
        }
        // Row (conditions, lists): `src_ip in 10.0.0.0/8`, `dst_port in (80, 443)` | the address is in the network; the
        // value is one of these. The parentheses may be left out. With `not in`, it has a value, which is none of these
        let is_not = self.takes(&["not"]);
        if is_not || self.takes(&["in"]) {
            if is_not {
                self.take("in")?;
            }
            let literals = Literals::new(self.literals(field.data_type)?);
            let is_one = |place| ConditionNode::In(place, literals.clone());
            return Ok(if is_not { field.none(is_one) } else { field.any(is_one) });
        }
        if self.takes(&["!="]) {
            return self.unequal(&field);
        }
        match self.operator() {
            Some(operator) => self.compared(&field, operator),
            None if field.data_type == DataType::Bool => {
                let is_true =
                    |place| ConditionNode::Compare(place, Operator::Equal, Literal::Bool(true));
                Ok(field.any(is_true))
            }
            None => Err(self.refusal(field.operators())),
        }
    }

    // Row (conditions, null): `vlan is null`, `vlan is not null` | the row has no value in that field, or has one
    /// Reads what stands behind `is`.
    fn is_null(&mut self, field: &ComparedField) -> Result<ConditionNode> {
        let is_not = self.takes(&["not"]);
        self.take("null")?;
        // Of two sides, one that has a value is enough.
        let places = field.places.iter();
        let is_null = ConditionNode::All(places.map(|place| ConditionNode::Null(*place)).collect());
        Ok(if is_not { ConditionNode::Not(Box::new(is_null)) } else { is_null })
    }

    // Row (conditions, flags): `tcp_flags & 0x12`, `tcp_flags & SA == S` | one of these bits is set; of these bits,
    // exactly those are. `has` and `&` take any field of whole numbers: `length & 1`
    /// Reads what stands behind `&`: a mask, and what is left by it.
    fn masked(&mut self, field: &ComparedField) -> Result<ConditionNode> {
        let mask = self.bits(field)?;
        let is_other = self.takes(&["!="]);
        if !is_other && !self.takes(&["==", "="]) {
            return Ok(field.any(|place| ConditionNode::Bits(place, BitTest::Any(mask))));
        }
        let test = BitTest::Masked { mask, expected: self.bits(field)? };
        let is_it = |place| ConditionNode::Bits(place, test);
        Ok(if is_other { field.none(is_it) } else { field.any(is_it) })
    }

    /// The bits of a number, or of the flags that are named.
    fn bits(&mut self, field: &ComparedField) -> Result<i128> {
        let at = self.at;
        match self.literal(field.data_type)? {
            Literal::Integer(bits) => Ok(bits),
            _ => {
                self.at = at;
                Err(self.refusal("a whole number, such as 0x12"))
            }
        }
    }

    // Row (conditions, text): `dns_query contains shop`, `startswith`, `endswith` | the text contains that, or begins
    // or ends with it; case matters
    /// A test of text; none where another operator stands here.
    fn tested(&mut self, field: &ComparedField) -> Result<Option<ConditionNode>> {
        let (test, is_none) = if self.takes(&["contains"]) {
            (TextTest::contains(&self.text()?), false)
        } else if self.takes(&["startswith"]) {
            (TextTest::starts_with(&self.text()?), false)
        } else if self.takes(&["endswith"]) {
            (TextTest::ends_with(&self.text()?), false)
        } else if self.takes(&["!~"]) {
            (self.expression()?, true)
        } else if self.takes(&["~", "matches"]) {
            (self.expression()?, false)
        } else {
            return Ok(None);
        };
        let passes = |place| ConditionNode::Text(place, Box::new(test.clone()));
        Ok(Some(if is_none { field.none(passes) } else { field.any(passes) }))
    }

    fn text(&mut self) -> Result<String> {
        match self.next().map(|token| token.kind) {
            Some(TokenKind::Word(text) | TokenKind::Quoted(text)) => Ok(text),
            _ => {
                self.at -= 1;
                Err(self.refusal("text"))
            }
        }
    }

    // Row (conditions, text): `dns_query ~ /^www[0-9]*[.]/`, also `matches`, `!~` | a part of the text matches the
    // regular expression, in the [syntax of the crate regex](https://docs.rs/regex/#syntax), between slashes or quotes.
    // `(?i)` at its beginning ignores case
    /// A regular expression between slashes or quotes.
    fn expression(&mut self) -> Result<TextTest> {
        // Of the first character behind the slash or the quote.
        let column = self.column() + 1;
        match self.next().map(|token| token.kind) {
            Some(TokenKind::Expression(text) | TokenKind::Quoted(text)) => {
                self.expressions += 1;
                if self.expressions > EXPRESSIONS_MAX {
                    self.at -= 1;
                    return Err(
                        self.refusal(&format!("at most {EXPRESSIONS_MAX} regular expressions"))
                    );
                }
                TextTest::matches(&text, column)
            }
            _ => {
                self.at -= 1;
                Err(self.refusal("a regular expression, such as /^get/ or '^get'"))
            }
        }
    }

    /// Reads what stands behind an operator.
    fn compared(&mut self, field: &ComparedField, operator: Operator) -> Result<ConditionNode> {
        let column = self.column();
        let needs_order =
            || wrong(column, "a number or a time behind < and >", field.data_type.name());
        if let Some(other) = self.other_field(field)? {
            return match field.data_type {
                DataType::Address | DataType::Bool if operator != Operator::Equal => {
                    Err(needs_order())
                }
                _ => Ok(field.any(|place| {
                    other.any(|other| ConditionNode::CompareFields(place, operator, other))
                })),
            };
        }
        let literal = match operator {
            Operator::Equal => self.literal_or_range(field.data_type)?,
            _ => self.literal(field.data_type)?,
        };
        match (&literal, operator) {
            (Literal::Network { .. } | Literal::Range(_), Operator::Equal) => {
                let literals = Literals::new(vec![literal]);
                Ok(field.any(|place| ConditionNode::In(place, literals.clone())))
            }
            (Literal::Network { .. } | Literal::Bool(_), operator)
                if operator != Operator::Equal =>
            {
                Err(needs_order())
            }
            // Row (conditions, flags): `tcp_flags == SA` | these flags are set, and no others
            _ => Ok(field.any(|place| ConditionNode::Compare(place, operator, literal.clone()))),
        }
    }

    /// Reads what stands behind `!=`.
    fn unequal(&mut self, field: &ComparedField) -> Result<ConditionNode> {
        if let Some(other) = self.other_field(field)? {
            // Values that are there, and differ, on each side.
            return Ok(ConditionNode::All(vec![
                other.none(|_| ConditionNode::Any(Vec::new())),
                field.none(|place| {
                    other.any(|other| ConditionNode::CompareFields(place, Operator::Equal, other))
                }),
            ]));
        }
        let literals = Literals::new(vec![self.literal_or_range(field.data_type)?]);
        Ok(field.none(|place| ConditionNode::In(place, literals.clone())))
    }

    // Row (conditions, fields): `src_ip == dst_ip`, `src_port < dst_port` | two fields of one kind, both present. Text
    // in quotes is never a field
    /// The field that another one is compared with, where the next word is not a value.
    fn other_field(&mut self, field: &ComparedField) -> Result<Option<ComparedField>> {
        let Some(QueryToken { kind, column }) = self.peek() else { return Ok(None) };
        let TokenKind::Word(name) = kind else { return Ok(None) };
        let Some(other) = self.named(name) else { return Ok(None) };
        let is_value = Literal::read_or_range(kind, field.data_type).is_some();
        if are_comparable(field.data_type, other.data_type) && (!is_value || field.has_text()) {
            self.at += 1;
            return Ok(Some(other));
        }
        if is_value {
            return Ok(None);
        }
        let fields = self.schema.fields().iter();
        let comparable = fields.filter(|known| are_comparable(field.data_type, known.data_type()));
        let names: Vec<_> = comparable.map(Field::name).collect();
        let values = Literal::expected_or_range(field.data_type);
        let expected = format!("{values}, or a field of that kind ({})", names.join(", "));
        Err(wrong(*column, &expected, &format!("{name} ({})", other.data_type.name())))
    }

    /// A field, or the fields of both sides.
    fn field(&mut self) -> Result<ComparedField> {
        let column = self.column();
        let Some(QueryToken { kind: TokenKind::Word(name), .. }) = self.next() else {
            self.at = self.at.saturating_sub(1);
            return Err(self.refusal("a field"));
        };
        self.named(&name).ok_or_else(|| {
            let error = self.no_field(&name);
            Error::new(error.kind(), format!("condition, column {column}: {}", error.message()))
        })
    }

    // Row (conditions, fields): `host == 10.0.0.1`, `port == 53` | source or destination has that value. With `!=`,
    // neither has it
    /// The field of a name, or the fields of both sides.
    fn named(&self, name: &str) -> Option<ComparedField> {
        let places = match self.schema.find(name) {
            Some(place) => vec![place],
            None => sides(self.schema, name)?.to_vec(),
        };
        let first = places.first().and_then(|place| self.schema.fields().get(*place));
        let data_type = first.map_or(DataType::Bool, Field::data_type);
        Some(ComparedField { places, data_type })
    }

    /// The error of a name that no field has.
    fn no_field(&self, name: &str) -> Error {
        if let Some(here) = wireshark_names::condition(name)
            && wireshark_names::ours(name).is_some_and(|ours| self.schema.find(ours).is_some())
        {
            let filter = match name {
                "arp" | "icmp" | "ip" | "sctp" | "tcp" | "udp" => {
                    ", and the option filter takes libpcap's expressions"
                }
                _ => "",
            };
            let message = format!("expected a field, found {name}; here it is {here}{filter}");
            return Error::new(ErrorKind::Argument, message);
        }
        match wireshark_names::ours(name).filter(|ours| sides(self.schema, ours).is_some()) {
            Some(either) => self.schema.no_field_but(name, Some(either)),
            None => self.schema.no_field(name),
        }
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
        let is_closed = self.takes(&["("]);
        let mut literals = vec![self.literal_or_range(data_type)?];
        while self.takes(&[","]) {
            literals.push(self.literal_or_range(data_type)?);
        }
        if is_closed {
            self.take(")")?;
        }
        Ok(literals)
    }

    // Row (conditions, lists): `dst_port == 53-80`, `src_port in 53-80, 443` | a number or a duration is in the range,
    // ends included
    /// Reads what stands behind `==` and in lists.
    fn literal_or_range(&mut self, data_type: DataType) -> Result<Literal> {
        match self.peek().and_then(|token| Literal::read_or_range(&token.kind, data_type)) {
            Some(literal) => {
                self.at += 1;
                Ok(literal)
            }
            None => Err(self.no_value(&Literal::expected_or_range(data_type), data_type)),
        }
    }

    fn literal(&mut self, data_type: DataType) -> Result<Literal> {
        match self.peek().and_then(|token| Literal::read(&token.kind, data_type)) {
            Some(literal) => {
                self.at += 1;
                Ok(literal)
            }
            None => Err(self.no_value(&Literal::expected(data_type), data_type)),
        }
    }

    /// The error of a word that is no value, with the field that was probably meant.
    fn no_value(&self, expected: &str, data_type: DataType) -> Error {
        let error = self.refusal(expected);
        let Some(TokenKind::Word(word)) = self.peek().map(|token| &token.kind) else {
            return error;
        };
        match self.schema.nearest(word).and_then(|near| Some((near, self.named(near)?))) {
            Some((near, field)) if are_comparable(data_type, field.data_type) => {
                Error::new(error.kind(), format!("{}; did you mean {near}?", error.message()))
            }
            _ => error,
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
            TokenKind::Quoted(_) | TokenKind::Expression(_) => false,
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
