//! A packet that a host writes, as it describes it: by name, beside the bytes.

use crate::Result;
use crate::export::WrittenPacket;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::query;

/// Description of one packet that is written to a new capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketDetails {
    /// When, in nanoseconds since 1970, where that is known.
    pub ts: Option<i64>,
    /// Bytes on the wire, where those are more than were captured.
    pub length: Option<u32>,
    /// Link-layer type (LINKTYPE_ number).
    pub link_type: u16,
    /// Name of the interface.
    pub interface: Option<String>,
    /// Words about the packet.
    pub comment: Option<String>,
}

impl Default for PacketDetails {
    fn default() -> Self {
        PacketDetails { ts: None, length: None, link_type: 1, interface: None, comment: None }
    }
}

impl PacketDetails {
    /// The packet of these bytes.
    pub fn of<'a>(&'a self, captured: &'a [u8]) -> WrittenPacket<'a> {
        WrittenPacket {
            captured,
            ts: self.ts,
            length: self.length,
            link_type: self.link_type,
            interface: self.interface.as_deref(),
            comment: self.comment.as_deref(),
        }
    }
}

impl NamedOptions for PacketDetails {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "time",
            kind: OptionKind::Time,
            default: "none",
            summary: "Time of the packet; an integer is nanoseconds since 1970. Without a time, pcap says 1970",
        },
        OptionSpec {
            name: "length",
            kind: OptionKind::Count { min: 0, max: u32::MAX as u64 },
            default: "the bytes captured",
            summary: "Bytes on the wire, where those are more than were captured",
        },
        OptionSpec {
            name: "link_type",
            kind: OptionKind::Count { min: 0, max: u16::MAX as u64 },
            default: "1",
            summary: "LINKTYPE_ number, 1 Ethernet; a pcap file has one for all packets",
        },
        OptionSpec {
            name: "interface",
            kind: OptionKind::Text,
            default: "none",
            summary: "Name of the interface, which only pcapng keeps",
        },
        OptionSpec {
            name: "comment",
            kind: OptionKind::Text,
            default: "none",
            summary: "Words about the packet, which only pcapng keeps",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "time" => self.ts = Some(query::time(&setting.text()?)?),
            "length" => self.length = Some(setting.count()?),
            "link_type" => self.link_type = setting.count()?,
            "interface" => self.interface = Some(setting.text()?),
            "comment" => self.comment = Some(setting.text()?),
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::options::Settings;

    fn told(named: &[&str]) -> Result<PacketDetails> {
        let mut settings = Settings::of(&[PacketDetails::OPTIONS]);
        settings.give_named(named)?;
        settings.take()
    }

    #[test]
    fn a_packet_has_the_details_that_are_given_and_is_of_ethernet_otherwise() {
        let plain = told(&[]).unwrap();
        assert_eq!((plain.of(b"a").link_type, plain.of(b"a").ts), (1, None));
        let named = ["time=-5ns", "length=9", "link_type=101", "interface=eth0", "comment=a=b"];
        let details = told(&named).unwrap();
        let packet = details.of(b"ab");
        assert_eq!((packet.captured, packet.ts, packet.length), (&b"ab"[..], Some(-5), Some(9)));
        let texts = (packet.interface, packet.comment);
        assert_eq!((packet.link_type, texts), (101, (Some("eth0"), Some("a=b"))));
    }

    #[test]
    fn what_no_packet_can_have_is_refused() {
        let message = |text| told(&[text]).unwrap_err().to_string();
        assert_eq!(message("link_type=70000"), "expected link_type of at most 65535, found 70000");
        assert_eq!(message("length=-1"), "expected length of 0 or more, found -1");
        assert!(message("lenght=1").ends_with("found lenght; did you mean length?"));
        assert!(message("time=noon").starts_with("expected a time, such as"));
    }
}
