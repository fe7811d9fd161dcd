//! Ruby as the host of the core's readers and writers: the object that bytes come from or go to, by its methods in
//! `ruby/lib/bytewright/reader.rb` and `writer.rb`.

use std::io::SeekFrom;

use bytewright::ErrorKind;
use bytewright::bytes::Feed;
use bytewright::host::{Host, HostWriter, StreamHost};
use magnus::{Error, Value, prelude::*};

use crate::turn::{Sharing, Strand};

impl Sharing<'_> {
    /// Explains a turn that cannot be waited for: Ruby lets nobody wait in a signal handler.
    pub(crate) fn turn_refused(&self, error: Error) -> Error {
        if !error.is_kind_of(self.ruby.exception_thread_error()) {
            return error;
        }
        let message = if self.object.is_nil() {
            "expected a table that no other thread is using, which a signal handler cannot wait for; found one that is"
        } else if self.memory.is_some() {
            "expected a reader that no other thread is reading, which a signal handler cannot wait for; found one that is"
        } else {
            "expected a writer that no other thread is using, which a signal handler cannot wait for; found one that is"
        };
        self.error(bytewright::Error::new(ErrorKind::Lock, message))
    }
}

impl StreamHost for Sharing<'_> {
    fn report_memory(&self, bytes: usize) {
        if let Some(memory) = self.memory {
            memory.set(bytes);
        }
    }

    fn read_into(&self, _: &Feed) -> Result<(), Error> {
        self.object.funcall::<_, _, Value>("bring_input", ()).map(drop)
    }

    fn write_from(&self, _: &HostWriter<Strand>) -> Result<(), Error> {
        self.object.funcall::<_, _, Value>("write_to_object", ()).map(drop)
    }

    fn flush(&self, sync: bool) -> Result<(), Error> {
        self.object.funcall::<_, _, Value>("flush_object", (sync,)).map(drop)
    }

    fn seek(&self, place: SeekFrom) -> Result<Option<u64>, Error> {
        match place {
            SeekFrom::Start(offset) => self.object.funcall("seek_object", (offset, 0)),
            SeekFrom::Current(offset) => self.object.funcall("seek_object", (offset, 1)),
            SeekFrom::End(offset) => self.object.funcall("seek_object", (offset, 2)),
        }
    }
}
