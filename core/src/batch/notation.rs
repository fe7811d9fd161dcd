//! Notation of single values for programs: numbers, times, addresses, UUIDs. Rows by the hundred thousand a second go
//! through here, so nothing goes through `std::fmt`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Digits of the largest 64-bit number.
const DIGITS_MAX: usize = 20;

/// Appends `number` in decimal.
#[inline]
pub fn unsigned(into: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; DIGITS_MAX];
    let mut start = DIGITS_MAX;
    while number >= 100 {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    let [tens, ones] = PAIRS[number as usize];
    start -= 1;
    digits[start] = ones;
    if number >= 10 {
        start -= 1;
        digits[start] = tens;
    }
    into.extend_from_slice(&digits[start..]);
}

/// Appends `number` in decimal.
#[inline]
pub fn signed(into: &mut Vec<u8>, number: i64) {
    if number < 0 {
        into.push(b'-');
    }
    unsigned(into, number.unsigned_abs());
}

/// Appends `number` with leading zeros to `width` digits, of which it has no more.
pub fn padded(into: &mut Vec<u8>, mut number: u64, width: usize) {
    let start = into.len();
    into.resize(start + width, b'0');
    for digit in into[start..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Appends microseconds as seconds with a fraction of six digits.
pub fn seconds(into: &mut Vec<u8>, microseconds: u64) {
    unsigned(into, microseconds / 1_000_000);
    into.push(b'.');
    padded(into, microseconds % 1_000_000, 6);
}

const PER_SECOND: i64 = 1_000_000_000;

/// Appends a time, nanoseconds since the epoch, as ISO 8601 in UTC.
pub fn iso_time(into: &mut Vec<u8>, ts: i64) {
    let nanoseconds = ts.rem_euclid(PER_SECOND).unsigned_abs();
    for ((part, separator), width) in
        civil_time(ts).into_iter().zip(*b"--T::.").zip([4, 2, 2, 2, 2, 2])
    {
        padded(into, part, width);
        into.push(separator);
    }
    padded(into, nanoseconds, 9);
    into.push(b'Z');
}

/// Year, month, day, hour, minute and second of a time, nanoseconds since the epoch, in UTC.
pub fn civil_time(ts: i64) -> [u64; 6] {
    const PER_DAY: i64 = 86_400;
    let seconds = ts.div_euclid(PER_SECOND);
    let (days, second) = (seconds.div_euclid(PER_DAY), seconds.rem_euclid(PER_DAY));
    let (year, month, day) = civil_day(days);
    [year, month, day, second / 3600, second / 60 % 60, second % 60].map(i64::unsigned_abs)
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
fn civil_day(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Counted from March, so that the leap day comes last.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Appends an address as text; IPv6 as RFC 5952 has it.
#[inline]
pub fn address(into: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => ipv4(into, address),
        IpAddr::V6(address) => ipv6(into, address),
    }
}

#[inline]
fn ipv4(into: &mut Vec<u8>, address: Ipv4Addr) {
    let mut text = [b'.'; 16];
    let mut len = 0;
    for octet in address.octets() {
        let [tens, ones] = PAIRS[usize::from(octet % 100)];
        if octet >= 100 {
            text[len] = b'0' + octet / 100;
            len += 1;
        }
        if octet >= 10 {
            text[len] = tens;
            len += 1;
        }
        text[len] = ones;
        text[len + 1] = b'.';
        len += 2;
    }
    into.extend_from_slice(&text[..len - 1]);
}

fn ipv6(into: &mut Vec<u8>, address: Ipv6Addr) {
    if let Some(address) = address.to_ipv4_mapped() {
        into.extend_from_slice(b"::ffff:");
        return ipv4(into, address);
    }
    let groups = address.segments();
    let zeros = longest_zeros(&groups);
    let mut text = [b':'; 40];
    let mut len = 0;
    let mut at = 0;
    while at < groups.len() {
        if at == zeros.start && !zeros.is_empty() {
            len += if at == 0 { 2 } else { 1 };
            at = zeros.end;
            continue;
        }
        let group = groups[at];
        let digits = (4 - group.leading_zeros() as usize / 4).max(1);
        for place in (0..digits).rev() {
            text[len] = HEX[usize::from(group >> (4 * place) & 0xf)];
            len += 1;
        }
        at += 1;
        if at < groups.len() {
            text[len] = b':';
            len += 1;
        }
    }
    into.extend_from_slice(&text[..len]);
}

/// The first of the longest runs of two or more zero groups, or nothing.
fn longest_zeros(groups: &[u16; 8]) -> std::ops::Range<usize> {
    let mut longest = 0..0;
    let mut start = 0;
    for (at, group) in groups.iter().enumerate() {
        if *group != 0 {
            start = at + 1;
        } else if at + 1 - start > longest.len().max(1) {
            longest = start..at + 1;
        }
    }
    longest
}

/// Appends a UUID, which has 16 bytes, as its 36 characters.
pub fn uuid(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(&uuid_text(bytes));
}

/// The 36 characters of a UUID, which has 16 bytes.
pub fn uuid_text(bytes: &[u8]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let mut places = text.iter_mut().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
    for digit in bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        if let Some((_, place)) = places.next() {
            *place = hex_digit(digit);
        }
    }
    text
}

/// The hexadecimal digit of a number below 16.
pub(super) fn hex_digit(number: u8) -> u8 {
    HEX[usize::from(number & 15)]
}

/// A floating-point number as the shortest text that is read as the same. What is no number has the
/// name that Ruby, JavaScript and Thrift's JSON give it.
pub fn double_text(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() && number > 0.0 => "Infinity".to_owned(),
        number if number.is_infinite() => "-Infinity".to_owned(),
        number => format!("{number:?}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Each writer against the slow, obvious one of the standard library.

    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    /// Numbers of every length from a fixed seed (xorshift64).
    fn numbers() -> impl Iterator<Item = u64> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        (0..20_000).map(move |round| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> (round % 64)
        })
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for number in numbers().chain(0..1000).chain([u64::MAX, i64::MIN as u64]) {
            assert_eq!(text(|into| unsigned(into, number)), number.to_string());
            let number = number as i64;
            assert_eq!(text(|into| signed(into, number)), number.to_string());
        }
    }

    #[test]
    fn addresses_are_written_as_the_standard_library_writes_them() {
        for number in numbers() {
            let address = IpAddr::from((number as u32).to_be_bytes());
            assert_eq!(text(|into| super::address(into, address)), address.to_string());
        }
        let mut numbers = numbers();
        while let (Some(high), Some(low), Some(mask)) =
            (numbers.next(), numbers.next(), numbers.next())
        {
            // Whole groups are zero as often as not.
            let masked = |number: u64, mask: u64| {
                (0..4).fold(0, |sum, group| {
                    let keep = if mask >> group & 1 == 1 { 0xffff << (16 * group) } else { 0 };
                    sum | number & keep
                })
            };
            let number = u128::from(masked(high, mask)) << 64 | u128::from(masked(low, mask >> 4));
            let address = IpAddr::from(number.to_be_bytes());
            // The standard library writes ::a.b.c.d like any other address since 1.50.
            assert_eq!(text(|into| super::address(into, address)), address.to_string());
        }
        for known in ["::", "::1", "1::", "::ffff:10.0.0.1", "2001:db8::1:0:0:1", "1:0:2:0:3:0:4:0"]
        {
            let address: IpAddr = known.parse().unwrap();
            assert_eq!(text(|into| super::address(into, address)), known);
        }
    }

    #[test]
    fn times_are_written_in_utc_with_nanoseconds() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_827_696_000_000_001, "2000-02-29T12:34:56.000000001Z"),
            (1_709_251_199_999_999_999, "2024-02-29T23:59:59.999999999Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ];
        for (ts, expected) in cases {
            assert_eq!(text(|into| iso_time(into, ts)), expected);
        }
    }

    #[test]
    fn uuids_are_written_in_groups() {
        let bytes: [u8; 16] = std::array::from_fn(|place| place as u8 * 17);
        assert_eq!(text(|into| uuid(into, &bytes)), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
