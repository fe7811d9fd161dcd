//! Fields of Compact, by their first bytes: what most fields hold has a length that these tell, so that who passes fields looks
//! once or twice at the end of the bytes for each. Whatever else there is, as the last bytes of a message, is for the reader of
//! fields, which says what is wrong.

use super::input::NextField;

/// Bytes that are looked at together: a header and the longest varint, or the header of a list and the numbers of it.
const WINDOW: usize = 16;

/// Length of a string, and count of a container, that a field which is passed here may have.
pub(super) const LEN_USUAL: u32 = 1 << 14;

/// The highest bit of each byte: in a varint, it says that another byte follows.
const FOLLOWED: u64 = 0x8080_8080_8080_8080;

/// Kind of the field that a header begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldHeaderKind {
    /// A number of up to 32 bits.
    Narrow,
    /// A number of 64 bits.
    Wide,
    String,
    /// A list or a set.
    List,
    Struct,
    /// A bool, whose value is in the header.
    Bool,
    Byte,
    Double,
    Uuid,
    /// The end of a struct.
    Stop,
    /// A map, a field whose id comes next, or none.
    Other,
}

/// The kinds of all headers.
const HEADERS: [FieldHeaderKind; 256] = {
    let mut kinds = [FieldHeaderKind::Other; 256];
    let [stop, ..] = &mut kinds;
    *stop = FieldHeaderKind::Stop;
    let mut rest: &mut [FieldHeaderKind] = &mut kinds;
    let mut header = 0_usize;
    while let [kind, behind @ ..] = rest {
        if header >= DISTANCE_ONE {
            *kind = match header & 0x0f {
                1 | 2 => FieldHeaderKind::Bool,
                3 => FieldHeaderKind::Byte,
                4 | 5 => FieldHeaderKind::Narrow,
                6 => FieldHeaderKind::Wide,
                7 => FieldHeaderKind::Double,
                8 => FieldHeaderKind::String,
                9 | 10 => FieldHeaderKind::List,
                12 => FieldHeaderKind::Struct,
                13 => FieldHeaderKind::Uuid,
                _ => FieldHeaderKind::Other,
            };
        }
        rest = behind;
        header += 1;
    }
    kinds
};

/// Headers below have no distance, so that the id comes next, or are the end of a struct.
const DISTANCE_ONE: usize = 0x10;

/// Passes fields that hold no others, of which `last` becomes the id of the last one. Answers the bytes from the next field on, which
/// is not passed, and what it is. With `BY_ID` the next may be any whose id is `until` or above.
#[inline(always)]
pub(super) fn pass_fields<'a, const BY_ID: bool>(
    mut rest: &'a [u8],
    last: &mut i32,
    until: i32,
) -> (&'a [u8], NextField) {
    while let Some(window) = rest.first_chunk::<WINDOW>() {
        let [header, first, second, ..] = *window;
        let kind = HEADERS.get(usize::from(header)).copied().unwrap_or(FieldHeaderKind::Other);
        let id = last.wrapping_add(i32::from(header >> 4));
        if BY_ID && id >= until && usize::from(header) >= DISTANCE_ONE {
            return (rest, NextField::Until);
        }
        // One question after the other, the frequent ones first: the processor foretells these, and no jump by a table.
        let behind = if kind as u8 <= FieldHeaderKind::Wide as u8 {
            if first < 0x80 {
                rest.get(2..)
            } else {
                behind_number(rest, window, kind == FieldHeaderKind::Wide)
            }
        } else if kind == FieldHeaderKind::String {
            if first < 0x80 {
                rest.get(2 + usize::from(first)..)
            } else {
                let len = usize::from(first & 0x7f) | usize::from(second) << 7;
                rest.get(3 + len..).filter(|_| second < 0x80)
            }
        } else if kind == FieldHeaderKind::Stop {
            return (rest, NextField::Stop);
        } else if kind == FieldHeaderKind::List {
            let count = first >> 4;
            if first & 0x0f == 12 && (1..15).contains(&count) {
                return (rest, NextField::Structs(count));
            }
            behind_numbers(rest, window)
        } else if kind == FieldHeaderKind::Struct {
            return (rest, NextField::Struct);
        } else if kind == FieldHeaderKind::Bool {
            rest.get(1..)
        } else {
            match kind {
                FieldHeaderKind::Byte => rest.get(2..),
                FieldHeaderKind::Double => rest.get(9..),
                FieldHeaderKind::Uuid => rest.get(17..),
                _ => None,
            }
        };
        let Some(behind) = behind else { break };
        (rest, *last) = (behind, id);
    }
    (rest, NextField::Other)
}

/// Bytes behind a field with a number of more than one byte; `None` where its varint may be longer than it should be.
#[inline(always)]
fn behind_number<'a>(rest: &'a [u8], window: &[u8; WINDOW], is_wide: bool) -> Option<&'a [u8]> {
    let [_, bytes @ ..] = window;
    let ends = !word(bytes) & FOLLOWED;
    let len = ends.trailing_zeros() as usize / 8 + 1;
    // Up to 4 bytes have no bits beyond 32, as the strictest readers ask for.
    if ends != 0 && (is_wide || len <= 4) { rest.get(1 + len..) } else { None }
}

/// Bytes behind a field with a list or a set of a few numbers, each of a few bytes; `None` for others.
#[inline(always)]
fn behind_numbers<'a>(rest: &'a [u8], window: &[u8; WINDOW]) -> Option<&'a [u8]> {
    let [_, header, bytes @ ..] = window;
    let (count, word) = (u32::from(header >> 4), word(bytes));
    let followed = word & FOLLOWED;
    // In each of these numbers one byte at most follows another.
    let is_number = (4..=6).contains(&(header & 0x0f));
    if is_number && (1..=8).contains(&count) && followed & followed << 8 == 0 {
        if followed << (64 - 8 * count) == 0 {
            return rest.get(2 + count as usize..);
        }
        let ends = (1..count).fold(!word & FOLLOWED, |ends, _| ends & ends.wrapping_sub(1));
        return if ends == 0 { None } else { rest.get(3 + ends.trailing_zeros() as usize / 8..) };
    }
    match count {
        0 => rest.get(2..),
        1..15 if (1..=3).contains(&(header & 0x0f)) => rest.get(2 + count as usize..),
        _ => None,
    }
}

/// The first eight bytes, the first one lowest.
#[inline(always)]
fn word<const N: usize>(bytes: &[u8; N]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
