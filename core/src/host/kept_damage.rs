//! Damage that a pass keeps the rows before, beside the rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Error;
use crate::input::DamagePolicy;

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

    /// The policy that damage is kept by.
    pub(super) fn policy(&self) -> DamagePolicy {
        self.policy
    }

    /// Takes note of damage that ended a capture, and that the rows before it are kept at.
    pub(super) fn note(&self, damage: Error) {
        *locked(&self.latest.0) = Some(damage.clone());
        locked(&self.untold).push(damage);
    }

    /// Takes what was found since the last call, in the order of the captures.
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut locked(&self.untold))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
