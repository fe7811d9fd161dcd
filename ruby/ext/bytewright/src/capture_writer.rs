//! `Bytewright::CaptureWriter`.

use bytewright::export::OutputOptions;
use bytewright::host::{self, PacketDetails};
use bytewright::options::NamedOptions;
use magnus::{Error, RHash, RString, Ruby, function, method, prelude::*};

use crate::border::{bytes_of, lock, path_of};
use crate::class;
use crate::error::{guarded, raised};
use crate::host::RubyHost;
use crate::options::settings;

/// A new capture.
#[magnus::wrap(class = "Bytewright::CaptureWriter", free_immediately, size)]
pub(crate) struct CaptureWriter(host::CaptureWriter);

impl CaptureWriter {
    /// `CaptureWriter.open_path(path, options)`.
    fn open_path(ruby: &Ruby, path: RString, options: RHash) -> Result<Self, Error> {
        let settings = settings(ruby, &[OutputOptions::OPTIONS], options)?;
        let options: OutputOptions = raised(ruby, settings.take())?;
        let path = path_of(path)?;
        let created = lock::to_the_end(ruby, || host::CaptureWriter::create(&path, &options))?;
        raised(ruby, created).map(CaptureWriter)
    }

    /// `write_packet(bytes, nanoseconds, details)`. Ruby code of other threads may run before the bytes are written, and
    /// change them, so they are copied.
    fn write(
        ruby: &Ruby,
        this: &Self,
        bytes: RString,
        ts: Option<i64>,
        details: RHash,
    ) -> Result<(), Error> {
        let settings = settings(ruby, &[PacketDetails::OPTIONS], details)?;
        let details = PacketDetails { ts, ..raised(ruby, settings.take())? };
        let captured = bytes_of(bytes);
        guarded(ruby, || this.0.write(&RubyHost::new(ruby), &details.of(&captured)))
    }

    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        guarded(ruby, || this.0.finish(&RubyHost::new(ruby)))
    }

    fn discard(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        guarded(ruby, || this.0.discard(&RubyHost::new(ruby)))
    }

    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<CaptureWriter>(ruby, "CaptureWriter")?;
    class.define_singleton_method("open_path", function!(CaptureWriter::open_path, 2))?;
    class.define_method("write_packet", method!(CaptureWriter::write, 3))?;
    class.define_method("close", method!(CaptureWriter::close, 0))?;
    class.define_method("discard", method!(CaptureWriter::discard, 0))?;
    class.define_method("name", method!(CaptureWriter::name, 0))?;
    class.define_method("closed?", method!(CaptureWriter::is_closed, 0))?;
    Ok(())
}
