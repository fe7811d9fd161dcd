//! How much a message may ask of its reader.

/// Structs that may be nested in each other, unless told otherwise: as in Thrift's libraries.
pub const DEPTH_USUAL: u32 = 64;

/// The deepest that can be asked for: what a thread with a small stack can follow.
pub const DEPTH_MAX: u32 = 256;

/// Structs and containers together may be nested this many times deeper than structs alone.
const LEVELS_PER_STRUCT: u32 = 4;

/// Bounds beside the one that always holds: that bytes for what is claimed must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep structs may be nested, the outermost counted: 1 to [`DEPTH_MAX`]. Structs and
    /// containers together may be nested four times as deep.
    pub depth_max: u32,
    /// Bytes of a string.
    pub string_max: u32,
    /// Elements of a list or a set, entries of a map.
    pub container_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let size_max = i32::MAX as u32;
        Limits { depth_max: DEPTH_USUAL, string_max: size_max, container_max: size_max }
    }
}

/// What is left of the depth, from the value being read downwards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    structs: u32,
    levels: u32,
}

impl Depth {
    /// Nothing used.
    pub(super) fn of(limits: Limits) -> Self {
        let structs = limits.depth_max.clamp(1, DEPTH_MAX);
        Depth { structs, levels: structs * LEVELS_PER_STRUCT }
    }

    /// What is left inside of a struct; `None` where it is one too deep.
    #[inline]
    pub(super) fn in_struct(self) -> Option<Self> {
        let structs = self.structs.checked_sub(1)?;
        Some(Depth { structs, levels: self.levels.checked_sub(1)? })
    }

    /// What is left inside of a container.
    #[inline]
    pub(super) fn in_container(self) -> Option<Self> {
        Some(Depth { levels: self.levels.checked_sub(1)?, ..self })
    }
}
