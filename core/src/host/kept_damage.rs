//! Damage that a pass keeps the rows before, beside the rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::input::damage_of;
use crate::input::{CaptureReader, DamagePolicy};
use crate::{Error, ErrorKind, Result};

/// Damage that ended captures of a pass, as far as the host was not told. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptDamage {
    policy: DamagePolicy,
    untold: Arc<Mutex<Vec<Error>>>,
    latest: LatestDamage,
}

/// Damage that the latest pass over a capture found. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestDamage(Arc<Mutex<Option<Error>>>);

impl LatestDamage {
    /// None where no pass found any.
    pub(super) fn get(&self) -> Option<Error> {
        locked(&self.0).clone()
    }
}

impl KeptDamage {
    /// None found yet. What is found is `latest`, too.
    pub(super) fn new(policy: DamagePolicy, latest: LatestDamage) -> Self {
        KeptDamage { policy, untold: Arc::default(), latest }
    }

    /// Ends the rows of a capture, of which reading ended so.
    ///
    /// # Errors
    /// Why reading ended, unless that is damage of a capture, and is kept.
    pub(super) fn end(&self, reader: &CaptureReader, read: Result<()>) -> Result<()> {
        let Err(error) = &read else { return Ok(()) };
        let is_cut = matches!(error.kind(), ErrorKind::Truncated { .. });
        let is_capture = is_cut || reader.facts().decoder.has_header();
        if self.policy == DamagePolicy::Raise || !is_capture {
            return read;
        }
        if let Some(damage) = damage_of(read)? {
            *locked(&self.latest.0) = Some(damage.clone());
            locked(&self.untold).push(damage);
        }
        Ok(())
    }

    /// Takes what was found since the last call, in the order of the captures.
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut locked(&self.untold))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
