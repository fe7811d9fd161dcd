//! Known protocols and transports of the gem, and the places of their bytes.

use bytewright::thrift::Encoding;
use rb_sys::VALUE;

use super::gem_classes::{
    GemClass, INDEX, READ_BYTES, READS, TRANSPORT, WRITES, WRITTEN_BYTES, known, variable,
};
use super::{NIL, class_of, is_frozen, is_of, is_string};

/// A protocol over a transport, both exactly of classes that are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) encoding: Encoding,
    /// Kind of transport: in memory all bytes are there, framed a frame, buffered some.
    pub(super) kind: GemClass,
    pub(super) transport: VALUE,
}

impl Place {
    /// Finds the place where a protocol reads or writes; `None` for all that the gem has to do.
    ///
    /// # Safety
    /// Called under Ruby with an object.
    #[inline]
    pub(super) unsafe fn of(protocol: VALUE) -> Option<Place> {
        // SAFETY: as the caller promises; reading a variable runs no Ruby code.
        unsafe {
            let (which, encoding) = known_protocol(protocol)?;
            let transport = variable(which, TRANSPORT).of(protocol);
            let class = class_of(transport);
            let is = |which: &GemClass| known(*which) != 0 && class == known(*which) as VALUE;
            let kind =
                [GemClass::Memory, GemClass::Framed, GemClass::Buffered].into_iter().find(is)?;
            Some(Place { encoding, kind, transport })
        }
    }

    /// The String that is read, and where in it.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn unread(self) -> Option<(VALUE, usize)> {
        // SAFETY: as the caller promises.
        unsafe {
            if self.kind == GemClass::Framed && !is_true(self.variable(READS)) {
                return None;
            }
            let string = self.variable(READ_BYTES);
            let index = self.variable(INDEX);
            // Of a frozen transport it could not be noted what was read.
            if !is_string(string) || !rb_sys::FIXNUM_P(index) || is_frozen(self.transport) {
                return None;
            }
            let index = usize::try_from(rb_sys::FIX2LONG(index)).ok()?;
            Some((string, index))
        }
    }

    /// A variable of the transport.
    #[inline]
    unsafe fn variable(self, at: usize) -> VALUE {
        // SAFETY: as for all; the transport is of the class that the variable is of.
        unsafe { variable(self.kind, at).of(self.transport) }
    }

    /// Lets go of the bytes that were read of a MemoryBufferTransport, of which `rest` is left.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    pub(super) unsafe fn set_rest(self, rest: VALUE) {
        // SAFETY: as the caller promises.
        unsafe { variable(self.kind, READ_BYTES).set(self.transport, rest) };
        // SAFETY: as the caller promises.
        unsafe { self.set_index(0) };
    }

    /// Notes that the transport was read up to there.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn set_index(self, index: usize) {
        let index = (index as VALUE) << 1 | 1;
        // SAFETY: as the caller promises; the transport had this variable, so that none is added.
        unsafe { variable(self.kind, INDEX).set(self.transport, index) };
    }

    /// The String that writing adds to.
    ///
    /// # Safety
    /// As for [`of`](Place::of).
    #[inline]
    pub(super) unsafe fn unwritten(self) -> Option<VALUE> {
        // SAFETY: as the caller promises.
        unsafe {
            if self.kind == GemClass::Framed && !is_true(self.variable(WRITES)) {
                return None;
            }
            let string = self.variable(WRITTEN_BYTES);
            let is_binary = is_string(string) && rb_sys::rb_enc_get_index(string) == 0;
            is_binary.then_some(string)
        }
    }
}

pub(super) fn is_true(value: VALUE) -> bool {
    value != NIL && value != rb_sys::Qfalse as VALUE
}

/// Returns the known protocol and its encoding of messages; `None` for another.
///
/// # Safety
/// As for [`Place::of`].
#[inline]
pub(super) unsafe fn known_protocol(protocol: VALUE) -> Option<(GemClass, Encoding)> {
    const PROTOCOLS: [(GemClass, Encoding); 5] = [
        (GemClass::Accelerated, Encoding::Binary),
        (GemClass::Compact, Encoding::Compact),
        (GemClass::Binary, Encoding::Binary),
        (GemClass::OwnBinary, Encoding::Binary),
        (GemClass::OwnCompact, Encoding::Compact),
    ];
    // SAFETY: as the caller promises.
    PROTOCOLS.into_iter().find(|(which, _)| unsafe { is_of(protocol, known(*which)) })
}
