//! Making two pages of one that is full.
//!
//! Whoever comes in order leaves full pages behind: an entry before or behind all others gets a page
//! of its own. So does one that has not the prefix of the others, for it can stand nowhere else, and
//! they need not be written again without it. Otherwise each page gets half of the bytes.

use std::cmp::Ordering;
use std::iter::once;
use std::ops::Range;

use super::tree_entry::{Entry, EntryBody, record_len};
use super::tree_page::{Page, SLOT_LEN};

impl Page {
    /// Puts an entry, as [`Page::insert`] would have, into this page or the second half that it
    /// gives. The key before it divides the two.
    pub(super) fn split(&mut self, at: usize, key: &[u8], body: EntryBody<'_>) -> (Vec<u8>, Page) {
        let entry = Entry::new(key, body);
        if at == self.count() {
            let divider = self.entry(at - 1).divider(&entry);
            return (divider, Page::build(self.len_max(), once(entry)));
        }
        if at == 0 {
            let divider = entry.divider(&self.entry(0));
            let first = Page::build(self.len_max(), once(entry));
            return (divider, std::mem::replace(self, first));
        }
        let with = With::new(self, at, entry);
        let middle = with.middle();
        let divider = with.get(middle - 1).divider(&with.get(middle));
        let first = Page::build(self.len_max(), with.range(0..middle));
        let second = Page::build(self.len_max(), with.range(middle..with.count()));
        *self = first;
        (divider, second)
    }

    /// Puts an entry as [`Page::split`] does, but the entry in the middle goes to neither half; returns its key and
    /// number, and the second half.
    pub(super) fn split_around(
        &mut self,
        at: usize,
        key: &[u8],
        body: EntryBody<'_>,
    ) -> (Vec<u8>, usize, Page) {
        if at == self.count() {
            return (key.to_vec(), at, Page::new(self.len_max()));
        }
        if at == 0 {
            let empty = Page::new(self.len_max());
            return (key.to_vec(), 0, std::mem::replace(self, empty));
        }
        let with = With::new(self, at, Entry::new(key, body));
        let middle = with.middle();
        let mut divider = Vec::new();
        with.get(middle).copy_key(&mut divider);
        let first = Page::build(self.len_max(), with.range(0..middle));
        let second = Page::build(self.len_max(), with.range(middle + 1..with.count()));
        *self = first;
        (divider, middle, second)
    }
}

/// The entries of a page with one more.
#[derive(Clone, Copy)]
pub(super) struct With<'a> {
    page: &'a Page,
    at: usize,
    entry: Entry<'a>,
}

impl<'a> With<'a> {
    /// `entry` comes before the one of number `at`.
    pub(super) fn new(page: &'a Page, at: usize, entry: Entry<'a>) -> Self {
        With { page, at, entry }
    }

    pub(super) fn count(&self) -> usize {
        self.page.count() + 1
    }

    fn get(&self, number: usize) -> Entry<'a> {
        match number.cmp(&self.at) {
            Ordering::Less => self.page.entry(number),
            Ordering::Equal => self.entry,
            Ordering::Greater => self.page.entry(number - 1),
        }
    }

    pub(super) fn range(
        &self,
        numbers: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Entry<'a>> + Clone {
        let with = *self;
        numbers.map(move |number| with.get(number))
    }

    /// The number of entries, neither none nor all, that takes half of the bytes.
    fn middle(&self) -> usize {
        let len = |entry: Entry<'_>| {
            SLOT_LEN + record_len(entry.key_len() - self.page.prefix().len(), entry.body)
        };
        let half = self.range(0..self.count()).map(len).sum::<usize>() / 2;
        let mut before = 0;
        let number = self.range(0..self.count()).position(|entry| {
            before += len(entry);
            before > half
        });
        number.unwrap_or(0).clamp(1, self.count() - 1)
    }
}
