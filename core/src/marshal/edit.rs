//! Changes of roots, and whether they fit a stream.

use super::content::LinkableContent;
use super::index::StreamIndex;
use super::lift;
use super::refusal::{NotIndexable, Reason, Result};

/// A change of one root. What roots are to become stands in a stream of its own, a Hash of the new
/// values by their keys; a root of that is named by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// The root has a new value; its place among the roots stays.
    Replace {
        /// The number of the root.
        root: usize,
        /// The number of the root in the stream of changes.
        with: usize,
    },
    /// The root goes.
    Delete {
        /// The number of the root.
        root: usize,
    },
    /// A new root comes after all others.
    Append {
        /// The number of the root in the stream of changes.
        with: usize,
    },
}

/// A stream and its index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indexed<'a> {
    pub(super) stream: &'a [u8],
    pub(super) index: &'a StreamIndex,
}

/// Changes that fit the stream.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Roots that change, in order, and what each becomes: a root of the changes, or nothing.
    pub(super) touched: Vec<(usize, Option<usize>)>,
    /// Roots of the changes that come after all others, in order.
    pub(super) appended: Vec<usize>,
}

impl Edits {
    /// The changes, if they fit.
    pub(super) fn check(old: Indexed<'_>, new: Indexed<'_>, edits: &[Edit]) -> Result<Self> {
        let mut checked = Edits::default();
        for &edit in edits {
            match edit {
                Edit::Replace { root, with } => checked.touched.push((root, Some(with))),
                Edit::Delete { root } => checked.touched.push((root, None)),
                Edit::Append { with } => checked.appended.push(with),
            }
        }
        checked.touched.sort_unstable();
        checked.each_once(old.index, new.index)?;
        checked.whole_groups(old.index)?;
        checked.keys_fit(old, new)?;
        Ok(checked)
    }

    /// Returns the number of roots that are deleted.
    pub(super) fn deleted_count(&self) -> usize {
        self.touched.iter().filter(|(_, with)| with.is_none()).count()
    }

    /// Returns the change of a root, if it changes.
    pub(super) fn of(&self, root: usize) -> Option<Option<usize>> {
        let at = self.touched.binary_search_by_key(&root, |&(root, _)| root).ok()?;
        self.touched.get(at).map(|&(_, with)| with)
    }

    /// Each root may change once, and all of the changes are used.
    fn each_once(&self, old: &StreamIndex, new: &StreamIndex) -> Result<()> {
        let roots_fit = self.touched.is_sorted_by(|(a, _), (b, _)| a < b)
            && self.touched.iter().all(|&(root, _)| root < old.root_count());
        let replaced = self.touched.iter().filter_map(|&(_, with)| with);
        let mut used: Vec<usize> = replaced.chain(self.appended.iter().copied()).collect();
        used.sort_unstable();
        if roots_fit && used.into_iter().eq(0..new.root_count()) && !new.has_default {
            Ok(())
        } else {
            Err(NotIndexable::new(Reason::BadEdit, 0))
        }
    }

    /// Roots that share objects change together: what is shared is only to be seen in all of them.
    fn whole_groups(&self, old: &StreamIndex) -> Result<()> {
        let touched: Vec<usize> = self.touched.iter().map(|&(root, _)| root).collect();
        match old.left_out(&touched) {
            Some(root) => Err(lift::split_group(old, root)),
            None => Ok(()),
        }
    }

    fn keys_fit(&self, old: Indexed<'_>, new: Indexed<'_>) -> Result<()> {
        for &(root, with) in &self.touched {
            let Some(with) = with else { continue };
            let at = old.index.offsets.get(root).copied().unwrap_or_default();
            if !self.is_same_key(old, new, root, with)? {
                return Err(NotIndexable::new(Reason::BadEdit, at as usize));
            }
        }
        for &with in &self.appended {
            let at = new.index.offsets.get(with).copied().unwrap_or_default();
            let key = new.index.key_content(new.stream, at);
            if !key.is_some_and(|key| self.is_new(old, &key)) {
                return Err(NotIndexable::new(Reason::UncertainKey, at as usize));
            }
        }
        Ok(())
    }

    fn is_same_key(
        &self,
        old: Indexed<'_>,
        new: Indexed<'_>,
        root: usize,
        with: usize,
    ) -> Result<bool> {
        let key =
            |of: Indexed<'_>, root: usize| lift::keys(of.stream, of.index, std::iter::once(root));
        Ok(key(old, root)? == key(new, with)?)
    }

    /// Returns true if no remaining root has that key, or may have it.
    fn is_new(&self, old: Indexed<'_>, key: &LinkableContent<'_>) -> bool {
        let may_be = |offset| {
            let is_gone = self.of(old.index.root_at(offset)) == Some(None);
            !is_gone
                && match (old.index.key_content(old.stream, offset), key) {
                    (
                        Some(LinkableContent::Interned(text, _)),
                        LinkableContent::Interned(other, _),
                    ) => text == *other,
                    (other, key) => other.as_ref() == Some(key),
                }
        };
        let hash = key.hash(old.index.seed);
        old.index.complex_keys == 0 && old.index.roots.find(hash, may_be).is_none()
    }
}
