//! Frame that is put together in memory before it is written.

use super::frame::{
    CHECK_LEN, CommitFrame, FRAME_HEADER_LEN, FrameFlags, Salt, put_record, record_at,
};
use super::record::LogRecord;

/// Frame to come: room for its header, then records. The place of each in the log is known when it is put.
#[derive(Debug, Default)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
    offset: u64,
    salt: Salt,
}

impl FrameBuffer {
    /// Begins a frame that will be at `offset` of the log whose salt is `salt`.
    pub(crate) fn begin(&mut self, offset: u64, salt: Salt) {
        (self.offset, self.salt) = (offset, salt);
        self.bytes.clear();
        self.bytes.resize(FRAME_HEADER_LEN, 0);
    }

    /// Begins another frame of the same log, at `offset`.
    pub(crate) fn begin_next(&mut self, offset: u64) {
        self.begin(offset, self.salt);
    }

    /// Appends a record, and returns its place.
    pub(crate) fn put(&mut self, record: &LogRecord<'_>) -> u64 {
        put_record(&mut self.bytes, self.offset, record, self.salt)
    }

    /// Completes the header. The bytes are ready to be written at the frame's place then.
    pub(crate) fn finish(&mut self, flags: FrameFlags, number: u64) -> CommitFrame {
        let payload_len = self.payload_len() as u32;
        let frame = CommitFrame { offset: self.offset, flags, payload_len, number };
        self.bytes[..FRAME_HEADER_LEN].copy_from_slice(&frame.to_bytes(self.salt));
        frame
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the place where it begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the place of the first record.
    pub(crate) fn payload(&self) -> u64 {
        self.offset + FRAME_HEADER_LEN as u64
    }

    /// Returns the place of the next record.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Returns the bytes of the records so far.
    pub(crate) fn payload_len(&self) -> usize {
        self.bytes.len().saturating_sub(FRAME_HEADER_LEN)
    }

    /// Returns the most bytes of the payload with `record` in addition.
    pub(crate) fn payload_len_with(&self, record: &LogRecord<'_>) -> usize {
        self.payload_len() + record.len_max() + CHECK_LEN
    }

    /// Reads the record at `place`, and returns the bytes of it and its check, too. `None` if it is not here.
    pub(crate) fn record(&self, place: u64) -> Option<(LogRecord<'_>, &[u8])> {
        let bytes = self.bytes.get(usize::try_from(place.checked_sub(self.offset)?).ok()?..)?;
        let (record, len) = record_at(bytes, self.salt, place)?;
        Some((record, &bytes[..len]))
    }

    /// Ends it at `place`: takes the records from there on out again, or makes room for records before it that are to be
    /// read back.
    pub(crate) fn resize(&mut self, place: u64) {
        self.bytes.resize(place.saturating_sub(self.offset) as usize, 0);
    }

    /// Returns the bytes of the records, to read them back into.
    pub(crate) fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[FRAME_HEADER_LEN..]
    }

    /// Forgets the frame, and gives memory beyond `capacity` back.
    pub(crate) fn release(&mut self, capacity: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(capacity);
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
