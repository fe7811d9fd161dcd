//! Changes of the numbers of objects, or of places in a stream, behind parts that became longer or shorter.

/// A number that is added from some place or number on, up to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shifts {
    /// In order.
    steps: Vec<(u32, i64)>,
}

impl Shifts {
    /// From `from` on, which is behind all before, it is `by`.
    pub(super) fn add(&mut self, from: u32, by: i64) {
        if self.last() != by {
            self.steps.push((from, by));
        }
    }

    /// Returns the number that is added behind all of the steps.
    pub(super) fn last(&self) -> i64 {
        self.steps.last().map_or(0, |&(_, by)| by)
    }

    /// Returns true if nothing shifts.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Shifts many numbers, of which those from `end` on stay: mostly there is one step, and the loop
    /// over it is one that the compiler vectorizes.
    pub(super) fn shift_all(&self, numbers: &mut [u32], end: u32) {
        match *self.steps.as_slice() {
            [] => {}
            [(from, by)] => {
                let (by, span) = (by as u32, end.saturating_sub(from));
                for number in numbers {
                    let is_behind = number.wrapping_sub(from) < span;
                    *number = number.wrapping_add(if is_behind { by } else { 0 });
                }
            }
            _ => {
                let numbers = numbers.iter_mut().filter(|number| **number < end);
                numbers.for_each(|number| *number = self.of(*number));
            }
        }
    }

    /// Returns the number after the shift.
    #[inline]
    pub(super) fn of(&self, number: u32) -> u32 {
        let by = match self.steps.as_slice() {
            [] => 0,
            [(from, by)] => {
                if number >= *from {
                    *by
                } else {
                    0
                }
            }
            steps => {
                let after = steps.partition_point(|&(from, _)| from <= number);
                after.checked_sub(1).and_then(|at| steps.get(at)).map_or(0, |&(_, by)| by)
            }
        };
        (i64::from(number) + by) as u32
    }
}
