//! A progress bar for people: how far the run is in the bytes of its inputs as they lie there, how
//! fast, and how long it will take. It shows itself on standard error, only when that is a terminal
//! and only when the run takes noticeable time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytewright::bytes::{Cancel, Source};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Duration of a run from which on it is worth a bar.
const PATIENCE: Duration = Duration::from_millis(700);

const KNOWN_LENGTH: &str =
    "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left";
const KNOWN_COUNT: &str = "{bar:30} {human_pos}/{human_len} {per_sec} {eta} left";
const UNKNOWN_LENGTH: &str = "{spinner} {decimal_bytes} {decimal_bytes_per_sec}";

/// A handle of the one bar of a run.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    is_settled: Arc<AtomicBool>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Progress {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            started: Instant::now(),
            is_settled: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Shows no bar in this run: what it prints shows how far it is.
    pub(crate) fn renounce(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }

    /// Says what is to be read: the bar has an end if the length of each file is known.
    pub(crate) fn expect(&self, files: &[impl AsRef<Path>]) {
        let lengths = files.iter().map(|file| {
            let metadata = std::fs::metadata(file).ok()?;
            metadata.is_file().then_some(metadata.len())
        });
        let total: Option<u64> = lengths.sum();
        let template = if total.is_some() { KNOWN_LENGTH } else { UNKNOWN_LENGTH };
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
    }

    /// Says how many entries there are, where those are counted and not bytes.
    pub(crate) fn expect_count(&self, count: u64) {
        self.bar.set_length(count);
        if let Ok(style) = ProgressStyle::with_template(KNOWN_COUNT) {
            self.bar.set_style(style.progress_chars("=> "));
        }
    }

    /// So many entries were done in all.
    pub(crate) fn reach(&self, count: u64) {
        self.advance(count.saturating_sub(self.bar.position()));
    }

    /// So many more bytes were read, or entries done.
    fn advance(&self, count: u64) {
        self.bar.inc(count);
        if !self.is_settled.load(Ordering::Relaxed) && self.started.elapsed() > PATIENCE {
            self.is_settled.store(true, Ordering::Relaxed);
            // This draws nothing where standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Does something that writes to the terminal, with the bar out of the way.
    pub(crate) fn hide_while<T>(&self, action: impl FnOnce() -> T) -> T {
        self.bar.suspend(action)
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A source whose bytes move the bar.
pub(crate) struct Watched {
    source: Box<dyn Source>,
    progress: Progress,
}

impl Watched {
    pub(crate) fn new(source: Box<dyn Source>, progress: Progress) -> Self {
        Watched { source, progress }
    }
}

impl Source for Watched {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> bytewright::Result<usize> {
        let count = self.source.read(into, limit)?;
        self.progress.advance(count as u64);
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> bytewright::Result<bool> {
        self.source.seek(offset)
    }

    fn len(&self) -> Option<u64> {
        self.source.len()
    }

    fn modified(&self) -> Option<i64> {
        self.source.modified()
    }

    fn is_nonblocking(&self) -> bool {
        self.source.is_nonblocking()
    }

    fn skip(&mut self, count: u64) -> bytewright::Result<u64> {
        let skipped = self.source.skip(count)?;
        self.progress.advance(skipped);
        Ok(skipped)
    }

    fn cancel(&self) -> Option<Cancel> {
        self.source.cancel()
    }

    fn another(&self) -> Option<Box<dyn Source>> {
        let source = self.source.another()?;
        Some(Box::new(Watched::new(source, self.progress.clone())))
    }
}
