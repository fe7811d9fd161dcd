//! Survey of one root: its definitions, and its links to other roots.

use std::ops::Range;

use super::by_number::ByNumber;
use super::content::LinkableContent;
use super::context::Context;
use super::refusal::Result;
use super::walk::{MarshalWalk, Role, StreamPosition, Visitor};

/// A content that a root defines.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentDefinition<'a> {
    pub(super) number: u32,
    pub(super) offset: u32,
    pub(super) content: LinkableContent<'a>,
}

/// Definitions and links of a root.
#[derive(Debug, Default)]
pub(super) struct Survey<'a> {
    pub(super) definitions: Vec<ContentDefinition<'a>>,
    /// Places of the definitions of symbols, in order.
    pub(super) symbols: Vec<u32>,
    /// Places of the links to objects, in order.
    pub(super) links: Vec<u32>,
    /// Symbols and objects of other roots, by number, and how often they are linked to.
    pub(super) symbols_used: ByNumber<u32>,
    pub(super) objects_used: ByNumber<u32>,
    /// Start and end of the root.
    pub(super) start: StreamPosition,
    pub(super) end: StreamPosition,
}

impl<'a> Survey<'a> {
    /// Walks over the root at `place`. `context` is added to as the walk goes.
    pub(super) fn of_root(
        stream: &'a [u8],
        place: StreamPosition,
        context: &mut Context,
    ) -> Result<Self> {
        let survey = Survey { start: place, ..Survey::default() };
        let mut surveyor = Surveyor { survey, context };
        let mut walk = MarshalWalk::new(stream, place, &mut surveyor);
        walk.key()?;
        walk.value(Role::Value)?;
        let end = walk.place();
        surveyor.survey.end = end;
        Ok(surveyor.survey)
    }

    /// Returns true if the definition has a slot of its own. The key of a root is found by the slot of the
    /// root, the name of an encoding by a list.
    pub(super) fn has_slot(&self, stream: &[u8], definition: &ContentDefinition<'_>) -> bool {
        let is_key = definition.offset as usize == self.start.at
            && super::index::defines_key(stream, definition.offset);
        !is_key && !matches!(definition.content, LinkableContent::EncodingName(_))
    }
}

struct Surveyor<'a, 'c> {
    survey: Survey<'a>,
    context: &'c mut Context,
}

impl<'a> Visitor<'a> for Surveyor<'a, '_> {
    const PARTS: bool = true;

    fn context(&mut self) -> &mut Context {
        self.context
    }

    fn symbol_numbered(&mut self, _number: u32, at: usize) -> Result<()> {
        self.survey.symbols.push(at as u32);
        Ok(())
    }

    fn defined(
        &mut self,
        number: u32,
        span: Range<usize>,
        content: LinkableContent<'a>,
    ) -> Result<()> {
        let offset = span.start as u32;
        self.survey.definitions.push(ContentDefinition { number, offset, content });
        Ok(())
    }

    fn symbol_link(&mut self, number: u32, _span: Range<usize>) -> Result<()> {
        if number < self.survey.start.symbols {
            *self.survey.symbols_used.entry(number).or_default() += 1;
        }
        Ok(())
    }

    fn link(&mut self, number: u32, span: Range<usize>, _role: Role) -> Result<()> {
        self.survey.links.push(span.start as u32);
        if number < self.survey.start.objects {
            *self.survey.objects_used.entry(number).or_default() += 1;
        }
        Ok(())
    }
}
