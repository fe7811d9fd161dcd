//! A tree's entries, leaf after leaf.
//!
//! Each leaf is a record of the hash that the file is; its key is the leaf's number in hexadecimal.
//! Inner nodes have keys that begin with `#`; they only find leaves, which are chained.
//!
//! ```text
//! leaf:  number of the leaf before, number of the leaf behind (0: none), entries
//! entry: key length, value length, number of further values, key, value,
//!        further values: length, value
//! ```
//!
//! All numbers are those of variable length that records have. One walk over the file finds where
//! each leaf lies, so that links are followed without the hash's buckets, and no leaf twice.

use std::ops::Range;
use std::sync::Arc;

use super::DatabaseFile;
use super::hash_file::{BlockWalk, TokyoBlock, TokyoRecord, inflate, length};
use crate::error::excerpt_of_bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::table::Scan;
use crate::wire::Reader;

/// Bytes to read at once where heads of records are looked for.
const HEADS_AHEAD_LEN: usize = 512;

/// Bytes to read at once where a leaf lies: many are no longer.
const LEAF_AHEAD_LEN: usize = 8 << 10;

/// The longest key of a leaf: 64 bits in hexadecimal.
const LEAF_KEY_LEN_MAX: usize = 16;

/// Offset that stands for that of a leaf that was read.
const TAKEN: u64 = 0;

/// Places of the leaves.
#[derive(Debug)]
struct Leaves {
    // Bound (Tables): leaves of a Tokyo Cabinet tree = 16 bytes each.
    /// Number and offset of each, by number.
    places: Vec<(u64, u64)>,
    /// All before were read.
    taken_len: usize,
}

impl Leaves {
    /// Takes the leaf `number`, once.
    fn take(&mut self, number: u64) -> Option<u64> {
        let at = self.places.binary_search_by_key(&number, |place| place.0).ok()?;
        take_place(&mut self.places[at])
    }

    /// Takes any leaf, the oldest first.
    fn take_any(&mut self) -> Option<(u64, u64)> {
        while let Some(place) = self.places.get_mut(self.taken_len) {
            self.taken_len += 1;
            let number = place.0;
            if let Some(offset) = take_place(place) {
                return Some((number, offset));
            }
        }
        None
    }
}

fn take_place(place: &mut (u64, u64)) -> Option<u64> {
    let offset = std::mem::replace(&mut place.1, TAKEN);
    (offset != TAKEN).then_some(offset)
}

/// Finds the leaves before the first damage; answers that, too.
fn find_leaves(file: &Arc<DatabaseFile>) -> Result<(Leaves, Option<Error>)> {
    let mut walk = BlockWalk::new(Arc::clone(file), HEADS_AHEAD_LEN);
    let mut places = Vec::new();
    let damage = loop {
        match find_leaf(&mut walk) {
            Ok(Some(Some(place))) => places.push(place),
            Ok(Some(None)) => {}
            Ok(None) => break None,
            Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
            Err(error) => break Some(error),
        }
    };
    places.sort_unstable();
    Ok((Leaves { places, taken_len: 0 }, damage))
}

/// The number and the offset of the next record, where that is a leaf; nothing at the end.
fn find_leaf(walk: &mut BlockWalk) -> Result<Option<Option<(u64, u64)>>> {
    let Some(record) = walk.next()? else { return Ok(None) };
    let offset = record.offset;
    let key = walk.key(&record, LEAF_KEY_LEN_MAX + 1)?;
    if key.first() == Some(&b'#') {
        return Ok(Some(None));
    }
    match leaf_number(key) {
        Some(number) => Ok(Some(Some((number, offset)))),
        None => {
            let found = format!("the key {:?}", excerpt_of_bytes(key));
            Err(Error::format("a leaf or an inner node of a tree", found).at(offset))
        }
    }
}

fn leaf_number(key: &[u8]) -> Option<u64> {
    let is_hexadecimal = key.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(key).ok()?;
    u64::from_str_radix(text, 16).ok().filter(|_| is_hexadecimal)
}

/// An entry in the bytes of a leaf.
type EntryRanges = (Range<usize>, Range<usize>);

/// The leaf that is being read.
#[derive(Debug, Default)]
struct Leaf {
    offset: u64,
    bytes: Vec<u8>,
    position: usize,
    /// The key whose further values come next.
    key: Range<usize>,
    further_values: u64,
}

impl Leaf {
    /// Begins to read the leaf in `bytes`; answers the numbers of those before and behind.
    fn begin(&mut self) -> Result<(u64, u64)> {
        self.position = 0;
        self.further_values = 0;
        self.read(|reader| Some((length(reader)?, length(reader)?)))
    }

    /// The next entry.
    fn next(&mut self) -> Result<Option<EntryRanges>> {
        if self.further_values > 0 {
            self.further_values -= 1;
            let value_len = self.read(length)?;
            return Ok(Some((self.key.clone(), self.skip(value_len)?)));
        }
        if self.position == self.bytes.len() {
            return Ok(None);
        }
        let (key_len, value_len, further_values) =
            self.read(|reader| Some((length(reader)?, length(reader)?, length(reader)?)))?;
        self.key = self.skip(key_len)?;
        let value = self.skip(value_len)?;
        self.further_values = further_values;
        Ok(Some((self.key.clone(), value)))
    }

    /// Reads numbers.
    fn read<T>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Result<T> {
        let mut reader = Reader::new(self.bytes.get(self.position..).unwrap_or_default());
        let numbers = read(&mut reader).ok_or_else(|| self.damage("numbers"))?;
        self.position = self.bytes.len() - reader.remaining();
        Ok(numbers)
    }

    /// Passes over the next `len` bytes; returns where they are.
    fn skip(&mut self, len: u64) -> Result<Range<usize>> {
        let left = self.bytes.len() - self.position;
        let len = usize::try_from(len).ok().filter(|len| *len <= left);
        let start = self.position;
        self.position += len.ok_or_else(|| self.damage("a key or value"))?;
        Ok(start..self.position)
    }

    fn damage(&self, what: &str) -> Error {
        let place = format!("{} bytes at byte {} of a leaf", self.bytes.len(), self.position);
        let expected = format!("{what} within the {place}");
        Error::format(expected, "a number that points past them").at(self.offset)
    }
}

/// The entries of a tree.
#[derive(Debug)]
pub(super) struct TokyoTreeScan {
    file: Arc<DatabaseFile>,
    walk: BlockWalk,
    leaves: Leaves,
    leaf: Leaf,
    /// The leaf that comes next and the one before it.
    next: Option<LeafLink>,
    /// The first damage, which is told when everything that is good was given.
    damage: Option<Error>,
    count: u64,
    is_over: bool,
}

/// From a leaf to the next.
#[derive(Debug, Clone, Copy)]
struct LeafLink {
    from: u64,
    to: u64,
}

impl TokyoTreeScan {
    pub(super) fn new(file: Arc<DatabaseFile>) -> Result<TokyoTreeScan> {
        let (leaves, damage) = find_leaves(&file).map_err(|error| error.in_file(&file.name))?;
        let walk = BlockWalk::new(Arc::clone(&file), LEAF_AHEAD_LEN);
        let next = Some(LeafLink { from: 0, to: file.header.first_leaf });
        let leaf = Leaf::default();
        Ok(TokyoTreeScan { file, walk, leaves, leaf, next, damage, count: 0, is_over: false })
    }

    /// The next entry. Damage is kept for the end, and what can be read behind it is.
    fn step(&mut self) -> Result<Option<EntryRanges>> {
        loop {
            match self.leaf.next() {
                Ok(Some(place)) => {
                    self.count += 1;
                    return Ok(Some(place));
                }
                Ok(None) => {}
                Err(error) => {
                    self.leaf = Leaf::default();
                    self.note(error);
                }
            }
            match self.next_leaf() {
                Ok(true) => {}
                Ok(false) => return self.finish().map(|()| None),
                Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
                Err(error) => {
                    self.leaf = Leaf::default();
                    self.note(error);
                }
            }
        }
    }

    fn note(&mut self, error: Error) {
        self.damage.get_or_insert(error);
    }

    /// Begins the next leaf: the one that the last is linked to, or else any that is left. An error
    /// costs that leaf only.
    fn next_leaf(&mut self) -> Result<bool> {
        let link = self.next.take().filter(|link| link.to != 0);
        let Some(link) = link else {
            let Some((number, offset)) = self.leaves.take_any() else { return Ok(false) };
            let found = format!("the leaf {number} beside the chain");
            self.note(Error::format("a chain of all leaves", found).at(offset));
            return self.begin_leaf(number, offset).map(|_| true);
        };
        let Some(offset) = self.leaves.take(link.to) else {
            let found = format!("none that was not read before, linked from {}", link.from);
            return Err(Error::format(format!("a leaf {}", link.to), found).at(self.leaf.offset));
        };
        let (before, behind) = self.begin_leaf(link.to, offset)?;
        self.next = Some(LeafLink { from: link.to, to: behind });
        if before != link.from {
            let expected = format!("leaf {} to come after leaf {}", link.to, link.from);
            self.note(Error::format(expected, format!("after {before}")).at(offset));
        }
        Ok(true)
    }

    /// Reads the leaf `number` at `offset`; answers the numbers of those before and behind.
    fn begin_leaf(&mut self, number: u64, offset: u64) -> Result<(u64, u64)> {
        self.leaf.bytes.clear();
        self.leaf.position = 0;
        self.leaf.offset = offset;
        let TokyoBlock::Record(record) = self.walk.block(offset)? else {
            return Err(Error::format(format!("leaf {number}"), "free space").at(offset));
        };
        self.read_leaf(&record).map_err(|error| error.at(offset))?;
        self.leaf.begin()
    }

    fn read_leaf(&mut self, record: &TokyoRecord) -> Result<()> {
        let (_, value) = self.walk.show(record)?;
        let value = self.walk.window.bytes(value);
        if self.file.header.options.is_deflated() {
            let inflated = inflate(value, &mut self.leaf.bytes);
            if inflated.is_err() {
                self.leaf.bytes.clear();
            }
            return inflated;
        }
        self.leaf.bytes.extend_from_slice(value);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        match self.damage.take() {
            Some(damage) => Err(damage),
            None => self.file.header.check_count(self.count),
        }
    }
}

impl Scan for TokyoTreeScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.is_over {
            return Ok(None);
        }
        match self.step() {
            Ok(Some((key, value))) => Ok(Some((&self.leaf.bytes[key], &self.leaf.bytes[value]))),
            ended => {
                self.is_over = true;
                ended.map(|_| None).map_err(|error| self.file.explain(error))
            }
        }
    }
}
