//! One run of the command: where its inputs come from, where its output goes, what went wrong.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anstyle::{AnsiColor, Style};
use bytewright::bytes::{ByteStream, FileSource, StreamOptions};
use bytewright::error::{EXCERPT_MAX, excerpt};
use bytewright::export::{OutputOptions, ParquetFile, PieceWatcher};
use bytewright::input::{
    CaptureList, CaptureOptions, CaptureReader, LiveCounts, LiveOptions, Needs, PrefetchedCaptures,
};
use bytewright::terminal::{Harmless, is_harmful, shortened};
use bytewright::{Error, ErrorKind};

use crate::interrupts::Interrupts;
use crate::output::Output;
use crate::progress::{Progress, Watched};
use crate::{DONE, FAILED, USAGE};

/// Name of standard input as people write it, and in errors.
pub(crate) const STDIN: (&str, &str) = ("-", "standard input");

/// Characters that people are told at once at most: what is longer repeats some input.
const TOLD_MAX: usize = 8000;

const ERROR_STYLE: Style = AnsiColor::Red.on_default().bold();

pub(crate) struct Session {
    pub(crate) output: Output,
    pub(crate) progress: Progress,
    interrupts: Interrupts,
    /// Interfaces that packets are taken from, in the place of captures.
    pub(crate) interfaces: Option<(Vec<String>, LiveOptions)>,
    /// Counts of the interfaces, once they are open.
    counts: Arc<OnceLock<LiveCounts>>,
    /// True if the system refused an input, or what was left of one.
    lacks_input: bool,
    exit_code: u8,
}

impl Session {
    pub(crate) fn new() -> Self {
        let progress = Progress::new();
        let (output, interrupts) = (Output::new(progress.clone()), Interrupts::default());
        let (interfaces, counts) = (None, Arc::default());
        let (lacks_input, exit_code) = (false, DONE);
        Session { output, progress, interrupts, interfaces, counts, lacks_input, exit_code }
    }

    /// Returns the exit code of the run so far.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Opens an input, whose progress is shown from here on.
    pub(crate) fn open(
        &self,
        path: &Path,
        options: &StreamOptions,
    ) -> bytewright::Result<ByteStream> {
        let (source, name) = source_of(path)?;
        stream(source, &name, options, &self.progress)
    }

    /// Opens captures, one after the other; with more than one of `jobs`, they are read ahead on other threads.
    pub(crate) fn captures(
        &self,
        paths: &[PathBuf],
        jobs: usize,
        options: &CaptureOptions,
        needs: Needs,
    ) -> PrefetchedCaptures {
        PrefetchedCaptures::new(self.inputs(paths), jobs, options, needs)
    }

    /// The captures at these paths, whose progress is shown as they are read, or the packets of the interface. Where one
    /// is no regular file, signals end their reading, and not the program.
    pub(crate) fn inputs(&self, paths: &[PathBuf]) -> Inputs {
        let (progress, interrupts) = (self.progress.clone(), self.interrupts.clone());
        let (interfaces, counts) = (self.interfaces.clone(), Arc::clone(&self.counts));
        Inputs { paths: paths.to_vec(), interfaces, counts, progress, interrupts }
    }

    /// Has a signal that ends the program take away a file that is not whole, if it has a name.
    pub(crate) fn remove_at_signal(&self, hidden: Option<PathBuf>) -> bytewright::Result<()> {
        hidden.map_or(Ok(()), |path| self.interrupts.remove_file(path))
    }

    /// Returns what tells people of the files of a rotated capture, and has signals take away the one that is not whole.
    pub(crate) fn piece_watcher(&self) -> Box<dyn PieceWatcher> {
        let (progress, interrupts) = (self.progress.clone(), self.interrupts.clone());
        Box::new(PieceTeller { progress, interrupts })
    }

    /// Takes note of an error, after the rows that came before it.
    pub(crate) fn report(&mut self, error: &Error) -> std::io::Result<()> {
        self.output.flush()?;
        self.complain(&error.to_string());
        let code = match error.kind() {
            ErrorKind::Argument | ErrorKind::MissingLibrary => USAGE,
            _ => FAILED,
        };
        self.exit_code = self.exit_code.max(code);
        self.lacks_input |= matches!(error.kind(), ErrorKind::Io(_));
        Ok(())
    }

    /// Returns true if a file of results may get its name. If an input could not be read, it would look like one of
    /// all of them, and the older file stays.
    pub(crate) fn may_finish_file(&self) -> bool {
        if self.lacks_input {
            self.complain("nothing was written, because an input could not be read to its end");
        }
        !self.lacks_input
    }

    /// Gives a file of rows its name, once all inputs were read.
    pub(crate) fn finish_file(&self, file: ParquetFile) -> io::Result<()> {
        if self.may_finish_file() { file.finish().map_err(io::Error::other) } else { Ok(()) }
    }

    /// Takes note that something asked for is not there, after what came before it.
    pub(crate) fn fail(&mut self, message: &str) -> std::io::Result<()> {
        self.output.flush()?;
        self.complain(message);
        self.exit_code = self.exit_code.max(FAILED);
        Ok(())
    }

    /// Tells how many packets came from the interface, and how many were lost.
    pub(crate) fn tell_of_interface(&self) {
        if let (Some((names, _)), Some(counts)) = (&self.interfaces, self.counts.get()) {
            let (captured, dropped) = (counts.captured(), counts.dropped());
            let elsewhere = match counts.dropped_by_interface() {
                0 => String::new(),
                count => format!(", {count} dropped by the interface"),
            };
            self.complain(&format!(
                "{}: {captured} packets captured, {dropped} dropped{elsewhere}",
                names.join(", ")
            ));
        }
    }

    /// Tells people that no row was found. Programs see it, and people may take it for an answer that did not come. Of an
    /// interface, the number of packets is told.
    pub(crate) fn tell_of_nothing(&self, rows: &str) {
        if self.interfaces.is_none() {
            self.complain(&format!("found no {rows}"));
        }
    }

    /// Takes note of a command line that makes no sense.
    pub(crate) fn usage(&mut self, error: &clap::Error) {
        // As for complaints.
        let _ = print_usage(error);
        self.exit_code = USAGE;
    }

    /// Tells people on standard error, with the progress out of the way.
    pub(crate) fn complain(&self, message: &str) {
        self.progress.hide_while(|| complain(message));
    }
}

/// Teller of the files of a rotated capture.
struct PieceTeller {
    progress: Progress,
    interrupts: Interrupts,
}

impl PieceWatcher for PieceTeller {
    fn begun(&mut self, hidden: Option<PathBuf>) {
        // Without it, a signal leaves the file with its hidden name.
        let _ = hidden.map(|path| self.interrupts.remove_file(path));
    }

    fn fault(&mut self, error: &Error) {
        self.progress.hide_while(|| complain(&format!("{error}; the capture goes on")));
    }
}

/// The inputs of a run.
pub(crate) struct Inputs {
    paths: Vec<PathBuf>,
    progress: Progress,
    interrupts: Interrupts,
    interfaces: Option<(Vec<String>, LiveOptions)>,
    counts: Arc<OnceLock<LiveCounts>>,
}

impl CaptureList for Inputs {
    fn count(&self) -> usize {
        self.paths.len() + usize::from(self.interfaces.is_some())
    }

    fn is_regular(&self, index: usize) -> bool {
        self.paths.get(index).is_some_and(|path| path.is_file() && path != Path::new(STDIN.0))
    }

    fn open(&self, index: usize, options: &CaptureOptions) -> bytewright::Result<CaptureReader> {
        if let Some((names, live)) = &self.interfaces {
            return self.open_interfaces(names, live, options);
        }
        let (source, name) = source_of(&self.paths[index])?;
        if !source.is_regular() {
            self.interrupts.end_inputs()?;
        }
        let source = source.with_cancel(self.interrupts.cancel());
        let stream = stream(source, &name, &options.stream, &self.progress)?;
        let reader = CaptureReader::new(stream, options)?;
        let path = &self.paths[index];
        Ok(if path == Path::new(STDIN.0) { reader } else { reader.of_file(path) })
    }
}

impl Inputs {
    fn open_interfaces(
        &self,
        names: &[String],
        live: &LiveOptions,
        options: &CaptureOptions,
    ) -> bytewright::Result<CaptureReader> {
        self.interrupts.end_inputs()?;
        let mut options = options.clone();
        options.stream.cancel = Some(self.interrupts.cancel());
        let counts = LiveCounts::default();
        let reader = CaptureReader::live(names, live, &options, &counts)?;
        // They are opened once.
        let _ = self.counts.set(counts);
        Ok(reader)
    }
}

/// Returns the source at a path, and its name in errors.
fn source_of(path: &Path) -> bytewright::Result<(FileSource, Cow<'_, str>)> {
    let is_stdin = path == Path::new(STDIN.0);
    let name = name_of(path);
    let source = if is_stdin { FileSource::stdin() } else { FileSource::open(path) };
    let source = source.map_err(|error| error.in_file(&name))?;
    Ok((source, name))
}

/// The bytes of an input, whose progress is shown from here on.
fn stream(
    source: FileSource,
    name: &str,
    options: &StreamOptions,
    progress: &Progress,
) -> bytewright::Result<ByteStream> {
    let watched = Watched::new(Box::new(source), progress.clone());
    ByteStream::new(Box::new(watched), name, options)
}

/// Tells people on standard error.
pub(crate) fn complain(message: &str) {
    let message = shortened(message, TOLD_MAX);
    let message = Harmless::lines(&message);
    // Nowhere is left to complain to where it takes nothing.
    let _ = writeln!(anstream::stderr(), "{ERROR_STYLE}bytewright:{ERROR_STYLE:#} {message}");
}

/// Returns the name of an input in errors.
pub(crate) fn name_of(path: &Path) -> Cow<'_, str> {
    if path == Path::new(STDIN.0) { STDIN.1.into() } else { path.to_string_lossy() }
}

/// Makes the options of an output's file that is made of these inputs: what it may replace.
pub(crate) fn output_options(inputs: &[PathBuf], force: bool) -> OutputOptions {
    let paths = inputs.iter().map(|input| match input == Path::new(STDIN.0) {
        true => Path::new("/dev/fd/0"),
        false => input,
    });
    OutputOptions::made_of(paths, force)
}

/// Returns true if a line has to repeat some input, because nothing here has so much to say.
fn is_long(line: &str) -> bool {
    line.len() > 5 * EXCERPT_MAX
}

/// Prints what clap says of the command line, or help. It repeats arguments as they are, so where those could harm a
/// terminal it is printed without colours, and without them. Of a long argument, its ends are repeated.
pub(crate) fn print_usage(error: &clap::Error) -> io::Result<()> {
    let text = error.render().to_string();
    if error.use_stderr() && (text.len() > TOLD_MAX || text.lines().any(is_long)) {
        let lines: Vec<_> = text.lines().map(excerpt).collect();
        let text = lines.join("\n");
        return writeln!(anstream::stderr(), "{}", Harmless::lines(&shortened(&text, TOLD_MAX)));
    }
    if text.chars().any(|character| is_harmful(character) && character != '\n') {
        return write!(anstream::stderr(), "{}", Harmless::lines(&text));
    }
    error.print()?;
    io::stdout().flush()
}
