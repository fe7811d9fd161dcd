//! Addresses as text, made once: a capture has few addresses and many packets.

use std::cell::RefCell;
use std::net::IpAddr;

use magnus::{Error, RArray, Ruby, Value, prelude::*, value::Opaque};

use crate::border::AddressCache;
use crate::memory_report::MemoryReport;

// Bound (Captures): text of addresses in Ruby = 32,768.
/// Slots, made when the first address is asked for; an address whose slot another one took is written
/// out again.
const SLOTS: usize = 1 << 15;

/// A direct-mapped cache of frozen Strings.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::AddressTexts", free_immediately, mark, size)]
pub(crate) struct AddressTexts {
    keys: RefCell<Vec<Option<IpAddr>>>,
    /// The Strings live in a Ruby Array, so that writes go through Ruby's write barrier.
    texts: Opaque<RArray>,
    memory: MemoryReport,
}

impl magnus::DataTypeFunctions for AddressTexts {
    fn mark(&self, marker: &magnus::gc::Marker) {
        marker.mark(self.texts);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.memory.told()
    }
}

impl AddressTexts {
    /// An empty cache.
    pub(crate) fn new(ruby: &Ruby) -> Self {
        let (keys, memory) = (RefCell::default(), MemoryReport::default());
        AddressTexts { keys, texts: ruby.ary_new().into(), memory }
    }

    /// Makes the cache empty, when the pass that filled it has ended.
    pub(crate) fn forget(&self, ruby: &Ruby) -> Result<(), Error> {
        self.keys.take();
        self.memory.set(0);
        AddressCache::array(self, ruby).clear()
    }
}

impl AddressCache for AddressTexts {
    #[inline]
    fn find(&self, address: IpAddr) -> Option<usize> {
        let slot = slot_of(address);
        (self.keys.borrow().get(slot) == Some(&Some(address))).then_some(slot)
    }

    #[inline]
    fn array(&self, ruby: &Ruby) -> RArray {
        ruby.get_inner(self.texts)
    }

    fn text(&self, ruby: &Ruby, address: IpAddr) -> Result<Value, Error> {
        let texts = self.array(ruby);
        if let Some(slot) = self.find(address) {
            return texts.entry(slot as isize);
        }
        let slot = slot_of(address);
        let text = Self::new_text(ruby, address);
        texts.store(slot as isize, text)?;
        let mut keys = self.keys.borrow_mut();
        if keys.is_empty() {
            keys.resize(SLOTS, None);
            self.memory.set(SLOTS * size_of::<Option<IpAddr>>());
        }
        if let Some(key) = keys.get_mut(slot) {
            *key = Some(address);
        }
        Ok(text)
    }

    fn new_text(ruby: &Ruby, address: IpAddr) -> Value {
        let text = ruby.str_new(&address.to_string());
        text.freeze();
        text.as_value()
    }
}

fn slot_of(address: IpAddr) -> usize {
    let number = match address {
        IpAddr::V4(v4) => u64::from(u32::from(v4)),
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            (bits >> 64) as u64 ^ bits as u64
        }
    };
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS
}
