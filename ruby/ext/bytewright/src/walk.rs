//! `Bytewright::Scan`: entries one after another. Its loops are in `border/scans.rs`.

use std::ffi::c_int;

use bytewright::session::table::Walk;
use magnus::{Error, RString, Ruby, method, prelude::*};

use crate::border::{EntrySource, bytes_of, define_scan_loops, string_of};
use crate::class;
use crate::host::RubyHost;

/// A walk in a Ruby object.
#[magnus::wrap(class = "Bytewright::Scan", free_immediately, size)]
pub(crate) struct WalkObject {
    walk: Walk,
    encoding: c_int,
}

impl WalkObject {
    pub(crate) fn new(walk: Walk, encoding: c_int) -> WalkObject {
        WalkObject { walk, encoding }
    }

    /// The next entry that has `value`.
    fn find_value(
        ruby: &Ruby,
        this: &Self,
        value: RString,
    ) -> Result<Option<(RString, RString)>, Error> {
        let (value, host) = (bytes_of(value), RubyHost::new(ruby));
        let key = host.raised(this.walk.key_of(&host, &value))?;
        Ok(key.map(|key| (string_of(&key, this.encoding), string_of(&value, this.encoding))))
    }

    /// How many entries are left.
    fn count(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        let host = RubyHost::new(ruby);
        host.raised(this.walk.count(&host))
    }

    fn close(&self) {
        self.walk.close();
    }
}

impl EntrySource for WalkObject {
    fn walk(&self) -> &Walk {
        &self.walk
    }

    fn encoding(&self) -> c_int {
        self.encoding
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let scan = class::define::<WalkObject>(ruby, "Scan")?;
    define_scan_loops::<WalkObject>(scan);
    scan.define_method("find_value", method!(WalkObject::find_value, 1))?;
    scan.define_method("count", method!(WalkObject::count, 0))?;
    scan.define_method("close", method!(WalkObject::close, 0))
}
