//! A capture that a host writes packet by packet.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::pass_host::Host;
use crate::export::{OutputOptions, PacketFile, WrittenPacket};
use crate::files::ProcessMark;
use crate::{Error, ErrorKind, Result};

/// A new capture at a path: it has its name when it was finished, and without that leaves nothing behind. Threads of a
/// host with one lock may share it.
///
/// ```
/// use bytewright::export::{OutputOptions, WrittenPacket};
/// use bytewright::host::{Blocking, CaptureWriter};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}.pcapng", std::process::id()));
/// let writer = CaptureWriter::create(&path, &OutputOptions::default())?;
/// let packet = WrittenPacket {
///     captured: b"\x02 the first bytes of a frame",
///     ts: Some(1_700_000_000_000_000_000),
///     length: Some(60),
///     link_type: 1,
///     interface: Some("eth0"),
///     comment: None,
/// };
/// writer.write(&Blocking, &packet)?;
/// writer.finish(&Blocking)?;
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub struct CaptureWriter {
    name: String,
    /// None once it was finished or discarded.
    open: Mutex<Option<PacketFile>>,
    /// A forked child has a copy of what the parent gathered, and must not write it, too.
    process: ProcessMark,
}

impl CaptureWriter {
    /// Begins a capture that takes the place of the file at `path`, in the form that the name asks for.
    ///
    /// # Errors
    /// Those of [`PacketFile::create`].
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        let file = PacketFile::create(path, options)?;
        let (name, open) = (file.name().to_owned(), Mutex::new(Some(file)));
        Ok(CaptureWriter { name, open, process: ProcessMark::new() })
    }

    /// Its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true after it was finished or discarded.
    pub fn is_closed(&self) -> bool {
        self.open.try_lock().is_ok_and(|open| open.is_none())
    }

    /// Appends a packet.
    ///
    /// # Errors
    /// `Argument` and `Limit` for what the format cannot hold, where nothing is appended; `Io` for what the system did not
    /// take, which comes again from then on; `Closed`; and those of the host.
    pub fn write<H: Host>(&self, host: &H, packet: &WrittenPacket<'_>) -> Result<(), H::Error> {
        self.check_process().map_err(|error| host.error(error))?;
        let gathered = match self.turn(host)?.as_mut() {
            Some(file) => file.gather(packet),
            None => {
                let message = "expected a capture that is being written, found it closed";
                Err(Error::new(ErrorKind::Closed, message).in_file(&self.name))
            }
        };
        match gathered.map_err(|error| host.error(error))? {
            true => {
                self.waiting(host, |open| open.as_mut().map_or(Ok(()), PacketFile::write_gathered))
            }
            false => Ok(()),
        }
    }

    /// Writes what is left, and gives the file its name. Finished or discarded before, nothing happens.
    ///
    /// # Errors
    /// `Io`, where it stays as it was and can be discarded; `Closed` in a forked child; and those of the host.
    pub fn finish<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        self.waiting(host, |open| {
            open.as_mut().map_or(Ok(()), PacketFile::finish)?;
            *open = None;
            Ok(())
        })
    }

    /// Ends it without a file, whatever was written; what has the name stays.
    ///
    /// # Errors
    /// Those of the host, where it waits for another thread that writes.
    pub fn discard<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        if self.process.is_here() {
            drop(self.turn(host)?.take());
        }
        Ok(())
    }

    /// The file, once no other thread writes. Waiting for one gives the host's lock up: it may write to a pipe that a third
    /// thread of the host reads, which needs that lock.
    fn turn<H: Host>(&self, host: &H) -> Result<MutexGuard<'_, Option<PacketFile>>, H::Error> {
        loop {
            match self.open.try_lock() {
                Ok(file) => return Ok(file),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    host.wait(&|| drop(self.lock()), &|| {})?;
                    host.check_interrupts()?;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<PacketFile>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what takes long, without the host's lock. Another thread may have closed the file meanwhile.
    fn waiting<H: Host>(
        &self,
        host: &H,
        work: impl Fn(&mut Option<PacketFile>) -> Result<()> + Sync,
    ) -> Result<(), H::Error> {
        self.check_process().map_err(|error| host.error(error))?;
        loop {
            if let Some(done) = host.wait(&|| work(&mut self.lock()), &|| {})? {
                return done.map_err(|error| host.error(error));
            }
            host.check_interrupts()?;
        }
    }

    /// Asked first: in a forked child, a thread that is not there may have the lock.
    fn check_process(&self) -> Result<()> {
        if self.process.is_here() {
            return Ok(());
        }
        let message = "expected the process that began the capture, found one forked from it: \
                       begin another one here";
        Err(Error::new(ErrorKind::Closed, message).in_file(&self.name))
    }
}

impl Drop for CaptureWriter {
    /// In a forked child, the parent's file is left to the parent: a pipe's buffers, too.
    fn drop(&mut self) {
        if !self.process.is_here() {
            let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(open.take());
        }
    }
}
