//! libpcap expressions ("tcp port 443 and net 10.0.0.0/8") over records of any link type.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::libpcap::{Effort, FilterProgram};
use crate::capture::{Interface, Record};
use crate::forks::ProcessLock;
use crate::packet::LinkType;
use crate::{Error, ErrorKind, Result};

/// Link types tried in turn to tell a bad expression from one that only fits some links.
const TRIED: [LinkType; 3] = [LinkType::ETHERNET, LinkType::IEEE802_11_RADIOTAP, LinkType::RAW];

// Bound (Captures): compiled filters kept for reuse = 8 expressions.
/// So the captures of a list do not compile each its own: libpcap takes seconds for hundreds of ports.
const KEPT_MAX: usize = 8;

/// A filter, compiled once per link type that captures turn out to have. Its clones are for other threads that read the same
/// capture.
///
/// A packet of a link type for which libpcap has no such filter does not match. A capture whose packets are all of that kind
/// is an error, which `Filter::end` tells.
#[derive(Clone)]
pub struct Filter {
    programs: Arc<Programs>,
    /// Those that were used; none for a link type that cannot be filtered.
    used: HashMap<u16, Option<Arc<FilterProgram>>>,
    unfiltered: Arc<Mutex<Unfiltered>>,
}

/// Packets of a capture that cannot be filtered.
#[derive(Default)]
struct Unfiltered {
    /// True if there are others.
    has_others: bool,
    /// The first of them.
    first: Option<UnfilteredLink>,
}

/// A link type that cannot be filtered.
struct UnfilteredLink {
    /// Number of its first packet: threads come to theirs in any order.
    number: u64,
    link_type: LinkType,
    interface: Option<u32>,
    error: Error,
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
            match FilterProgram::compile(expression, data_link(link_type.0), Effort::Check) {
                Ok(_) => {
                    let (programs, unfiltered) = (Programs::of(expression), Arc::default());
                    return Ok(Filter { programs, used: HashMap::new(), unfiltered });
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
        &self.programs.expression
    }

    /// Returns true if the caller wants the record, which has this number in its capture.
    #[inline]
    pub(super) fn matches(&mut self, record: &Record<'_>, number: u64) -> bool {
        if !self.used.contains_key(&record.link_type) {
            let program = self.first_of(record, number);
            self.used.insert(record.link_type, program);
        }
        let program = self.used.get(&record.link_type).and_then(Option::as_ref);
        program.is_some_and(|program| program.matches(record.captured, record.length))
    }

    /// The program for the link type of a record, which is the first one of it here.
    #[cold]
    fn first_of(&self, record: &Record<'_>, number: u64) -> Option<Arc<FilterProgram>> {
        let compiled = self.programs.get(record.link_type);
        let mut unfiltered = locked(&self.unfiltered);
        match compiled {
            Ok(program) => {
                unfiltered.has_others = true;
                Some(program)
            }
            Err(error) => {
                let (link_type, interface) = (LinkType(record.link_type), record.interface);
                if unfiltered.first.as_ref().is_none_or(|first| number < first.number) {
                    unfiltered.first = Some(UnfilteredLink { number, link_type, interface, error });
                }
                None
            }
        }
    }

    /// The end of the capture, which has these interfaces.
    ///
    /// # Errors
    /// `Argument` where it has packets, and none that can be filtered.
    pub(super) fn end(&self, interfaces: &[Interface]) -> Result<()> {
        let unfiltered = locked(&self.unfiltered);
        match &unfiltered.first {
            Some(link) if !unfiltered.has_others => Err(link.error(self.expression(), interfaces)),
            _ => Ok(()),
        }
    }
}

impl UnfilteredLink {
    fn error(&self, expression: &str, interfaces: &[Interface]) -> Error {
        let LinkType(number) = self.link_type;
        let mut found = match self.link_type.name() {
            Some(name) => format!("link type {name} ({number})"),
            None => format!("link type {number}"),
        };
        if let Some(number) = self.interface {
            found.push_str(&format!(", interface {number}"));
            let interface = interfaces.get(number as usize);
            // That of a later section has another type, usually.
            let interface = interface.filter(|it| it.link_type == self.link_type.0);
            if let Some(name) = interface.and_then(|interface| interface.name.as_deref()) {
                found.push_str(&format!(" ({name})"));
            }
        }
        let reason = self.error.message();
        let message = format!(
            "expected a packet that the filter \"{expression}\" can be used on, found only others, of {found}: {reason}"
        );
        Error::new(ErrorKind::Argument, message)
    }
}

/// The programs of one expression, by link type.
struct Programs {
    expression: String,
    /// The process that compiles them: a forked child does not wait for a thread that it has not got.
    process: u32,
    compiled: Mutex<HashMap<u16, Result<Arc<FilterProgram>>>>,
}

impl Programs {
    /// Those of `expression`, which may be in use.
    fn of(expression: &str) -> Arc<Programs> {
        static KEPT: ProcessLock<Vec<Arc<Programs>>> = ProcessLock::new(Vec::new());
        let process = std::process::id();
        let new =
            || Programs { expression: expression.to_owned(), process, compiled: Mutex::default() };
        let mut kept = KEPT.lock();
        let is_it = |one: &Arc<Programs>| one.process == process && one.expression == expression;
        let programs = match kept.iter().position(is_it) {
            Some(at) => kept.remove(at),
            None => Arc::new(new()),
        };
        kept.truncate(KEPT_MAX - 1);
        kept.insert(0, Arc::clone(&programs));
        programs
    }

    /// The program for a link type. Threads that need the same one wait for the first of them.
    fn get(&self, link_type: u16) -> Result<Arc<FilterProgram>> {
        let compile = || {
            FilterProgram::compile(&self.expression, data_link(link_type), Effort::Optimize)
                .map(Arc::new)
        };
        locked(&self.compiled).entry(link_type).or_insert_with(compile).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    //! Goal: an expression, which libpcap may need seconds for, is compiled once for a link type.

    use super::*;

    #[test]
    fn readers_of_one_expression_share_its_programs() {
        if super::super::libpcap::version().is_none() {
            println!("skipped: no libpcap");
            return;
        }
        let text = "tcp port 443 and net 10.0.0.0/8";
        let (Ok(one), Ok(another)) = (Filter::new(text), Filter::new(text)) else {
            panic!("no filter");
        };
        let program = |filter: &Filter| match filter.programs.get(1) {
            Ok(program) => program,
            Err(error) => panic!("{error}"),
        };
        assert!(Arc::ptr_eq(&program(&one), &program(&one.clone())));
        assert!(Arc::ptr_eq(&program(&one), &program(&another)));
        // An expression that is checked is not compiled for a link that no packet has.
        assert!(one.programs.compiled.lock().is_ok_and(|compiled| compiled.len() == 1));
        for number in 0..KEPT_MAX {
            drop(Filter::new(&format!("tcp port {number}")));
        }
        let Ok(forgotten) = Filter::new(text) else { panic!("no filter") };
        assert!(!Arc::ptr_eq(&program(&one), &program(&forgotten)));
    }
}
