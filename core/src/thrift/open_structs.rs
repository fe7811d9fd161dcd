//! Structs that are open in each other while they are passed, in one word.

use super::limits::Depth;

/// Set in the byte of a level that a list or a set makes.
const IN_LIST: u64 = 0x80;

/// Structs left of a level, the open one counted.
const LEFT: u64 = 0x7f;

/// Open structs, up to eight in each other: a byte each, the innermost lowest. A byte holds how many structs are left of its level,
/// which are more than one in a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenStructs {
    levels: u64,
    /// Rest of the depth in the innermost.
    depth: Depth,
}

impl OpenStructs {
    /// One struct, in which there is so much depth left.
    #[inline(always)]
    pub(super) fn one(depth: Depth) -> Self {
        OpenStructs { levels: 1, depth }
    }

    /// Returns the rest of the depth in the innermost.
    #[inline(always)]
    pub(super) fn depth(self) -> Depth {
        self.depth
    }

    /// Opens a struct in the innermost; `None` if it is one too many, or so deep that it can hold nothing.
    #[inline(always)]
    pub(super) fn with_struct(self) -> Option<Self> {
        self.inside(1, self.depth.in_struct()?)
    }

    /// Opens the first of some structs in a list or a set, one to 127; `None` as for [`Self::with_struct`].
    #[inline(always)]
    pub(super) fn with_structs(self, count: u8) -> Option<Self> {
        self.inside(IN_LIST | u64::from(count), self.depth.in_container()?.in_struct()?)
    }

    #[inline(always)]
    fn inside(self, level: u64, depth: Depth) -> Option<Self> {
        let has_place = self.levels >> 56 == 0;
        let levels = self.levels << 8 | level;
        (has_place && depth.has_level()).then_some(OpenStructs { levels, depth })
    }

    /// Ends the innermost, and opens the next of its list. Returns true if that was the last one.
    #[inline(always)]
    pub(super) fn end_struct(&mut self) -> bool {
        self.levels -= 1;
        if self.levels & LEFT == 0 {
            if self.levels & IN_LIST != 0 {
                self.depth = self.depth.out_of_container();
            }
            self.depth = self.depth.out_of_struct();
            self.levels >>= 8;
        }
        self.levels == 0
    }
}
