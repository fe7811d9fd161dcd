//! How single values are written: numbers, addresses, times, names. Rows by the hundred thousand a
//! second go through here, so nothing goes through `std::fmt`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytewright::terminal::{is_harmful, push_visible};

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
pub(crate) fn unsigned(into: &mut Vec<u8>, mut number: u64) {
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
pub(crate) fn signed(into: &mut Vec<u8>, number: i64) {
    if number < 0 {
        into.push(b'-');
    }
    unsigned(into, number.unsigned_abs());
}

/// Appends `number` with leading zeros to `width` digits, of which it has no more.
fn padded(into: &mut Vec<u8>, mut number: u64, width: usize) {
    let start = into.len();
    into.resize(start + width, b'0');
    for digit in into[start..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Appends an address as text; IPv6 as RFC 5952 has it.
#[inline]
pub(crate) fn address(into: &mut Vec<u8>, address: IpAddr) {
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

/// Appends a time, nanoseconds since the epoch, as ISO 8601 in UTC.
pub(crate) fn time(into: &mut Vec<u8>, ts: i64) {
    const PER_SECOND: i64 = 1_000_000_000;
    const PER_DAY: i64 = 86_400;
    let (seconds, nanoseconds) = (ts.div_euclid(PER_SECOND), ts.rem_euclid(PER_SECOND));
    let (days, second) = (seconds.div_euclid(PER_DAY), seconds.rem_euclid(PER_DAY));
    let (year, month, day) = civil(days);
    let parts = [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (second / 3600, 2, b':'),
        (second / 60 % 60, 2, b':'),
        (second % 60, 2, b'.'),
        (nanoseconds, 9, b'Z'),
    ];
    for (number, width, separator) in parts {
        padded(into, number.unsigned_abs(), width);
        into.push(separator);
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
fn civil(days: i64) -> (i64, i64, i64) {
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

/// Appends microseconds as seconds with a fraction.
pub(crate) fn seconds(into: &mut Vec<u8>, microseconds: u64) {
    unsigned(into, microseconds / 1_000_000);
    into.push(b'.');
    padded(into, microseconds % 1_000_000, 6);
}

/// Appends the initials of the TCP flags that are set: `SA` is SYN and ACK. No flag is `-`.
pub(crate) fn tcp_flags(into: &mut Vec<u8>, flags: u64) {
    let start = into.len();
    for (bit, initial) in b"FSRPAUECN".iter().enumerate() {
        if flags >> bit & 1 == 1 {
            into.push(*initial);
        }
    }
    if into.len() == start {
        into.push(b'-');
    }
}

/// Appends `text` as a JSON string.
pub(crate) fn json_text(into: &mut Vec<u8>, text: &str) {
    into.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => into.extend_from_slice(&[b'\\', character as u8]),
            '\n' => into.extend_from_slice(b"\\n"),
            '\t' => into.extend_from_slice(b"\\t"),
            ' '..='~' => into.push(character as u8),
            // All of them are in the basic plane: one escape each.
            _ if is_harmful(character) => {
                let digits = [12, 8, 4, 0].map(|shift| HEX[character as usize >> shift & 15]);
                into.extend_from_slice(b"\\u");
                into.extend_from_slice(&digits);
            }
            _ => into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    into.push(b'"');
}

/// Appends bytes to JSON: a string where they are UTF-8, and `{"base64":"..."}` where they are not.
pub(crate) fn json_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return json_text(into, text);
    }
    json_base64(into, bytes);
}

/// Appends bytes to JSON that are no text by their type: `{"base64":"..."}`.
pub(crate) fn json_base64(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(b"{\"base64\":\"");
    into.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
    into.extend_from_slice(b"\"}");
}

/// A floating-point number as the shortest text that is read as the same. What is no number has the
/// name that Ruby, JavaScript and Thrift's JSON give it.
pub(crate) fn double_text(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() && number > 0.0 => "Infinity".to_owned(),
        number if number.is_infinite() => "-Infinity".to_owned(),
        number => format!("{number:?}"),
    }
}

/// Appends a floating-point number to JSON: a string where JSON has no number for it.
pub(crate) fn json_double(into: &mut Vec<u8>, number: f64) {
    let text = double_text(number);
    match number.is_finite() {
        true => into.extend_from_slice(text.as_bytes()),
        false => json_text(into, &text),
    }
}

/// Appends text in quotes, without anything that a terminal would act on.
pub(crate) fn quoted(into: &mut Vec<u8>, text: &[u8]) {
    into.push(b'"');
    for (nth, piece) in text.split(|&byte| byte == b'"').enumerate() {
        into.extend_from_slice(if nth > 0 { b"\\\"" } else { b"" });
        push_visible(into, piece);
    }
    into.push(b'"');
}

/// Appends `text` as a CSV field, quoted where RFC 4180 wants it.
pub(crate) fn csv_text(into: &mut Vec<u8>, text: &str) {
    csv_bytes(into, text.as_bytes());
}

/// The same for bytes that may be no text; they stay as they are.
pub(crate) fn csv_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    if !bytes.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        return into.extend_from_slice(bytes);
    }
    into.push(b'"');
    for byte in bytes {
        if *byte == b'"' {
            into.push(b'"');
        }
        into.push(*byte);
    }
    into.push(b'"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Each writer against the slow, obvious one of the standard library, or against known texts.

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
            assert_eq!(text(|into| time(into, ts)), expected);
        }
    }

    #[test]
    fn texts_are_escaped_as_json_and_csv_want_it() {
        let odd = "a \"b\",\\\n\u{1}é";
        assert_eq!(text(|into| json_text(into, odd)), "\"a \\\"b\\\",\\\\\\n\\u0001é\"");
        assert_eq!(text(|into| csv_text(into, odd)), "\"a \"\"b\"\",\\\n\u{1}é\"");
        assert_eq!(text(|into| csv_text(into, "plain")), "plain");
    }

    #[test]
    fn bytes_that_are_no_text_are_written_for_each_reader() {
        assert_eq!(text(|into| json_bytes(into, "é\n".as_bytes())), "\"é\\n\"");
        assert_eq!(text(|into| json_bytes(into, b"\xff\x00a")), "{\"base64\":\"/wBh\"}");
        assert_eq!(text(|into| push_visible(into, "né".as_bytes())), "né");
        let odd = b"a\\\n\t\r\x1b[1m\xc3\xff\x00\xc2\x85";
        let expected = "a\\\\\\n\\t\\r\\x1b[1m\\xc3\\xff\\x00\\xc2\\x85";
        assert_eq!(text(|into| push_visible(into, odd)), expected);
    }

    #[test]
    fn flags_and_durations_are_written_for_people() {
        assert_eq!(text(|into| tcp_flags(into, 0x12)), "SA");
        assert_eq!(text(|into| tcp_flags(into, 0)), "-");
        assert_eq!(text(|into| seconds(into, 9_200_001)), "9.200001");
    }
}
