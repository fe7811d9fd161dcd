//! The place of an iterator.

use crate::error::Result;
use crate::table::{KeyRange, OrderedTable, Scan, Table};

/// The place of `iternext`.
pub(super) enum Iteration {
    /// In a tree each step looks the next key up, so that entries that were put in or taken out meanwhile are seen as they
    /// are. The next key is this or above it.
    Ordered(Vec<u8>),
    /// In a hashed table it goes over the keys as they were, without those that went.
    Hashed {
        entries: Box<dyn Scan>,
        /// The key that it was to begin at.
        pushed_back: Option<Vec<u8>>,
    },
}

impl Iteration {
    /// Begins at a key, or at the first one; nothing where a hashed table has no such key.
    pub(super) fn begin(
        table: &dyn Table,
        is_ordered: bool,
        key: Option<&[u8]>,
    ) -> Result<Option<Iteration>> {
        if is_ordered {
            return Ok(Some(Iteration::Ordered(key.unwrap_or_default().to_vec())));
        }
        let mut entries = table.snapshot()?.scan()?;
        if let Some(key) = key {
            loop {
                match entries.advance()? {
                    Some((passed, _)) if passed == key => break,
                    Some(_) => (),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(Iteration::Hashed { entries, pushed_back: key.map(<[u8]>::to_vec) }))
    }

    /// The next key; nothing at the end.
    pub(super) fn advance(
        &mut self,
        table: &dyn Table,
        ordered: Option<&dyn OrderedTable>,
    ) -> Result<Option<Vec<u8>>> {
        match self {
            Iteration::Ordered(from) => {
                let mut found = None;
                let rest = KeyRange::ALL.starting_at(from);
                if let Some(ordered) = ordered {
                    ordered.first_with(&rest, &mut |key, _| found = Some(key.to_vec()))?;
                }
                if let Some(key) = &found {
                    from.clone_from(key);
                    from.push(0);
                }
                Ok(found)
            }
            Iteration::Hashed { entries, pushed_back } => {
                if let Some(key) = pushed_back.take() {
                    return Ok(Some(key));
                }
                while let Some((key, _)) = entries.advance()? {
                    if table.contains(key)? {
                        return Ok(Some(key.to_vec()));
                    }
                }
                Ok(None)
            }
        }
    }
}
