//! Packets of a network interface as they come, as one more source of bytes: those of a pcapng file, so that whatever
//! can be asked of a capture can be asked of them, and the name of the interface is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::device::{Device, DevicePacket, LiveOptions, Statistics, TIMEOUT};
use super::filter::link_type_of;
use super::{CaptureOptions, CaptureReader};
use crate::capture::{BlockOptions, Clock, Encoder, Format, Frame, Interface, Stamp};
use crate::stream::{ByteStream, Cancel, Compression, CompressionChoice, Source};
use crate::{Error, Result};

/// Bytes of a record beside those of the packet, at most.
const RECORD_EXTRA: usize = 40;

/// How long nothing may come until whoever reads is told that time has passed.
const PATIENCE: Duration = Duration::from_millis(200);

/// How often the system's counters are looked at. They have 32 bits, and so many packets do not come in that time.
const COUNTED_EVERY: Duration = Duration::from_secs(1);

/// Packets that an interface had in all, kept up to date until it is closed. Clones are one count; several readers may
/// add to it.
#[derive(Debug, Clone, Default)]
pub struct LiveCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    captured: AtomicU64,
    dropped: AtomicU64,
    dropped_by_interface: AtomicU64,
}

impl LiveCounts {
    /// Packets that were read.
    pub fn captured(&self) -> u64 {
        self.0.captured.load(Ordering::Relaxed)
    }

    /// Packets that were lost because they were not read in time, and the buffer had no room for them.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Packets that the interface or its driver lost meanwhile.
    pub fn dropped_by_interface(&self) -> u64 {
        self.0.dropped_by_interface.load(Ordering::Relaxed)
    }

    /// Adds what the counters of a device, which begin anew behind 2^32, have gone on by.
    fn add(&self, before: &Statistics, now: &Statistics) {
        let dropped = now.dropped.wrapping_sub(before.dropped);
        let by_interface = now.dropped_by_interface.wrapping_sub(before.dropped_by_interface);
        self.0.dropped.fetch_add(dropped.into(), Ordering::Relaxed);
        self.0.dropped_by_interface.fetch_add(by_interface.into(), Ordering::Relaxed);
    }
}

/// The packets of an interface, as the bytes of a pcapng file.
struct LiveSource {
    device: Device,
    encoder: Encoder,
    interface: u32,
    cancel: Cancel,
    counts: LiveCounts,
    counted: Statistics,
    counted_at: Instant,
    /// Bytes that did not fit where they were to go, from `taken` on.
    waiting: Vec<u8>,
    taken: usize,
    is_ending: bool,
    /// Bytes that are taken of what is there when the input is ended: as many as the system holds.
    last: usize,
}

impl CaptureReader {
    /// Reads the packets of a network interface as they come, from now on, until [`Cancel::end`]. Those that the filter
    /// of `options` leaves out are left out by the system. What the system counts is added to `counts`, the last of it
    /// when the reader is gone.
    ///
    /// # Errors
    /// `MissingLibrary` without libpcap; `Argument` where there is no such interface, or the filter is none; `Io`
    /// without the right to capture.
    pub fn live(
        interface: &str,
        live: &LiveOptions,
        options: &CaptureOptions,
        counts: &LiveCounts,
    ) -> Result<Self> {
        let source = LiveSource::open(interface, live, options, counts)?;
        let mut stream = options.stream.clone();
        stream.compression = CompressionChoice::Is(Compression::None);
        let stream = ByteStream::unread(Box::new(source), interface, &stream);
        Ok(CaptureReader::new(stream, options)?.on_the_clock())
    }
}

/// The time before which no packet of an interface can come any more: what the system still holds is younger.
pub(super) fn time_passed() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(TIMEOUT * 2).as_nanos()).unwrap_or(i64::MAX)
}

impl LiveSource {
    fn open(
        name: &str,
        live: &LiveOptions,
        options: &CaptureOptions,
        counts: &LiveCounts,
    ) -> Result<Self> {
        let device = Device::open(name, live, options.filter.as_deref())?;
        let (mut encoder, mut waiting) = (Encoder::new(Format::Pcapng), Vec::new());
        let interface = Interface {
            name: Some(name.into()),
            link_type: link_type_of(device.data_link()).0,
            snaplen: device.snaplen(),
            clock: Clock::NANOSECONDS,
        };
        let interface = encoder.interface(&mut waiting, &interface, None)?;
        Ok(LiveSource {
            device,
            encoder,
            interface,
            cancel: options.stream.cancel.clone().unwrap_or_default(),
            counts: counts.clone(),
            counted: Statistics::default(),
            counted_at: Instant::now(),
            waiting,
            taken: 0,
            is_ending: false,
            last: live.buffer as usize,
        })
    }

    /// Appends up to `limit` bytes of those that wait and of packets that are there.
    fn take(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let before = into.len();
        self.take_waiting(into, limit);
        while self.waiting.is_empty() {
            let Some(packet) = self.device.next()? else { break };
            self.counts.0.captured.fetch_add(1, Ordering::Relaxed);
            let room = limit - (into.len() - before);
            let frame = frame(&packet, self.interface);
            if RECORD_EXTRA + packet.captured.len() <= room {
                self.encoder.frame(into, &frame)?;
            } else {
                self.encoder.frame(&mut self.waiting, &frame)?;
                self.take_waiting(into, room);
                break;
            }
        }
        Ok(into.len() - before)
    }

    fn take_waiting(&mut self, into: &mut Vec<u8>, limit: usize) {
        let rest = self.waiting.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(limit);
        into.extend_from_slice(rest.get(..count).unwrap_or_default());
        self.taken += count;
        if self.taken == self.waiting.len() {
            self.waiting.clear();
            self.taken = 0;
        }
    }

    /// Takes what is there once the input was ended, and then answers 0.
    fn take_last(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if !std::mem::replace(&mut self.is_ending, true) {
            // By then, the system has handed over what it has.
            std::thread::sleep(TIMEOUT * 2);
        }
        if self.last == 0 && self.waiting.is_empty() {
            return Ok(0);
        }
        let count = self.take(into, limit)?;
        self.last = self.last.saturating_sub(count);
        Ok(count)
    }

    /// Waits for packets; answers whether there may be some, or the input was ended.
    fn wait(&self) -> Result<bool> {
        let fd = self.device.fd();
        let fd = fd.ok_or_else(|| Error::internal("an interface that cannot be waited for"))?;
        self.cancel.wait_for_within(fd, PATIENCE)
    }

    fn count(&mut self) {
        self.counted_at = Instant::now();
        if let Some(now) = self.device.statistics() {
            self.counts.add(&self.counted, &now);
            self.counted = now;
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
            if !self.wait()? {
                self.encoder.statistics(&mut self.waiting, self.interface, time_passed());
            }
        }
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

fn frame<'a>(packet: &DevicePacket<'a>, interface: u32) -> Frame<'a> {
    let ts = i64::from(packet.seconds) * 1_000_000_000 + i64::from(packet.nanoseconds);
    Frame {
        interface,
        stamp: Stamp::Nanoseconds(ts),
        ts: Some(ts),
        length: packet.length,
        captured: packet.captured,
        options: BlockOptions::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_32_bits_that_begin_anew_are_added_up() {
        let counts = LiveCounts::default();
        let of = |dropped, dropped_by_interface| Statistics { dropped, dropped_by_interface };
        counts.add(&of(0, 0), &of(u32::MAX - 1, 7));
        counts.add(&of(u32::MAX - 1, 7), &of(3, 7));
        counts.add(&of(3, 7), &of(3, 6));
        assert_eq!(counts.dropped(), (1 << 32) + 3);
        assert_eq!(counts.dropped_by_interface(), (1 << 32) + 6);
    }
}
