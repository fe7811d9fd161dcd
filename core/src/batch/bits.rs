//! Bits one after another, as Arrow keeps validity and booleans: bit `row % 8` of byte `row / 8`.

/// A bit per row. The bits behind the last row are 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.bytes.reserve((self.len + rows).div_ceil(8).saturating_sub(self.bytes.len()));
    }

    /// The bit of a row; 0 past the end.
    #[inline]
    pub(super) fn get(&self, row: usize) -> bool {
        self.bytes.get(row / 8).is_some_and(|bits| bits >> (row % 8) & 1 == 1)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(u8::from(bit));
        } else if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }

    /// Keeps the first rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.len = self.len.min(rows);
        self.bytes.truncate(self.len.div_ceil(8));
        self.clear_behind_last();
    }

    /// Appends the same bit for `rows` rows.
    pub(super) fn extend_with(&mut self, bit: bool, mut rows: usize) {
        while rows > 0 && !self.len.is_multiple_of(8) {
            self.push(bit);
            rows -= 1;
        }
        self.bytes.resize(self.bytes.len() + rows.div_ceil(8), if bit { 0xff } else { 0 });
        self.len += rows;
        self.clear_behind_last();
    }

    /// Appends the bit with number `bit` of each word; answers how many of them are set.
    pub(super) fn extend_from(&mut self, words: &[u32], bit: u32) -> usize {
        let is_set = |word: &u32| (word >> bit & 1) as u8;
        let (head, aligned) = words.split_at(words.len().min(self.len.wrapping_neg() % 8));
        for word in head {
            self.push(is_set(word) == 1);
        }
        let (eights, tail) = aligned.as_chunks::<8>();
        let gathered =
            |words: &[u32]| words.iter().rev().fold(0, |bits, word| bits << 1 | is_set(word));
        self.bytes.extend(eights.iter().map(|eight| gathered(eight)));
        if !tail.is_empty() {
            self.bytes.push(gathered(tail));
        }
        self.len += aligned.len();
        words.iter().fold(0, |count, word| count + (word >> bit & 1)) as usize
    }

    /// Appends the bits of some rows.
    pub(super) fn extend_range(&mut self, from: &Bits, rows: std::ops::Range<usize>) {
        let shift = self.len % 8;
        let mut left = rows.len();
        for start in rows.step_by(8) {
            let eight = from.eight_from(start) & ((1_u16 << left.min(8)) - 1) as u8;
            match self.bytes.last_mut().filter(|_| shift > 0) {
                Some(last) => {
                    *last |= eight << shift;
                    if shift + left.min(8) > 8 {
                        self.bytes.push(eight >> (8 - shift));
                    }
                }
                None => self.bytes.push(eight),
            }
            self.len += left.min(8);
            left = left.saturating_sub(8);
        }
    }

    /// The bits of eight rows; 0 past the end.
    fn eight_from(&self, row: usize) -> u8 {
        let byte = |place: usize| u16::from(self.bytes.get(place).copied().unwrap_or_default());
        ((byte(row / 8) | byte(row / 8 + 1) << 8) >> (row % 8)) as u8
    }

    fn clear_behind_last(&mut self) {
        if let Some(last) = self.bytes.last_mut()
            && !self.len.is_multiple_of(8)
        {
            *last &= (1 << (self.len % 8)) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random steps on bits, and on a list of booleans that does the same.
    #[test]
    fn bits_are_what_a_list_of_booleans_is() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let (mut bits, mut twin) = (Bits::default(), Vec::new());
        for step in 0..5000 {
            let bit = random(2) == 1;
            match random(8) {
                0..4 => {
                    bits.push(bit);
                    twin.push(bit);
                }
                4 => {
                    let rows = random(40) as usize;
                    bits.extend_with(bit, rows);
                    twin.extend(std::iter::repeat_n(bit, rows));
                }
                5 => {
                    let words: Vec<u32> = (0..random(40)).map(|_| random(1 << 20) as u32).collect();
                    let set = bits.extend_from(&words, 3);
                    twin.extend(words.iter().map(|word| word & 8 != 0));
                    assert_eq!(set, words.iter().filter(|word| *word & 8 != 0).count());
                }
                6 => {
                    let rows = twin.len().saturating_sub(random(30) as usize);
                    bits.truncate(rows);
                    twin.truncate(rows);
                }
                7 if random(2) == 0 && !twin.is_empty() => {
                    let start = random(twin.len() as u64) as usize;
                    let end = twin.len().min(start + random(40) as usize);
                    bits.extend_range(&bits.clone(), start..end);
                    twin.extend_from_within(start..end);
                }
                _ if random(20) == 0 => {
                    bits.truncate(0);
                    twin.clear();
                }
                _ => {}
            }
            assert_eq!(bits.len(), twin.len(), "step {step}");
            assert_eq!(bits.bytes().len(), twin.len().div_ceil(8), "step {step}");
            let packed = twin.chunks(8).map(|eight| {
                eight.iter().rev().fold(0, |byte: u8, bit| byte << 1 | u8::from(*bit))
            });
            assert!(bits.bytes().iter().copied().eq(packed), "step {step}");
            assert!(twin.iter().enumerate().all(|(row, bit)| bits.get(row) == *bit), "step {step}");
            assert!(!bits.get(twin.len()), "step {step}");
        }
    }
}
