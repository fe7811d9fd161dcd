//! A file that is read, with changes kept in memory: how a table that must not be written is opened
//! by an engine that wants to write down what it repaired.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use crate::files::Storage;

const BLOCK_LEN: usize = 4096;

/// Reads go to the changed blocks, then to the file below. The file is never written.
#[derive(Debug)]
pub(super) struct Overlay {
    below: Arc<dyn Storage>,
    changes: RwLock<ChangedBlocks>,
}

#[derive(Debug)]
struct ChangedBlocks {
    len: u64,
    /// Bytes of the file below that still show through.
    visible_len: u64,
    blocks: HashMap<u64, Box<[u8; BLOCK_LEN]>>,
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn Storage>) -> io::Result<Self> {
        let len = below.len()?;
        let changes = ChangedBlocks { len, visible_len: len, blocks: HashMap::new() };
        Ok(Overlay { below, changes: RwLock::new(changes) })
    }

    /// Reads from the file below, and zeros where it ends.
    fn read_below(&self, visible_len: u64, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let visible = visible_len.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (there, missing) = bytes.split_at_mut(visible);
        missing.fill(0);
        match there.is_empty() {
            true => Ok(()),
            false => self.below.read_at(offset, there),
        }
    }
}

/// Cuts `len` bytes from `offset` on at the borders of blocks: the number of each block, the part of
/// the block, and the part of the bytes.
fn pieces(
    offset: u64,
    len: usize,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let position = offset + done as u64;
        let start = (position % BLOCK_LEN as u64) as usize;
        let count = (BLOCK_LEN - start).min(len - done);
        let piece = (position / BLOCK_LEN as u64, start..start + count, done..done + count);
        done += count;
        (count > 0).then_some(piece)
    })
}

impl Storage for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.changes.read().unwrap_or_else(PoisonError::into_inner).len)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let changes = self.changes.read().unwrap_or_else(PoisonError::into_inner);
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > changes.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if changes.blocks.is_empty() {
            return self.read_below(changes.visible_len, offset, bytes);
        }
        for (number, in_block, in_bytes) in pieces(offset, bytes.len()) {
            let position = offset + in_bytes.start as u64;
            match changes.blocks.get(&number) {
                Some(block) => bytes[in_bytes].copy_from_slice(&block[in_block]),
                None => self.read_below(changes.visible_len, position, &mut bytes[in_bytes])?,
            }
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut changes = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        let end = offset.checked_add(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        for (number, in_block, in_bytes) in pieces(offset, bytes.len()) {
            if !changes.blocks.contains_key(&number) {
                let mut block = Box::new([0; BLOCK_LEN]);
                // What is there may be no page yet, and is not needed where all of it changes.
                if in_block.len() < BLOCK_LEN {
                    let start = number * BLOCK_LEN as u64;
                    self.read_below(changes.visible_len, start, block.as_mut_slice())?;
                }
                changes.blocks.insert(number, block);
            }
            if let Some(block) = changes.blocks.get_mut(&number) {
                block[in_block].copy_from_slice(&bytes[in_bytes]);
            }
        }
        changes.len = changes.len.max(end);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut changes = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        if len < changes.len {
            changes.visible_len = changes.visible_len.min(len);
            changes.blocks.retain(|number, _| number * (BLOCK_LEN as u64) < len);
            let (last, kept) = (len / BLOCK_LEN as u64, (len % BLOCK_LEN as u64) as usize);
            if let Some(block) = changes.blocks.get_mut(&last) {
                block[kept..].fill(0);
            }
        }
        changes.len = len;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::files::MemoryStorage;

    /// The twin is a plain memory file that is written; the file below must stay as it was.
    #[test]
    fn behaves_like_a_file_of_its_own_and_leaves_the_one_below_alone() {
        let original: Vec<u8> = (0..40_000_u32).map(|n| (n * 7) as u8).collect();
        let below = MemoryStorage::new(original.clone());
        let twin = MemoryStorage::new(original.clone());
        let overlay = Overlay::new(Arc::new(below.clone())).unwrap();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for step in 0..3_000 {
            match random(10) {
                0 => {
                    let len = random(60_000);
                    overlay.set_len(len).unwrap();
                    twin.set_len(len).unwrap();
                }
                1..=4 => {
                    let bytes = vec![step as u8; random(9_000) as usize];
                    let offset = random(50_000);
                    overlay.write_at(offset, &bytes).unwrap();
                    twin.write_at(offset, &bytes).unwrap();
                }
                _ => {
                    let (offset, len) = (random(60_000), random(9_000) as usize);
                    let (mut ours, mut theirs) = (vec![1; len], vec![1; len]);
                    let result = overlay.read_at(offset, &mut ours);
                    assert_eq!(
                        result.is_ok(),
                        twin.read_at(offset, &mut theirs).is_ok(),
                        "step {step}"
                    );
                    if result.is_ok() {
                        assert_eq!(ours, theirs, "step {step}");
                    }
                }
            }
            assert_eq!(overlay.len().unwrap(), twin.len().unwrap(), "step {step}");
        }
        assert_eq!(below.bytes(), original);
    }
}
