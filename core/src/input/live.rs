//! Packets of a network interface as they come, as one more source of bytes: those of a pcapng file, so that whatever
//! can be asked of a capture can be asked of them, and the name of the interface is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::device::{Device, DevicePacket, Statistics, TIMEOUT};
use super::filter::link_type_of;
use super::time_merge::TimeMerge;
use super::{CaptureOptions, CaptureReader, LiveOptions};
use crate::bytes::{ByteStream, Cancel, Compression, CompressionChoice, Source};
use crate::capture::{BlockOptions, Clock, Encoder, Format, Interface, Stamp, WrittenFrame};
use crate::{Error, Result};

/// Bytes of a record beside those of the packet, at most.
const RECORD_EXTRA: usize = 40;

/// After this long without packets, the reader is told the time.
const PATIENCE: Duration = Duration::from_millis(200);

/// Bytes that the system holds at least, whatever is asked for: a block of its ring buffer, with room for the largest packet.
const BUFFER_MIN: u32 = 1 << 20;

/// Interval between two looks at the system's counters. They have 32 bits, and so many packets do not come in it.
const COUNTED_EVERY: Duration = Duration::from_secs(1);

/// Packets that an interface had in all, kept up to date until it is closed. Clones are one count; several readers may
/// add to it.
#[derive(Debug, Clone, Default)]
pub struct LiveCounts(Arc<AtomicCounts>);

#[derive(Debug, Default)]
struct AtomicCounts {
    captured: AtomicU64,
    dropped: AtomicU64,
    dropped_by_interface: AtomicU64,
}

impl LiveCounts {
    /// Packets that were read.
    pub fn captured(&self) -> u64 {
        self.0.captured.load(Ordering::Relaxed)
    }

    /// Packets that were lost because the buffer was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Packets that the interface or its driver lost meanwhile.
    pub fn dropped_by_interface(&self) -> u64 {
        self.0.dropped_by_interface.load(Ordering::Relaxed)
    }

    /// Adds what the counters of a device have gone on by.
    fn add(&self, before: &Statistics, now: &Statistics) {
        let dropped = counted_since(before.dropped, now.dropped);
        let by_interface = counted_since(before.dropped_by_interface, now.dropped_by_interface);
        self.0.dropped.fetch_add(dropped.into(), Ordering::Relaxed);
        self.0.dropped_by_interface.fetch_add(by_interface.into(), Ordering::Relaxed);
    }
}

/// Returns the growth of a counter of 32 bits. It begins again behind 2^32, or if a driver resets it.
fn counted_since(before: u32, now: u32) -> u32 {
    let is_reset = now < before && before < 1 << 31;
    if is_reset { now } else { now.wrapping_sub(before) }
}

/// The time before which no packet comes any more. It moves when the system has no packet left: a reader that lags behind
/// the interface has packets before it that are older than the clock.
#[derive(Debug, Clone)]
pub(super) struct Watermark(Arc<AtomicI64>);

impl Watermark {
    const UNKNOWN: i64 = i64::MIN;

    fn new() -> Self {
        Watermark(Arc::new(AtomicI64::new(Self::UNKNOWN)))
    }

    /// In nanoseconds since 1970.
    pub(super) fn get(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ts| *ts != Self::UNKNOWN)
    }

    /// The system has no packet left: what it has not handed over yet is younger than `TIMEOUT`. Answers the time.
    fn move_up(&self) -> i64 {
        let passed = handed_over();
        self.move_to(passed);
        passed
    }

    fn move_to(&self, passed: i64) {
        self.0.store(passed, Ordering::Relaxed);
    }
}

/// The time up to which the system has handed over what it had, where it has no packet left.
fn handed_over() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(TIMEOUT * 2).as_nanos()).unwrap_or(i64::MAX)
}

/// The packets of interfaces, as the bytes of a pcapng file.
struct LiveSource {
    interfaces: Vec<OpenInterface>,
    /// Packets that wait for earlier ones of other interfaces, where there are some.
    merge: Option<TimeMerge>,
    /// Error of one of several, behind the packets that wait.
    failure: Option<Error>,
    encoder: Encoder,
    cancel: Cancel,
    counts: LiveCounts,
    watermark: Watermark,
    counted_at: Instant,
    /// Bytes that did not fit where they were to go, from `taken` on.
    waiting: Vec<u8>,
    taken: usize,
    is_ending: bool,
    /// Bytes that are taken of what is there when the input is ended: as many as the system holds.
    last: usize,
}

/// An interface that packets are taken from.
struct OpenInterface {
    device: Device,
    /// Its number in the pcapng file.
    number: u32,
    counted: Statistics,
}

impl CaptureReader {
    /// Reads the packets of network interfaces as they come, from now on, until [`Cancel::end`]. Those that the filter
    /// of `options` leaves out are left out by the system. What the system counts is added to `counts`, the last of it
    /// when the reader is gone. Packets of several interfaces come in the order of their times, as far as the system hands
    /// them over within a tenth of a second, and no more bytes of an interface wait for others than its buffer has.
    ///
    /// # Errors
    /// `MissingLibrary` without libpcap; `Argument` where there is no such interface, or the filter is invalid; `Io`
    /// without the right to capture.
    pub fn live<S: AsRef<str>>(
        interfaces: &[S],
        live: &LiveOptions,
        options: &CaptureOptions,
        counts: &LiveCounts,
    ) -> Result<Self> {
        let names: Vec<&str> = interfaces.iter().map(AsRef::as_ref).collect();
        let source = LiveSource::open(&names, live, options, counts)?;
        let watermark = source.watermark.clone();
        let mut stream = options.stream.clone();
        stream.compression = CompressionChoice::Is(Compression::None);
        let stream = ByteStream::unread(Box::new(source), &names.join(", "), &stream);
        CaptureReader::of_interface(stream, options, watermark)
    }
}

impl LiveSource {
    fn open(
        names: &[&str],
        live: &LiveOptions,
        options: &CaptureOptions,
        counts: &LiveCounts,
    ) -> Result<Self> {
        let (mut encoder, mut waiting) = (Encoder::new(Format::Pcapng), Vec::new());
        let mut interfaces = Vec::new();
        for name in names {
            let device = Device::open(name, live, options.filter.as_deref())?;
            let interface = Interface {
                name: Some((*name).into()),
                link_type: link_type_of(device.data_link()).0,
                snaplen: device.snaplen(),
                clock: Clock::NANOSECONDS,
            };
            let number = encoder.interface(&mut waiting, &interface, None)?;
            interfaces.push(OpenInterface { device, number, counted: Statistics::default() });
        }
        let last = (live.buffer.max(BUFFER_MIN) as usize).saturating_mul(interfaces.len());
        let held_max = live.buffer.max(BUFFER_MIN) as usize;
        let merge = (interfaces.len() > 1).then(|| TimeMerge::new(interfaces.len(), held_max));
        Ok(LiveSource {
            interfaces,
            merge,
            failure: None,
            encoder,
            cancel: options.stream.cancel.clone().unwrap_or_default(),
            counts: counts.clone(),
            watermark: Watermark::new(),
            counted_at: Instant::now(),
            waiting,
            taken: 0,
            is_ending: false,
            last,
        })
    }

    /// Appends up to `limit` bytes of those that wait and of packets that are there.
    fn take(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if self.merge.is_some() {
            return self.take_in_order(into, limit);
        }
        let before = into.len();
        self.take_waiting(into, limit);
        while self.waiting.is_empty() {
            let LiveSource { interfaces, encoder, waiting, counts, .. } = self;
            let Some(OpenInterface { device, number, .. }) = interfaces.first_mut() else { break };
            let Some(packet) = device.next()? else { break };
            counts.0.captured.fetch_add(1, Ordering::Relaxed);
            let room = limit - (into.len() - before);
            let frame = frame(&packet, *number);
            if RECORD_EXTRA + packet.captured.len() <= room {
                encoder.frame(into, &frame)?;
            } else {
                encoder.frame(waiting, &frame)?;
                self.take_waiting(into, room);
                break;
            }
        }
        Ok(into.len() - before)
    }

    /// Appends up to `limit` bytes of packets of several interfaces. Those that came before an error come before it here, too.
    fn take_in_order(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if self.failure.is_none() {
            self.failure = self.hold().err();
        }
        if self.failure.is_some() {
            self.merge.iter_mut().for_each(TimeMerge::end);
        }
        let count = self.take_merged(into, limit);
        self.failure.take_if(|_| count == 0).map_or(Ok(count), Err)
    }

    /// Has the packets that are there wait for earlier ones of other interfaces.
    fn hold(&mut self) -> Result<()> {
        let LiveSource { interfaces, merge: Some(merge), encoder, counts, is_ending, .. } = self
        else {
            return Ok(());
        };
        for (place, OpenInterface { device, number, .. }) in interfaces.iter_mut().enumerate() {
            while !merge.is_full(place) {
                let Some(packet) = device.next()? else {
                    merge.pass(place, if *is_ending { i64::MAX } else { handed_over() });
                    break;
                };
                counts.0.captured.fetch_add(1, Ordering::Relaxed);
                let frame = frame(&packet, *number);
                let ts = frame.ts.unwrap_or_default();
                merge.hold(place, ts, |bytes| encoder.frame(bytes, &frame))?;
            }
        }
        Ok(())
    }

    /// Appends up to `limit` bytes of those that wait, of which none has to wait for others any more.
    fn take_merged(&mut self, into: &mut Vec<u8>, limit: usize) -> usize {
        let before = into.len();
        self.take_waiting(into, limit);
        while self.waiting.is_empty() {
            let Some(merge) = &mut self.merge else { break };
            let Some(place) = merge.ready() else { break };
            let room = limit - (into.len() - before);
            let record = merge.record(place);
            let fits = record.len() <= room;
            if fits { &mut *into } else { &mut self.waiting }.extend_from_slice(record);
            merge.release(place);
            if !fits {
                self.take_waiting(into, room);
                break;
            }
        }
        into.len() - before
    }

    /// Appends up to `limit` bytes of those that wait, and answers how many.
    fn take_waiting(&mut self, into: &mut Vec<u8>, limit: usize) -> usize {
        let rest = self.waiting.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(limit);
        into.extend_from_slice(rest.get(..count).unwrap_or_default());
        self.taken += count;
        if self.taken == self.waiting.len() {
            self.waiting.clear();
            self.taken = 0;
        }
        count
    }

    /// Takes what is there once the input was ended, and then answers 0.
    fn take_last(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if !std::mem::replace(&mut self.is_ending, true) {
            // By then, the system has handed over what it has.
            std::thread::sleep(TIMEOUT * 2);
        }
        if self.last == 0 {
            // The rest of a packet that was begun, and those that wait, and no other.
            self.merge.iter_mut().for_each(TimeMerge::end);
            return Ok(self.take_merged(into, limit));
        }
        let count = self.take(into, limit)?;
        self.last = self.last.saturating_sub(count);
        Ok(count)
    }

    /// Waits for packets, but at most for `time`; answers whether there may be some, or the input was ended.
    fn wait(&self, time: Duration) -> Result<bool> {
        let fds = self.interfaces.iter().map(|interface| interface.device.fd());
        let fds: Option<Vec<_>> = fds.collect();
        let fds = fds.ok_or_else(|| Error::internal("an interface that cannot be waited for"))?;
        self.cancel.wait_for_any(&fds, time)
    }

    fn count(&mut self) {
        self.counted_at = Instant::now();
        for OpenInterface { device, counted, .. } in &mut self.interfaces {
            if let Some(now) = device.statistics() {
                self.counts.add(counted, &now);
                *counted = now;
            }
        }
    }
}

impl Source for LiveSource {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if self.counted_at.elapsed() >= COUNTED_EVERY {
            self.count();
        }
        loop {
            self.cancel.check()?;
            if self.cancel.is_ended() {
                return self.take_last(into, limit);
            }
            let count = self.take(into, limit)?;
            if count > 0 {
                return Ok(count);
            }
            if let Some(merge) = self.merge.as_ref().filter(|merge| !merge.is_empty()) {
                self.watermark.move_to(merge.passed());
                self.wait(TIMEOUT)?;
                continue;
            }
            self.watermark.move_up();
            if !self.wait(PATIENCE)? {
                let passed = self.watermark.move_up();
                let LiveSource { interfaces, encoder, waiting, .. } = self;
                for interface in interfaces {
                    encoder.statistics(waiting, interface.number, passed);
                }
            }
        }
    }

    /// Nobody but its reader has these bytes.
    fn has_offsets(&self) -> bool {
        false
    }

    fn cancel(&self) -> Option<Cancel> {
        Some(self.cancel.clone())
    }
}

impl Drop for LiveSource {
    fn drop(&mut self) {
        self.count();
    }
}

fn frame<'a>(packet: &DevicePacket<'a>, interface: u32) -> WrittenFrame<'a> {
    let ts = i64::from(packet.seconds) * 1_000_000_000 + i64::from(packet.nanoseconds);
    WrittenFrame {
        interface,
        stamp: Stamp::Nanoseconds(ts),
        ts: Some(ts),
        length: packet.length,
        captured: packet.captured,
        options: BlockOptions::NONE,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ask::{IntervalPart, flows_by_interval};
    use crate::bytes::StreamOptions;
    use crate::flow::FlowOptions;
    use crate::packet::{Field, LinkType, PacketColumns};

    /// A packet that comes, or none for so long that the system has no packet left.
    enum LiveEvent {
        Packet(i64),
        Quiet,
    }

    /// Source with the events on an interface.
    struct Events {
        /// The section and the interface.
        start: Vec<u8>,
        events: Vec<LiveEvent>,
        encoder: Encoder,
        interface: u32,
        watermark: Watermark,
    }

    impl Source for Events {
        fn read(&mut self, into: &mut Vec<u8>, _limit: usize) -> Result<usize> {
            let before = into.len();
            into.append(&mut self.start);
            while into.len() == before && !self.events.is_empty() {
                match self.events.remove(0) {
                    LiveEvent::Packet(ts) => {
                        let seconds = (ts / 1_000_000_000) as u32;
                        let nanoseconds = (ts % 1_000_000_000) as u32;
                        let captured = &[0x45; 20];
                        let packet = DevicePacket { seconds, nanoseconds, length: 20, captured };
                        self.encoder.frame(into, &frame(&packet, self.interface))?;
                    }
                    LiveEvent::Quiet => {
                        let passed = self.watermark.move_up();
                        self.encoder.statistics(into, self.interface, passed);
                    }
                }
            }
            Ok(into.len() - before)
        }
    }

    fn reader(events: Vec<LiveEvent>, options: &CaptureOptions) -> CaptureReader {
        let (mut encoder, mut start) = (Encoder::new(Format::Pcapng), Vec::new());
        let link_type = LinkType::RAW.0;
        let lo = Interface { name: None, link_type, snaplen: 20, clock: Clock::NANOSECONDS };
        let interface = encoder.interface(&mut start, &lo, None).unwrap();
        let watermark = Watermark::new();
        let source = Events { start, events, encoder, interface, watermark: watermark.clone() };
        let stream = ByteStream::unread(Box::new(source), "lo", &StreamOptions::default());
        CaptureReader::of_interface(stream, options, watermark).unwrap()
    }

    /// Returns the packets in each interval of a second, and its beginning in seconds if it is not the present one.
    fn intervals(events: Vec<LiveEvent>) -> Vec<(Option<i64>, u64)> {
        let mut reader = reader(events, &CaptureOptions::default());
        let mut found = Vec::new();
        flows_by_interval(&mut reader, 1_000_000_000, FlowOptions::default(), &mut |part| {
            if let IntervalPart::End { start, packets, .. } = part {
                let second = start / 1_000_000_000;
                found.push((Some(second).filter(|second| *second < 1_000), packets));
            }
            Ok::<_, ()>(())
        })
        .unwrap()
        .unwrap();
        found
    }

    #[test]
    fn what_is_left_of_a_packet_need_not_match_the_filter_that_the_system_applied() {
        let options = CaptureOptions { filter: Some("udp port 53".into()), ..Default::default() };
        let mut reader = reader(vec![LiveEvent::Packet(1), LiveEvent::Packet(2)], &options);
        let mut columns = PacketColumns::new(&[Field::Length]);
        reader.read_columns(&mut columns, 10).unwrap();
        assert_eq!(columns.len(), 1);
        assert_eq!(reader.selection().as_deref(), Some("udp port 53"));
    }

    #[test]
    fn the_clock_ends_an_interval_when_the_system_has_no_packet_left() {
        let events = [LiveEvent::Packet(100), LiveEvent::Quiet, LiveEvent::Packet(200)];
        assert_eq!(intervals(events.into()), [(Some(0), 1), (None, 1)]);
    }

    #[test]
    fn the_clock_ends_nothing_while_a_reader_lags_behind() {
        let events =
            [LiveEvent::Packet(100), LiveEvent::Packet(200), LiveEvent::Packet(2_000_000_000)];
        assert_eq!(intervals(events.into()), [(Some(0), 2), (Some(2), 1)]);
    }

    #[test]
    fn counters_of_32_bits_that_begin_anew_are_added_up() {
        let counts = LiveCounts::default();
        let of = |dropped, dropped_by_interface| Statistics { dropped, dropped_by_interface };
        counts.add(&of(0, 0), &of(u32::MAX - 1, 7));
        counts.add(&of(u32::MAX - 1, 7), &of(3, 7));
        counts.add(&of(3, 7), &of(3, 6));
        assert_eq!(counts.dropped(), (1 << 32) + 3);
        // A driver has reset its counter: 7, and then 6.
        assert_eq!(counts.dropped_by_interface(), 13);
    }
}
