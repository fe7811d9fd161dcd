//! Length of a struct whose bytes come piece by piece, if nothing says how many there are: no
//! byte is looked at twice, however small the pieces, and none behind the struct is asked for.

use super::binary::Binary;
use super::compact::Compact;
use super::decode::Encoding;
use super::error::{ProtocolErrorKind, ProtocolResult};
use super::input::{Input, Message, Protocol, Width};
use super::limits::{Depth, Limits};
use super::wire_type::WireType;

/// The search for the end of one struct.
#[derive(Debug, Clone)]
pub struct Extent {
    encoding: Encoding,
    limits: Limits,
    /// Bytes that were passed.
    passed: usize,
    /// Parts that are not over, outermost first.
    open: Vec<(Open, Depth)>,
}

/// Rest to pass of a part that is not over.
#[derive(Debug, Clone, Copy)]
enum Open {
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

impl Extent {
    /// A struct of which nothing was seen.
    pub fn new(encoding: Encoding, limits: Limits) -> Self {
        let outermost = (Open::Values(WireType::STRUCT, 1), Depth::of_either(limits));
        Extent { encoding, limits, passed: 0, open: vec![outermost] }
    }

    /// Goes on with `bytes`, which are all from the struct's first byte on: those shown before and
    /// more.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes, the same if asked again. That they end is no error.
    pub fn advance(&mut self, bytes: &[u8]) -> ProtocolResult<Progress> {
        let rest = bytes.get(self.passed..).unwrap_or_default();
        let message = Message::part(rest, self.limits);
        let input = Input::new(&message);
        let before = self.passed as u64;
        let progress = match self.encoding {
            Encoding::Binary => self.pass(Binary::new(input)),
            Encoding::Compact => self.pass(Compact::new(input)),
        };
        progress.map_err(|error| error.moved(before))
    }

    /// Goes on with `bytes`, which follow those that were passed before, so that these need not be kept.
    /// Answers how many of them are passed now, too: the others, a few at most, have to be shown again with
    /// more behind them.
    ///
    /// # Errors
    ///
    /// Those of [`Self::advance`].
    pub fn pass_on(&mut self, bytes: &[u8]) -> ProtocolResult<(usize, Progress)> {
        let before = self.passed;
        let message = Message::part(bytes, self.limits);
        let input = Input::new(&message);
        let progress = match self.encoding {
            Encoding::Binary => self.pass(Binary::new(input)),
            Encoding::Compact => self.pass(Compact::new(input)),
        };
        let progress = progress.map_err(|error| error.moved(before as u64))?;
        Ok((self.passed - before, progress))
    }

    /// Bytes that were passed; where the search failed, those before what is wrong.
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// Memory for what is not over: it grows with the levels of the struct.
    pub fn memory_bytes(&self) -> usize {
        self.open.capacity() * size_of::<(Open, Depth)>()
    }

    /// Passes what there is, in steps of which each is done whole or not at all.
    fn pass<'a, P: Protocol<'a>>(&mut self, mut at: P) -> ProtocolResult<Progress> {
        while let Some((open, depth)) = self.open.pop() {
            if let Open::Bytes(len) = open {
                let there = len.min(at.input().rest.remaining());
                at.input().take("bytes", there)?;
                self.passed += there;
                if there < len {
                    self.open.push((Open::Bytes(len - there), depth));
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
    fn step<'a, P: Protocol<'a>>(
        &mut self,
        at: &mut P,
        open: Open,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match open {
            Open::Fields(mut last) => {
                let header = at.field(&mut last)?;
                if header.kind == WireType::STOP {
                    return Ok(());
                }
                self.open.push((Open::Fields(last), depth));
                if header.kind != WireType::BOOL || !P::BOOL_IN_HEADER {
                    self.open.push((Open::Values(header.kind, 1), depth));
                }
            }
            Open::Values(_, 0) | Open::Pairs(_, _, 0) | Open::Bytes(_) => {}
            Open::Values(kind, count) => {
                let inside = self.value(at, kind, count, depth)?;
                self.open.extend(inside.into_iter().flatten());
            }
            Open::Pairs(first, second, count) => {
                self.open.push((Open::Pairs(second, first, count - 1), depth));
                self.open.push((Open::Values(first, 1), depth));
            }
        }
        Ok(())
    }

    /// Passes the beginning of one of `count` values. Answers what there is to pass then: the other
    /// values, and what is inside of this one.
    fn value<'a, P: Protocol<'a>>(
        &self,
        at: &mut P,
        kind: WireType,
        count: usize,
        depth: Depth,
    ) -> ProtocolResult<[Option<(Open, Depth)>; 2]> {
        let inside = match (P::width(kind), kind) {
            (None, _) => return Err(at.input().unknown_type::<P>("the type of a field", kind)),
            (Some(Width::Fixed(len)), _) => {
                return Ok([Some((Open::Bytes(count.saturating_mul(len)), depth)), None]);
            }
            (Some(Width::Varint), _) => {
                at.skip_varint(kind)?;
                None
            }
            (_, WireType::STRING) => Some((Open::Bytes(at.string_len()?), depth)),
            (_, WireType::STRUCT) => Some((Open::Fields(0), at.input().in_struct(depth)?)),
            (_, WireType::MAP) => {
                let header = at.map()?;
                let pairs = Open::Pairs(header.key, header.value, header.count.saturating_mul(2));
                Some((pairs, at.input().in_container(depth)?))
            }
            _ => {
                let header = at.list()?;
                let values = Open::Values(header.element, header.count);
                Some((values, at.input().in_container(depth)?))
            }
        };
        let others = (count > 1).then_some((Open::Values(kind, count - 1), depth));
        Ok([others, inside])
    }

    /// Returns the number of bytes that all open parts take at least.
    fn needed<'a, P: Protocol<'a>>(&self) -> usize {
        let smallest = |kind| P::width(kind).map_or(0, Width::smallest);
        self.open.iter().fold(0, |sum, (open, _)| {
            sum.saturating_add(match open {
                Open::Fields(_) => 1,
                Open::Values(kind, count) => smallest(*kind).saturating_mul(*count),
                Open::Pairs(first, second, count) => {
                    smallest(*first).min(smallest(*second)).saturating_mul(*count)
                }
                Open::Bytes(len) => *len,
            })
        })
    }
}
