//! The order of a heap's segments: a list in which one is put behind another, wherever it is.

/// Numbers in an order of their own.
#[derive(Debug, Default)]
pub(super) struct Order {
    links: Vec<OrderLink>,
    first: Option<u32>,
    last: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct OrderLink {
    before: Option<u32>,
    after: Option<u32>,
}

impl Order {
    /// Puts `number`, which is not in the list, behind `before`, or first.
    pub(super) fn insert_after(&mut self, before: Option<u32>, number: u32) {
        if self.links.len() <= number as usize {
            self.links.resize(number as usize + 1, OrderLink::default());
        }
        let after = match before {
            Some(before) => self.links[before as usize].after,
            None => self.first,
        };
        self.links[number as usize] = OrderLink { before, after };
        self.join(before, Some(number));
        self.join(Some(number), after);
    }

    /// Takes `number`, which is in the list, out.
    pub(super) fn remove(&mut self, number: u32) {
        let OrderLink { before, after } = self.links[number as usize];
        self.join(before, after);
    }

    /// Makes `after` follow `before`, where nothing is an end of the list.
    fn join(&mut self, before: Option<u32>, after: Option<u32>) {
        match before {
            Some(before) => self.links[before as usize].after = after,
            None => self.first = after,
        }
        match after {
            Some(after) => self.links[after as usize].before = before,
            None => self.last = before,
        }
    }

    /// The number before `number`.
    pub(super) fn before(&self, number: u32) -> Option<u32> {
        self.links[number as usize].before
    }

    /// The last number.
    pub(super) fn last(&self) -> Option<u32> {
        self.last
    }

    /// All numbers from the first on.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first, |number| self.links[*number as usize].after)
    }

    /// Bytes of memory it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.links.capacity() * size_of::<OrderLink>()
    }
}
