//! A list that grows a little at a time and never moves what it holds, so that a table of millions of
//! records neither carries slack nor stops to copy.

/// Chunks before there is so much that longer ones are worth their slack.
const SHORT_CHUNKS: usize = 256;
const SHORT_LEN: usize = 16;
const LONG_LEN: usize = 64;

/// Items in chunks. The last chunk, which may hold one item only, is never longer than 1/64 of what
/// came before it (or 16 items).
///
/// The number of an item is that of its chunk times 64 plus its place there, so the numbers of short
/// chunks have gaps.
#[derive(Debug)]
pub(super) struct Chunks<T> {
    chunks: Vec<Box<[T]>>,
    /// The number that the next item gets, if there is room in the last chunk.
    end: usize,
    /// Items that the chunks have room for.
    capacity: usize,
}

/// One more than the highest number of `count` items.
pub(super) const fn numbers_of(count: usize) -> usize {
    count + SHORT_CHUNKS * (LONG_LEN - SHORT_LEN)
}

fn chunk_len(chunk: usize) -> usize {
    if chunk < SHORT_CHUNKS { SHORT_LEN } else { LONG_LEN }
}

impl<T: Copy> Chunks<T> {
    pub(super) const fn new() -> Self {
        Chunks { chunks: Vec::new(), end: 0, capacity: 0 }
    }

    /// Appends `item` and gives its number.
    pub(super) fn push(&mut self, item: T) -> usize {
        let (mut chunk, mut place) = (self.end / LONG_LEN, self.end % LONG_LEN);
        if place >= chunk_len(chunk) {
            (chunk, place) = (chunk + 1, 0);
        }
        match self.chunks.get_mut(chunk) {
            Some(chunk) => chunk[place] = item,
            None => {
                if self.chunks.len() == self.chunks.capacity() {
                    self.chunks.reserve_exact(4 + self.chunks.len() / 16);
                }
                self.chunks.push(vec![item; chunk_len(chunk)].into_boxed_slice());
                self.capacity += chunk_len(chunk);
            }
        }
        let number = chunk * LONG_LEN + place;
        self.end = number + 1;
        number
    }

    /// The item of that number, which was pushed before.
    #[inline]
    pub(super) fn get(&self, number: usize) -> &T {
        &self.chunks[number / LONG_LEN][number % LONG_LEN]
    }

    /// The item of that number, which was pushed before, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> &mut T {
        &mut self.chunks[number / LONG_LEN][number % LONG_LEN]
    }

    /// The number of the item after that of `number`, and of the first after the last.
    #[inline]
    pub(super) fn after(&self, number: usize) -> usize {
        let next = number + 1;
        if next >= self.end {
            return 0;
        }
        let gap = next % LONG_LEN == SHORT_LEN && next / LONG_LEN < SHORT_CHUNKS;
        if gap { next - SHORT_LEN + LONG_LEN } else { next }
    }

    /// The numbers of all items.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + use<T> {
        let end = self.end;
        (0..end).filter(|number| number % LONG_LEN < chunk_len(number / LONG_LEN))
    }

    /// Returns true if there is no item.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Bytes of memory it has taken.
    pub(super) fn memory_bytes(&self) -> usize {
        self.capacity * size_of::<T>() + self.chunks.capacity() * size_of::<Box<[T]>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_were_put_and_follow_each_other() {
        let mut chunks = Chunks::new();
        let numbers: Vec<usize> = (0..50_000_u32).map(|item| chunks.push(item)).collect();
        for (item, number) in numbers.iter().enumerate() {
            assert_eq!(*chunks.get(*number), item as u32);
            let next = numbers.get(item + 1).copied().unwrap_or(0);
            assert_eq!(chunks.after(*number), next);
            assert!(*number < numbers_of(item + 1));
        }
        assert!(chunks.numbers().eq(numbers.iter().copied()));
        *chunks.get_mut(numbers[40_000]) = 7;
        assert_eq!(*chunks.get(numbers[40_000]), 7);
        assert_eq!(*chunks.get(numbers[40_001]), 40_001);
    }
}
