//! Taking the fields of a projection out of a message: all others are passed unread, and reading ends
//! when each path is settled.

use super::binary::Binary;
use super::compact::Compact;
use super::decode::{Encoding, TapeDecoder};
use super::error::ProtocolResult;
use super::input::{FieldHeader, MessageInput, ProtocolReader, ThriftMessage};
use super::limits::{Depth, Limits};
use super::plan::ReadOperation;
use super::projection::{FieldTarget, Projection};
use super::skip::skip_field;
use super::tape::{Tag, Tape, word};
use super::through::ThroughPath;
use super::wire_type::WireType;

/// Receiver of the wanted values.
pub(super) trait PluckSink {
    /// Takes the value of the path with that number.
    fn take<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        operation: ReadOperation,
        path: u16,
        depth: Depth,
    ) -> ProtocolResult<()>;

    /// Takes the values of a path that goes on in a container.
    fn take_through<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        path: &ThroughPath,
        depth: Depth,
    ) -> ProtocolResult<()>;
}

impl Projection {
    /// Leaves the fields that the message has on `tape`, as those of one struct in which each has the
    /// number of its path. The message is not read beyond the last of them, so that nothing is said of
    /// what is behind; of a field that it has twice, the first is taken.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes that were read. The tape is then without values.
    pub fn pluck(
        &self,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
        tape: &mut Tape,
    ) -> ProtocolResult<()> {
        let mut decoder = TapeDecoder { plan: self.plan(), words: tape.take_words() };
        decoder.words.push(word(Tag::Struct, 0, i64::from(self.root().0)));
        let found = self.find(encoding, bytes, limits, &mut decoder);
        decoder.words.push(word(Tag::End, 0, 0));
        tape.put_words(decoder.words, bytes.len());
        if found.is_err() {
            tape.clear();
        }
        found.map(|_| ())
    }

    /// Looks for the fields in a message. Answers a bit for each path that it does not have.
    #[inline]
    pub(super) fn find<S: PluckSink>(
        &self,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
        sink: &mut S,
    ) -> ProtocolResult<u64> {
        let message = ThriftMessage::whole(bytes, limits);
        let input = MessageInput::new(&message);
        let depth = Depth::of(limits);
        let mut search =
            PluckSearch { projection: self, sink, open: self.all(), missing: self.all() };
        match encoding {
            Encoding::Binary => search.structure(&mut Binary::new(input), 0, depth)?,
            Encoding::Compact => search.structure(&mut Compact::new(input), 0, depth)?,
        }
        Ok(search.missing)
    }
}

impl PluckSink for TapeDecoder<'_> {
    #[inline(always)]
    fn take<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        operation: ReadOperation,
        path: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        self.field(at, header, operation, path, depth)
    }

    fn take_through<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        path: &ThroughPath,
        depth: Depth,
    ) -> ProtocolResult<()> {
        self.through(at, path, depth)
    }
}

/// A projection at work on one message.
struct PluckSearch<'p, S> {
    projection: &'p Projection,
    sink: &'p mut S,
    /// A bit for each path that may still be found.
    open: u64,
    /// A bit for each path that was not found.
    missing: u64,
}

impl<S: PluckSink> PluckSearch<'_, S> {
    /// Looks into a struct. Ends behind it, or wherever it is when nothing is open any more.
    fn structure<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        node: u32,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let projection = self.projection;
        let Some(node) = projection.node(node) else { return Ok(()) };
        let depth = outer.input().in_struct(depth)?;
        let (mut at, mut last) = (*outer, 0);
        while self.open != 0 {
            let header = at.field(&mut last)?;
            if header.kind == WireType::STOP {
                break;
            }
            let wanted = node
                .want(header.id)
                .filter(|want| want.kind == header.kind && want.paths & self.open != 0);
            let Some(want) = wanted else {
                skip_field(&mut at, header)?;
                continue;
            };
            match want.target {
                FieldTarget::Value(operation, path) => {
                    self.sink.take(&mut at, header, operation, path, depth)?;
                    self.missing &= !want.paths;
                }
                FieldTarget::Through(number) => {
                    at = self.through(at, number, depth)?;
                    self.missing &= !want.paths;
                }
                FieldTarget::Inside(node) => {
                    let mut inside = at;
                    self.structure(&mut inside, node, depth)?;
                    at = inside;
                }
            }
            self.open &= !want.paths;
        }
        *outer = at;
        Ok(())
    }

    /// Walks a container once for each path that goes on in it. Answers the place behind it.
    #[inline(never)]
    fn through<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: P,
        number: u32,
        depth: Depth,
    ) -> ProtocolResult<P> {
        let mut behind = at;
        for path in self.projection.through(number) {
            behind = at;
            self.sink.take_through(&mut behind, path, depth)?;
        }
        Ok(behind)
    }
}
