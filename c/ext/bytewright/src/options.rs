//! Options of opening a table.

use std::ffi::{c_char, c_void};

use bytewright::options::{NamedOptions, Setting, Settings};
use bytewright::table::ValueType;
use bytewright::table::file::{OpenOptions, SyncMode, TableKind};
use bytewright::{Error, ErrorKind, Result};

use crate::host::{CallerHost, Context, bw_interrupted};
use crate::sized_struct::{self, sized_struct};
use crate::text::{bw_names, text_or_none};

/// The kinds of tables.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_table_kind {
    /// The kind of the file; of a new file, that which its name ends in (.bwh or .bwt).
    Any = 0,
    /// Finds keys by their hashes (.bwh).
    Hash = 1,
    /// Keeps keys in their order (.bwt).
    Tree = 2,
}

/// When commits are made to survive a power cut. Each survives the death of the process, whatever this says.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_sync {
    /// With the first commit a second after the last time.
    Interval = 0,
    /// Before a commit returns.
    Commit = 1,
    /// When the operating system likes.
    Never = 2,
}

/// Options of opening a table file. Initialize it with `BW_OPEN_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_open_options {
    /// Bytes of the struct, which `BW_OPEN_OPTIONS_INIT` sets.
    pub size: usize,
    /// Kind that is expected: a `bw_table_kind`.
    pub kind: u32,
    /// When commits are made to survive a power cut: a `bw_sync`.
    pub sync: u32,
    /// Make the file where it is missing or empty.
    pub create: bool,
    /// Never write to the file.
    pub read_only: bool,
    /// Check all of the file before it is used, which takes as long as reading it.
    pub verify: bool,
    /// Longest wait in seconds for another process that writes.
    pub timeout: f64,
    /// Form of the values: "string", "integer" (8 bytes, little-endian, with a sign), or a name of 1 to 12 letters of
    /// the program's own. A new file remembers it, and a file that there is must have it. Null is "string"; an empty text
    /// takes a file with whatever it has, and makes a new one with strings.
    pub values: *const c_char,
    /// Options by name, as "name=value": those of opening table files in docs/options.md. They count over the fields above.
    pub named: bw_names,
    /// Asked by calls that wait for another process whether they are to end; null for never. A call that ends so changes nothing,
    /// and returns `BW_STATUS_IO` with `EINTR` as `os_error`.
    pub interrupted: bw_interrupted,
    /// Argument of `interrupted`.
    pub interrupted_context: *mut c_void,
}

sized_struct!(
    bw_open_options {
        kind,
        sync,
        create,
        read_only,
        verify,
        timeout,
        values,
        named,
        interrupted,
        interrupted_context
    } + {}
);

impl bw_open_options {
    /// Makes the options of the core, for null its defaults, and tells the functions of the program.
    ///
    /// # Safety
    /// `options` is initialized and has texts.
    pub(crate) unsafe fn of_core(
        options: *const bw_open_options,
    ) -> Result<(Option<TableKind>, OpenOptions, CallerHost)> {
        // SAFETY: the caller's promise.
        let Some(options) = unsafe { sized_struct::copied(options) }? else {
            return Ok((None, OpenOptions::default(), CallerHost::default()));
        };
        // SAFETY: the caller's promise is handed on.
        let (kind, of_core) = unsafe { options.to_core() }?;
        let host = CallerHost {
            input: None,
            interrupted: options.interrupted,
            interrupted_context: Context(options.interrupted_context),
        };
        Ok((kind, of_core, host))
    }

    /// # Safety
    /// As [`bw_open_options::of_core`].
    unsafe fn to_core(self) -> Result<(Option<TableKind>, OpenOptions)> {
        let mut settings = self.fields()?;
        // SAFETY: the caller's promise.
        let (named, values) = unsafe { (bw_names::texts(Some(&self.named))?, self.values()?) };
        settings.give_named(&named)?;
        let mut options = OpenOptions { values, ..OpenOptions::default() };
        settings.fill(&mut options)?;
        Ok((kind(self.kind)?, options))
    }

    /// The fields that are options of the core's table.
    fn fields(&self) -> Result<Settings> {
        let mut settings = Settings::of(&[OpenOptions::OPTIONS]);
        for (name, setting) in [
            ("create", Setting::Flag(self.create)),
            ("read_only", Setting::Flag(self.read_only)),
            ("verify", Setting::Flag(self.verify)),
            ("sync", Setting::Text(self.sync()?.to_owned())),
            ("timeout", Setting::Seconds(self.timeout)),
        ] {
            settings.give(settings.option(name)?, setting)?;
        }
        Ok(settings)
    }

    /// # Safety
    /// As [`bw_open_options::of_core`].
    unsafe fn values(&self) -> Result<Option<ValueType>> {
        // SAFETY: the caller's promise.
        match unsafe { text_or_none(self.values, "values") }? {
            None => Ok(Some(ValueType::BYTES)),
            Some("") => Ok(None),
            Some(name) => ValueType::by_name(name).map(Some),
        }
    }

    /// The core's name of a `bw_sync`, which are in the same order.
    fn sync(&self) -> Result<&'static str> {
        let name = SyncMode::NAMES.get(self.sync as usize).copied();
        name.ok_or_else(|| out_of_range("a bw_sync", self.sync))
    }
}

/// The kind of a number that C passes. Numbers and not the enumeration, because C may pass any.
pub(crate) fn kind(number: u32) -> Result<Option<TableKind>> {
    match number {
        0 => Ok(None),
        1 => Ok(Some(TableKind::Hashed)),
        2 => Ok(Some(TableKind::Ordered)),
        _ => Err(out_of_range("a bw_table_kind", number)),
    }
}

fn out_of_range(what: &str, found: u32) -> Error {
    Error::new(ErrorKind::Argument, format!("expected {what} from 0 to 2, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bw_sync_has_its_name_in_the_core() {
        for (sync, name) in [
            (bw_sync::Interval, "interval"),
            (bw_sync::Commit, "commit"),
            (bw_sync::Never, "never"),
        ] {
            assert_eq!(SyncMode::NAMES.get(sync as usize), Some(&name));
        }
        assert_eq!(SyncMode::NAMES.len(), 3);
    }
}
