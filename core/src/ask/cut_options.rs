//! Options of a cut: the packets that are written, and what is left of each.

use crate::capture::Record;
use crate::export::CaptureLimits;
use crate::input::WantedRecords;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::{self, Anonymizer, Field, PayloadRule};
use crate::query::{self, Condition};
use crate::{Error, ErrorKind, Result};

// Bound (Captures): frames that `drop_duplicates` compares = 1,000,000, in 90 MB.
/// As many as in editcap.
const COMPARED_MAX: u64 = 1_000_000;

/// The key that stands for one that nobody knows.
const RANDOM_KEY: &str = "random";

/// Words for the rules for payloads.
const PAYLOAD_RULES: [&str; 3] = ["zero", "cut", "keep"];

/// Options for the packets that are written, and for what is left of each.
#[derive(Debug, Clone, Default)]
pub struct CutOptions {
    /// Only packets of this time or later, in nanoseconds since 1970; none without a time then.
    pub from: Option<i64>,
    /// Only packets before this time.
    pub to: Option<i64>,
    /// Condition that their fields meet, as rows of packets.
    pub condition: Option<Condition>,
    /// Bytes that are kept of each packet at most.
    pub snaplen: Option<u32>,
    /// Frames before it that a frame is compared with, and left out if one of them has the same bytes; 0 for none.
    pub compared: u32,
    /// Keeps the first packet of so many that are left; 0 and 1 for all.
    pub every_nth: u32,
    /// Nanoseconds that are added to the time of each packet.
    pub shift: i64,
    /// Key by which addresses are changed, if they are.
    pub key: Option<Vec<u8>>,
    /// The rule for payloads where addresses are changed.
    pub payload: Option<PayloadRule>,
    /// Limits of a file, where the packets go on in another one.
    pub rotate: Option<CaptureLimits>,
    /// Files that are kept then, the newest ones; all by default.
    pub keep: Option<u32>,
    /// Limits of the packets that are written: reading ends with the first that is reached. The interval is one from the first packet
    /// on, and of an interface one of the clock from the beginning.
    pub stop_after: Option<CaptureLimits>,
}

impl NamedOptions for CutOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "where",
            kind: OptionKind::Text,
            default: "all",
            summary: "Only packets that meet this condition, such as \"dst_port == 443 and length > 1e3\"",
        },
        OptionSpec {
            name: "from_time",
            kind: OptionKind::Time,
            default: "none",
            summary: "Only packets of this time or later, such as \"2026-11-21T10:00Z\", or 1795255200 for seconds since 1970",
        },
        OptionSpec {
            name: "to_time",
            kind: OptionKind::Time,
            default: "none",
            summary: "Only packets before this time",
        },
        OptionSpec {
            name: "snaplen",
            kind: OptionKind::POSITIVE_32,
            default: "all",
            summary: "Bytes that are kept of each packet at most",
        },
        OptionSpec {
            name: "drop_duplicates",
            kind: OptionKind::Count { min: 1, max: COMPARED_MAX },
            default: "none",
            summary: "Leave out a packet whose bytes one of so many packets before it had",
        },
        OptionSpec {
            name: "every_nth",
            kind: OptionKind::POSITIVE_32,
            default: "1",
            summary: "Only the first of so many packets that are left",
        },
        OptionSpec {
            name: "shift",
            kind: OptionKind::Text,
            default: "0s",
            summary: "Time that is added to the time of each packet, such as 1h, -90s or 0.5 (seconds)",
        },
        OptionSpec {
            name: "anonymize",
            kind: OptionKind::Text,
            default: "none",
            summary: "Change MAC and IP addresses by this key, networks staying networks; random for a key that nobody knows",
        },
        OptionSpec {
            name: "payload",
            kind: OptionKind::Choice(&PAYLOAD_RULES),
            default: "zero",
            summary: "With anonymize: bytes behind the last known header are overwritten, cut off, or kept as they are",
        },
        OptionSpec {
            name: "rotate",
            kind: OptionKind::Text,
            default: "none",
            summary: "Write files one after another, each up to an interval, a length or a number of packets, such as 1h,100MB or 50000p; \
                      %Y %m %d %H %M %S in the name are the time of its first packet (UTC), %n its number",
        },
        OptionSpec {
            name: "keep",
            kind: OptionKind::POSITIVE_32,
            default: "all",
            summary: "With rotate: keep so many of the files, the newest ones",
        },
        OptionSpec {
            name: "stop_after",
            kind: OptionKind::Text,
            default: "none",
            summary: "End after an interval, a length or a number of packets that were written, such as 60s,1GB or 50000p; of an interface, \
                      the interval begins at once",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "where" => self.condition = Some(Condition::new(&setting.text()?, &Field::SCHEMA)?),
            "from_time" => self.from = Some(query::time(&setting.text()?)?),
            "to_time" => self.to = Some(query::time(&setting.text()?)?),
            "snaplen" => self.snaplen = Some(setting.count()?),
            "drop_duplicates" => self.compared = setting.count()?,
            "every_nth" => self.every_nth = setting.count()?,
            "shift" => self.shift = query::shift(&setting.text()?)?,
            "anonymize" => self.key = Some(key_of(&setting.text()?)?),
            "payload" => self.payload = Some(payload_rule(&setting.text()?)),
            "rotate" => self.rotate = Some(setting.text()?.parse()?),
            "keep" => self.keep = Some(setting.count()?),
            "stop_after" => self.stop_after = Some(setting.text()?.parse()?),
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

impl CutOptions {
    /// The records whose packets are written.
    pub fn wanted(&self) -> WantedRecords {
        WantedRecords::of(self.condition.as_ref()).between(self.from, self.to)
    }

    /// Returns true if packets are not written as they are.
    #[inline]
    pub(super) fn changes(&self) -> bool {
        self.shift != 0 || self.key.is_some()
    }

    /// Makes what changes the addresses of packets, if they are to be changed; `vxlan_port` as captures are decoded.
    ///
    /// # Errors
    /// `Argument` for a rule for payloads without a key.
    pub(super) fn anonymizer(&self, vxlan_port: u16) -> Result<Option<Anonymizer>> {
        match (&self.key, self.payload) {
            (None, Some(_)) => {
                let message = "expected anonymize beside payload, found payload alone; snaplen cuts packets as they are";
                Err(Error::new(ErrorKind::Argument, message))
            }
            (None, None) => Ok(None),
            (Some(key), rule) => {
                Ok(Some(Anonymizer::new(key, rule.unwrap_or_default(), vxlan_port)))
            }
        }
    }

    /// Fails where files are to be kept of a capture that is one file.
    pub fn check_not_rotated(&self) -> Result<()> {
        let message = match (self.rotate, self.keep) {
            (None, None) => return Ok(()),
            (None, Some(_)) => "expected rotate beside keep, found keep alone",
            (Some(_), _) => {
                "expected the name of a file for a capture that is rotated, found an output without one"
            }
        };
        Err(Error::new(ErrorKind::Argument, message))
    }

    #[inline]
    pub(super) fn wants(&self, record: &Record<'_>, frame: &packet::Frame<'_>) -> bool {
        let in_time = match record.ts {
            Some(ts) => self.from.is_none_or(|from| ts >= from) && self.to.is_none_or(|to| ts < to),
            None => self.from.is_none() && self.to.is_none(),
        };
        let holds = |condition: &Condition| condition.holds(|place| frame.value_at(place));
        in_time && self.condition.as_ref().is_none_or(holds)
    }
}

fn payload_rule(word: &str) -> PayloadRule {
    match word {
        "cut" => PayloadRule::Cut,
        "keep" => PayloadRule::Keep,
        _ => PayloadRule::Zero,
    }
}

fn key_of(text: &str) -> Result<Vec<u8>> {
    match text {
        "" => Err(Error::new(ErrorKind::Argument, "expected a key, found an empty text")),
        RANDOM_KEY => {
            let mut key = vec![0; 32];
            let filled = getrandom::fill(&mut key);
            filled.map_err(|error| Error::io("read random bytes for the key", &error.into()))?;
            Ok(key)
        }
        text => Ok(text.as_bytes().to_vec()),
    }
}
