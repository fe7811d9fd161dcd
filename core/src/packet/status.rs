//! Bits for what is unusual about a packet.

/// Bits that say what is unusual about a packet. None set: every header was whole and consistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub u16);

impl Status {
    /// A header ends after the last captured byte; the fields before it are good.
    pub const TRUNCATED: Status = Status(1);
    /// A header contradicts itself: a wrong version, a length below its own minimum.
    pub const BAD_HEADER: Status = Status(2);
    /// The IP packet is a fragment.
    pub const FRAGMENT: Status = Status(4);
    /// The packet carries another IP packet or frame inside (GRE, IPIP, 6in4, VXLAN, ...).
    pub const TUNNEL: Status = Status(8);
    /// The capture's time cannot be right (microseconds above a second, out of range).
    pub const BAD_TIME: Status = Status(16);
    /// The link-layer type is not one whose headers are decoded.
    pub const UNKNOWN_LINK: Status = Status(32);

    /// The bytes that follow are of a type that is not decoded; the fields before them are good.
    pub const UNKNOWN_HEADER: Status = Status(64);

    /// Every bit with its name, in the order of the bits.
    pub const ALL: &'static [(Status, &'static str)] = &[
        (Status::TRUNCATED, "truncated"),
        (Status::BAD_HEADER, "bad_header"),
        (Status::FRAGMENT, "fragment"),
        (Status::TUNNEL, "tunnel"),
        (Status::BAD_TIME, "bad_time"),
        (Status::UNKNOWN_LINK, "unknown_link"),
        (Status::UNKNOWN_HEADER, "unknown_header"),
    ];

    /// Returns true if all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Status) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    #[inline]
    pub(crate) fn set(&mut self, other: Status) {
        self.0 |= other.0;
    }
}
