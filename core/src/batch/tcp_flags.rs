//! The flags of TCP by name, and by the letters that stand for them.

/// A flag of TCP (RFC 9293, section 3.1; RFC 3168 for ECE and CWR).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFlag {
    /// Its bit.
    pub bit: u16,
    /// Its name, in capital letters.
    pub name: &'static str,
    /// The letter that stands for it in tables.
    pub letter: char,
    /// The letter that tcpdump writes, where it is another one.
    tcpdump_letter: char,
    /// Another name of it.
    other_name: &'static str,
}

/// The flags, from the lowest bit on. The last one is NS of RFC 3540, which is AE since RFC 9768.
pub const TCP_FLAGS: [TcpFlag; 9] = [
    flag(0x001, "FIN", 'F', 'F', "FIN"),
    flag(0x002, "SYN", 'S', 'S', "SYN"),
    flag(0x004, "RST", 'R', 'R', "RESET"),
    flag(0x008, "PSH", 'P', 'P', "PUSH"),
    flag(0x010, "ACK", 'A', '.', "ACK"),
    flag(0x020, "URG", 'U', 'U', "URG"),
    flag(0x040, "ECE", 'E', 'E', "ECE"),
    flag(0x080, "CWR", 'C', 'W', "CWR"),
    flag(0x100, "NS", 'N', 'e', "AE"),
];

const fn flag(
    bit: u16,
    name: &'static str,
    letter: char,
    tcpdump_letter: char,
    other_name: &'static str,
) -> TcpFlag {
    TcpFlag { bit, name, letter, tcpdump_letter, other_name }
}

/// The bits of flags as people write them: names in any case (`SYN`), letters as in tables (`SA`) or as of tcpdump (`S.`),
/// and several of these with `+` between them. None for other text.
pub fn tcp_flags_of(text: &str) -> Option<u16> {
    let named = |name: &str| {
        let is_it = |flag: &&TcpFlag| {
            [flag.name, flag.other_name].iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        TCP_FLAGS.iter().find(is_it).map(|flag| flag.bit)
    };
    text.split('+').try_fold(0, |bits, part| {
        let more = named(part).or_else(|| bits_of_letters(part))?;
        Some(bits | more)
    })
}

/// The bits of letters; none where there is no letter, or another one.
fn bits_of_letters(letters: &str) -> Option<u16> {
    let of_letter = |letter: char| {
        let is_it = |flag: &&TcpFlag| flag.letter == letter || flag.tcpdump_letter == letter;
        TCP_FLAGS.iter().find(is_it).map(|flag| flag.bit)
    };
    let bits = letters.chars().try_fold(0, |bits, letter| Some(bits | of_letter(letter)?))?;
    (bits != 0).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_by_name_and_by_the_letters_of_tables_and_of_tcpdump() {
        let cases = [
            ("SYN", Some(0x002)),
            ("syn+Ack", Some(0x012)),
            ("SA", Some(0x012)),
            ("S.", Some(0x012)),
            ("FP.", Some(0x019)),
            ("S+ACK", Some(0x012)),
            ("SEW", Some(0x0c2)),
            ("SEC", Some(0x0c2)),
            ("AE", Some(0x100)),
            ("e", Some(0x100)),
            ("PUSH", Some(0x008)),
            ("FSRPAUECN", Some(0x1ff)),
            ("", None),
            ("SYN+", None),
            ("sa", None),
            ("X", None),
            ("SYNACK", None),
        ];
        for (text, expected) in cases {
            assert_eq!(tcp_flags_of(text), expected, "{text}");
        }
    }
}
