//! Length of a struct whose bytes come piece by piece, if nothing says how many there are: no
//! byte is looked at twice, however small the pieces, and none behind the struct is asked for.

use super::binary::Binary;
use super::compact::Compact;
use super::decode::Encoding;
use super::error::{ProtocolErrorKind, ProtocolResult};
use super::input::{MessageInput, ProtocolReader, ThriftMessage, Width};
use super::json_protocol::JsonExtent;
use super::limits::{Depth, Limits};
use super::message_layout::MessageForm;
use super::wire_type::WireType;

/// The search for the end of one struct.
#[derive(Debug, Clone)]
pub struct StructExtent(ExtentSearch);

/// Search by the form of the struct.
#[derive(Debug, Clone)]
enum ExtentSearch {
    Packed(PackedExtent),
    Json(JsonExtent),
}

/// The search for the end of a struct in bytes.
#[derive(Debug, Clone)]
struct PackedExtent {
    encoding: Encoding,
    limits: Limits,
    /// Bytes that were passed.
    passed: usize,
    /// Parts that are not over, outermost first.
    open: Vec<(OpenPart, Depth)>,
}

/// Rest to pass of a part that is not over.
#[derive(Debug, Clone, Copy)]
enum OpenPart {
    /// Fields, up to a stop; the id of the last one.
    Fields(i32),
    /// So many values of a type.
    Values(WireType, usize),
    /// So many keys and values; the type of the next, and of the one behind it.
    Pairs(WireType, WireType, usize),
    /// So many bytes of a string, or of values that are all as long.
    Bytes(usize),
}

/// Progress of the search for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The struct is so many bytes long.
    Complete(usize),
    /// It is so many bytes longer at least, as its lengths and counts claim. Whoever waits for them
    /// does not wait for anything behind the struct.
    Needs(usize),
}

impl StructExtent {
    /// A struct of which nothing was seen.
    pub fn new(form: impl Into<MessageForm>, limits: Limits) -> Self {
        StructExtent(match form.into() {
            MessageForm::Packed(encoding) => {
                ExtentSearch::Packed(PackedExtent::new(encoding, limits))
            }
            MessageForm::Json => ExtentSearch::Json(JsonExtent::new(limits, false)),
        })
    }

    /// A struct behind the header of a message, of which nothing was seen. Its end is that of the message.
    pub fn behind_header(form: impl Into<MessageForm>, limits: Limits) -> Self {
        match form.into() {
            MessageForm::Json => StructExtent(ExtentSearch::Json(JsonExtent::new(limits, true))),
            form => Self::new(form, limits),
        }
    }

    /// Goes on with `bytes`, which are all from the struct's first byte on: those shown before and
    /// more.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes, the same if asked again. That they end is no error.
    pub fn advance(&mut self, bytes: &[u8]) -> ProtocolResult<Progress> {
        let rest = bytes.get(self.passed()..).unwrap_or_default();
        self.pass_on(rest).map(|(_, progress)| progress)
    }

    /// Goes on with `bytes`, which follow those that were passed before, so that these need not be kept.
    /// Answers how many of them are passed now, too: the others, a few at most, have to be shown again with
    /// more behind them.
    ///
    /// # Errors
    ///
    /// Those of [`Self::advance`].
    pub fn pass_on(&mut self, bytes: &[u8]) -> ProtocolResult<(usize, Progress)> {
        let before = self.passed();
        let progress = match &mut self.0 {
            ExtentSearch::Packed(search) => search.advance(bytes)?,
            ExtentSearch::Json(search) => search.advance(bytes)?,
        };
        Ok((self.passed() - before, progress))
    }

    /// Bytes that were passed; where the search failed, those before what is wrong.
    pub fn passed(&self) -> usize {
        match &self.0 {
            ExtentSearch::Packed(search) => search.passed,
            ExtentSearch::Json(search) => search.passed(),
        }
    }

    /// Memory for what is not over: it grows with the levels of the struct.
    pub fn memory_bytes(&self) -> usize {
        match &self.0 {
            ExtentSearch::Packed(search) => search.open.capacity() * size_of::<(OpenPart, Depth)>(),
            ExtentSearch::Json(search) => search.memory_bytes(),
        }
    }
}

impl PackedExtent {
    fn new(encoding: Encoding, limits: Limits) -> Self {
        let outermost = (OpenPart::Values(WireType::STRUCT, 1), Depth::of_either(limits));
        PackedExtent { encoding, limits, passed: 0, open: vec![outermost] }
    }

    /// Goes on with the bytes behind those that were passed.
    fn advance(&mut self, bytes: &[u8]) -> ProtocolResult<Progress> {
        let message = ThriftMessage::part(bytes, self.limits);
        let input = MessageInput::new(&message);
        let before = self.passed as u64;
        let progress = match self.encoding {
            Encoding::Binary => self.pass(Binary::new(input)),
            Encoding::Compact => self.pass(Compact::new(input)),
        };
        progress.map_err(|error| error.moved(before))
    }

    /// Passes what there is, in steps of which each is done whole or not at all.
    fn pass<'a, P: ProtocolReader<'a>>(&mut self, mut at: P) -> ProtocolResult<Progress> {
        while let Some((open, depth)) = self.open.pop() {
            if let OpenPart::Bytes(len) = open {
                let there = len.min(at.input().rest.remaining());
                at.input().take("bytes", there)?;
                self.passed += there;
                if there < len {
                    self.open.push((OpenPart::Bytes(len - there), depth));
                    return Ok(Progress::Needs(self.needed::<P>()));
                }
                continue;
            }
            let mut ahead = at;
            if let Err(error) = self.step(&mut ahead, open, depth) {
                self.open.push((open, depth));
                if error.kind() != ProtocolErrorKind::Truncated {
                    return Err(error);
                }
                let part = at.input().rest.remaining();
                return Ok(Progress::Needs(self.needed::<P>().saturating_sub(part).max(1)));
            }
            self.passed += ahead.input().position() - at.input().position();
            at = ahead;
        }
        Ok(Progress::Complete(self.passed))
    }

    /// Passes a header or a number, and opens what is behind it.
    fn step<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        open: OpenPart,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match open {
            OpenPart::Fields(mut last) => {
                let header = at.field(&mut last)?;
                if header.kind == WireType::STOP {
                    return Ok(());
                }
                self.open.push((OpenPart::Fields(last), depth));
                if header.kind != WireType::BOOL || !P::BOOL_IN_HEADER {
                    self.open.push((OpenPart::Values(header.kind, 1), depth));
                }
            }
            OpenPart::Values(_, 0) | OpenPart::Pairs(_, _, 0) | OpenPart::Bytes(_) => {}
            OpenPart::Values(kind, count) => {
                let inside = self.value(at, kind, count, depth)?;
                self.open.extend(inside.into_iter().flatten());
            }
            OpenPart::Pairs(first, second, count) => {
                self.open.push((OpenPart::Pairs(second, first, count - 1), depth));
                self.open.push((OpenPart::Values(first, 1), depth));
            }
        }
        Ok(())
    }

    /// Passes the beginning of one of `count` values. Answers what there is to pass then: the other
    /// values, and what is inside of this one.
    fn value<'a, P: ProtocolReader<'a>>(
        &self,
        at: &mut P,
        kind: WireType,
        count: usize,
        depth: Depth,
    ) -> ProtocolResult<[Option<(OpenPart, Depth)>; 2]> {
        let inside = match (P::width(kind), kind) {
            (None, _) => return Err(at.input().unknown_type::<P>("the type of a field", kind)),
            (Some(Width::Fixed(len)), _) => {
                return Ok([Some((OpenPart::Bytes(count.saturating_mul(len)), depth)), None]);
            }
            (Some(Width::Varint), _) => {
                at.skip_varint(kind)?;
                None
            }
            (_, WireType::STRING) => Some((OpenPart::Bytes(at.string_len()?), depth)),
            (_, WireType::STRUCT) => Some((OpenPart::Fields(0), at.input().in_struct(depth)?)),
            (_, WireType::MAP) => {
                let header = at.map()?;
                let pairs =
                    OpenPart::Pairs(header.key, header.value, header.count.saturating_mul(2));
                Some((pairs, at.input().in_container(depth)?))
            }
            _ => {
                let header = at.list()?;
                let values = OpenPart::Values(header.element, header.count);
                Some((values, at.input().in_container(depth)?))
            }
        };
        let others = (count > 1).then_some((OpenPart::Values(kind, count - 1), depth));
        Ok([others, inside])
    }

    /// Returns the number of bytes that all open parts take at least.
    fn needed<'a, P: ProtocolReader<'a>>(&self) -> usize {
        let smallest = |kind| P::width(kind).map_or(0, Width::smallest);
        self.open.iter().fold(0, |sum, (open, _)| {
            sum.saturating_add(match open {
                OpenPart::Fields(_) => 1,
                OpenPart::Values(kind, count) => smallest(*kind).saturating_mul(*count),
                OpenPart::Pairs(first, second, count) => {
                    smallest(*first).min(smallest(*second)).saturating_mul(*count)
                }
                OpenPart::Bytes(len) => *len,
            })
        })
    }
}
