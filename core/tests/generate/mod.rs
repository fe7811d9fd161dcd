//! Valid and nearly valid input for every test: randomness from a seed that a failure prints, frames
//! and capture files.
#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

pub(crate) mod capture;
pub(crate) mod frame;
pub(crate) mod segment;

/// Runs `test` on `count` seeds, or on the one that `BYTEWRIGHT_SEED` names. A failure prints its seed.
pub(crate) fn seeds(count: u64, test: impl Fn(&mut Random)) {
    let named = std::env::var("BYTEWRIGHT_SEED").ok();
    let named = named.map(|seed| seed.parse::<u64>().expect("a number in BYTEWRIGHT_SEED"));
    for seed in named.map_or(0..count, |seed| seed..seed + 1) {
        let _printed = PrintedOnPanic(seed);
        test(&mut Random::new(seed));
    }
}

struct PrintedOnPanic(u64);

impl Drop for PrintedOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with BYTEWRIGHT_SEED={}", self.0);
        }
    }
}

/// Random numbers that are the same for the same seed on every machine (SplitMix64).
#[derive(Debug)]
pub(crate) struct Random(u64);

/// SplitMix64 steps by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    /// Mixed, because the steps of one seed would otherwise be those of the next, one later.
    pub(crate) fn new(seed: u64) -> Self {
        Random(mix(seed.wrapping_mul(STEP)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.below_u64(bound as u64) as usize
    }

    /// As [`Random::below`], for what is counted in 64 bits.
    pub(crate) fn below_u64(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next() as u8
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
