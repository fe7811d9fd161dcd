//! A value that a host gives for an option.

use std::path::PathBuf;

use crate::{Error, Result};

/// A setting: the value of one option, in the types that all languages have.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// An integer. The kind of the option bounds it.
    Count(i128),
    /// Seconds, 0 or above.
    Seconds(f64),
    /// Words, a name or an expression.
    Text(String),
    /// A file.
    Path(PathBuf),
    /// Names.
    Texts(Vec<String>),
    /// Files or folders.
    Paths(Vec<PathBuf>),
}

impl Setting {
    /// The flag.
    ///
    /// # Errors
    /// `Internal`, as of the following, where the table of an option says another kind than its struct asks for.
    pub fn flag(self) -> Result<bool> {
        match self {
            Setting::Flag(flag) => Ok(flag),
            other => Err(other.mistaken()),
        }
    }

    /// The integer, in a type that has room for all that the kind allows.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn count<T: TryFrom<i128>>(self) -> Result<T> {
        match self {
            Setting::Count(count) => {
                T::try_from(count).map_err(|_| Error::internal("an option without a bound"))
            }
            other => Err(other.mistaken()),
        }
    }

    /// The seconds.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn seconds(self) -> Result<f64> {
        match self {
            Setting::Seconds(seconds) => Ok(seconds),
            other => Err(other.mistaken()),
        }
    }

    /// The seconds as nanoseconds, at most as many as 64 bits count.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn nanoseconds(self) -> Result<i64> {
        self.seconds().map(|seconds| (seconds * 1e9) as i64)
    }

    /// The words.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn text(self) -> Result<String> {
        match self {
            Setting::Text(text) => Ok(text),
            other => Err(other.mistaken()),
        }
    }

    /// The value that a text stands for.
    ///
    /// # Errors
    /// Those of [`Setting::flag`] and of parsing.
    pub fn parsed<T: std::str::FromStr<Err = Error>>(self) -> Result<T> {
        self.text()?.parse()
    }

    /// The names.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn texts(self) -> Result<Vec<String>> {
        match self {
            Setting::Texts(texts) => Ok(texts),
            other => Err(other.mistaken()),
        }
    }

    /// The file.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn path(self) -> Result<PathBuf> {
        match self {
            Setting::Path(path) => Ok(path),
            other => Err(other.mistaken()),
        }
    }

    /// The files.
    ///
    /// # Errors
    /// Those of [`Setting::flag`].
    pub fn paths(self) -> Result<Vec<PathBuf>> {
        match self {
            Setting::Paths(paths) => Ok(paths),
            other => Err(other.mistaken()),
        }
    }

    fn mistaken(self) -> Error {
        Error::internal(format!("an option whose table and struct differ: {self:?}"))
    }
}
