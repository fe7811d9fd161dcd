//! Following of what others did to the table: to its file, in the place of its file, or by forking.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::super::options::OpenOptions;
use super::engine::{Engine, LogTurn, TableAccess, replaced_again_and_again};
use super::header::LogReader;
use super::index_writer::IndexWriter;
use super::opening::{self, FileUse, ends_with_its_frame, is_writable};
use super::replay::replay;
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;

/// Number of times that a reader looks at a log that changes, before it believes that it is damaged.
const READING_TRIES: u32 = 200;

/// Time that a reader waits before it looks again.
const READING_PAUSE: Duration = Duration::from_millis(2);

/// Times that a file is opened that is replaced meanwhile.
const OPENING_TRIES: u32 = 100;

impl Engine {
    /// Opens the table of `files`, which errors call `name`.
    pub(super) fn open(files: HashTableFiles, name: &str, options: OpenOptions) -> Result<Engine> {
        let usage = FileUse { reads: options.read_only, verifies: options.verify, is_apart: false };
        Self::open_for(files, name, options, usage).map_err(|error| error.in_file(name))
    }

    fn open_for(
        files: HashTableFiles,
        name: &str,
        options: OpenOptions,
        usage: FileUse,
    ) -> Result<Engine> {
        let name: Arc<str> = name.into();
        let (mut tries, mut damage) = (0, None);
        loop {
            tries += 1;
            let storage = files.open(&options)?;
            let seen = storage.status().map_err(|error| Error::io("read the table", &error))?;
            opening::read_header(&*storage)?.values.check(options.values)?;
            let file = match opening::open(storage, &name, usage) {
                // A writer may have cut off a torn end and written other frames there, between two reads of ours.
                Err(error) if usage.reads && error.kind() == ErrorKind::Corrupt => {
                    if tries >= READING_TRIES || damage == Some(error.offset()) {
                        return Err(error);
                    }
                    damage = Some(error.offset());
                    thread::sleep(READING_PAUSE);
                    continue;
                }
                opened => opened?,
            };
            // Who compacts may have put another file in its place before this handle joined those who use it. If all who used
            // it have left or died since, their marks may be gone, and the name alone tells.
            if file.sharing.state().is_replaced() || files.is_named_otherwise(&file.log)? {
                if tries >= OPENING_TRIES {
                    return Err(replaced_again_and_again());
                }
                continue;
            }
            return Engine::new(files, options, name, file, seen);
        }
    }

    /// Takes in what others have done since, before anything is read or changed.
    pub(super) fn refresh(&mut self) -> Result<()> {
        if !self.process.is_here() {
            self.leave_parent()?;
        }
        let file = self.file()?;
        if file.sharing.follows() {
            return self.follow();
        }
        let state = file.sharing.state();
        if !state.is_marked() || self.depth() > 0 {
            return Ok(());
        }
        if state.is_replaced() {
            return self.leave_replaced();
        }
        if self.is_left()? {
            return self.reopen();
        }
        match state.is_index_damaged() {
            true => self.mend_index(),
            false => Ok(()),
        }
    }

    /// Makes the index anew, of which a part was found damaged. Who only reads goes on with one of its own.
    fn mend_index(&mut self) -> Result<()> {
        if self.options.read_only {
            return self.reopen_apart();
        }
        let file = self.file()?.clone();
        let timeout = self.options.timeout.max(Duration::from_secs(10));
        LogTurn::take(&self.files, &file, timeout).map(drop)
    }

    fn follow(&mut self) -> Result<()> {
        let file = self.file()?.clone();
        let log = &file.log;
        let status = log.storage.status().map_err(|e| log.system_error("read the table", &e))?;
        let mut extent = file.newest()?;
        // What a killed writer has left behind the end is written over, which does not change the length.
        if status == self.seen && status.len <= extent.end {
            return Ok(());
        }
        if status.name_count != self.seen.name_count && self.is_named_otherwise()? {
            return self.reopen();
        }
        // Whoever writes has an index to share.
        self.follow_count += 1;
        if self.follow_count.is_power_of_two() && is_writable(&*log.storage) {
            return self.reopen();
        }
        let mut reader = LogReader::new(log.clone(), status.len);
        if status.len < extent.end || !ends_with_its_frame(&extent, &mut reader)? {
            return self.reopen();
        }
        let committed = (extent.start, extent.end);
        let mut writer = IndexWriter::begin(&file, committed, 0, 0);
        match replay(&file, &mut extent, &mut reader, &mut writer) {
            Ok(_) => {
                file.sharing.state().publish(&extent);
                self.seen = status;
                Ok(())
            }
            // A part may have been taken in of what is gone.
            Err(error) if error.kind() == ErrorKind::Corrupt => self.reopen(),
            Err(error) => Err(error),
        }
    }

    /// Opens the table again for a reader that has found damage because of what a writer did meanwhile; returns true if it
    /// did.
    pub(super) fn follows_anew(&mut self) -> bool {
        let Ok(file) = self.file().cloned() else { return false };
        if file.sharing.state().is_marked() && self.depth() == 0 {
            return self.refresh().is_ok();
        }
        let is_still = file.newest().and_then(|extent| {
            let mut reader = LogReader::new(file.log.clone(), extent.end);
            ends_with_its_frame(&extent, &mut reader)
        });
        file.sharing.follows() && !is_still.unwrap_or(false) && self.reopen().is_ok()
    }

    /// Returns true if another file has the name of this one.
    fn is_named_otherwise(&self) -> Result<bool> {
        self.files.is_named_otherwise(&self.file()?.log)
    }

    /// Returns true if another file has taken the place of this one, also where who did it died before it could say so.
    pub(super) fn is_left(&self) -> Result<bool> {
        let state = self.file()?.sharing.state();
        Ok(state.is_replaced() || state.is_replacing() && self.is_named_otherwise()?)
    }

    /// Goes on with the file that has the name now.
    pub(super) fn reopen(&mut self) -> Result<()> {
        let options = OpenOptions { create: false, verify: false, ..self.options };
        let opened = Engine::open(self.files.clone(), &self.name, options)?;
        self.take_over(opened)
    }

    fn reopen_apart(&mut self) -> Result<()> {
        let options = OpenOptions { create: false, verify: false, ..self.options };
        let usage = FileUse { reads: true, verifies: false, is_apart: true };
        let opened = Self::open_for(self.files.clone(), &self.name, options, usage)?;
        self.take_over(opened)
    }

    fn take_over(&mut self, mut opened: Engine) -> Result<()> {
        self.seen = opened.seen;
        let file = opened.file()?.clone();
        opened.opened = None;
        self.go_on_with(file)
    }

    /// In a forked child: what the parent has open is the parent's.
    fn leave_parent(&mut self) -> Result<()> {
        (self.compactor, self.flusher) = (None, None);
        self.kept_turns.clear();
        self.leave_turn();
        let is_exclusive = self.options.exclusive;
        self.options = self.options.in_child();
        self.files.is_exclusive = false;
        self.reopen()?;
        self.access = match (is_exclusive, self.options.read_only) {
            (true, _) => TableAccess::ReadInChild,
            (false, true) => TableAccess::Read,
            (false, false) => TableAccess::Write,
        };
        self.process = ProcessMark::new();
        Ok(())
    }
}
