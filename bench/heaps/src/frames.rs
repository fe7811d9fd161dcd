//! Task `frames`: numbers of Fibonacci by calls whose frames are on a heap. Frames are taken from 4 MiB by
//! moving on, for one number after the other, and all of that is used again for others when it is used up:
//! as a decoder's memory is for one batch after the other.
//!
//! It shows what it costs to zero memory that is written anyway, which the buffers and segments of the core
//! never do.

use std::hint::black_box;

use table_workload::{Report, processor_s};

const HEAP_BYTES: usize = 4 << 20;
const WORD_BYTES: usize = 8;
/// Frames in all, at the least.
const FRAMES_TAKEN: usize = 20_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zeroing {
    /// Keeps the old contents until they are written.
    None,
    /// All of the memory, when it is used again.
    All,
    /// Each frame, when it is taken.
    Each,
}

/// Frames of so many words.
struct Frames<const WORDS: usize> {
    frames: Vec<[u64; WORDS]>,
    used: usize,
    zeroing: Zeroing,
}

/// Computes the number of Fibonacci at `number` again and again. `None` where there is no such engine.
pub fn run<const WORDS: usize>(engine: &str, number: u32) -> Option<Report> {
    let zeroing = match engine {
        "as-is" => Zeroing::None,
        "zeroed" => Zeroing::All,
        "each-zeroed" => Zeroing::Each,
        _ => return None,
    };
    let mut frames = Frames::<WORDS>::new(zeroing);
    let result = frames.fibonacci(number.into());
    let rounds = FRAMES_TAKEN / frames.used;
    let start_s = processor_s();
    for _ in 0..rounds {
        frames.make_room();
        black_box(frames.fibonacci(number.into()));
    }
    let pass_s = processor_s() - start_s;
    let mut report = Report::default();
    report.answer("result", result).figure("pass_s", pass_s);
    Some(report)
}

impl<const WORDS: usize> Frames<WORDS> {
    fn new(zeroing: Zeroing) -> Self {
        // Written once, so that the system has given all of its pages.
        let frames = black_box(vec![[1; WORDS]; HEAP_BYTES / (WORDS * WORD_BYTES)]);
        Frames { frames, used: 0, zeroing }
    }

    /// Begins anew where there may not be enough for one more number: the first took less than an eighth.
    fn make_room(&mut self) {
        if self.used > self.frames.len() / 8 * 7 {
            if self.zeroing == Zeroing::All {
                self.frames[..self.used].fill([0; WORDS]);
            }
            self.used = 0;
        }
    }

    /// A call has the words 0 and 1 of its frame: its argument, and what the first of its two calls gave.
    fn fibonacci(&mut self, number: u64) -> u64 {
        let place = self.used;
        self.used += 1;
        let frame = &mut self.frames[place];
        if self.zeroing == Zeroing::Each {
            *frame = [0; WORDS];
            black_box(&mut *frame);
        }
        frame[0] = number;
        if number < 2 {
            return number;
        }
        let first = self.fibonacci(number - 1);
        let frame = &mut self.frames[place];
        frame[1] = first;
        let argument = frame[0];
        let second = self.fibonacci(argument - 2);
        self.frames[place][1] + second
    }
}
