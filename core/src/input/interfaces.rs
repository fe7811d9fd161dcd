//! Interfaces that the packets of a batch came through.

use std::sync::Arc;

use crate::capture::{Decoder, Record};
use crate::packet::FrameInterface;

/// An entry for packets in a row that came through the same interface: most captures have one for all of a batch.
#[derive(Debug, Clone, Default)]
pub(super) struct Interfaces(Vec<InterfaceRun>);

#[derive(Debug, Clone)]
struct InterfaceRun {
    /// Index of the first packet.
    first: usize,
    /// The section counts, because each numbers its interfaces from 0.
    section: u64,
    number: Option<u32>,
    name: Option<Arc<str>>,
}

impl Interfaces {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The packet at `index`, which is behind all others, is that of `record`, which `decoder` has just found.
    #[inline(always)]
    pub(super) fn add(&mut self, index: usize, record: &Record<'_>, decoder: &Decoder) {
        if record.interface.is_some() || !self.0.is_empty() {
            self.add_numbered(index, record.interface, decoder);
        }
    }

    #[inline]
    fn add_numbered(&mut self, first: usize, number: Option<u32>, decoder: &Decoder) {
        let section = decoder.sections();
        if self.0.last().is_none_or(|run| (run.section, run.number) != (section, number)) {
            let interface = number.and_then(|number| decoder.interfaces().get(number as usize));
            let name = interface.and_then(|interface| interface.name.clone());
            self.0.push(InterfaceRun { first, section, number, name });
        }
    }

    /// The packet at `index`, which is behind all others, is the one that `others` have at `other_index`.
    pub(super) fn add_from(&mut self, index: usize, others: &Interfaces, other_index: usize) {
        let Some(run) = others.run(other_index) else { return };
        let is_same =
            |last: &InterfaceRun| (last.section, last.number) == (run.section, run.number);
        if !self.0.last().is_some_and(is_same) {
            self.0.push(InterfaceRun { first: index, ..run.clone() });
        }
    }

    /// The interface of the packet at `index`.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<FrameInterface<'_>> {
        let run = self.run(index)?;
        Some(FrameInterface { number: run.number?, name: run.name.as_deref() })
    }

    #[inline]
    fn run(&self, index: usize) -> Option<&InterfaceRun> {
        let behind = self.0.partition_point(|run| run.first <= index);
        self.0.get(behind.checked_sub(1)?)
    }

    /// Forgets the first `count` packets.
    pub(super) fn forget_first(&mut self, count: usize) {
        let behind = self.0.partition_point(|run| run.first <= count);
        self.0.drain(..behind.saturating_sub(1));
        self.0.iter_mut().for_each(|run| run.first = run.first.saturating_sub(count));
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<InterfaceRun>()
    }
}
