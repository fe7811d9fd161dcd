//! The last frames that were seen, to tell those that come again: at a second port of a switch, or in a second capture.

use std::collections::{HashMap, VecDeque};

use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Hashes of the last frames, at most so many.
pub(super) struct RecentFrames {
    most: usize,
    hashes: VecDeque<u128>,
    counts: HashMap<u128, u32>,
}

impl RecentFrames {
    /// Remembers `most` frames; none for 0.
    pub(super) fn new(most: u32) -> Option<Self> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        (most > 0).then(|| RecentFrames { most, hashes: VecDeque::new(), counts: HashMap::new() })
    }

    /// Says whether one of the last frames had this length and these bytes, and remembers this one as the last. Two that
    /// differ are taken for the same once in 2^128.
    pub(super) fn has_again(&mut self, length: u32, captured: &[u8]) -> bool {
        let hash = xxh3_128_with_seed(captured, length.into());
        let comes_again = self.counts.contains_key(&hash);
        if self.hashes.len() == self.most
            && let Some(oldest) = self.hashes.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        self.hashes.push_back(hash);
        *self.counts.entry(hash).or_default() += 1;
        comes_again
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_told_again_exactly_while_its_first_copy_is_among_the_last() {
        let mut seed = 5_u64;
        for most in 1..5 {
            let (mut recent, mut seen) = (RecentFrames::new(most).unwrap(), Vec::new());
            for _ in 0..1000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let frame = [(seed >> 33) as u8 % 6];
                let last = &seen[seen.len().saturating_sub(most as usize)..];
                assert_eq!(
                    recent.has_again(1, &frame),
                    last.contains(&frame),
                    "{last:?}, {frame:?}"
                );
                seen.push(frame);
            }
        }
        assert!(RecentFrames::new(0).is_none());
    }

    #[test]
    fn frames_of_other_lengths_on_the_wire_are_others() {
        let mut recent = RecentFrames::new(9).unwrap();
        assert!(!recent.has_again(60, b"cut"));
        assert!(!recent.has_again(61, b"cut"));
        assert!(recent.has_again(60, b"cut"));
    }
}
