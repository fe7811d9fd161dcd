//! Flows in a file of another program.

use std::path::{Path, PathBuf};

use crate::export::{OutputFile, OutputOptions};
use crate::flow::{Flow, FlowEncoder, FlowFormat};
use crate::{Result, query};

/// Bytes that are gathered before they go to the file.
const GATHERED: usize = 256 << 10;

/// A file of flows in the words of another program, under way. It has its name after [`FlowLog::finish`]; without it, nothing
/// of the file is left.
///
/// ```
/// use bytewright::ask::FlowLog;
/// use bytewright::export::OutputOptions;
/// use bytewright::flow::FlowFormat;
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}-conn.log", std::process::id()));
/// let log = FlowLog::create(&path, FlowFormat::Zeek, &OutputOptions::default())?;
/// // log.push(&flow)? for each flow.
/// assert_eq!(log.finish()?, 0);
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub struct FlowLog {
    encoder: FlowEncoder,
    file: OutputFile,
    /// Bytes that the file has not got.
    gathered: Vec<u8>,
    flows: u64,
}

impl FlowLog {
    /// Begins a file that takes the place of the one at `path` when it is finished. What is there and no regular file, such
    /// as a named pipe, is written as flows come.
    ///
    /// # Errors
    /// Those of [`OutputFile::create`].
    pub fn create(path: &Path, format: FlowFormat, options: &OutputOptions) -> Result<Self> {
        let (mut encoder, mut gathered) = (FlowEncoder::new(format), Vec::new());
        let file = OutputFile::create(path, options)?;
        encoder.begin(query::now(), &mut gathered);
        Ok(FlowLog { encoder, file, gathered, flows: 0 })
    }

    /// Appends a flow.
    ///
    /// # Errors
    /// `Io` where the system did not take it.
    pub fn push(&mut self, flow: &Flow) -> Result<()> {
        self.encoder.push(flow, &mut self.gathered);
        self.flows += 1;
        if self.gathered.len() >= GATHERED { self.write() } else { Ok(()) }
    }

    /// Hands on what is gathered, so that the reader of a pipe has all flows so far.
    ///
    /// # Errors
    /// Those of [`FlowLog::push`].
    pub fn flush(&mut self) -> Result<()> {
        self.encoder.flush(query::now(), &mut self.gathered);
        self.write()
    }

    /// Hands flows on that the reader of a pipe may be waiting for.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if self.file.is_stream() { self.flush() } else { Ok(()) }
    }

    /// Ends the log, and returns the number of its flows. A file has its name now.
    ///
    /// # Errors
    /// Those of [`OutputFile::finish`].
    pub fn finish(mut self) -> Result<u64> {
        self.encoder.finish(query::now(), &mut self.gathered);
        self.write()?;
        self.file.finish().map(|()| self.flows)
    }

    /// As [`OutputFile::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.file.hidden_path()
    }

    fn write(&mut self) -> Result<()> {
        self.file.write(&mut self.gathered)
    }
}
