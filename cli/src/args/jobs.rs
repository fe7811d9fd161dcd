//! Number of threads.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use bytewright::input::CaptureOptions;
use clap::Arg;

use super::named::{Choice, NamedArgs};

/// Threads that are started at most.
const JOBS_MAX: usize = 256;

/// The number of threads, of all that captures are read with.
pub(crate) type Jobs = NamedArgs<CaptureOptions, JobsOnly>;

/// The choice of one option.
#[derive(Debug)]
pub(crate) enum JobsOnly {}

impl Choice for JobsOnly {
    /// Takes `jobs` alone, by default one for each core.
    fn choose(argument: Arg) -> Option<Arg> {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        (argument.get_id() == "jobs").then(|| argument.default_value(cores.to_string()))
    }
}

impl Jobs {
    pub(crate) fn count(&self) -> usize {
        self.options.stream.jobs.min(JOBS_MAX)
    }
}
