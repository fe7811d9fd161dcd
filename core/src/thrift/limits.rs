//! Bounds of what a message may ask of its reader, and of the depth of one that is written.

use crate::{Error, ErrorKind};

// Bound (Thrift): nesting of structs in a Thrift message = 64, 256 if asked for; with containers four times as many.
/// Structs that may be nested in each other, unless told otherwise: as in Thrift's libraries.
pub const DEPTH_USUAL: u32 = 64;

/// The deepest that can be asked for: what a thread with a small stack can follow.
pub const DEPTH_MAX: u32 = 256;

// Bound (Thrift): bytes of columns that a Thrift message becomes = 256 MiB or as asked for, or 16 times its own.
/// Bytes of columns that a message may become, unless told otherwise: 256 MiB.
pub const COLUMNS_USUAL: u64 = 1 << 28;

/// Structs and containers together may be nested this many times deeper than structs alone.
const LEVELS_PER_STRUCT: u32 = 4;

/// Accepted varints of numbers of up to 32 bits: in Compact those are i16 and i32, ids, lengths and counts.
/// Readers of Thrift differ, the newest of them are the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NarrowVarint {
    /// Up to 10 bytes, of which the bits beyond 32 are not looked at.
    #[default]
    Any,
    /// Up to 5 bytes, of which the bits beyond 32 are not looked at.
    FiveBytes,
    /// Up to 5 bytes, with 0 beyond 32 bits.
    Exact,
}

/// Bounds beside the one that always holds: that bytes for what is claimed must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum depth of nested structs, the outermost counted: 1 to [`DEPTH_MAX`]. Structs and
    /// containers together may be nested four times as deep.
    pub depth_max: u32,
    /// Maximum depth of structs in a value that is skipped, counted from that value on: a field that the schema
    /// does not have, or has with another type.
    pub skipped_depth_max: u32,
    /// Bytes of a string.
    pub string_max: u32,
    /// Elements of a list or a set, entries of a map.
    pub container_max: u32,
    /// Bytes of columns that a message may become, whose lists have many rows: an empty struct is a byte of a message, and a
    /// null in each of its columns. A message may become 16 times its own bytes in any case.
    pub columns_max: u64,
    /// Varints of numbers of up to 32 bits.
    pub narrow_varint: NarrowVarint,
}

impl Default for Limits {
    fn default() -> Self {
        // Bound (Thrift): length, count in a Thrift message = 2^31 - 1 or as asked for, and no more than the bytes left
        // can hold.
        let size_max = i32::MAX as u32;
        Limits {
            depth_max: DEPTH_USUAL,
            skipped_depth_max: DEPTH_USUAL,
            string_max: size_max,
            container_max: size_max,
            columns_max: COLUMNS_USUAL,
            narrow_varint: NarrowVarint::Any,
        }
    }
}

/// Rest of the depth, from the value being read downwards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    structs: u32,
    levels: u32,
}

impl Depth {
    /// Nothing used.
    pub(super) fn of(limits: Limits) -> Self {
        Self::of_structs(limits.depth_max.clamp(1, DEPTH_MAX))
    }

    /// Nothing used, in a value that is skipped.
    pub(super) fn of_skipped(limits: Limits) -> Self {
        Self::of_structs(limits.skipped_depth_max.clamp(1, DEPTH_MAX))
    }

    /// Nothing used, where it is not known what is skipped.
    pub(super) fn of_either(limits: Limits) -> Self {
        let skipped = limits.skipped_depth_max.clamp(1, DEPTH_MAX);
        Self::of_structs(limits.depth_max.clamp(1, DEPTH_MAX) + skipped)
    }

    fn of_structs(structs: u32) -> Self {
        Depth { structs, levels: structs * LEVELS_PER_STRUCT }
    }

    /// Returns the rest inside of a struct; `None` if it is one too deep.
    #[inline]
    pub(super) fn in_struct(self) -> Option<Self> {
        let structs = self.structs.checked_sub(1)?;
        Some(Depth { structs, levels: self.levels.checked_sub(1)? })
    }

    /// Returns the rest inside of a container.
    #[inline]
    pub(super) fn in_container(self) -> Option<Self> {
        Some(Depth { levels: self.levels.checked_sub(1)?, ..self })
    }

    /// Returns the rest outside of a struct that this is the rest in.
    #[inline]
    pub(super) fn out_of_struct(self) -> Self {
        Depth { structs: self.structs + 1, levels: self.levels + 1 }
    }

    /// Returns the rest outside of a container that this is the rest in.
    #[inline]
    pub(super) fn out_of_container(self) -> Self {
        Depth { levels: self.levels + 1, ..self }
    }

    /// Returns true if there may be a container.
    #[inline]
    pub(super) fn has_level(self) -> bool {
        self.levels > 0
    }
}

/// Structs and containers that may be nested where it is not known what is skipped.
pub(super) fn levels_of_either(limits: Limits) -> u32 {
    Depth::of_either(limits).levels
}

/// Returns the error of a message that is nested deeper.
pub(super) fn too_deep(structs: u32) -> Error {
    let message = format!(
        "expected at most {structs} nested structs, or four times as many levels with containers, found more"
    );
    Error::new(ErrorKind::Limit, message)
}

/// Open structs and containers of a message that is written, with the bounds of reading, so that it can be read.
///
/// One word holds the structs in its upper half, and structs and containers in its lower half, each counted up to
/// the half's highest bit from so far below it as the bound is. A struct or a container is one addition and one
/// look at both bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nesting {
    open: u32,
    depth_max: u32,
}

const ONE_LEVEL: u32 = 1;
const ONE_STRUCT: u32 = (1 << 16) + ONE_LEVEL;
const TOO_DEEP: u32 = 1 << 31 | 1 << 15;

impl Default for Nesting {
    fn default() -> Self {
        Self::up_to(DEPTH_USUAL)
    }
}

impl Nesting {
    /// Nothing open.
    pub(super) fn up_to(depth_max: u32) -> Self {
        let depth_max = depth_max.clamp(1, DEPTH_MAX);
        let below = |count: u32| (1 << 15) - 1 - count;
        let open = below(depth_max) << 16 | below(depth_max * LEVELS_PER_STRUCT);
        Nesting { open, depth_max }
    }

    /// The bound.
    pub(super) fn depth_max(self) -> u32 {
        self.depth_max
    }

    /// Opens a struct; returns true if it may begin.
    #[inline(always)]
    pub(super) fn begin_struct(&mut self) -> bool {
        self.open = self.open.wrapping_add(ONE_STRUCT);
        self.open & TOO_DEEP == 0
    }

    #[inline(always)]
    pub(super) fn end_struct(&mut self) {
        self.open = self.open.wrapping_sub(ONE_STRUCT);
    }

    /// Opens a container; returns true if it may begin.
    #[inline(always)]
    pub(super) fn begin_container(&mut self) -> bool {
        self.open = self.open.wrapping_add(ONE_LEVEL);
        self.open & TOO_DEEP == 0
    }

    #[inline(always)]
    pub(super) fn end_container(&mut self) {
        self.open = self.open.wrapping_sub(ONE_LEVEL);
    }
}
