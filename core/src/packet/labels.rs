//! Labels of networks: texts that somebody has given to addresses, such as the names of sites, countries or operators.
//!
//! Networks may lie in each other. They are flattened once, to ranges that do not, so that an address is found by halving.

use std::collections::HashMap;
use std::net::IpAddr;

/// Labels of addresses. That of an address is the label of the smallest network that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkLabels {
    v4: LabelRanges<u32>,
    v6: LabelRanges<u128>,
    texts: Vec<Box<str>>,
    replaced: Option<ReplacedLabel>,
}

/// A network that has got labels one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedLabel {
    /// The file, where they are in one.
    pub file: Option<String>,
    /// Labels that were replaced, of all networks.
    pub count: u64,
    /// The first of the networks, as people write it.
    pub network: String,
    /// Its label.
    pub label: String,
    /// Label that it had before.
    pub before: String,
}

impl NetworkLabels {
    /// The label of an address; none where it is in no network.
    pub fn label_of(&self, address: IpAddr) -> Option<&str> {
        let number = match address {
            IpAddr::V4(address) => self.v4.find(address.to_bits()),
            IpAddr::V6(address) => self.v6.find(address.to_bits()),
        }?;
        self.texts.get(number).map(|text| &**text)
    }

    /// The first network that has got another label than it had; none where each has one.
    pub fn replaced(&self) -> Option<&ReplacedLabel> {
        self.replaced.as_ref()
    }

    /// These labels, which a file has.
    #[must_use]
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        if let Some(replaced) = &mut self.replaced {
            replaced.file = Some(name.to_owned());
        }
        self
    }

    /// Bytes of memory that they take.
    pub fn memory_bytes(&self) -> usize {
        let texts = self.texts.iter().map(|text| size_of::<Box<str>>() + text.len());
        self.v4.memory_bytes() + self.v6.memory_bytes() + texts.sum::<usize>()
    }
}

impl std::fmt::Display for ReplacedLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ReplacedLabel { file, count, network, label, before } = self;
        file.as_ref().map_or(Ok(()), |file| write!(f, "{file}: "))?;
        write!(f, "{network} has two labels, and the later one counts: {label}, not {before}")?;
        match count - 1 {
            0 => Ok(()),
            1 => f.write_str("; 1 other label is replaced, too"),
            others => write!(f, "; {others} other labels are replaced, too"),
        }
    }
}

/// A network: its first address, and the bits that its addresses have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) address: IpAddr,
    pub(crate) prefix_len: u8,
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_len)
    }
}

/// Labels that are given network by network.
#[derive(Debug, Default)]
pub(crate) struct LabelBuilder {
    v4: Vec<Labelled<u32>>,
    v6: Vec<Labelled<u128>>,
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

/// A network with the number of its text.
#[derive(Debug, Clone, Copy)]
struct Labelled<A> {
    start: A,
    prefix_len: u8,
    text: u32,
}

impl LabelBuilder {
    /// Returns the number of networks so far.
    pub(crate) fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Returns the number of a text, under which networks have it.
    pub(crate) fn text(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// Gives a network the text of a number. What it had before is replaced.
    pub(crate) fn add(&mut self, network: Network, text: u32) {
        let prefix_len = network.prefix_len;
        match network.address {
            IpAddr::V4(address) => {
                self.v4.push(Labelled { start: address.to_bits(), prefix_len, text });
            }
            IpAddr::V6(address) => {
                self.v6.push(Labelled { start: address.to_bits(), prefix_len, text });
            }
        }
    }

    /// The labels.
    pub(crate) fn finish(self) -> NetworkLabels {
        let LabelBuilder { v4, v6, texts, .. } = self;
        let (v4, v4_replaced) = last_of_each(v4);
        let (v6, v6_replaced) = last_of_each(v6);
        let first = v4_replaced.first.map(Replacement::widened);
        let first = first.or_else(|| v6_replaced.first.map(Replacement::widened));
        let text = |number: u32| texts.get(number as usize).map_or("", |text| text).to_owned();
        let replaced = first.map(|first| ReplacedLabel {
            file: None,
            count: v4_replaced.count + v6_replaced.count,
            network: first.network.to_string(),
            label: text(first.text),
            before: text(first.before),
        });
        NetworkLabels { v4: LabelRanges::of(&v4), v6: LabelRanges::of(&v6), texts, replaced }
    }
}

/// Labels that others have taken the place of.
struct Replacements<A> {
    count: u64,
    first: Option<Replacement<A>>,
}

/// The numbers of the label that a network has, and of that which it had.
#[derive(Clone, Copy)]
struct Replacement<A> {
    network: A,
    text: u32,
    before: u32,
}

impl<A: AddressWord> Replacement<(A, u8)> {
    fn widened(self) -> Replacement<Network> {
        let (start, prefix_len) = self.network;
        let network = Network { address: start.address(), prefix_len };
        Replacement { network, text: self.text, before: self.before }
    }
}

/// Sorts networks, each before those inside of it, and leaves the label of each that came last.
fn last_of_each<A: AddressWord>(
    mut networks: Vec<Labelled<A>>,
) -> (Vec<Labelled<A>>, Replacements<(A, u8)>) {
    // Keeps the order of equal ones.
    networks.sort_by_key(|network| (network.start, network.prefix_len));
    let mut replaced = Replacements { count: 0, first: None };
    networks.dedup_by(|later, kept| {
        let is_same = (later.start, later.prefix_len) == (kept.start, kept.prefix_len);
        if is_same && later.text != kept.text {
            replaced.count += 1;
            let network = (later.start, later.prefix_len);
            let first = Replacement { network, text: later.text, before: kept.text };
            replaced.first.get_or_insert(first);
            kept.text = later.text;
        }
        is_same
    });
    (networks, replaced)
}

/// An address of one IP version as a number.
trait AddressWord: Copy + Ord {
    /// The last address of the network that begins here.
    fn last_of(self, prefix_len: u8) -> Self;

    /// The next address; none behind the last one.
    fn next(self) -> Option<Self>;

    fn address(self) -> IpAddr;
}

macro_rules! address_words {
    ($($word:ty)*) => {
        $(impl AddressWord for $word {
            fn last_of(self, prefix_len: u8) -> Self {
                self | <$word>::MAX.checked_shr(prefix_len.into()).unwrap_or(0)
            }

            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            fn address(self) -> IpAddr {
                IpAddr::from(self.to_be_bytes())
            }
        })*
    };
}

address_words! { u32 u128 }

/// Number in the place of a text: there is none.
const NO_TEXT: u32 = u32::MAX;

/// Ranges of addresses, one behind another: each goes to the start of the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LabelRanges<A> {
    starts: Vec<A>,
    texts: Vec<u32>,
}

impl<A: AddressWord> LabelRanges<A> {
    /// Flattens networks that are sorted, each before those inside of it.
    fn of(networks: &[Labelled<A>]) -> Self {
        let mut ranges = LabelRanges { starts: Vec::new(), texts: Vec::new() };
        // The networks that the present one is in, and where each ends.
        let mut around: Vec<(A, u32)> = Vec::new();
        for network in networks {
            ranges.end_before(Some(network.start), &mut around);
            ranges.begin(network.start, network.text);
            around.push((network.start.last_of(network.prefix_len), network.text));
        }
        ranges.end_before(None, &mut around);
        ranges
    }

    /// Ends the networks that end before an address, the innermost first.
    fn end_before(&mut self, start: Option<A>, around: &mut Vec<(A, u32)>) {
        while let Some((last, _)) = around.last().copied()
            && start.is_none_or(|start| last < start)
        {
            around.pop();
            let outer = around.last().map_or(NO_TEXT, |(_, text)| *text);
            if let Some(next) = last.next() {
                self.begin(next, outer);
            }
        }
    }

    /// Begins a range, in the place of one that begins there.
    fn begin(&mut self, start: A, text: u32) {
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.texts.pop();
        }
        if self.texts.last() != Some(&text) {
            self.starts.push(start);
            self.texts.push(text);
        }
    }

    /// The number of the text of an address.
    fn find(&self, address: A) -> Option<usize> {
        let behind = self.starts.partition_point(|start| *start <= address);
        let text = *self.texts.get(behind.checked_sub(1)?)?;
        (text != NO_TEXT).then_some(text as usize)
    }

    fn memory_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<A>() + self.texts.capacity() * size_of::<u32>()
    }
}
