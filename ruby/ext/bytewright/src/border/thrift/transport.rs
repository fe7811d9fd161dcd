//! Which protocols and transports of the gem are known, and where they have their bytes.

use bytewright::thrift::Encoding;
use rb_sys::VALUE;

use super::{NIL, class_of, is_frozen, is_of, is_string, names};
use crate::thrift::{Known, known};

/// How a transport comes by bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All are there.
    Memory,
    /// A frame is there, or can be asked for.
    Framed,
    /// Some are there.
    Buffered,
}

/// A protocol over a transport, both exactly of classes that are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) encoding: Encoding,
    pub(super) kind: Kind,
    pub(super) transport: VALUE,
}

impl Place {
    /// Where a protocol reads or writes; `None` for all that the gem has to do.
    ///
    /// # Safety
    /// Called under Ruby with an object.
    #[inline]
    pub(super) unsafe fn of(protocol: VALUE) -> Option<Place> {
        // SAFETY: as the caller promises; reading a variable runs no Ruby code.
        unsafe {
            let encoding = encoding_of(protocol)?;
            let transport = rb_sys::rb_attr_get(protocol, names().trans);
            let class = class_of(transport);
            let is = |which| known(which) != 0 && class == known(which) as VALUE;
            let kind = if is(Known::Memory) {
                Kind::Memory
            } else if is(Known::Framed) {
                Kind::Framed
            } else if is(Known::Buffered) {
                Kind::Buffered
            } else {
                return None;
            };
            Some(Place { encoding, kind, transport })
        }
    }

    /// The String that is read, and where in it.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn unread(self) -> Option<(VALUE, usize)> {
        let name = if self.kind == Kind::Memory { names().buf } else { names().rbuf };
        // SAFETY: as the caller promises.
        unsafe {
            if self.kind == Kind::Framed && !is_true(self.transport, names().read) {
                return None;
            }
            let string = rb_sys::rb_attr_get(self.transport, name);
            let index = rb_sys::rb_attr_get(self.transport, names().index);
            // Of a frozen transport it could not be noted what was read.
            if !is_string(string) || !rb_sys::FIXNUM_P(index) || is_frozen(self.transport) {
                return None;
            }
            let index = usize::try_from(rb_sys::FIX2LONG(index)).ok()?;
            Some((string, index))
        }
    }

    /// Notes that the transport was read up to there.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn set_index(self, index: usize) {
        let index = (index as VALUE) << 1 | 1;
        // SAFETY: as the caller promises; the transport had this variable, so that none is added.
        unsafe { rb_sys::rb_ivar_set(self.transport, names().index, index) };
    }

    /// The String that writing adds to.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn unwritten(self) -> Option<VALUE> {
        let name = if self.kind == Kind::Memory { names().buf } else { names().wbuf };
        // SAFETY: as the caller promises.
        unsafe {
            if self.kind == Kind::Framed && !is_true(self.transport, names().write) {
                return None;
            }
            let string = rb_sys::rb_attr_get(self.transport, name);
            let is_binary = is_string(string) && rb_sys::rb_enc_get_index(string) == 0;
            is_binary.then_some(string)
        }
    }
}

/// # Safety
/// As for [`Place::of`].
unsafe fn is_true(transport: VALUE, name: rb_sys::ID) -> bool {
    // SAFETY: as the caller promises.
    let value = unsafe { rb_sys::rb_attr_get(transport, name) };
    value != NIL && value != rb_sys::Qfalse as VALUE
}

/// How a protocol writes messages; `None` for one that is not known.
///
/// # Safety
/// As for [`Place::of`].
#[inline]
pub(super) unsafe fn encoding_of(protocol: VALUE) -> Option<Encoding> {
    let is = |which| {
        // SAFETY: as the caller promises.
        unsafe { is_of(protocol, known(which)) }
    };
    if is(Known::Accelerated) || is(Known::Binary) || is(Known::OwnBinary) {
        return Some(Encoding::Binary);
    }
    (is(Known::Compact) || is(Known::OwnCompact)).then_some(Encoding::Compact)
}
