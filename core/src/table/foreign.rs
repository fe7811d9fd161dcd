//! Formats of files that are no tables, for the errors that refuse them; and those whose content may exist only once.

use super::file::TableKind;
use super::tokyo_cabinet::Database;

/// Formats that people keep keys and values in, by their first bytes.
const STORES: [(&[u8], &str); 5] = [
    (b"SQLite format 3\0", "an SQLite database"),
    (b"redb\x1a\x0a\xa9\x0d\x0a", "a redb database"),
    (b"\x04\x08", "a PStore, or another Marshal stream: `bytewright store` reads it"),
    (b"\x13\x57\x9a\xce", "a GDBM database"),
    (b"\xce\x9a\x57\x13", "a GDBM database"),
];

/// Captures, and what wraps other files.
const OTHERS: [(&[u8], &str); 5] = [
    (b"\xd4\xc3\xb2\xa1", "a packet capture"),
    (b"\xa1\xb2\xc3\xd4", "a packet capture"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
];

/// Bytes that are shown of an unknown file.
const SHOWN: usize = 16;

/// Describes a file that begins so: its format, or its first bytes, as text if they are text.
pub(in crate::table) fn described(beginning: &[u8]) -> String {
    let mut known = STORES.iter().chain(&OTHERS);
    if let Some((_, name)) = known.find(|(magic, _)| beginning.starts_with(magic)) {
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

/// The table or store, of whichever program, that a file that begins so is; none for all else.
pub(crate) fn kept_format(beginning: &[u8]) -> Option<&'static str> {
    if let Some(kind) = TableKind::of_beginning(beginning) {
        return Some(kind.adjective());
    }
    if Database::is_beginning(beginning) {
        return Some("a table of Tokyo Cabinet");
    }
    STORES.iter().find(|(magic, _)| beginning.starts_with(magic)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_stores_are_kept_and_texts_are_not() {
        let kept = [
            &b"\x89BWH\r\n\x1a\n"[..],
            b"\x89BWT\r\n\x1a\n",
            b"ToKyO CaBiNeT\n",
            b"\x04\x08{\x06",
            b"SQLite format 3\0",
        ];
        assert!(kept.iter().all(|beginning| kept_format(beginning).is_some()));
        let others = [&b""[..], b"\x1f\x8b", b"PAR1", b"<!DOCTYPE html>"];
        assert!(others.iter().all(|beginning| kept_format(beginning).is_none()));
    }

    #[test]
    fn a_file_is_named_by_its_format_else_by_its_text_else_by_its_bytes() {
        assert_eq!(described(b"SQLite format 3\0\x10\0"), "an SQLite database");
        assert!(described(b"\x04\x08{\x06").contains("bytewright store"));
        assert_eq!(described(b"{\"a\": 1}\n"), r#"text that begins with "{\"a\": 1}\n""#);
        assert_eq!(described(b"0123456789abcdefgh"), r#"text that begins with "0123456789abcdef""#);
        assert_eq!(described(b"\x7fELF\x02"), "bytes that begin with 7f 45 4c 46 02");
    }
}
