//! Packets of captures in a new capture, in the order of their times.
//!
//! Each capture is read in its own order, and of the packets that come next in them the earliest is written first. So
//! the result is in the order of time where each capture is. A packet that comes late in its own capture is written as
//! soon as it is found, behind later ones; one without a time stays behind the packet before it.

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::cut_options::CutOptions;
use super::cut_output::CutOutput;
use super::cut_stop::CutStop;
use super::recent_frames::RecentFrames;
use crate::bytes::Cancel;
use crate::capture::{BlockOptions, Clock, Format, Interface, Record, Stamp, WrittenFrame};
use crate::input::{
    CaptureReader, PacketSink, RecordPlace, RecordSource, Stop, StreamRecords, damage_of,
};
use crate::packet::{Anonymizer, LinkType, NetworkLabels, Packet};
use crate::{Error, ErrorKind, Result};

/// Totals of the packets that were written.
#[derive(Debug, Clone, Default)]
pub struct CutTotals {
    /// Packets.
    pub packets: u64,
    /// Bytes of them on the wire.
    pub bytes: u64,
    /// Packets that are earlier than one before them, because they came late in their own capture.
    pub late: u64,
    /// Packets that were left out because one of those before had the same bytes.
    pub duplicates: u64,
    /// Packets without a header that is known, where addresses were to be changed: all of them counts as payload.
    pub opaque: u64,
    /// Files that were begun.
    pub files: u64,
    /// Errors that ended captures before their end. The packets before them are written.
    pub damage: Vec<Error>,
    /// Reasons why indexes of captures were not used; the packets are the same without.
    pub index_faults: Vec<Error>,
}

impl CutTotals {
    /// The numbers by their names.
    pub fn counts(&self) -> [(&'static str, u64); 6] {
        [
            ("packets", self.packets),
            ("bytes", self.bytes),
            ("late", self.late),
            ("duplicates", self.duplicates),
            ("opaque", self.opaque),
            ("files", self.files),
        ]
    }
}

/// Writes the packets of captures to `output`, a file that has its name once each capture was read to its end or its damage, or
/// files that have theirs when they are complete. After an error, whatever has the name of an incomplete file stays as it was; but
/// packets that nobody can read again, of a pipe or an interface, are kept, up to the last that fitted.
///
/// # Errors
/// Fails before anything is written if an input is no capture at all; later if the file refuses something, and with
/// errors of reading that are not damage, such as a read that was called off.
pub fn cut(
    readers: Vec<CaptureReader>,
    options: &CutOptions,
    output: impl Into<CutOutput>,
) -> Result<CutTotals> {
    let mut file = output.into();
    let cancels: Vec<Cancel> = readers.iter().map(CaptureReader::cancel).collect();
    let keeps = Keeps::of(&readers);
    if keeps != Keeps::Nothing {
        file.keep_end();
    }
    if keeps == Keeps::All {
        file.take_live();
    }
    let written = write(readers, options, &mut file).and_then(|totals| {
        // All may be written by the time that nobody wants it any more.
        cancels.iter().try_for_each(Cancel::check)?;
        file.finish_writing().map(|()| CutTotals { files: file.count(), ..totals })
    });
    match written {
        Err(error) if keeps.keeps_at(&error) => Err(kept(file, error)),
        written => written,
    }
}

/// When packets that were written are kept though the end was not reached, because nobody can read them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    /// Those of a pipe: not where the reading was called off.
    Failed,
    /// Those of an interface.
    All,
}

impl Keeps {
    fn of(readers: &[CaptureReader]) -> Keeps {
        match () {
            () if readers.iter().any(CaptureReader::is_of_interface) => Keeps::All,
            () if readers.iter().any(|reader| !reader.can_be_read_again()) => Keeps::Failed,
            () => Keeps::Nothing,
        }
    }

    fn keeps_at(self, error: &Error) -> bool {
        match self {
            Keeps::Nothing => false,
            Keeps::Failed => error.kind() != ErrorKind::Closed && !Cancel::caused(error),
            Keeps::All => true,
        }
    }
}

/// Ends the file behind the last packet that could be written, and answers the error that it ends with.
fn kept(file: CutOutput, error: Error) -> Error {
    let name = file.name().to_owned();
    match file.keep() {
        Ok(true) => error.saying(format_args!("{name} has the packets before that")),
        Ok(false) => error,
        Err(failure) => failure,
    }
}

/// Writes the packets to a file that is not finished yet.
fn write(
    readers: Vec<CaptureReader>,
    options: &CutOptions,
    file: &mut CutOutput,
) -> Result<CutTotals> {
    let vxlan_port = readers.first().map_or(0, |reader| reader.decode_options().vxlan_port);
    let labels = readers.first().and_then(CaptureReader::labels).cloned();
    let anonymizer = options.anonymizer(vxlan_port)?;
    let is_live = readers.iter().any(CaptureReader::is_of_interface);
    let mut inputs = Vec::with_capacity(readers.len());
    for mut reader in readers {
        reader.leave_out_but(&options.wanted());
        let mut records = reader.into_records()?;
        records.read_header()?;
        inputs.push(CutInput::new(records));
    }
    take_after(&inputs, file);
    let mut cut = Cut {
        options,
        file,
        totals: CutTotals::default(),
        latest: i64::MIN,
        known: HashMap::new(),
        interfaces: Vec::new(),
        labels,
        anonymizer,
        recent: RecentFrames::new(options.compared),
        left: 0,
        stop: CutStop::new(options.stop_after, is_live),
    };
    for input in &mut inputs {
        input.describe_pcap(&mut cut)?;
    }
    if inputs.len() > 1 {
        for (index, input) in inputs.iter_mut().enumerate() {
            input.write_up_to((i64::MIN, 0), index, &mut cut)?;
        }
    }
    while let Some(index) = next_of(&inputs).filter(|_| !cut.stop.is_reached()) {
        let others = inputs.iter().enumerate().filter(|(other, _)| *other != index);
        let limit = others.filter_map(|(other, input)| Some((input.next_ts()?, other))).min();
        let limit = limit.unwrap_or((i64::MAX, usize::MAX));
        if let Some(input) = inputs.get_mut(index) {
            input.write_up_to(limit, index, &mut cut)?;
        }
    }
    Ok(cut.totals)
}

/// A pcap file that is made of pcap files has their clock and snaplen, if they agree.
fn take_after(inputs: &[CutInput], file: &mut CutOutput) {
    let mut found: Option<&Interface> = None;
    for input in inputs {
        let decoder = &input.records.decoder;
        let (Some(Format::Pcap), [interface]) = (decoder.format(), decoder.interfaces()) else {
            return;
        };
        match found {
            Some(first) if first.clock != interface.clock || first.snaplen != interface.snaplen => {
                return;
            }
            _ => found = Some(interface),
        }
    }
    if let Some(interface) = found {
        file.like(interface);
    }
}

/// The input that has the earliest packet, or one of which that is not known yet.
fn next_of(inputs: &[CutInput]) -> Option<usize> {
    let ready = inputs.iter().enumerate();
    ready.filter_map(|(index, input)| Some((input.next_ts()?, index))).min().map(|(_, index)| index)
}

/// A capture that is cut.
struct CutInput {
    records: Box<StreamRecords>,
    is_ended: bool,
    /// A packet whose turn has not come.
    head: Option<Head>,
    /// The numbers in the new capture of the interfaces of the present section.
    interfaces: Vec<u32>,
    sections: u64,
    /// The time of the packet before.
    ts: i64,
}

/// A packet that waits.
struct Head {
    ts: i64,
    frame: WrittenFrame<'static>,
    captured: Vec<u8>,
    options: Vec<u8>,
    like: BlockOptions<'static>,
}

/// Output of a cut.
struct Cut<'c> {
    options: &'c CutOptions,
    file: &'c mut CutOutput,
    totals: CutTotals,
    /// The latest time that was written.
    latest: i64,
    /// Interface numbers in the new capture by `identity`: for each, as many as one section had at most.
    known: HashMap<u128, Vec<u32>>,
    /// Link types and clocks of the interfaces of the new capture.
    interfaces: Vec<(LinkType, Clock)>,
    /// Labels that packets are chosen by.
    labels: Option<Arc<NetworkLabels>>,
    anonymizer: Option<Anonymizer>,
    recent: Option<RecentFrames>,
    /// Packets that are no duplicates, so far.
    left: u64,
    stop: CutStop,
}

impl CutInput {
    fn new(records: Box<StreamRecords>) -> Self {
        CutInput {
            records,
            is_ended: false,
            head: None,
            interfaces: Vec::new(),
            sections: 0,
            ts: i64::MIN,
        }
    }

    /// Describes the interface of a pcap file; those of pcapng are described where they stand in the file.
    fn describe_pcap(&mut self, cut: &mut Cut<'_>) -> Result<()> {
        let decoder = &self.records.decoder;
        if decoder.format() == Some(Format::Pcap) {
            self.sections = decoder.sections();
            for interface in decoder.interfaces() {
                cut.interface(interface, None, &mut self.interfaces)?;
            }
        }
        Ok(())
    }

    /// The time of the next packet, the earliest of all where it is not known; none at the end.
    fn next_ts(&self) -> Option<i64> {
        match &self.head {
            Some(head) => Some(head.ts),
            None => (!self.is_ended).then_some(i64::MIN),
        }
    }

    /// Writes its packets up to a time (and the place of a capture that has a packet of this time), and keeps the one
    /// behind them.
    fn write_up_to(&mut self, limit: (i64, usize), index: usize, cut: &mut Cut<'_>) -> Result<()> {
        if let Some(head) = self.head.take() {
            let options = head.like.over(&head.options);
            let frame = WrittenFrame { captured: &head.captured, options, ..head.frame };
            cut.write(&frame, head.ts)?;
        }
        let CutInput { records, is_ended, head, interfaces, sections, ts } = self;
        let mut sink = Selector {
            packet: Packet::default(),
            cut,
            limit,
            index,
            head,
            interfaces,
            sections,
            ts,
            failure: None,
        };
        loop {
            let outcome = match records.pass(&mut sink) {
                Ok(Stop::Enough) => return sink.failure.take().map_or(Ok(()), Err),
                Ok(stop) => {
                    if !records.stream.is_nonblocking() {
                        sink.cut.file.flush()?;
                        if sink.cut.stop.is_reached_by_now() {
                            return Ok(());
                        }
                    }
                    records.advance(&stop)
                }
                Err(error) => Err(error),
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    sink.cut.totals.damage.extend(damage_of(Err(error))?);
                    break;
                }
            }
        }
        *is_ended = true;
        cut.totals.index_faults.extend(records.index_fault.take());
        Ok(())
    }
}

/// Chooses packets of one capture, and writes them.
struct Selector<'s, 'c> {
    packet: Packet,
    cut: &'s mut Cut<'c>,
    limit: (i64, usize),
    index: usize,
    head: &'s mut Option<Head>,
    interfaces: &'s mut Vec<u32>,
    sections: &'s mut u64,
    ts: &'s mut i64,
    failure: Option<Error>,
}

impl PacketSink for Selector<'_, '_> {
    #[inline(always)]
    fn slot(&mut self) -> &mut Packet {
        &mut self.packet
    }

    #[inline]
    fn on_packet(&mut self, record: &Record<'_>, place: RecordPlace<'_>) -> bool {
        let frame = place.frame(&self.packet, record).with_labels(self.cut.labels.as_deref());
        if !self.cut.options.wants(record, &frame) {
            return true;
        }
        let outcome = self.take(record, place);
        let goes_on = outcome.as_ref().is_ok_and(|goes_on| *goes_on);
        self.failure = outcome.err();
        goes_on
    }

    fn on_skipped(&mut self, place: RecordPlace<'_>) -> bool {
        self.begin_section(place);
        let Some((interface, options)) = place.decoder.described(place.raw()) else { return true };
        self.failure = self.cut.interface(interface, Some(options), self.interfaces).err();
        self.failure.is_none()
    }
}

impl Selector<'_, '_> {
    /// Interfaces are numbered anew in each section.
    #[inline]
    fn begin_section(&mut self, place: RecordPlace<'_>) {
        if place.decoder.sections() != *self.sections {
            *self.sections = place.decoder.sections();
            self.interfaces.clear();
        }
    }

    /// Writes a packet, or keeps it where its turn has not come; says whether the next one is wanted.
    #[inline]
    fn take(&mut self, record: &Record<'_>, place: RecordPlace<'_>) -> Result<bool> {
        self.begin_section(place);
        let origin = place.decoder.origin(place.raw());
        let Some(interface) = self.interfaces.get(origin.interface as usize) else {
            return Err(Error::internal("a packet of an interface that was not seen"));
        };
        let keep = self.cut.options.snaplen.unwrap_or(u32::MAX) as usize;
        let captured = record.captured.get(..keep).unwrap_or(record.captured);
        let frame = WrittenFrame {
            interface: *interface,
            stamp: origin.stamp,
            ts: record.ts,
            length: record.length,
            captured,
            options: origin.options,
        };
        *self.ts = record.ts.unwrap_or(*self.ts);
        if (*self.ts, self.index) < self.limit {
            self.cut.write(&frame, *self.ts)?;
            return Ok(!self.cut.stop.is_reached());
        }
        *self.head = Some(Head {
            ts: *self.ts,
            captured: captured.to_vec(),
            options: origin.options.bytes().to_vec(),
            like: origin.options.over(&[]),
            frame: WrittenFrame { captured: &[], options: BlockOptions::NONE, ..frame },
        });
        Ok(false)
    }
}

impl Cut<'_> {
    #[inline]
    fn write(&mut self, frame: &WrittenFrame<'_>, ts: i64) -> Result<()> {
        if !self.keeps(frame) || !self.stop.takes(frame) {
            return Ok(());
        }
        match self.options.changes() {
            true => self.write_changed(frame)?,
            false => self.file.frame(frame)?,
        }
        self.totals.packets += 1;
        self.totals.bytes += u64::from(frame.length);
        self.totals.late += u64::from(ts < self.latest);
        self.latest = self.latest.max(ts);
        Ok(())
    }

    /// Leaves out duplicates, and of what is left all but every nth.
    #[inline]
    fn keeps(&mut self, frame: &WrittenFrame<'_>) -> bool {
        if let Some(recent) = &mut self.recent
            && recent.has_again(frame.length, frame.captured)
        {
            self.totals.duplicates += 1;
            return false;
        }
        self.left += 1;
        (self.left - 1).is_multiple_of(self.options.every_nth.max(1).into())
    }

    fn write_changed(&mut self, frame: &WrittenFrame<'_>) -> Result<()> {
        let unknown = (LinkType(u16::MAX), Clock::NANOSECONDS);
        let interface = self.interfaces.get(frame.interface as usize).copied();
        let (link_type, clock) = interface.unwrap_or(unknown);
        let mut frame = *frame;
        if self.options.shift != 0 {
            frame = moved(frame, clock, self.options.shift)?;
        }
        if let Some(anonymizer) = &mut self.anonymizer {
            let anonymous = anonymizer.frame(link_type, frame.captured);
            self.totals.opaque += u64::from(anonymous.is_opaque);
            // Comments name whom they like.
            frame.options = BlockOptions::NONE;
            frame.stamp = frame.ts.map_or(Stamp::Missing, Stamp::Nanoseconds);
            frame.captured = anonymous.captured;
        }
        self.file.frame(&frame)
    }

    /// Describes the next interface of a section, unless another section had one just like it.
    fn interface(
        &mut self,
        interface: &Interface,
        options: Option<BlockOptions<'_>>,
        section: &mut Vec<u32>,
    ) -> Result<()> {
        let mut interface = interface.clone();
        // Names, and addresses, are among its options; the clock is, too, so that times are written by another one.
        let options = options.filter(|_| self.anonymizer.is_none());
        if self.anonymizer.is_some() {
            (interface.name, interface.clock) = (None, Clock::NANOSECONDS);
        }
        if let Some(snaplen) = self.options.snaplen {
            interface.snaplen =
                if interface.snaplen == 0 { snaplen } else { interface.snaplen.min(snaplen) };
        }
        let known = self.known.entry(identity(&interface, options)).or_default();
        let number = match known.iter().find(|number| !section.contains(number)) {
            Some(number) => *number,
            None => {
                let number = self.file.interface(&interface, options)?;
                self.interfaces.push((LinkType(interface.link_type), interface.clock));
                known.push(number);
                number
            }
        };
        section.push(number);
        Ok(())
    }
}

/// The frame at another time, if it has one.
///
/// # Errors
/// `Argument` where its clock has no such time.
fn moved(mut frame: WrittenFrame<'_>, clock: Clock, nanoseconds: i64) -> Result<WrittenFrame<'_>> {
    let Some(ts) = frame.ts else { return Ok(frame) };
    let new = ts.checked_add(nanoseconds);
    let stamp = match frame.stamp {
        Stamp::Units(units) => clock.moved(units, nanoseconds).map(Stamp::Units),
        _ => new.map(Stamp::Nanoseconds),
    };
    let (Some(new), Some(stamp)) = (new, stamp) else {
        let message =
            format!("expected a shift to a time from 1970 on, found {ts} ns and {nanoseconds} ns");
        return Err(Error::new(ErrorKind::Argument, message));
    };
    (frame.ts, frame.stamp) = (Some(new), stamp);
    Ok(frame)
}

/// Hashes the properties that tell interfaces apart.
fn identity(interface: &Interface, options: Option<BlockOptions<'_>>) -> u128 {
    let clock = match interface.clock {
        Clock::MICROSECONDS => 0,
        _ => 1,
    };
    let mut bytes = vec![clock, u8::from(options.is_some())];
    bytes.extend_from_slice(&interface.link_type.to_le_bytes());
    bytes.extend_from_slice(&interface.snaplen.to_le_bytes());
    for option in options.unwrap_or(BlockOptions::NONE) {
        bytes.extend_from_slice(&option.code.to_le_bytes());
        bytes.extend_from_slice(&(option.value.len() as u16).to_le_bytes());
        bytes.extend_from_slice(option.value);
    }
    xxh3_128(&bytes)
}
