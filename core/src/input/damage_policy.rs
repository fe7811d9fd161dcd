//! The choice between an error and the end of the rows, where a capture is damaged.
//!
//! `info` and `merge_flows` need no choice: they report damage in their result, because what came before it is a result.
//! Failures that are not the file's (`Io`, `Argument`, `MissingLibrary`) are errors in any case.

use std::str::FromStr;

use super::CaptureReader;
use crate::error::excerpt;
use crate::options::OptionKind;
use crate::{Error, ErrorKind, Result};

/// Policy for a damaged capture. A file that is no capture is an error in any case; one that ends inside of its header has
/// no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DamagePolicy {
    /// The rows before the damage come first, and then its error.
    #[default]
    Raise,
    /// The capture ends before the damage, of which the host is told beside the rows.
    Keep,
}

impl DamagePolicy {
    /// Its names as an option.
    pub const NAMES: &'static [&'static str] = &["raise", "keep"];
}

impl FromStr for DamagePolicy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "raise" => Ok(DamagePolicy::Raise),
            "keep" => Ok(DamagePolicy::Keep),
            other => {
                let found = excerpt(other);
                Err(OptionKind::Choice(Self::NAMES).not("damage", format_args!("{found:?}")))
            }
        }
    }
}

/// Returns the error that reading ended with, if the file is at fault, and would be the next time.
///
/// # Errors
/// Any other reason why it ended early.
pub(crate) fn damage_of(read: Result<()>) -> Result<Option<Error>> {
    match read.map_err(|error| (error.kind(), error)) {
        Ok(()) => Ok(None),
        Err((ErrorKind::Format | ErrorKind::Truncated { .. } | ErrorKind::Limit, error)) => {
            Ok(Some(error))
        }
        Err((_, error)) => Err(error),
    }
}

/// The end of the rows of a capture, of which reading ended so: none, or the damage that the rows before it are kept at.
///
/// # Errors
/// Returns the error that reading ended with, unless that is damage of a capture, and is kept.
pub(crate) fn end_of(
    reader: &CaptureReader,
    read: Result<()>,
    policy: DamagePolicy,
) -> Result<Option<Error>> {
    let Err(error) = &read else { return Ok(None) };
    let is_cut = matches!(error.kind(), ErrorKind::Truncated { .. });
    let is_capture = is_cut || reader.facts().decoder.has_header();
    if policy == DamagePolicy::Raise || !is_capture {
        return read.map(|()| None);
    }
    damage_of(read)
}
