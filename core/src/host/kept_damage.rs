//! Damage that a pass keeps the rows before, beside the rows.

use std::sync::Arc;

use crate::Error;
use crate::forks::ProcessLock;
use crate::input::DamagePolicy;

/// Damage that ended captures of a pass, as far as the host was not told. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptDamage {
    policy: DamagePolicy,
    untold: Arc<ProcessLock<Vec<Error>>>,
    latest: LatestDamage,
    index: LatestDamage,
}

/// Damage that the latest pass over a capture found. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestDamage(Arc<ProcessLock<Option<Error>>>);

impl LatestDamage {
    /// None where no pass found any.
    pub(super) fn get(&self) -> Option<Error> {
        self.0.lock().clone()
    }
}

impl KeptDamage {
    /// None found yet. What is found is `latest`, too.
    pub(super) fn new(policy: DamagePolicy, latest: LatestDamage) -> Self {
        KeptDamage { policy, untold: Arc::default(), latest, index: LatestDamage::default() }
    }

    /// This list, and the reason why an index is not used is the latest `index`.
    #[must_use]
    pub(super) fn with_index(self, index: LatestDamage) -> Self {
        KeptDamage { index, ..self }
    }

    /// Takes note of the reason why an index is not used, or was not made.
    pub(super) fn note_index(&self, fault: Error) {
        *self.index.0.lock() = Some(fault);
    }

    /// The policy that damage is kept by.
    pub(super) fn policy(&self) -> DamagePolicy {
        self.policy
    }

    /// Takes note of damage that ended a capture, and that the rows before it are kept at.
    pub(super) fn note(&self, damage: Error) {
        *self.latest.0.lock() = Some(damage.clone());
        self.untold.lock().push(damage);
    }

    /// Takes what was found since the last call, in the order of the captures.
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut *self.untold.lock())
    }
}
