//! `Bytewright::CaptureWriter`.

use bytewright::export::WrittenPacket;
use bytewright::host;
use magnus::{Error, RString, Ruby, function, method, prelude::*};

use crate::border::{bytes_of, lock, path_of};
use crate::class;
use crate::error::{guarded, raised};
use crate::host::RubyHost;

/// A new capture.
#[magnus::wrap(class = "Bytewright::CaptureWriter", free_immediately, size)]
pub(crate) struct CaptureWriter(host::CaptureWriter);

impl CaptureWriter {
    /// `CaptureWriter.open_path(path, force)`.
    fn open_path(ruby: &Ruby, path: RString, force: bool) -> Result<Self, Error> {
        let path = path_of(path)?;
        let created = lock::to_the_end(ruby, || host::CaptureWriter::create(&path, force))?;
        raised(ruby, created).map(CaptureWriter)
    }

    /// `write_packet(bytes, ts, length, link_type, interface, comment)`. Ruby code of other threads may run before the bytes
    /// are written, and change them, so they are copied.
    #[expect(
        clippy::too_many_arguments,
        reason = "what a packet says; Ruby has checked it by name"
    )]
    fn write(
        ruby: &Ruby,
        this: &Self,
        bytes: RString,
        ts: Option<i64>,
        length: Option<u32>,
        link_type: u16,
        interface: Option<String>,
        comment: Option<String>,
    ) -> Result<(), Error> {
        let captured = bytes_of(bytes);
        guarded(ruby, || {
            let packet = WrittenPacket {
                captured: &captured,
                ts,
                length,
                link_type,
                interface: interface.as_deref(),
                comment: comment.as_deref(),
            };
            this.0.write(&RubyHost::new(ruby), &packet)
        })
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
    class.define_method("write_packet", method!(CaptureWriter::write, 6))?;
    class.define_method("close", method!(CaptureWriter::close, 0))?;
    class.define_method("discard", method!(CaptureWriter::discard, 0))?;
    class.define_method("name", method!(CaptureWriter::name, 0))?;
    class.define_method("closed?", method!(CaptureWriter::is_closed, 0))?;
    Ok(())
}
