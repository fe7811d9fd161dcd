//! `Bytewright::Scan`: entries one after another. Its loops are in `border/scans.rs`.

use bytewright::host::table::EntryWalk;
use magnus::{Error, Integer, RString, Ruby, Value, method, prelude::*};

use crate::border::{Conversion, EntrySource, ValueObjects, define_scan_loops};
use crate::class;
use crate::host::RubyHost;

/// A walk in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Scan", free_immediately, mark, size)]
pub(crate) struct WalkObject {
    walk: EntryWalk,
    conversion: Conversion,
}

impl magnus::DataTypeFunctions for WalkObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.conversion.mark(marker);
    }
}

impl WalkObject {
    pub(crate) fn new(walk: EntryWalk, conversion: Conversion) -> WalkObject {
        WalkObject { walk, conversion }
    }

    /// The next entry that has `value`, which is no object that was dumped: its bytes may differ from time to time.
    fn find_value(
        ruby: &Ruby,
        this: &Self,
        value: Value,
    ) -> Result<Option<(RString, Value)>, Error> {
        let is_of_kind = match this.conversion.values {
            ValueObjects::Strings => RString::from_value(value).is_some(),
            ValueObjects::Integers => {
                Integer::from_value(value).is_some_and(|number| number.to_i64().is_ok())
            }
            ValueObjects::Dumped(_) => false,
        };
        if !is_of_kind {
            return Ok(None);
        }
        let (bytes, host) = (this.conversion.value_bytes(ruby, value)?, RubyHost::new(ruby));
        let key = host.raised(this.walk.key_of(&host, &bytes))?;
        key.map(|key| this.conversion.entry(ruby, (key, bytes))).transpose()
    }

    /// Returns the number of entries left.
    fn count(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        let host = RubyHost::new(ruby);
        host.raised(this.walk.count(&host))
    }

    fn close(&self) {
        self.walk.close();
    }
}

impl EntrySource for WalkObject {
    fn walk(&self) -> &EntryWalk {
        &self.walk
    }

    fn conversion(&self) -> Conversion {
        self.conversion
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let scan = class::define::<WalkObject>(ruby, "Scan")?;
    define_scan_loops::<WalkObject>(scan);
    scan.define_method("find_value", method!(WalkObject::find_value, 1))?;
    scan.define_method("count", method!(WalkObject::count, 0))?;
    scan.define_method("close", method!(WalkObject::close, 0))
}
