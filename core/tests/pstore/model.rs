//! A table that a store is compared with, and random changes of it.

use std::path::Path;

use bytewright::marshal::{Edit, Hooks, RootStream};
use bytewright::pstore::{Access, Begun, Content, Durability, Store};

use crate::generate::Random;

/// Roots with Symbols as keys and binary Strings as values, which dumping writes in one way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table(pub(crate) Vec<(String, Vec<u8>)>);

impl Table {
    /// Returns the bytes that dumping writes.
    pub(crate) fn dump(&self) -> Vec<u8> {
        let mut bytes = vec![4, 8, b'{'];
        put_long(&mut bytes, self.0.len());
        for (key, value) in &self.0 {
            bytes.push(b':');
            put_long(&mut bytes, key.len());
            bytes.extend_from_slice(key.as_bytes());
            bytes.push(b'"');
            put_long(&mut bytes, value.len());
            bytes.extend_from_slice(value);
        }
        bytes
    }

    fn stream(&self) -> RootStream {
        RootStream::scan(self.dump(), Hooks::Known).unwrap()
    }

    /// A table after some changes, and how they are told to a store.
    pub(crate) fn changed(&self, random: &mut Random) -> (Table, Table, Vec<Edit>) {
        let (mut new, mut changes, mut edits) = (Table::default(), Table::default(), Vec::new());
        let often = random.pick(&[2, 5, 40]);
        for (root, (key, value)) in self.0.iter().enumerate() {
            if !random.once_in(often) {
                new.0.push((key.clone(), value.clone()));
            } else if random.once_in(4) {
                edits.push(Edit::Delete { root });
            } else {
                let value = other_value(value, random);
                edits.push(Edit::Replace { root, with: changes.0.len() });
                changes.0.push((key.clone(), value.clone()));
                new.0.push((key.clone(), value));
            }
        }
        for _ in 0..random.below(3) {
            let key = format!("k{:x}", random.next());
            let value = value(random);
            edits.push(Edit::Append { with: changes.0.len() });
            changes.0.push((key.clone(), value.clone()));
            new.0.push((key, value));
        }
        (new, changes, edits)
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    let bound = random.pick(&[3, 30, 600, 20_000]);
    let len = random.below(bound);
    if random.once_in(2) { random.bytes(len) } else { vec![random.byte(); len] }
}

/// Often one of the same length, and sometimes one that differs in a byte.
fn other_value(old: &[u8], random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => value(random),
        1 => random.bytes(old.len()),
        _ => {
            let mut new = old.to_vec();
            let at = random.below(old.len());
            if let Some(byte) = new.get_mut(at) {
                *byte = byte.wrapping_add(1);
            }
            new
        }
    }
}

/// An Integer as streams have it.
fn put_long(bytes: &mut Vec<u8>, number: usize) {
    match number {
        0 => bytes.push(0),
        1..123 => bytes.push(number as u8 + 5),
        _ => {
            let four = (number as u32).to_le_bytes();
            let count = 4 - (number as u32).leading_zeros() as usize / 8;
            bytes.push(count as u8);
            bytes.extend_from_slice(&four[..count]);
        }
    }
}

/// Begins and loads.
pub(crate) fn begin(store: &mut Store, path: &Path, access: Access) {
    match store.try_begin(path, access).unwrap() {
        Begun::Ready | Begun::Missing => {}
        Begun::Stale => store.load().unwrap(),
        Begun::Busy => panic!("nobody has a lock"),
    }
}

/// Returns the content of the file according to the store.
pub(crate) fn content(store: &Store) -> Vec<u8> {
    match store.content() {
        Content::Empty => Vec::new(),
        Content::Roots(stream) => stream.bytes().to_vec(),
        Content::Whole { bytes, .. } => bytes.to_vec(),
    }
}

/// One transaction that reads.
pub(crate) fn read(store: &mut Store, path: &Path) -> Vec<u8> {
    begin(store, path, Access::Read);
    let read = content(store);
    store.end();
    read
}

/// One transaction that changes `table`, by its roots or as a whole. The error of the system, if
/// there was one.
pub(crate) fn change(
    store: &mut Store,
    path: &Path,
    (new, changes, edits): (&Table, &Table, &[Edit]),
    durability: Durability,
    by_roots: bool,
) -> bytewright::Result<bool> {
    begin(store, path, Access::Write);
    let changed = match by_roots {
        true => store.change(&changes.stream(), edits, durability).map(Result::unwrap),
        false => store.replace(new.dump(), durability),
    };
    store.end();
    changed
}
