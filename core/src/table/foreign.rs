//! What a file that is no table is, for the errors that refuse it.

/// Formats that people keep keys and values in, and what wraps other files, by their first bytes.
const KNOWN: [(&[u8], &str); 9] = [
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x04\x08", "a PStore, or another Marshal stream: `bytewright store` reads it"),
    (b"\x13\x57\x9a\xce", "a GDBM database"),
    (b"\xce\x9a\x57\x13", "a GDBM database"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture"),
    (b"\xa1\xb2\xc3\xd4", "a packet capture"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
];

/// Bytes that are shown of an unknown file.
const SHOWN: usize = 16;

/// What a file that begins so is: its format, or its first bytes, as text where they are text.
pub(in crate::table) fn described(beginning: &[u8]) -> String {
    if let Some((_, name)) = KNOWN.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return (*name).to_owned();
    }
    let shown = &beginning[..beginning.len().min(SHOWN)];
    match std::str::from_utf8(shown) {
        Ok(text) if !text.chars().any(|character| character.is_control() && character != '\n') => {
            format!("text that begins with {text:?}")
        }
        _ => {
            let bytes: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("bytes that begin with {}", bytes.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_format_else_by_its_text_else_by_its_bytes() {
        assert_eq!(described(b"SQLite format 3\0\x10\0"), "an SQLite database");
        assert!(described(b"\x04\x08{\x06").contains("bytewright store"));
        assert_eq!(described(b"{\"a\": 1}\n"), r#"text that begins with "{\"a\": 1}\n""#);
        assert_eq!(described(b"0123456789abcdefgh"), r#"text that begins with "0123456789abcdef""#);
        assert_eq!(described(b"\x7fELF\x02"), "bytes that begin with 7f 45 4c 46 02");
    }
}
