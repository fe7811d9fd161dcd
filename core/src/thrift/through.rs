//! Plucking values in lists, sets and maps: a list for each container on the way.
//!
//! A container is walked once for each path that goes through it, so that the values of each come together on the tape.

use super::decode::TapeDecoder;
use super::error::ProtocolResult;
use super::input::{FieldHeader, ProtocolReader};
use super::limits::Depth;
use super::path::PathStep;
use super::plan::{Plan, ReadOperation};
use super::skip::{skip_field, skip_list, skip_map, skip_value};
use super::tape::{Tag, word};
use super::wire_type::WireType;

/// A path from a container on.
#[derive(Debug, Clone)]
pub(super) struct ThroughPath {
    /// Its number in the projection.
    pub(super) number: u16,
    steps: Vec<ThroughStep>,
    end: ReadOperation,
}

/// A step of it, with what the bytes have there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThroughStep {
    Field { id: i32, kind: WireType },
    Elements(WireType),
    Entries { key: WireType, value: WireType, takes_key: bool },
}

impl ThroughPath {
    /// The path that goes on with `steps` in a value that `operation` reads; nothing if they do not fit.
    pub(super) fn new(
        plan: &Plan,
        number: u16,
        operation: ReadOperation,
        steps: &[PathStep],
    ) -> Option<ThroughPath> {
        let (mut end, mut found) = (operation, Vec::new());
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let (step, inside) = match (step.without_rows(), end) {
                (PathStep::Field(number), ReadOperation::Struct(id)) => {
                    let field = plan.field(id, number)?;
                    (ThroughStep::Field { id: field.id, kind: field.kind }, field.value)
                }
                (PathStep::Elements, ReadOperation::List(of) | ReadOperation::Set(of)) => {
                    let container = plan.container(of)?;
                    (ThroughStep::Elements(container.key_kind), container.key)
                }
                (PathStep::Entries, ReadOperation::Map(of)) => {
                    let container = plan.container(of)?;
                    let takes_key = *steps.next()? == PathStep::Key;
                    let (key, value) = (container.key_kind, container.value_kind);
                    let inside = if takes_key { container.key } else { container.value };
                    (ThroughStep::Entries { key, value, takes_key }, inside)
                }
                _ => return None,
            };
            found.push(step);
            end = inside;
        }
        Some(ThroughPath { number, steps: found, end })
    }

    /// Returns true if one of the two goes on where the other ends, or both end in the same field.
    pub(super) fn meets(&self, other: &ThroughPath) -> bool {
        self.steps.iter().zip(&other.steps).all(|(one, other)| one == other)
    }
}

impl TapeDecoder<'_> {
    /// Leaves the values at the end of a path on the tape.
    pub(super) fn through<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        path: &ThroughPath,
        depth: Depth,
    ) -> ProtocolResult<()> {
        self.step(at, (&path.steps, path.end), path.number, depth)
    }

    /// The values from a step on, which are one item on the tape.
    fn step<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        (steps, end): (&[ThroughStep], ReadOperation),
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let Some((step, rest)) = steps.split_first() else {
            return self.value(at, end, number, depth);
        };
        match *step {
            ThroughStep::Field { id, kind } => {
                let depth = at.input().in_struct(depth)?;
                let (mut last, mut is_found) = (0, false);
                loop {
                    let header = at.field(&mut last)?;
                    match header.kind {
                        WireType::STOP => break,
                        found if !is_found && found == kind && header.id == id => {
                            self.last_field(at, header, (rest, end), number, depth)?;
                            is_found = true;
                        }
                        _ => skip_field(at, header)?,
                    }
                }
                if !is_found {
                    self.words.push(word(Tag::Null, number, 0));
                }
            }
            ThroughStep::Elements(kind) => {
                let header = at.list()?;
                let depth = at.input().in_container(depth)?;
                if header.element != kind && header.count > 0 {
                    self.words.push(word(Tag::Null, number, 0));
                    return skip_list(at, header);
                }
                self.words.push(word(Tag::List, number, header.count as i64));
                for _ in 0..header.count {
                    self.step(at, (rest, end), 0, depth)?;
                }
            }
            ThroughStep::Entries { key, value, takes_key } => {
                let header = at.map()?;
                let depth = at.input().in_container(depth)?;
                if header.count > 0 && (header.key != key || header.value != value) {
                    self.words.push(word(Tag::Null, number, 0));
                    return skip_map(at, header);
                }
                self.words.push(word(Tag::List, number, header.count as i64));
                for _ in 0..header.count {
                    if !takes_key {
                        skip_value(at, key)?;
                    }
                    self.step(at, (rest, end), 0, depth)?;
                    if takes_key {
                        skip_value(at, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of a field on the way.
    fn last_field<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        (steps, end): (&[ThroughStep], ReadOperation),
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match steps.is_empty() {
            true => self.field(at, header, end, number, depth),
            false => self.step(at, (steps, end), number, depth),
        }
    }
}
