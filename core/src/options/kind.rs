//! The kinds of values that options take.

use std::fmt;

use super::{Setting, duration_ns};
use crate::error::excerpt;
use crate::spelling::hint;
use crate::{Error, ErrorKind, Result};

/// The values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// True or false.
    Flag,
    /// An integer of at least and at most so much.
    Count {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Seconds, 0 or above, with a fraction. Text may have a unit: `500ms`, `1m`.
    Seconds,
    /// A text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A moment: text or integers as in a condition, such as "2026-11-21T10:00Z" or seconds since 1970.
    Time,
    /// The path of a file.
    Path,
    /// Several texts.
    Texts,
    /// The paths of several files or folders.
    Paths,
}

impl OptionKind {
    /// A positive integer of 32 bits.
    pub const POSITIVE_32: OptionKind = OptionKind::Count { min: 1, max: u32::MAX as u64 };

    /// An integer of at least so much.
    pub const fn at_least(min: u64) -> OptionKind {
        OptionKind::Count { min, max: u64::MAX }
    }

    /// The expected value, in words.
    pub fn expected(self) -> impl fmt::Display {
        match self {
            OptionKind::Flag => "true or false".to_owned(),
            OptionKind::Count { .. } => "an integer".to_owned(),
            OptionKind::Seconds => "a number of seconds".to_owned(),
            OptionKind::Text => "text".to_owned(),
            OptionKind::Choice(words) => one_of(words),
            OptionKind::Time => "a time".to_owned(),
            OptionKind::Path => "a path".to_owned(),
            OptionKind::Texts => "a list of texts".to_owned(),
            OptionKind::Paths => "a list of paths".to_owned(),
        }
    }

    /// `Argument` for a setting that is not of this kind.
    pub(super) fn check(self, name: &str, setting: &Setting) -> Result<()> {
        match (self, setting) {
            (OptionKind::Count { min, max }, Setting::Count(count)) => {
                check_count(name, *count, min, max)
            }
            (OptionKind::Seconds, Setting::Seconds(seconds)) => check_seconds(name, *seconds),
            (OptionKind::Choice(words), Setting::Text(word)) => check_choice(name, word, words),
            (OptionKind::Flag, Setting::Flag(_))
            | (OptionKind::Text | OptionKind::Time, Setting::Text(_))
            | (OptionKind::Path, Setting::Path(_))
            | (OptionKind::Texts, Setting::Texts(_))
            | (OptionKind::Paths, Setting::Paths(_)) => Ok(()),
            _ => Err(Error::internal(format!("a setting {setting:?} for {name}"))),
        }
    }

    /// The setting that a text means. Of lists, it is one element.
    pub(super) fn parse(self, name: &str, text: &str) -> Result<Setting> {
        let other = || self.not(name, format_args!("{:?}", excerpt(text)));
        match self {
            OptionKind::Flag => match text {
                "true" | "1" => Ok(Setting::Flag(true)),
                // The empty text is the false of Perl.
                "false" | "0" | "" => Ok(Setting::Flag(false)),
                _ => Err(other()),
            },
            OptionKind::Count { .. } => integer(text).map(Setting::Count).ok_or_else(other),
            OptionKind::Seconds => match duration_ns(text) {
                Some(nanoseconds) => Ok(Setting::Seconds(nanoseconds / 1e9)),
                None => text.parse().map(Setting::Seconds).map_err(|_| other()),
            },
            OptionKind::Text | OptionKind::Choice(_) | OptionKind::Time => {
                Ok(Setting::Text(text.to_owned()))
            }
            OptionKind::Path => Ok(Setting::Path(text.into())),
            OptionKind::Texts => Ok(Setting::Texts(vec![text.to_owned()])),
            OptionKind::Paths => Ok(Setting::Paths(vec![text.into()])),
        }
    }

    /// The error for a value of another kind, which a face describes in words of its language.
    pub fn not(self, name: &str, found: impl fmt::Display) -> Error {
        argument(format!("expected {name} to be {}, found {found}", self.expected()))
    }
}

/// An integer, also where a language writes a large one with an exponent. Infinity is the most there is.
fn integer(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        let is_whole = number.fract() == 0.0 || number == f64::INFINITY;
        is_whole.then(|| (number as i128).min(u64::MAX.into()))
    })
}

fn check_count(name: &str, count: i128, min: u64, max: u64) -> Result<()> {
    match () {
        () if count < i128::from(min) => {
            Err(argument(format!("expected {name} of {min} or more, found {count}")))
        }
        () if count > i128::from(max) => {
            Err(argument(format!("expected {name} of at most {max}, found {count}")))
        }
        () => Ok(()),
    }
}

fn check_seconds(name: &str, seconds: f64) -> Result<()> {
    match seconds >= 0.0 {
        true => Ok(()),
        false => Err(argument(format!("expected {name} of 0 seconds or more, found {seconds}"))),
    }
}

/// The one of `all` that has this name among `names`, which are in the same order. Errors call it `subject`.
pub(crate) fn choice_named<T: Copy>(
    subject: &str,
    name: &str,
    names: &[&str],
    all: &[T],
) -> Result<T> {
    check_choice(subject, name, names)?;
    let found = names.iter().zip(all).find(|(known, _)| **known == name);
    found.map(|(_, found)| *found).ok_or_else(|| Error::internal("a name of nothing"))
}

fn check_choice(name: &str, word: &str, words: &[&str]) -> Result<()> {
    if words.contains(&word) {
        return Ok(());
    }
    let hint = hint(word, words.iter().copied());
    let (expected, found) = (one_of(words), excerpt(word));
    Err(argument(format!("expected {name} to be {expected}, found {found:?}{hint}")))
}

/// Words as a sentence lists them: "a, b or c".
fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
