//! The forms of text that a table can be written in.

use crate::error::Result;
use crate::options::choice_named;

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

    /// Returns the one with this name: `Argument` where there is none.
    pub fn by_name(name: &str) -> Result<DumpFormat> {
        choice_named("the format of a dump", name, Self::NAMES, Self::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
