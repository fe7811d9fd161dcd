//! Nested data of a cache: what its tags mean, so that every language reads what another one wrote.

use crate::wire::CborItem;

/// Meaning of the item behind a tag of CBOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedTag {
    /// Bytes of an integer beyond 64 bits, the highest first (IANA).
    Long,
    /// Bytes of -1 minus such an integer (IANA).
    LongNegative,
    /// Text that is a name, for languages that tell names from text (IANA: identifier).
    Name,
    /// Array with the elements of a set (IANA).
    Set,
    /// Array that is not to be changed (our own).
    Tuple,
    /// Set that is not to be changed (our own).
    FrozenSet,
}

impl NestedTag {
    // Bound (Tables): objects inside each other in a value of a cache = 100.
    /// Items inside each other.
    pub const DEPTH_MAX: usize = 100;

    const ALL: [NestedTag; 6] = [
        NestedTag::Long,
        NestedTag::LongNegative,
        NestedTag::Name,
        NestedTag::Set,
        NestedTag::Tuple,
        NestedTag::FrozenSet,
    ];

    /// Returns the number of the tag.
    pub fn number(self) -> u64 {
        match self {
            NestedTag::Long => 2,
            NestedTag::LongNegative => 3,
            NestedTag::Name => 39,
            NestedTag::Set => 258,
            NestedTag::Tuple => u32::from_be_bytes(*b"tupl").into(),
            NestedTag::FrozenSet => u32::from_be_bytes(*b"fset").into(),
        }
    }

    /// Returns the tag with a number; `None` for a number that no cache writes.
    pub fn of_number(number: u64) -> Option<NestedTag> {
        Self::ALL.into_iter().find(|tag| tag.number() == number)
    }

    /// Appends it to `bytes`; the item is to follow.
    pub fn put(self, bytes: &mut Vec<u8>) {
        CborItem::Tag(self.number()).put(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_by_their_numbers() {
        for tag in NestedTag::ALL {
            assert_eq!(NestedTag::of_number(tag.number()), Some(tag));
        }
        assert_eq!(NestedTag::of_number(0), None);
    }
}
