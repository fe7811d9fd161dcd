//! libpcap expressions ("tcp port 443 and net 10.0.0.0/8") over records of any link type.

use std::collections::HashMap;

use super::libpcap::Program;
use crate::capture::Record;
use crate::packet::LinkType;
use crate::{Error, Result};

/// Link types tried in turn to tell a bad expression from one that only fits some links.
const TRIED: [LinkType; 3] = [LinkType::ETHERNET, LinkType::IEEE802_11_RADIOTAP, LinkType::RAW];

/// A filter, compiled once per link type that a capture turns out to have.
pub struct Filter {
    expression: String,
    programs: HashMap<u16, Program>,
}

impl Filter {
    /// Checks `expression`.
    ///
    /// # Errors
    /// `Argument` with libpcap's own words where it is no valid filter, `MissingLibrary` where
    /// libpcap is not there.
    pub fn new(expression: &str) -> Result<Self> {
        let mut first_error: Option<Error> = None;
        for link_type in TRIED {
            match Program::compile(expression, data_link(link_type.0)) {
                Ok(program) => {
                    let programs = HashMap::from([(link_type.0, program)]);
                    return Ok(Filter { expression: expression.to_owned(), programs });
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| Error::internal("no link type to try a filter for")))
    }

    /// The expression.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// Whether the record is one that the caller wants.
    ///
    /// # Errors
    /// `Argument` where the expression makes no sense for the record's link type.
    #[inline]
    pub(super) fn matches(&mut self, record: &Record<'_>) -> Result<bool> {
        let program = match self.programs.get(&record.link_type) {
            Some(program) => program,
            None => {
                let program = Program::compile(&self.expression, data_link(record.link_type))?;
                self.programs.entry(record.link_type).or_insert(program)
            }
        };
        Ok(program.matches(record.captured, record.length))
    }
}

/// The link type in files of frames that libpcap knows by this number in memory: the inverse of [`data_link`].
pub(super) fn link_type_of(number: u16) -> LinkType {
    if number == data_link(LinkType::RAW.0) { LinkType::RAW } else { LinkType(number) }
}

/// The number by which libpcap knows a link type in memory (`DLT_`), where it differs from the one
/// in files (`LINKTYPE_`).
fn data_link(link_type: u16) -> u16 {
    match LinkType(link_type) {
        LinkType::RAW if cfg!(target_os = "openbsd") => 14,
        LinkType::RAW => 12,
        LinkType(other) => other,
    }
}
