//! Clean close of a table: the index gets its checks, and the log a frame that says where the index is.
//!
//! The frame's one record deletes a key that no table has:
//!
//! ```text
//! random 16   page of the directory 4   its bits 4   its check 4   pages given back 4   entries 8   live bytes 8   beginning of entries 8
//! dead entries 8   bytes of rooms 8   first page that is free for rooms 8   page behind those 8   counts of uses 8
//! ```

use super::super::random::random_number;
use super::extent::LogExtent;
use super::hash_file::HashFile;
use super::header::{HashLogHeader, LogReader};
use super::log_writer::{CommitFailure, LogWriter};
use super::state::DirectoryRoom;
use super::uses::UsesRoom;
use crate::error::{Error, Result};
use crate::files::{FrameFlags, HEADER_LEN, PAGE_LEN};
use crate::heap::record::HeapRecord;
use crate::wire::{Endian, Reader};

/// Bytes of the key that no table has.
const KEY_LEN: usize = 16 + 4 * 4 + 8 * 8;

/// Index as a clean close left it.
#[derive(Debug)]
pub(super) struct ClosedIndex {
    directory: DirectoryRoom,
    /// Check of the directory.
    check: u32,
    records: u64,
    live_bytes: u64,
    start: u64,
    dead_records: u64,
    room_bytes: u64,
    free_rooms: (u64, u64),
    /// Pages of the log that were given back to the disk.
    freed_pages: u32,
    uses_room: UsesRoom,
}

impl ClosedIndex {
    fn to_key(&self) -> [u8; KEY_LEN] {
        let mut key = Vec::with_capacity(KEY_LEN);
        (0..2).for_each(|_| key.extend(random_number().to_le_bytes()));
        for number in [self.directory.page, self.directory.bits, self.check, self.freed_pages] {
            key.extend(number.to_le_bytes());
        }
        let (first, end) = self.free_rooms;
        let of_state = [self.records, self.live_bytes, self.start, self.dead_records];
        let rooms = [self.room_bytes, first, end, self.uses_room.word()];
        for number in of_state.into_iter().chain(rooms) {
            key.extend(number.to_le_bytes());
        }
        key.try_into().unwrap_or([0; KEY_LEN])
    }

    fn from_key(key: &[u8]) -> Option<ClosedIndex> {
        let mut fields = Reader::new(key);
        fields.take(16)?;
        let mut number = || fields.u32(Endian::Little);
        let [page, bits, check, freed_pages] = [number()?, number()?, number()?, number()?];
        let mut number = || fields.u64(Endian::Little);
        let (records, live_bytes) = (number()?, number()?);
        let (start, dead_records) = (number()?, number()?);
        let (room_bytes, free_rooms) = (number()?, (number()?, number()?));
        let uses_room = UsesRoom::of_word(number()?);
        let directory = DirectoryRoom { page, bits };
        // A directory that is in no file belongs to an index that is gone.
        (page != 0 && bits <= super::index::DIRECTORY_BITS_MAX).then_some(ClosedIndex {
            directory,
            check,
            records,
            live_bytes,
            start,
            dead_records,
            room_bytes,
            free_rooms,
            freed_pages,
            uses_room,
        })
    }

    /// Lets the state of `file`, of which nobody else knows, be that of its clean close, if its last frame is of one; true
    /// if it did. The frame is at `closed_len`, and the file has `len` bytes.
    pub(super) fn find(file: &HashFile, closed_len: u64, len: u64) -> Result<bool> {
        let mut reader = LogReader::new(file.log.clone(), len);
        let Some(frame) = reader.frame(closed_len)? else { return Ok(false) };
        if !frame.flags.closes || frame.end() != len {
            return Ok(false);
        }
        let record = reader.record(frame.payload(), len)?;
        let closed = record.and_then(|(record, _)| ClosedIndex::from_key(record.key()));
        let Some(closed) = closed else { return Ok(false) };
        let mut extent = LogExtent::beginning(&mut reader)?;
        let trimmed_end = extent.end;
        extent.next_transaction = frame.number;
        extent.commit(&frame);
        let ClosedIndex { records, live_bytes, start, dead_records, .. } = closed;
        extent = LogExtent { records, live_bytes, start, dead_records, ..extent };
        let state = file.sharing.state();
        state.begin(&extent, file.log.header.identity());
        state.set_directory(closed.directory);
        state.set_room_bytes(closed.room_bytes);
        state.set_uses_room(closed.uses_room);
        state.set_trimmed(trimmed_end, u64::from(closed.freed_pages) * PAGE_LEN as u64);
        state.set_free_rooms(closed.free_rooms);
        file.check_reaches(len)?;
        // Without an intact directory there is no index.
        Ok(file.begin_session().is_ok_and(|check| check == closed.check))
    }
}

impl LogWriter {
    /// Writes what a later session needs to go on at once: checks of the index, the length into the header, and a frame that
    /// no other history of the table has. The caller has the turn, and is alone.
    pub(super) fn mark_closed(&mut self) -> Result<()> {
        let file = self.file.clone();
        let (log, state) = (&file.log, file.sharing.state());
        self.extent = file.newest()?;
        if self.extent.is_closed || self.extent.last_frame == 0 {
            return Ok(());
        }
        let check = file.seal_index()?;
        let offset = self.extent.end;
        // Also what was written by a process that died.
        log.storage.sync().map_err(|error| log.system_error("sync the table", &error))?;
        state.has_lasted_to(offset);
        let header = HashLogHeader { closed_len: offset, ..log.header }.to_bytes();
        // One after the other, so that one is whole at any time.
        let second = log.storage.write_at(HEADER_LEN as u64, &header[HEADER_LEN..]);
        let written = second.and_then(|()| log.storage.write_at(0, &header[..HEADER_LEN]));
        written.map_err(|error| log.system_error("write the table", &error))?;
        let LogExtent { records, live_bytes, start, dead_records, .. } = self.extent;
        let directory = match file.is_index_own {
            true => DirectoryRoom { page: 0, bits: 0 },
            false => file.directory(),
        };
        let closed = ClosedIndex {
            directory,
            check,
            records,
            live_bytes,
            start,
            dead_records,
            room_bytes: state.room_bytes(),
            free_rooms: state.free_rooms(),
            uses_room: state.uses_room(),
            freed_pages: u32::try_from(state.freed_bytes() / PAGE_LEN as u64).unwrap_or(u32::MAX),
        };
        self.begin()?;
        self.add(HeapRecord::Deletion { key: &closed.to_key() }, None)?;
        let flags = FrameFlags { closes: true, ..FrameFlags::default() };
        self.commit(flags, &mut |_, _| Ok(())).map_err(CommitFailure::into_error)
    }
}

impl CommitFailure {
    pub(super) fn into_error(self) -> Error {
        match self {
            CommitFailure::TakenBack(error) | CommitFailure::Unknown(error) => error,
        }
    }
}
