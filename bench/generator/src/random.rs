//! The one source of chance: xoshiro256**, seeded through SplitMix64 (Blackman and Vigna, public
//! domain algorithms). Integers only, because floating point may differ between machines.

pub struct Random {
    state: [u64; 4],
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        Random { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`. The bias of the multiplication is below 2^-32 for the bounds used here.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number in `0..bound` where small ones are more likely: the lowest tenth gets about a third.
    pub fn skewed_below(&mut self, bound: usize) -> usize {
        let first = self.below(bound);
        let second = self.below(bound);
        first * second / bound
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
