//! Flows in the words of other programs: Zeek's conn.log, the Elastic Common Schema, IPFIX.
//!
//! An encoder appends bytes, flow by flow, and reads no clock: who calls it says what time it is. What a format has a
//! place for and a flow does not tell is left out, and never 0.

mod ecs;
mod ipfix;
mod zeek;
mod zeek_roles;

use self::ipfix::IpfixMessages;
use super::field::FlowField;
use super::record::Flow;
use crate::Result;
use crate::batch::Value;
use crate::options::choice_named;
use crate::packet::proto;

/// Format of flows that other programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowFormat {
    /// Zeek's conn.log: lines of values with tabs between them, behind lines that say which.
    Zeek,
    /// Zeek's conn.log as its JSON writer has it.
    ZeekJson,
    /// JSON lines by the Elastic Common Schema.
    Ecs,
    /// Messages of IPFIX (RFC 7011) as a file has them (RFC 5655).
    Ipfix,
}

impl FlowFormat {
    /// One of each.
    pub const ALL: &'static [FlowFormat] =
        &[FlowFormat::Zeek, FlowFormat::ZeekJson, FlowFormat::Ecs, FlowFormat::Ipfix];

    /// Their names.
    pub const NAMES: &'static [&'static str] = &["zeek", "zeek-json", "ecs", "ipfix"];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            FlowFormat::Zeek => "zeek",
            FlowFormat::ZeekJson => "zeek-json",
            FlowFormat::Ecs => "ecs",
            FlowFormat::Ipfix => "ipfix",
        }
    }

    /// Returns the one with this name.
    ///
    /// # Errors
    /// `Argument` where there is none.
    pub fn by_name(name: &str) -> Result<FlowFormat> {
        choice_named("the format of flows", name, Self::NAMES, Self::ALL)
    }

    /// Returns true if it is lines of text.
    pub const fn is_text(self) -> bool {
        !matches!(self, FlowFormat::Ipfix)
    }

    /// The features that it tells, which have to be counted for it.
    pub const fn features(self) -> &'static [FlowField] {
        match self {
            FlowFormat::Zeek | FlowFormat::ZeekJson => zeek::FEATURES,
            FlowFormat::Ecs => ecs::FEATURES,
            FlowFormat::Ipfix => ipfix::FEATURES,
        }
    }
}

/// Encoder of flows in the format of another program.
///
/// ```
/// use bytewright::flow::{FlowEncoder, FlowFormat};
///
/// let (mut encoder, mut log) = (FlowEncoder::new(FlowFormat::Zeek), Vec::new());
/// encoder.begin(1_700_000_000_000_000_000, &mut log);
/// // encoder.push(&flow, &mut log) for each flow.
/// encoder.finish(1_700_000_001_000_000_000, &mut log);
/// assert!(log.starts_with(b"#separator \\x09\n"));
/// assert!(log.ends_with(b"#close\t2023-11-14-22-13-21\n"));
/// ```
#[derive(Debug)]
pub struct FlowEncoder {
    format: FlowFormat,
    messages: IpfixMessages,
}

impl FlowEncoder {
    /// An encoder that wrote nothing so far.
    pub fn new(format: FlowFormat) -> Self {
        FlowEncoder { format, messages: IpfixMessages::default() }
    }

    /// Appends what stands in front of the flows. `now` is the time, nanoseconds since the epoch.
    pub fn begin(&mut self, now: i64, into: &mut Vec<u8>) {
        self.messages.set_time(now);
        if self.format == FlowFormat::Zeek {
            zeek::header(now, into);
        }
    }

    /// Appends a flow. IPFIX appends whole messages only, and keeps at most one.
    pub fn push(&mut self, flow: &Flow, into: &mut Vec<u8>) {
        match self.format {
            FlowFormat::Zeek => zeek::line(flow, into),
            FlowFormat::ZeekJson => zeek::json_line(flow, into),
            FlowFormat::Ecs => ecs::line(flow, into),
            FlowFormat::Ipfix => self.messages.push(flow, into),
        }
    }

    /// Appends what is kept, so that a reader has all flows so far.
    pub fn flush(&mut self, now: i64, into: &mut Vec<u8>) {
        self.messages.set_time(now);
        self.messages.flush(into);
    }

    /// Appends what stands behind the flows.
    pub fn finish(&mut self, now: i64, into: &mut Vec<u8>) {
        self.flush(now, into);
        if self.format == FlowFormat::Zeek {
            zeek::footer(now, into);
        }
    }
}

impl Flow {
    /// Protocol over the transport, as far as the names of the flow tell.
    fn application(&self) -> Option<AppProtocol> {
        let has = |field| self.value(field) != Value::Null;
        match () {
            () if has(FlowField::TlsVersion) && self.proto() == proto::UDP => {
                Some(AppProtocol::Quic)
            }
            () if has(FlowField::TlsVersion) => Some(AppProtocol::Tls),
            () if has(FlowField::DnsQuery) => Some(AppProtocol::Dns),
            () if has(FlowField::HttpHost) => Some(AppProtocol::Http),
            () => None,
        }
    }
}

/// Protocol over the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AppProtocol {
    Dns,
    Http,
    Quic,
    Tls,
}
