//! From the hash of a key to the address of its record, in about eight bytes an entry at any size.
//!
//! Linear hashing (Litwin, 1980) over short, dense buckets: the low bits of a hash choose the bucket,
//! and the buckets are split one at a time as entries come, so that no call does more than split one
//! bucket, and no doubling shows in time or memory. A bucket keeps beside each address a tag, sixteen
//! further bits of the hash. A search looks at records whose tag is right, which are few others, and a
//! split divides a bucket by a bit of the tags, without a look at the records: only every sixth time
//! that a bucket is split are the tags' bits used up, and made anew from the records' keys.
//!
//! Buckets live in shards that copies of an index share until one of them changes.

use std::sync::Arc;

use crate::heap::{Address, prefetch};

/// Entries of a group.
const GROUP_LEN: usize = 8;

/// Buckets of a shard.
const SHARD_LEN: usize = 32;

/// A bucket is split when there are more entries to a bucket than this, and joined with another when
/// there are fewer than that. Between the splits, buckets have up to twice as many.
const FULL: usize = 48;
const SPARSE: usize = 30;

/// Bits of a tag that splits use up before the tags are made anew.
const TAG_STEP: u32 = 6;

/// Marks the places of a group that are not taken: no address is all ones.
const VACANT: u64 = (1 << Address::BITS) - 1;

/// Eight entries: tags, and addresses in two parts.
#[derive(Debug, Clone, Copy)]
struct HashGroup {
    tags: [u16; GROUP_LEN],
    low: [u32; GROUP_LEN],
    high: [u8; GROUP_LEN],
}

const _: () = assert!(size_of::<HashGroup>() == 7 * GROUP_LEN);

impl HashGroup {
    const VACANT: HashGroup =
        HashGroup { tags: [0; GROUP_LEN], low: [u32::MAX; GROUP_LEN], high: [u8::MAX; GROUP_LEN] };

    /// A bit for each place with that tag.
    #[inline]
    fn tagged(&self, tag: u16) -> u32 {
        let mut places = 0;
        for (place, found) in self.tags.iter().enumerate() {
            places |= u32::from(*found == tag) << place;
        }
        places
    }

    #[inline]
    fn number(&self, place: usize) -> u64 {
        u64::from(self.high[place % GROUP_LEN]) << 32 | u64::from(self.low[place % GROUP_LEN])
    }

    fn set(&mut self, place: usize, tag: u16, number: u64) {
        self.tags[place] = tag;
        self.low[place] = number as u32;
        self.high[place] = (number >> 32) as u8;
    }

    /// Places taken, which are the first.
    fn len(&self) -> usize {
        (0..GROUP_LEN).find(|place| self.number(*place) == VACANT).unwrap_or(GROUP_LEN)
    }
}

/// Entries without an order; only the last group has vacant places.
#[derive(Debug, Clone, Default)]
struct HashBucket(Box<[HashGroup]>);

impl HashBucket {
    fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * GROUP_LEN + last.len())
    }

    #[inline]
    fn find(&self, tag: u16, mut is_it: impl FnMut(Address) -> bool) -> Option<usize> {
        for (at, group) in self.0.iter().enumerate() {
            let mut places = group.tagged(tag);
            while places != 0 {
                let place = places.trailing_zeros() as usize;
                let number = group.number(place);
                if number != VACANT && is_it(Address::from_number(number)) {
                    return Some(at * GROUP_LEN + place);
                }
                places &= places - 1;
            }
        }
        None
    }

    #[inline]
    fn entry(&self, at: usize) -> (u16, u64) {
        let group = &self.0[at / GROUP_LEN];
        (group.tags[at % GROUP_LEN], group.number(at % GROUP_LEN))
    }

    fn set(&mut self, at: usize, tag: u16, number: u64) {
        self.0[at / GROUP_LEN].set(at % GROUP_LEN, tag, number);
    }

    fn push(&mut self, tag: u16, number: u64) {
        let len = self.len();
        if len == self.0.len() * GROUP_LEN {
            self.resize(self.0.len() + 1);
        }
        self.set(len, tag, number);
    }

    fn resize(&mut self, groups: usize) {
        let mut longer = std::mem::take(&mut self.0).into_vec();
        longer.reserve_exact(groups.saturating_sub(longer.len()));
        longer.resize(groups, HashGroup::VACANT);
        self.0 = longer.into_boxed_slice();
    }

    /// Takes out the entry at `at`; the last takes its place.
    fn swap_remove(&mut self, at: usize) {
        let last = self.len() - 1;
        let (tag, number) = self.entry(last);
        self.set(at, tag, number);
        self.set(last, 0, VACANT);
        if last.is_multiple_of(GROUP_LEN) {
            self.resize(last / GROUP_LEN);
        }
    }

    fn from_entries(entries: &[(u16, u64)]) -> HashBucket {
        let mut bucket = HashBucket::default();
        bucket.resize(entries.len().div_ceil(GROUP_LEN));
        for (at, (tag, number)) in entries.iter().enumerate() {
            bucket.set(at, *tag, *number);
        }
        bucket
    }
}

type Shard = [HashBucket; SHARD_LEN];

/// Addresses by the hash of their records' keys. A clone costs a step for each shard, and shares all.
#[derive(Debug, Clone, Default)]
pub(super) struct HashIndex {
    shards: Vec<Arc<Shard>>,
    buckets: usize,
    len: usize,
}

/// Bucket that a hash chooses, and by how many of its bits.
#[derive(Debug, Clone, Copy)]
struct BucketChoice {
    bucket: usize,
    level: u32,
}

impl BucketChoice {
    /// The bits of a hash that a tag in this bucket has, above those that choose the bucket.
    #[inline]
    fn tag(self, hash: u64) -> u16 {
        (hash >> tag_shift(self.level)) as u16
    }
}

/// Returns how far a tag's bits are from the lowest of the hash, if `level` bits choose the bucket.
#[inline]
fn tag_shift(level: u32) -> u32 {
    level - level % TAG_STEP
}

impl HashIndex {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn choose(&self, hash: u64) -> BucketChoice {
        let level = self.buckets.ilog2();
        let low = |bits: u32| (hash & ((1 << bits) - 1)) as usize;
        // The buckets below the next to be split have been split on this level.
        match low(level) < self.buckets - (1 << level) {
            true => BucketChoice { bucket: low(level + 1), level: level + 1 },
            false => BucketChoice { bucket: low(level), level },
        }
    }

    #[inline]
    fn bucket(&self, number: usize) -> &HashBucket {
        &self.shards[number / SHARD_LEN][number % SHARD_LEN]
    }

    #[inline]
    fn bucket_mut(&mut self, number: usize) -> &mut HashBucket {
        &mut Arc::make_mut(&mut self.shards[number / SHARD_LEN])[number % SHARD_LEN]
    }

    /// The address among those put in under `hash` that `is_it` says is meant.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl FnMut(Address) -> bool) -> Option<Address> {
        if self.buckets == 0 {
            return None;
        }
        let choice = self.choose(hash);
        let bucket = self.bucket(choice.bucket);
        let at = bucket.find(choice.tag(hash), is_it)?;
        Some(Address::from_number(bucket.entry(at).1))
    }

    /// Prefetches the head of the bucket that a search for `hash` goes to.
    #[inline]
    pub(super) fn prefetch_bucket(&self, hash: u64) {
        if self.buckets > 0 {
            prefetch(self.bucket(self.choose(hash).bucket));
        }
    }

    /// Prefetches the groups that a search for `hash` goes through.
    #[inline]
    pub(super) fn prefetch_groups(&self, hash: u64) {
        if self.buckets > 0 {
            self.bucket(self.choose(hash).bucket).0.iter().for_each(prefetch);
        }
    }

    /// Returns true if `address` was put in under `hash` and is there still.
    #[inline]
    pub(super) fn contains(&self, hash: u64, address: Address) -> bool {
        self.find(hash, |found| found == address).is_some()
    }

    /// Puts `address` in. `hash_of` gives the hash that an address was put in under.
    pub(super) fn insert(&mut self, hash: u64, address: Address, hash_of: impl Fn(Address) -> u64) {
        if self.len >= self.buckets * FULL {
            self.split(hash_of);
        }
        let choice = self.choose(hash);
        self.bucket_mut(choice.bucket).push(choice.tag(hash), address.number());
        self.len += 1;
    }

    /// Replaces `from` with `to`; both have the same `hash`.
    pub(super) fn replace(&mut self, hash: u64, from: Address, to: Address) {
        let choice = self.choose(hash);
        let bucket = self.bucket_mut(choice.bucket);
        match bucket.find(choice.tag(hash), |found| found == from) {
            Some(at) => bucket.set(at, choice.tag(hash), to.number()),
            None => debug_assert!(false, "an address that is replaced is there"),
        }
    }

    /// Takes out `address`, which was put in under `hash`.
    pub(super) fn remove(&mut self, hash: u64, address: Address) {
        let choice = self.choose(hash);
        let bucket = self.bucket_mut(choice.bucket);
        match bucket.find(choice.tag(hash), |found| found == address) {
            Some(at) => {
                bucket.swap_remove(at);
                self.len -= 1;
            }
            None => debug_assert!(false, "an address that is taken out is there"),
        }
        if self.len < (self.buckets - 1) * SPARSE {
            self.join();
        }
    }

    /// Makes one bucket more: the next in turn gives it those entries whose hash has one more bit set.
    fn split(&mut self, hash_of: impl Fn(Address) -> u64) {
        if self.buckets == self.shards.len() * SHARD_LEN {
            if self.shards.len() == self.shards.capacity() {
                self.shards.reserve_exact(1 + self.shards.len() / 8);
            }
            self.shards.push(Arc::new(Shard::default()));
        }
        self.buckets += 1;
        if self.buckets == 1 {
            return;
        }
        let level = (self.buckets - 1).ilog2();
        let number = self.buckets - 1 - (1 << level);
        let tags_are_used_up = tag_shift(level + 1) != tag_shift(level);
        let bit = 1 << (level - tag_shift(level));
        let bucket = self.bucket(number);
        let entries = (0..bucket.len()).map(|at| bucket.entry(at));
        let (mut upper, mut lower) = (Vec::with_capacity(FULL), Vec::with_capacity(FULL));
        for (tag, address) in entries {
            let half = if tag & bit != 0 { &mut upper } else { &mut lower };
            let tag = match tags_are_used_up {
                true => (hash_of(Address::from_number(address)) >> tag_shift(level + 1)) as u16,
                false => tag,
            };
            half.push((tag, address));
        }
        *self.bucket_mut(number) = HashBucket::from_entries(&lower);
        *self.bucket_mut(number + (1 << level)) = HashBucket::from_entries(&upper);
    }

    /// Undoes the last split.
    fn join(&mut self) {
        let level = (self.buckets - 1).ilog2();
        let (upper, number) = (self.buckets - 1, self.buckets - 1 - (1 << level));
        let mut entries = Vec::with_capacity(FULL);
        for bucket_number in [number, upper] {
            let bucket = self.bucket(bucket_number);
            for at in 0..bucket.len() {
                let (tag, address) = bucket.entry(at);
                // The low bits of a longer tag are those that chose the bucket.
                let tag = match tag_shift(level + 1) - tag_shift(level) {
                    0 => tag,
                    shift => tag << shift | (bucket_number >> tag_shift(level)) as u16,
                };
                entries.push((tag, address));
            }
        }
        *self.bucket_mut(number) = HashBucket::from_entries(&entries);
        *self.bucket_mut(upper) = HashBucket::default();
        self.buckets -= 1;
        // One shard is kept in hand, for a table whose size goes up and down by one.
        if self.shards.len() > self.buckets.div_ceil(SHARD_LEN) + 1 {
            self.shards.pop();
        }
    }

    /// Bytes of memory it takes, with what the allocator adds.
    pub(super) fn memory_bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        let shards = self.shards.len() * (size_of::<Shard>() + ALLOCATION)
            + self.shards.capacity() * size_of::<Arc<Shard>>();
        // The last groups are half taken on average.
        let entries =
            (self.len + self.buckets * GROUP_LEN / 2) * size_of::<HashGroup>() / GROUP_LEN;
        shards + entries + self.buckets * ALLOCATION
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Goal: it finds what a `HashMap` finds while entries come, move and go, through several steps of
    /// tags, up and down. The hash of an address is a function of its number, so that it can be made
    /// anew; some hashes are equal.
    #[test]
    fn finds_what_a_map_finds_while_entries_come_move_and_go() {
        let hash_of = |address: Address| {
            (address.number() / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        };
        let mut state = 7_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        let mut index = HashIndex::default();
        let mut map: HashMap<u64, ()> = HashMap::new();
        for bound in [50_000, 400, 60_000, 1] {
            for _ in 0..120_000 {
                let number = random(60_000);
                let address = Address::from_number(number);
                let is_there = map.contains_key(&number);
                assert_eq!(index.contains(hash_of(address), address), is_there);
                if is_there && map.len() as u64 > random(bound) {
                    index.remove(hash_of(address), address);
                    map.remove(&number);
                } else if !is_there && (map.len() as u64) < bound {
                    index.insert(hash_of(address), address, hash_of);
                    map.insert(number, ());
                }
                assert_eq!(index.len(), map.len());
            }
            for number in map.keys() {
                let address = Address::from_number(*number);
                assert!(index.contains(hash_of(address), address));
            }
        }
    }

    #[test]
    fn a_copy_stays_as_it_was() {
        let hash_of = |address: Address| address.number().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut index = HashIndex::default();
        let addresses: Vec<Address> = (0..5_000).map(Address::from_number).collect();
        for address in &addresses {
            index.insert(hash_of(*address), *address, hash_of);
        }
        let copy = index.clone();
        for address in &addresses {
            index.remove(hash_of(*address), *address);
        }
        assert!(addresses.iter().all(|address| copy.contains(hash_of(*address), *address)));
        assert_eq!((index.len(), copy.len()), (0, addresses.len()));
    }
}
