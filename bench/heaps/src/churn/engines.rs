//! Stores for the values of `churn`: ours, and those of the program's allocator.

use std::collections::HashMap;

use bytewright::heap::{Address, RecordHeap};
use bytewright::table::Table;
use bytewright::table::memory::HashTable;
use table_workload::Result;

use super::Values;

/// Bytes and records that a change may move for each byte it writes, as the hashed table has them.
const MOVED_PER_BYTE: usize = 4;
const MOVED_RECORDS: usize = 64;

/// No value.
const NOWHERE: u64 = u64::MAX;

/// The core's heap of records, with an array of addresses for an index.
pub(super) struct InRecordHeap {
    heap: RecordHeap,
    addresses: Vec<u64>,
}

impl InRecordHeap {
    pub(super) fn new(count: usize) -> Self {
        InRecordHeap { heap: RecordHeap::new(), addresses: vec![NOWHERE; count] }
    }

    /// Changes an address, releases what was at the old one, and moves others for a change of `len` bytes.
    fn set(&mut self, number: u32, new: u64, len: usize) -> Result<()> {
        let old = std::mem::replace(&mut self.addresses[number as usize], new);
        if old != NOWHERE {
            self.heap.release(Address::from_number(old));
        }
        let mut bytes_left = len * MOVED_PER_BYTE;
        for _ in 0..MOVED_RECORDS {
            let Some(from) = self.heap.next_to_move() else { break };
            let (key, value) = self.heap.record(from);
            let len = key.len() + value.len();
            let address = &mut self.addresses[number_of(key)?];
            if *address == from.number() {
                *address = self.heap.move_record(from)?.number();
                let Some(left) = bytes_left.checked_sub(len) else { break };
                bytes_left = left;
            }
        }
        Ok(())
    }
}

fn number_of(key: &[u8]) -> Result<usize> {
    Ok(u32::from_le_bytes(key.try_into()?) as usize)
}

impl Values for InRecordHeap {
    fn put(&mut self, number: u32, value: &[u8]) -> Result<()> {
        let address = self.heap.append(&number.to_le_bytes(), value)?;
        self.set(number, address.number(), value.len())
    }

    fn delete(&mut self, number: u32) -> Result<()> {
        self.set(number, NOWHERE, self.get(number).map_or(0, <[u8]>::len))
    }

    fn get(&self, number: u32) -> Option<&[u8]> {
        let address = self.addresses[number as usize];
        (address != NOWHERE).then(|| self.heap.record(Address::from_number(address)).1)
    }
}

/// A piece of memory for each value.
pub(super) struct BoxedValues(Vec<Option<Box<[u8]>>>);

impl BoxedValues {
    pub(super) fn new(count: usize) -> Self {
        BoxedValues(vec![None; count])
    }
}

impl Values for BoxedValues {
    fn put(&mut self, number: u32, value: &[u8]) -> Result<()> {
        self.0[number as usize] = Some(value.into());
        Ok(())
    }

    fn delete(&mut self, number: u32) -> Result<()> {
        self.0[number as usize] = None;
        Ok(())
    }

    fn get(&self, number: u32) -> Option<&[u8]> {
        self.0[number as usize].as_deref()
    }
}

/// The core's hashed table.
#[derive(Default)]
pub(super) struct InHashTable(HashTable);

impl Values for InHashTable {
    fn put(&mut self, number: u32, value: &[u8]) -> Result<()> {
        Ok(self.0.put(&number.to_le_bytes(), value)?)
    }

    fn delete(&mut self, number: u32) -> Result<()> {
        self.0.delete(&number.to_le_bytes())?;
        Ok(())
    }

    fn get(&self, number: u32) -> Option<&[u8]> {
        self.0.value(&number.to_le_bytes())
    }
}

/// The standard library's map, with a key and a value of their own in each entry.
#[derive(Default)]
pub(super) struct HashMapped(HashMap<Vec<u8>, Vec<u8>>);

impl Values for HashMapped {
    fn put(&mut self, number: u32, value: &[u8]) -> Result<()> {
        self.0.insert(number.to_le_bytes().to_vec(), value.to_vec());
        Ok(())
    }

    fn delete(&mut self, number: u32) -> Result<()> {
        self.0.remove(&number.to_le_bytes()[..]);
        Ok(())
    }

    fn get(&self, number: u32) -> Option<&[u8]> {
        self.0.get(&number.to_le_bytes()[..]).map(Vec::as_slice)
    }
}
