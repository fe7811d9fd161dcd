//! The whole numbers that counts, lengths, links and Fixnums are written as: a byte alone for small
//! ones, or a count of bytes with its sign, and that many bytes, the low one first.
//!
//! ```text
//! 00             0
//! 06 .. 7f       1 .. 122
//! 80 .. fa       -123 .. -1
//! 01 .. 04 ...   one to four bytes of a number above
//! ff .. fc ...   one to four bytes of a number below, which begins with all bits set
//! ```

use crate::wire::Reader;

use super::refusal::Reason;

/// The next number, if it is there and spelled as briefly as can be.
#[inline(always)]
pub(super) fn read(reader: &mut Reader<'_>) -> Option<i32> {
    let first = reader.u8()?.cast_signed();
    match first {
        0 => Some(0),
        6.. => Some(i32::from(first) - 5),
        ..=-6 => Some(i32::from(first) + 5),
        1..=4 | -4..=-1 => read_bytes(reader, first),
        5 | -5 => None,
    }
}

/// The number in as many bytes as `first` says.
fn read_bytes(reader: &mut Reader<'_>, first: i8) -> Option<i32> {
    let bytes = reader.take(usize::from(first.unsigned_abs()))?;
    let mut number = if first < 0 { -1_i64 } else { 0 };
    for &byte in bytes.iter().rev() {
        number = (number << 8) | i64::from(byte);
    }
    let number = i32::try_from(number).ok()?;
    (len(number) == bytes.len() + 1).then_some(number)
}

/// Returns the reason why no number could be read from `bytes`.
#[cold]
pub(super) fn what_is_wrong(bytes: &[u8]) -> Reason {
    match bytes.split_first() {
        Some((&first, rest)) if first.cast_signed().unsigned_abs() as usize <= rest.len() => {
            Reason::NotCanonical
        }
        _ => Reason::Truncated,
    }
}

/// Bytes that `number` takes.
pub(super) fn len(number: i32) -> usize {
    match number {
        -123..=122 => 1,
        -256..=255 => 2,
        -0x1_0000..=0xffff => 3,
        -0x100_0000..=0xff_ffff => 4,
        _ => 5,
    }
}

/// Appends `number`.
pub(super) fn put(bytes: &mut Vec<u8>, number: i32) {
    match number {
        0 => bytes.push(0),
        1..=122 => bytes.push(number as u8 + 5),
        -123..=-1 => bytes.push((number - 5) as u8),
        _ => {
            let count = len(number) - 1;
            let first = if number < 0 { (count as u8).wrapping_neg() } else { count as u8 };
            bytes.push(first);
            bytes.extend(number.to_le_bytes().iter().take(count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_put_and_in_no_other_spelling() {
        for number in
            (-70_000..70_000).chain([1 << 24, (1 << 24) - 1, -(1 << 24), i32::MIN, i32::MAX])
        {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(bytes.len(), len(number), "{number}");
            assert_eq!(read(&mut Reader::new(&bytes)), Some(number));
        }
        for spelling in [&[5][..], &[0xfb], &[1, 122], &[2, 1, 0], &[0xff, 0x90], &[0xfe, 0, 0xff]]
        {
            assert_eq!(read(&mut Reader::new(spelling)), None, "{spelling:?}");
        }
    }

    #[test]
    fn the_edges_are_spelled_as_dumping_does() {
        // (number, what Marshal.dump writes behind the type)
        for (number, spelling) in [
            (0, &[0][..]),
            (1, &[6]),
            (122, &[0x7f]),
            (123, &[1, 123]),
            (255, &[1, 255]),
            (256, &[2, 0, 1]),
            (65_536, &[3, 0, 0, 1]),
            (-1, &[0xfa]),
            (-123, &[0x80]),
            (-124, &[0xff, 0x84]),
            (-256, &[0xff, 0]),
            (-257, &[0xfe, 0xff, 0xfe]),
        ] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(bytes, spelling, "{number}");
        }
    }
}
