//! Whole numbers of any size as text.

/// Digits in base 256 up to which a number is written in decimal, which takes the square of the time.
const DECIMAL_LEN_MAX: usize = 1024;

/// Decimal digits that one division gives.
const CHUNK_DIGITS: usize = 9;
const CHUNK: u64 = 1_000_000_000;

/// A number from its digits in base 256, the lowest first: in decimal, or, if it is very large, in
/// hexadecimal.
pub(super) fn text(is_negative: bool, digits: &[u8]) -> String {
    let sign = if is_negative { "-" } else { "" };
    let digits = digits.strip_suffix(&[0]).unwrap_or(digits);
    match digits.len() <= DECIMAL_LEN_MAX {
        true => format!("{sign}{}", decimal(digits)),
        false => {
            let hex: String = digits.iter().rev().map(|digit| format!("{digit:02x}")).collect();
            format!("{sign}0x{hex}")
        }
    }
}

fn decimal(digits: &[u8]) -> String {
    let mut rest = digits.to_vec();
    let mut chunks = Vec::new();
    while rest.iter().any(|&digit| digit != 0) {
        let mut remainder = 0;
        for digit in rest.iter_mut().rev() {
            let number = remainder << 8 | u64::from(*digit);
            *digit = (number / CHUNK) as u8;
            remainder = number % CHUNK;
        }
        chunks.push(remainder);
    }
    let Some(first) = chunks.pop() else { return "0".to_owned() };
    let others = chunks.iter().rev().map(|chunk| format!("{chunk:0CHUNK_DIGITS$}"));
    others.fold(first.to_string(), |text, chunk| text + &chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_128_bits_are_written_as_the_standard_library_writes_them() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        for round in 0..2000 {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            let number = state >> (round % 128);
            assert_eq!(text(false, &number.to_le_bytes()), number.to_string());
        }
        assert_eq!(text(true, &[0, 0, 0, 64]), "-1073741824");
    }

    #[test]
    fn a_number_of_millions_of_digits_is_written_in_time() {
        let text = text(true, &vec![0xab; 1 << 20]);
        assert!(text.starts_with("-0xabab"));
    }
}
