//! What a walk must know of a stream before the place where it begins: which symbols have a meaning
//! for the format, and which objects are names of encodings.

use super::encoding::Encoding;

/// Symbols that the format, or a class that every host has, gives a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// The encoding is US-ASCII or UTF-8.
    ShortEncoding,
    /// The encoding has a name.
    LongEncoding,
    /// A Hash was made of keyword arguments.
    Keywords,
    /// The name of the time zone of a Time, which is interned.
    Zone,
    /// Classes whose own code dumps them, always alike.
    KnownClass,
}

/// The special symbols by their text.
const SPECIAL: [(&[u8], Special); 11] = [
    (b"E", Special::ShortEncoding),
    (b"encoding", Special::LongEncoding),
    (b"K", Special::Keywords),
    (b"zone", Special::Zone),
    (b"Time", Special::KnownClass),
    (b"BigDecimal", Special::KnownClass),
    (b"Rational", Special::KnownClass),
    (b"Complex", Special::KnownClass),
    (b"Date", Special::KnownClass),
    (b"DateTime", Special::KnownClass),
    (b"OpenStruct", Special::KnownClass),
];

/// Symbols with a meaning by their numbers, and encodings by the number of the object that names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Context {
    special: [Option<u32>; SPECIAL.len()],
    encodings: Vec<(u32, Encoding)>,
}

impl Context {
    /// Takes note of a symbol.
    #[inline]
    pub(super) fn symbol_defined(&mut self, number: u32, text: &[u8], encoding: Encoding) {
        if text.len() > 10 || encoding != Encoding::BINARY {
            return;
        }
        for ((known, _), slot) in SPECIAL.iter().zip(&mut self.special) {
            if *known == text {
                *slot = Some(number);
            }
        }
    }

    /// What the symbol means, if it means anything.
    #[inline]
    pub(super) fn special(&self, number: u32) -> Option<Special> {
        let at = self.special.iter().position(|&known| known == Some(number))?;
        SPECIAL.get(at).map(|&(_, special)| special)
    }

    /// Takes note of an object that names an encoding.
    pub(super) fn encoding_defined(&mut self, number: u32, encoding: Encoding) {
        if !self.encodings.iter().any(|&(known, _)| known == number) {
            self.encodings.push((number, encoding));
        }
    }

    /// The encoding that the object names.
    #[inline]
    pub(super) fn encoding(&self, number: u32) -> Option<Encoding> {
        self.encodings.iter().find(|&&(known, _)| known == number).map(|&(_, encoding)| encoding)
    }

    /// Renumbers symbols and objects; those for which there is no new number are forgotten.
    pub(super) fn renumber(
        &mut self,
        symbol: impl Fn(u32) -> Option<u32>,
        object: impl Fn(u32) -> Option<u32>,
    ) {
        for slot in &mut self.special {
            *slot = slot.and_then(&symbol);
        }
        self.encodings.retain_mut(|(number, _)| {
            let new = object(*number);
            *number = new.unwrap_or(*number);
            new.is_some()
        });
    }

    /// The encodings by number, in an order that depends on nothing else.
    pub(super) fn sort(&mut self) {
        self.encodings.sort_unstable_by_key(|&(number, _)| number);
    }
}
