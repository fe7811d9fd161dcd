//! Keys and values of caches as lines and as JSON.

use std::ffi::OsStr;

use bytewright::batch::json::base64_text;
use bytewright::table::cache::{CacheData, CacheEntry, CacheKind, NestedTag};
use bytewright::terminal::push_visible;
use bytewright::wire::{CborItem, Reader};
use bytewright::{Error, Result};

use crate::notation::{double_text, json_bytes, json_double, json_text, signed};
use crate::output::Output;
use crate::table::bytes;

/// Appends what `push` does, or, where that fails, nothing.
pub(super) fn whole(
    into: &mut Vec<u8>,
    push: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = into.len();
    push(into).inspect_err(|_| into.truncate(start))
}

/// Appends a key, and a value if there is one, as a line that is harmless to a terminal.
pub(super) fn visible(into: &mut Vec<u8>, key: &[u8], value: Option<CacheData<'_>>) -> Result<()> {
    let mut text = Vec::new();
    push_text(&mut text, CacheData::of_key(key)?)?;
    push_visible(into, &text);
    if let Some(value) = value {
        text.clear();
        push_text(&mut text, value)?;
        into.push(b'\t');
        push_visible(into, &text);
    }
    into.push(b'\n');
    Ok(())
}

/// Appends a value as a line.
pub(super) fn line(into: &mut Vec<u8>, value: CacheData<'_>) -> Result<()> {
    push_text(into, value)?;
    into.push(b'\n');
    Ok(())
}

/// Prints a value with its bytes as they are.
pub(super) fn raw(output: &mut Output, value: CacheData<'_>) -> Result<()> {
    let mut text = Vec::new();
    push_text(&mut text, value)?;
    output.raw(&text);
    Ok(())
}

/// Appends an object for a key, with its entry if that is to be shown.
pub(super) fn json(into: &mut Vec<u8>, key: &[u8], entry: Option<CacheEntry<'_>>) -> Result<()> {
    into.extend_from_slice(b"{\"key\":");
    push_json(into, CacheData::of_key(key)?)?;
    if let Some(CacheEntry { value, expires_at, tag }) = entry {
        into.extend_from_slice(b",\"value\":");
        push_json(into, value)?;
        if let Some(expires_at) = expires_at {
            into.extend_from_slice(b",\"expire_time\":");
            json_double(into, expires_at as f64 / 1000.0);
        }
        if let Some(tag) = tag {
            into.extend_from_slice(b",\"tag\":");
            push_json(into, tag)?;
        }
    }
    into.extend_from_slice(b"}\n");
    Ok(())
}

/// Appends an object for a key that has no entry.
pub(super) fn missing(into: &mut Vec<u8>, key: &OsStr) {
    into.extend_from_slice(b"{\"key\":");
    json_bytes(into, bytes(key));
    into.extend_from_slice(b",\"value\":null}\n");
}

/// Appends text and bytes as they are, numbers in digits, and nested data as JSON.
fn push_text(into: &mut Vec<u8>, data: CacheData<'_>) -> Result<()> {
    match data.kind {
        CacheKind::Text | CacheKind::Bytes | CacheKind::Sealed => {
            into.extend_from_slice(data.bytes);
        }
        CacheKind::Float => {
            into.extend_from_slice(double_text(f64::from_le_bytes(eight(data)?)).as_bytes());
        }
        CacheKind::Integer | CacheKind::Nested => push_json(into, data)?,
    }
    Ok(())
}

fn push_json(into: &mut Vec<u8>, data: CacheData<'_>) -> Result<()> {
    match data.kind {
        CacheKind::Text | CacheKind::Bytes => json_bytes(into, data.bytes),
        CacheKind::Sealed => {
            into.extend_from_slice(b"{\"sealed\":");
            base64_text(into, data.bytes);
            into.push(b'}');
        }
        CacheKind::Integer => signed(into, i64::from_le_bytes(eight(data)?)),
        CacheKind::Float => json_double(into, f64::from_le_bytes(eight(data)?)),
        CacheKind::Nested => {
            let mut reader = Reader::new(data.bytes);
            match push_item(into, &mut reader, 0) {
                Some(()) if reader.remaining() == 0 => {}
                _ => return Err(Error::format("nested data of a cache", "other bytes")),
            }
        }
    }
    Ok(())
}

fn eight(data: CacheData<'_>) -> Result<[u8; 8]> {
    data.bytes.try_into().map_err(|_| Error::format("a number of a cache", "other bytes"))
}

/// Appends the next item as JSON; `None` where there is none. Names are texts, and sets and tuples arrays.
fn push_item(into: &mut Vec<u8>, reader: &mut Reader<'_>, depth: usize) -> Option<()> {
    if depth > NestedTag::DEPTH_MAX {
        return None;
    }
    match CborItem::take(reader)? {
        CborItem::Unsigned(number) => into.extend_from_slice(number.to_string().as_bytes()),
        CborItem::Negative(number) => {
            into.extend_from_slice((-1 - i128::from(number)).to_string().as_bytes());
        }
        CborItem::Bytes(bytes) => json_bytes(into, bytes),
        CborItem::Text(text) => json_text(into, text),
        CborItem::Float(number) => json_double(into, number),
        CborItem::Bool(value) => into.extend_from_slice(if value { b"true" } else { b"false" }),
        CborItem::Null => into.extend_from_slice(b"null"),
        CborItem::Array(count) => {
            into.push(b'[');
            for place in 0..count {
                into.extend_from_slice(if place > 0 { b"," } else { b"" });
                push_item(into, reader, depth + 1)?;
            }
            into.push(b']');
        }
        CborItem::Map(count) => {
            into.push(b'{');
            for place in 0..count {
                into.extend_from_slice(if place > 0 { b"," } else { b"" });
                push_name(into, reader, depth + 1)?;
                into.push(b':');
                push_item(into, reader, depth + 1)?;
            }
            into.push(b'}');
        }
        CborItem::Tag(number) => match NestedTag::of_number(number)? {
            tag @ (NestedTag::Long | NestedTag::LongNegative) => match CborItem::take(reader)? {
                CborItem::Bytes(bytes) => push_long(into, bytes, tag == NestedTag::LongNegative),
                _ => return None,
            },
            _ => push_item(into, reader, depth + 1)?,
        },
    }
    Some(())
}

/// Appends the key of a map as a name: a text, or the JSON of another key in one.
fn push_name(into: &mut Vec<u8>, reader: &mut Reader<'_>, depth: usize) -> Option<()> {
    let mut name = Vec::new();
    push_item(&mut name, reader, depth)?;
    match name.first() {
        Some(b'"') => into.extend_from_slice(&name),
        _ => json_text(into, std::str::from_utf8(&name).ok()?),
    }
    Some(())
}

/// Appends an integer of up to 128 bits in digits, and a longer one as text, with hexadecimal digits.
fn push_long(into: &mut Vec<u8>, bytes: &[u8], is_negative: bool) {
    if bytes.len() <= 16 {
        let number = bytes.iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
        match (is_negative, number.checked_add(1)) {
            (false, _) => return into.extend_from_slice(number.to_string().as_bytes()),
            (true, Some(next)) => return into.extend_from_slice(format!("-{next}").as_bytes()),
            (true, None) => {}
        }
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json_text(into, &format!("{}0x{hex}", if is_negative { "-1-" } else { "" }));
}
