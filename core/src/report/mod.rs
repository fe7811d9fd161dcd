//! One page of HTML about captures: who talked to whom, how much, when, and what went wrong.
//!
//! A [`Report`] reads captures one after the other, each in one pass, and adds up everything that the page shows, in bounded
//! memory. [`Report::finish`] makes the page: a template, a script that draws the charts, and the sums as one block of JSON.
//! The page needs no network and has at most [`PAGE_MAX`] bytes for any captures.

mod calls;
mod data;
mod host_timeline;
mod page;
#[cfg(not(target_family = "wasm"))]
mod page_file;
mod parts;
mod read_row;
mod timeline;
mod tops;

use std::net::IpAddr;
#[cfg(not(target_family = "wasm"))]
use std::path::Path;

use crate::Result;
#[cfg(not(target_family = "wasm"))]
use crate::export::OutputOptions;
use crate::flow::{FlowOptions, FlowTable};
use crate::input::{CaptureReader, WantedRecords, damage_of};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings, not_in_table};
use crate::packet::{Field, Packet, Status};
use crate::query::Condition;
use crate::rpc::{Rpc, RpcOptions};
use calls::Calls;
use host_timeline::HostTimeline;
#[cfg(not(target_family = "wasm"))]
pub use page_file::PageFile;
pub use read_row::{ReportedCapture, ReportedField};
use timeline::{Amount, Series, Timeline};
use tops::{ConnectionFailure, Conversations, FailuresByService, Hosts};

// Bound (Queries): page of a report = 500,000 bytes.
/// Bytes of a page at most.
pub const PAGE_MAX: usize = 500_000;

// Bound (Queries): rows of a table in a report = 100.
const ROWS_MAX: usize = 100;

// Bound (Queries): captures listed in a report = 100.
const CAPTURES_MAX: usize = 100;

/// Finished flows that are counted together.
const FLOWS_LEN: usize = 4096;

/// Classes of lengths: up to 63 bytes, up to 127 and so on, and all above.
const LENGTH_CLASSES: usize = 12;

const TCP: u8 = 6;
const SYN: u16 = 0x002;
const RST: u16 = 0x004;
const ACK: u16 = 0x010;

/// Title of a page, and the conditions that it shows.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// Title of the page; by default the names of the captures and the conditions.
    pub title: Option<String>,
    /// The expression that packets had to match, to be shown.
    pub filter: Option<String>,
    /// The conversation that packets had to be of, to be shown.
    pub flow: Option<String>,
    /// Condition that packets of the report meet, in the words of [`Condition`].
    pub condition: Option<String>,
}

impl NamedOptions for ReportOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "title",
            kind: OptionKind::Text,
            default: "the names of the captures, and which packets were asked for",
            summary: "Title of the page",
        },
        OptionSpec {
            name: "where",
            kind: OptionKind::Text,
            default: "all",
            summary: "Only packets that meet this condition, such as \"dst_port == 443 and length > 1e3\"",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "title" => self.title = Some(setting.text()?),
            "where" => self.condition = Some(setting.text()?),
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

impl ReportOptions {
    /// The options that a call gives by name, and those of the captures that the page repeats.
    ///
    /// # Errors
    /// Those of [`Settings::take`].
    pub fn of(settings: &Settings) -> Result<Self> {
        let text = |name| settings.text_of(name).map(str::to_owned);
        Ok(ReportOptions { filter: text("filter"), flow: text("flow"), ..settings.take()? })
    }

    /// Returns the conditions on packets as text; `None` if there are none.
    fn asked(&self) -> Option<String> {
        let words = |word: &str, text: &Option<String>| Some(format!("{word}{}", text.as_ref()?));
        let parts =
            [words("", &self.filter), words("flow ", &self.flow), words("where ", &self.condition)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Summary of one capture.
#[derive(Debug, Clone)]
struct CaptureSums {
    name: String,
    format: Option<&'static str>,
    compression: String,
    file_bytes: u64,
    amount: Amount,
    span: Option<(i64, i64)>,
    damage: Option<String>,
}

/// Sums of captures, under way.
pub struct Report {
    options: ReportOptions,
    condition: Option<Condition>,
    timeline: Timeline,
    flows: FlowTable,
    rpc: Rpc,
    calls: Calls,
    hosts: Hosts,
    host_timeline: HostTimeline,
    conversations: Conversations,
    failures: FailuresByService,
    lengths: [Amount; LENGTH_CLASSES],
    /// Packets that have each bit of [`Status`].
    statuses: [u64; 16],
    all: Amount,
    captured_bytes: u64,
    /// The earliest and the latest time.
    span: Option<(i64, i64)>,
    untimed: u64,
    /// Packets that were read; 0 where the condition is about times or numbers, of which an index leaves packets out.
    packets_read: u64,
    captures: Vec<CaptureSums>,
    captures_seen: u64,
    captures_damaged: u64,
}

impl Report {
    /// No capture read yet.
    ///
    /// # Errors
    /// Those of [`Condition::new`] over the fields of packets.
    pub fn new(options: ReportOptions) -> Result<Self> {
        let condition = options.condition.as_ref();
        let condition = condition.map(|text| Condition::new(text, &Field::SCHEMA)).transpose()?;
        Ok(Report {
            options,
            condition,
            timeline: Timeline::new(),
            flows: FlowTable::new(FlowOptions::default()),
            rpc: Rpc::new(RpcOptions::default()),
            calls: Calls::default(),
            hosts: Hosts::new()?,
            host_timeline: HostTimeline::new(),
            conversations: Conversations::new(ROWS_MAX),
            failures: FailuresByService::new()?,
            lengths: [Amount::default(); LENGTH_CLASSES],
            statuses: [0; 16],
            all: Amount::default(),
            captured_bytes: 0,
            span: None,
            untimed: 0,
            packets_read: 0,
            captures: Vec::new(),
            captures_seen: 0,
            captures_damaged: 0,
        })
    }

    /// Returns the records that the report is about: a capture that has an index may leave others out.
    pub fn wanted(&self) -> WantedRecords {
        WantedRecords::of(self.condition.as_ref())
    }

    /// Reads a capture to its end or its damage, which the page tells, too. Of a capture that has an index, parts that no time or
    /// number of the condition is in are not read.
    ///
    /// # Errors
    /// Those of the first bytes, where the input is no capture at all and the report is as it was; and those of reading that are
    /// not damage, with which the packets before them are in the report.
    pub fn read(&mut self, reader: &mut CaptureReader) -> Result<ReportedCapture> {
        let wanted = self.wanted();
        reader.leave_out_but(&wanted);
        reader.read_header()?;
        let (mut amount, mut span) = (Amount::default(), None);
        let condition = self.condition.take();
        let result = reader.each_frame(|frame| {
            self.packets_read += u64::from(wanted.are_all());
            if condition.as_ref().is_some_and(|asked| !asked.holds(|place| frame.value_at(place))) {
                return;
            }
            let packet = frame.packet();
            amount.add(Amount { packets: 1, bytes: packet.length().into() });
            if let Some(ts) = packet.ts() {
                span = Some(spanning(span, (ts, ts)));
            }
            self.add(packet, frame.captured());
        });
        self.condition = condition;
        self.span = span.map(|span| spanning(self.span, span)).or(self.span);
        let facts = reader.facts();
        self.take_note(CaptureSums {
            name: facts.name.clone(),
            format: facts.decoder.format().map(|format| format.name()),
            compression: facts.compression.to_string(),
            file_bytes: facts.file_bytes,
            amount,
            span,
            damage: result.as_ref().err().map(|error| match error.offset() {
                Some(offset) => format!("byte {offset}: {}", error.message()),
                None => error.message().to_owned(),
            }),
        });
        let damage = damage_of(result)?;
        let Amount { packets, bytes } = amount;
        Ok(ReportedCapture { file: facts.name, packets, bytes, damage })
    }

    /// Keeps what is known of a capture; of many, of a damaged one rather than of a whole one.
    fn take_note(&mut self, capture: CaptureSums) {
        self.captures_seen += 1;
        self.captures_damaged += u64::from(capture.damage.is_some());
        if self.captures.len() < CAPTURES_MAX {
            self.captures.push(capture);
        } else if capture.damage.is_some()
            && let Some(whole) = self.captures.iter_mut().rfind(|other| other.damage.is_none())
        {
            *whole = capture;
        }
    }

    /// Captures that are in the report.
    pub fn captures(&self) -> u64 {
        self.captures_seen
    }

    fn add(&mut self, packet: &Packet, captured: &[u8]) {
        let length = packet.length();
        self.all.add(Amount { packets: 1, bytes: length.into() });
        self.captured_bytes += u64::from(packet.caplen());
        if let Some(class) = self.lengths.get_mut(length_class(length)) {
            class.add(Amount { packets: 1, bytes: length.into() });
        }
        if packet.status() != Status::default() {
            self.add_status(packet.status());
        }
        let is_timed = packet.ts().is_some_and(|ts| {
            self.timeline.turn_to(ts);
            true
        });
        self.untimed += u64::from(!is_timed);
        self.timeline.add(Series::Proto(packet.proto()), length, is_timed);
        self.timeline.add(Series::port_of(packet), length, is_timed);
        self.flows.add(packet);
        if let (Some(ts), Some(from), Some(to)) = (packet.ts(), packet.src_ip(), packet.dst_ip()) {
            self.host_timeline.add(ts, from, to, length);
        }
        if self.flows.finished_len() >= FLOWS_LEN {
            self.take_flows();
        }
        self.add_to_connection(packet, captured, is_timed);
    }

    fn add_status(&mut self, status: Status) {
        for (bit, count) in self.statuses.iter_mut().enumerate() {
            *count += u64::from(status.0 >> bit & 1);
        }
    }

    /// Counts what TCP's header shows, and looks for calls.
    fn add_to_connection(&mut self, packet: &Packet, captured: &[u8], is_timed: bool) {
        if packet.proto() != Some(TCP) {
            return;
        }
        let before = (self.rpc.repeated_segments(), self.rpc.filling_segments());
        let calls = &mut self.calls;
        self.rpc.add(packet, captured, &mut |call| calls.add(&call));
        let flags = packet.tcp_flags().unwrap_or_default();
        let failure = ConnectionFailure {
            is_reset: flags & RST != 0,
            is_repeat: self.rpc.repeated_segments() > before.0,
            is_fill: self.rpc.filling_segments() > before.1,
        };
        let signs = [
            (flags & (SYN | ACK) == SYN, Series::Syn),
            (failure.is_reset, Series::Reset),
            (failure.is_repeat, Series::Repeat),
            (failure.is_fill, Series::Fill),
        ];
        for (_, series) in signs.into_iter().filter(|(is_there, _)| *is_there) {
            self.timeline.add(series, packet.length(), is_timed);
        }
        if failure != ConnectionFailure::default()
            && let Some(service) = service_of(packet)
        {
            self.failures.add(service, failure);
        }
    }

    fn take_flows(&mut self) {
        for flow in self.flows.drain_finished() {
            self.hosts.add(&flow);
            self.conversations.add(flow);
        }
    }

    /// The page, once all captures were read.
    pub fn finish(mut self) -> String {
        self.timeline.close();
        self.take_flows();
        let flows = std::mem::replace(&mut self.flows, FlowTable::new(FlowOptions::default()));
        for flow in flows.finish() {
            self.hosts.add(&flow);
            self.conversations.add(flow);
        }
        let rpc = std::mem::replace(&mut self.rpc, Rpc::new(RpcOptions::default()));
        let calls = &mut self.calls;
        let connections = rpc.connections();
        rpc.finish(&mut |call| calls.add(&call));
        let title = data::cut(&self.title());
        page::page(&title, &data::json(self, &title, connections))
    }

    /// Writes the page to the file at `path`, which has it wholly or is as it was.
    ///
    /// # Errors
    /// Those of [`PageFile::create`] and of [`PageFile::write`].
    #[cfg(not(target_family = "wasm"))]
    pub fn write_to(self, path: &Path, options: &OutputOptions) -> Result<()> {
        PageFile::create(path, options)?.write(self)
    }

    /// Returns the title of the page: the one of the options, or the names of the captures and the conditions.
    fn title(&self) -> String {
        if let Some(title) = &self.options.title {
            return title.clone();
        }
        let names = self.captures.iter().map(|capture| base_name(&capture.name));
        let told = names.take(3).collect::<Vec<_>>().join(", ");
        let more = match self.captures_seen.saturating_sub(3) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let asked = self.options.asked().map_or(String::new(), |asked| format!(": {asked}"));
        format!("{told}{more}{asked}")
    }
}

/// The span of time that holds both.
fn spanning(one: Option<(i64, i64)>, (first, last): (i64, i64)) -> (i64, i64) {
    one.map_or((first, last), |one| (one.0.min(first), one.1.max(last)))
}

/// The name of a file without the folders that it is in.
fn base_name(name: &str) -> &str {
    name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name)
}

/// The side of a packet that has the smaller port.
fn service_of(packet: &Packet) -> Option<(IpAddr, u16)> {
    let (from, to) = (packet.src_port()?, packet.dst_port()?);
    if from < to {
        packet.src_ip().map(|ip| (ip, from))
    } else {
        packet.dst_ip().map(|ip| (ip, to))
    }
}

/// The class of a length: the next power of two above it, from 64 on.
fn length_class(length: u32) -> usize {
    let bits = (u32::BITS - length.leading_zeros()) as usize;
    bits.saturating_sub(6).min(LENGTH_CLASSES - 1)
}
