//! The forms of text that a table can be written in.

use crate::error::{Error, ErrorKind, Result, excerpt};

/// Form of a dump. A reader tells which one it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DumpFormat {
    /// Berkeley DB's: `db_load` reads it.
    #[default]
    Db,
    /// LMDB's: `mdb_load` reads it. It says how large a map the entries take.
    Lmdb,
    /// Statements of SQL for a table of two columns: `sqlite3` reads them.
    Sql,
}

impl DumpFormat {
    /// One of each.
    pub const ALL: &'static [DumpFormat] = &[DumpFormat::Db, DumpFormat::Lmdb, DumpFormat::Sql];

    /// Their names.
    pub const NAMES: &'static [&'static str] = &["db", "lmdb", "sql"];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            DumpFormat::Db => "db",
            DumpFormat::Lmdb => "lmdb",
            DumpFormat::Sql => "sql",
        }
    }

    /// Returns the one with this name: [`ErrorKind::Argument`] where there is none.
    pub fn by_name(name: &str) -> Result<DumpFormat> {
        let found = Self::ALL.iter().find(|format| format.name() == name);
        found.copied().ok_or_else(|| {
            let known = Self::NAMES.join(", ");
            let found = excerpt(name);
            let message = format!("expected one of {known} as the format of a dump, found {found}");
            Error::new(ErrorKind::Argument, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        let names: Vec<_> = DumpFormat::ALL.iter().map(|format| format.name()).collect();
        assert_eq!(names, DumpFormat::NAMES);
        for format in DumpFormat::ALL {
            assert_eq!(DumpFormat::by_name(format.name()).ok(), Some(*format));
        }
        assert_eq!(
            DumpFormat::by_name("csv").map_err(|error| error.kind()),
            Err(ErrorKind::Argument)
        );
    }
}
