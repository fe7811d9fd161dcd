//! Values and keys of roots that a host can make without loading a stream: what is one object by
//! itself, of a kind that every host has.

use super::content::LinkableContent;
use super::encoding::StringEncoding;
use super::float::{self, Float};
use super::index::{StreamIndex, content_at};
use super::long;
use super::walk::StreamPosition;
use crate::wire::Reader;

/// The encoding of a text, for those that are frequent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommonEncoding {
    /// Bytes without a meaning.
    Binary,
    /// ASCII.
    UsAscii,
    /// UTF-8, or what is taken for it.
    Utf8,
}

/// A value that is one object, without instance variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits a word of the host beside its tag.
    Integer(i64),
    /// A Float that fits a word beside its tag, so equal ones are one object.
    Float(f64),
    /// A Symbol.
    Symbol(&'a [u8], CommonEncoding),
    /// A String, and one of its own if it is a value: nothing links to it.
    String(&'a [u8], CommonEncoding),
}

/// The numbers that fit a word of the host.
const WORD: std::ops::RangeInclusive<i64> = -(1 << 62)..=(1 << 62) - 1;

/// Reads the value or key at `place`; returns None if it is no scalar.
pub(super) fn at<'a>(
    stream: &'a [u8],
    index: &StreamIndex,
    place: StreamPosition,
) -> Option<Scalar<'a>> {
    let mut reader = Reader::new(stream.get(place.at..)?);
    match reader.u8()? {
        b'0' => Some(Scalar::Nil),
        b'T' => Some(Scalar::Bool(true)),
        b'F' => Some(Scalar::Bool(false)),
        b'i' => long::read(&mut reader).map(|number| Scalar::Integer(number.into())),
        b'l' => integer(&mut reader),
        b'f' => float(text(&mut reader)?),
        b'"' => Some(Scalar::String(text(&mut reader)?, CommonEncoding::Binary)),
        b'I' if reader.rest().first() == Some(&b'"') => string(stream, index, &mut reader),
        b'I' if reader.rest().first() != Some(&b':') => None,
        b':' | b'I' => content(content_at(stream, place.at as u32, &index.context)?),
        b';' => {
            let number = usize::try_from(long::read(&mut reader)?).ok()?;
            content(content_at(stream, *index.symbols.get(number)?, &index.context)?)
        }
        b'@' => {
            let number = u32::try_from(long::read(&mut reader)?).ok()?;
            content(content_at(stream, index.definition(stream, number)?, &index.context)?)
        }
        _ => None,
    }
}

/// Bytes behind their length.
fn text<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let len = usize::try_from(long::read(reader)?).ok()?;
    reader.take(len)
}

fn integer(reader: &mut Reader<'_>) -> Option<Scalar<'static>> {
    let is_negative = reader.u8()? == b'-';
    let len = usize::try_from(long::read(reader)?).ok()?.checked_mul(2)?;
    let mut word = [0; 8];
    word.get_mut(..len)?.copy_from_slice(reader.take(len)?);
    let magnitude = i64::try_from(u64::from_le_bytes(word)).ok()?;
    let number = if is_negative { -magnitude } else { magnitude };
    WORD.contains(&number).then_some(Scalar::Integer(number))
}

fn float(text: &[u8]) -> Option<Scalar<'static>> {
    let number = std::str::from_utf8(text).ok()?.parse().ok()?;
    (float::classify(text)? == Float::Immediate).then_some(Scalar::Float(number))
}

/// A String whose only variable is its encoding, and that one of those that are frequent.
fn string<'a>(
    stream: &'a [u8],
    index: &StreamIndex,
    reader: &mut Reader<'a>,
) -> Option<Scalar<'a>> {
    reader.u8()?;
    let bytes = text(reader)?;
    if long::read(reader)? != 1 {
        return None;
    }
    let is_encoding = match reader.u8()? {
        b':' => text(reader)? == b"E",
        b';' => {
            let number = usize::try_from(long::read(reader)?).ok()?;
            let symbol = content_at(stream, *index.symbols.get(number)?, &index.context)?;
            symbol == LinkableContent::Symbol(b"E", StringEncoding::BINARY)
        }
        _ => false,
    };
    let encoding = match reader.u8()? {
        b'T' => CommonEncoding::Utf8,
        b'F' => CommonEncoding::UsAscii,
        _ => return None,
    };
    is_encoding.then_some(Scalar::String(bytes, encoding))
}

/// Converts a content (a Symbol, or the target of a link), which is the same wherever it stands.
fn content(content: LinkableContent<'_>) -> Option<Scalar<'_>> {
    match content {
        LinkableContent::Symbol(bytes, encoding) => {
            Some(Scalar::Symbol(bytes, frequent(encoding)?))
        }
        LinkableContent::Float(text) => float(text),
        LinkableContent::Interned(bytes, encoding) => {
            Some(Scalar::String(bytes, frequent(encoding)?))
        }
        _ => None,
    }
}

/// Returns the content by which a text is identified.
pub(super) fn text_content(scalar: Scalar<'_>) -> Option<LinkableContent<'_>> {
    let encoding = |encoding| match encoding {
        CommonEncoding::Binary => StringEncoding::BINARY,
        CommonEncoding::UsAscii => StringEncoding::US_ASCII,
        CommonEncoding::Utf8 => StringEncoding::UTF_8,
    };
    match scalar {
        Scalar::Symbol(bytes, of) => Some(LinkableContent::Symbol(bytes, encoding(of))),
        Scalar::String(bytes, of) => Some(LinkableContent::Interned(bytes, encoding(of))),
        _ => None,
    }
}

fn frequent(encoding: StringEncoding) -> Option<CommonEncoding> {
    match encoding {
        StringEncoding::BINARY => Some(CommonEncoding::Binary),
        StringEncoding::US_ASCII => Some(CommonEncoding::UsAscii),
        StringEncoding::UTF_8 => Some(CommonEncoding::Utf8),
        _ => None,
    }
}
