//! Telling by its time of modification whether a file is as it was.
//!
//! The system gives a file the time of its last tick, so two writes within a tick may leave one time.
//! Nobody's time is trusted, therefore, before it is older than a tick: a later write shows then. And
//! what we have written gets such a time at once, from before the last tick: nobody has to wait, and
//! no write of others can have it.
//!
//! A program that writes may set the time of modification back. The time of change, which it cannot set, shows that
//! then, unless it is within the tick of our own last look.

use crate::files::FileVersion;

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000 * MICROSECOND;

/// Longer than a tick of the systems whose files have times in nanoseconds.
const TICK: i64 = 20 * MILLISECOND;

/// Longer than the times last that coarser file systems keep. They end in zeros.
const COARSE_TICK: i64 = 3_000 * MILLISECOND;
const COARSE: i64 = 10 * MILLISECOND;

/// Returns true if every write after `now` will give the file another time.
pub(super) fn is_settled(version: &FileVersion, now: i64) -> bool {
    let tick = if version.modified % COARSE == 0 { COARSE_TICK } else { TICK };
    now.saturating_sub(version.modified) >= tick
}

/// A time for what was written just now over a file with time `before`. It is in whole
/// microseconds, because some file systems keep no more.
pub(super) fn stamp(now: i64, before: i64) -> i64 {
    let mut stamp = now.saturating_sub(TICK).div_euclid(MICROSECOND) * MICROSECOND;
    while stamp == before || stamp % COARSE == 0 {
        stamp -= MICROSECOND;
    }
    stamp
}
