//! A Parquet file that rows are written to as they come.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::OutputOptions;
use crate::batch::parquet::ParquetWriter;
use crate::batch::{Batch, ExportOptions, Schema, Value};
use crate::files::FileWriter;
use crate::threads::{self, JoinHandle};
use crate::{Error, Result, panics};

// Bound (Captures): rows for a Parquet file = 4 batches of 32,768 rows or 8 MiB wait, and one is filled.
/// Rows that go to the other thread together.
const BATCH_ROWS: usize = 32 << 10;
/// Bytes of them after which they go.
const BATCH_BYTES: usize = 8 << 20;
/// Batches that wait for the other thread: as many as make a row group, so that one is filled while the one before it
/// is encoded.
const QUEUE_MAX: usize = 4;
/// Bytes that are gathered before they are written.
const BUFFER_LEN: usize = 256 << 10;

/// A new Parquet file. It has its name when [`ParquetFile::finish`] was called; dropped before that, it is gone.
pub struct ParquetFile {
    rows: Batch,
    encoder: Option<ParquetEncoder>,
    /// The file with all rows, which has no name yet.
    encoded: Option<FileWriter>,
    /// Path of the file until then, if it has a name.
    hidden_path: Option<PathBuf>,
    /// True once nobody wants the file any more.
    is_unwanted: Arc<AtomicBool>,
    /// Error that every call returns from now on.
    failure: Option<Error>,
}

/// The thread that encodes.
struct ParquetEncoder {
    messages: SyncSender<EncoderMessage>,
    /// Hung up at the end of the thread.
    end: Receiver<()>,
    thread: JoinHandle<Result<Option<FileWriter>>>,
    is_told_to_finish: bool,
}

enum EncoderMessage {
    Rows(Batch),
    /// There are no more: the file becomes whole, but for its name.
    Finish,
}

impl ParquetFile {
    /// A file of rows of `schema` that takes the place of the one at `path`. They leave with `options`; `metadata` is
    /// about all of them.
    ///
    /// # Errors
    /// `Io` where the file cannot be made there, or the system gives no thread; `Argument` where `output` does not allow to
    /// replace what is there.
    pub fn create(
        path: &Path,
        output: &OutputOptions,
        schema: Schema,
        options: ExportOptions,
        metadata: &[(String, String)],
    ) -> Result<Self> {
        let sink = ParquetSink { file: output.replace(path)?, gathered: Vec::new() };
        let hidden_path = sink.file.hidden_path();
        let writer = ParquetWriter::new(sink, &schema, options, metadata)?;
        let (messages, received) = sync_channel(QUEUE_MAX);
        let (ended, end) = channel();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&is_unwanted);
        let encode = move || {
            let _ended = ended;
            panics::catch(|| encode(writer, &received, &is_over))
                .unwrap_or_else(|panic| Err(Error::internal(panic)))
        };
        let thread = threads::spawn("bytewright", encode)
            .map_err(|error| Error::io("start a thread", &error))?;
        let rows = Batch::new(schema);
        let encoder = Some(ParquetEncoder { messages, end, thread, is_told_to_finish: false });
        Ok(ParquetFile { rows, encoder, encoded: None, hidden_path, is_unwanted, failure: None })
    }

    /// As [`FileWriter::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.hidden_path.clone()
    }

    /// Appends a row; `value` gives the value of the column at a place.
    ///
    /// # Errors
    /// As for [`ParquetFile::write`].
    pub fn push_row<'v>(&mut self, value: impl FnMut(usize) -> Value<'v>) -> Result<()> {
        self.rows.push_row(value);
        if self.rows.len() >= BATCH_ROWS || self.rows.memory_bytes() >= BATCH_BYTES {
            return self.send_rows();
        }
        Ok(())
    }

    /// Appends the rows of a batch. Batches of some ten thousand rows serve best.
    ///
    /// # Errors
    /// Failure of the rows before: `Format` if text is not UTF-8, `Limit` if a number does not fit, `Io` if the
    /// system did not take them. It comes again from then on, and no file will be there.
    pub fn write(&mut self, batch: Batch) -> Result<()> {
        self.send_rows()?;
        self.send(EncoderMessage::Rows(batch))
    }

    /// Writes what is left and gives the file its name, once it would survive a power cut.
    ///
    /// # Errors
    /// As for [`ParquetFile::write`].
    pub fn finish(mut self) -> Result<()> {
        self.tell_to_finish()?;
        self.join()?;
        self.publish()
    }

    /// The first step of [`ParquetFile::finish`], for who looks for interrupts meanwhile: writes what is left, and says
    /// whether that came to its end within `patience`. It is to be called until it did.
    ///
    /// # Errors
    /// As for [`ParquetFile::write`].
    pub fn finish_encoding(&mut self, patience: Duration) -> Result<bool> {
        self.tell_to_finish()?;
        let under_way = |encoder: &ParquetEncoder| {
            encoder.end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout)
        };
        if self.encoder.as_ref().is_some_and(under_way) {
            return Ok(false);
        }
        self.join().map(|()| true)
    }

    /// The second step: gives the file its name, once it would survive a power cut.
    ///
    /// # Errors
    /// As for [`ParquetFile::write`].
    pub fn publish(&mut self) -> Result<()> {
        self.encoded.take().map_or(Ok(()), |mut file| file.finish())
    }

    fn tell_to_finish(&mut self) -> Result<()> {
        self.send_rows()?;
        let tell =
            |encoder: &mut ParquetEncoder| !std::mem::replace(&mut encoder.is_told_to_finish, true);
        match self.encoder.as_mut().is_some_and(tell) {
            true => self.send(EncoderMessage::Finish),
            false => Ok(()),
        }
    }

    fn send_rows(&mut self) -> Result<()> {
        match self.rows.is_empty() {
            true => Ok(()),
            false => {
                let rows = self.rows.take();
                self.send(EncoderMessage::Rows(rows))
            }
        }
    }

    fn send(&mut self, message: EncoderMessage) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let sent =
            self.encoder.as_ref().is_some_and(|encoder| encoder.messages.send(message).is_ok());
        if sent { Ok(()) } else { self.join() }
    }

    /// Waits until the thread is gone; answers what became of the file.
    fn join(&mut self) -> Result<()> {
        let Some(ParquetEncoder { messages, thread, .. }) = self.encoder.take() else {
            return Ok(());
        };
        drop(messages);
        // The thread catches its own panics.
        let outcome = thread.join().unwrap_or_else(|_| Err(Error::internal("a thread panicked")));
        self.failure = outcome.as_ref().err().cloned();
        outcome.map(|encoded| self.encoded = encoded)
    }
}

impl Drop for ParquetFile {
    /// Returns when the file that did not become whole is gone.
    fn drop(&mut self) {
        self.is_unwanted.store(true, Ordering::Release);
        // The error, if there was one, was answered before, or nobody asks for it.
        drop(self.join());
    }
}

/// Encodes rows as they come, until there are no more or nobody wants the file, and answers the whole file.
fn encode(
    mut writer: ParquetWriter<ParquetSink>,
    messages: &Receiver<EncoderMessage>,
    is_unwanted: &AtomicBool,
) -> Result<Option<FileWriter>> {
    for message in messages {
        if is_unwanted.load(Ordering::Acquire) {
            break;
        }
        match message {
            EncoderMessage::Rows(batch) => writer.write(batch)?,
            EncoderMessage::Finish => return writer.finish()?.finish().map(Some),
        }
    }
    Ok(None)
}

/// The file's bytes, gathered.
struct ParquetSink {
    file: FileWriter,
    gathered: Vec<u8>,
}

impl ParquetSink {
    fn finish(mut self) -> Result<FileWriter> {
        self.file.write(&mut self.gathered)?;
        self.file.sync()?;
        Ok(self.file)
    }
}

impl Write for ParquetSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= BUFFER_LEN {
            self.file.write(&mut self.gathered).map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
