//! Notation of single values for people: times, durations, flags, quoted text. That for programs is the core's matter.

use bytewright::batch::TCP_FLAGS;
pub(crate) use bytewright::batch::json::{
    bytes as json_bytes, double as json_double, text as json_text,
};
pub(crate) use bytewright::batch::notation::{
    double_text, iso_time as time, seconds, signed, unsigned, uuid,
};
use bytewright::terminal::push_visible;

/// Appends microseconds as people say how long something took: `2 d 3 h 4 min 5.000600 s`, without the larger units
/// that it does not have.
pub(crate) fn span(into: &mut Vec<u8>, microseconds: u64) {
    const UNITS: [(u64, u64, &str); 3] =
        [(86_400, u64::MAX, " d "), (3600, 24, " h "), (60, 60, " min ")];
    let whole_seconds = microseconds / 1_000_000;
    for (unit, wraps_at, name) in UNITS {
        if whole_seconds >= unit {
            unsigned(into, whole_seconds / unit % wraps_at);
            into.extend_from_slice(name.as_bytes());
        }
    }
    seconds(into, microseconds % 60_000_000);
    into.extend_from_slice(b" s");
}

/// A number of bytes with three digits and the unit that makes it one, such as `1.23 MB`: powers of 1000, as in reports.
pub(crate) fn byte_count(count: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut number, mut at) = (count as f64, 0);
    while number >= 999.5 && at + 1 < UNITS.len() {
        number /= 1000.0;
        at += 1;
    }
    let unit = UNITS[at];
    match number {
        _ if at == 0 => format!("{count} {unit}"),
        small if small < 9.995 => format!("{small:.2} {unit}"),
        middle if middle < 99.95 => format!("{middle:.1} {unit}"),
        large => format!("{large:.0} {unit}"),
    }
}

/// An interval of so many nanoseconds with the unit that makes it a short number, such as `200 ms`.
pub(crate) fn interval(nanoseconds: i64) -> String {
    const UNITS: [(i64, &str); 6] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1000, "us"),
    ];
    let unit = UNITS.iter().find(|(unit, _)| nanoseconds >= *unit && nanoseconds % unit == 0);
    match unit {
        Some((unit, name)) => format!("{} {name}", nanoseconds / unit),
        None => format!("{nanoseconds} ns"),
    }
}

/// Appends the initials of the TCP flags that are set: `SA` is SYN and ACK. No flag is `-`.
pub(crate) fn tcp_flags(into: &mut Vec<u8>, flags: u64) {
    let start = into.len();
    for flag in TCP_FLAGS {
        if flags & u64::from(flag.bit) != 0 {
            into.push(flag.letter as u8);
        }
    }
    if into.len() == start {
        into.push(b'-');
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Each writer against known texts.

    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn bytes_that_are_no_text_are_harmless_to_a_terminal() {
        assert_eq!(text(|into| push_visible(into, "né".as_bytes())), "né");
        let odd = b"a\\\n\t\r\x1b[1m\xc3\xff\x00\xc2\x85";
        let expected = "a\\\\\\n\\t\\r\\x1b[1m\\xc3\\xff\\x00\\xc2\\x85";
        assert_eq!(text(|into| push_visible(into, odd)), expected);
    }

    #[test]
    fn spans_are_written_in_the_units_that_people_count_in() {
        for (microseconds, expected) in [
            (0, "0.000000 s"),
            (59_999_999, "59.999999 s"),
            (60_000_000, "1 min 0.000000 s"),
            (3_600_000_000, "1 h 0 min 0.000000 s"),
            (183_845_000_600, "2 d 3 h 4 min 5.000600 s"),
        ] {
            assert_eq!(text(|into| span(into, microseconds)), expected);
        }
    }

    #[test]
    fn intervals_are_written_with_the_largest_unit_that_they_are_a_multiple_of() {
        let cases = [
            (1, "1 ns"),
            (5000, "5 us"),
            (200_000_000, "200 ms"),
            (90_000_000_000, "90 s"),
            (120_000_000_000, "2 min"),
            (7_200_000_000_000, "2 h"),
            (172_800_000_000_000, "2 d"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(interval(nanoseconds), expected);
        }
    }

    #[test]
    fn bytes_are_counted_in_the_unit_that_leaves_three_digits() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (9_994, "9.99 kB"),
            (9_996, "10.0 kB"),
            (99_960, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (1_234_567, "1.23 MB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (count, expected) in cases {
            assert_eq!(byte_count(count), expected);
        }
    }

    #[test]
    fn flags_and_durations_are_written_for_people() {
        assert_eq!(text(|into| tcp_flags(into, 0x12)), "SA");
        assert_eq!(text(|into| tcp_flags(into, 0)), "-");
        assert_eq!(text(|into| seconds(into, 9_200_001)), "9.200001");
    }
}
