//! Captures from network interfaces.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use bytewright::Result;
use bytewright::host;
use bytewright::input::LiveOptions;
use bytewright::options::NamedOptions;

use crate::buffer::{given, held};
use crate::capture::{bw_capture, bw_capture_options};
use crate::error::{bw_error, bw_status, guard};
use crate::named;
use crate::sized_struct::{self, sized_struct};
use crate::text::{bw_names, text};

/// Options of opening an interface. Initialize it with `BW_LIVE_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_live_options {
    /// Bytes of the struct, which `BW_LIVE_OPTIONS_INIT` sets.
    pub size: usize,
    /// Bytes that are kept of each packet at most; 0 for 262144.
    pub snaplen: u32,
    /// Bytes of packets that the system holds until they are read, those that find no room are dropped; 0 for 16 MiB.
    pub buffer: u32,
    /// Take packets to other hosts, too.
    pub promiscuous: bool,
    /// Options by name, as "name=value": those of capturing from an interface in docs/options.md. They count over the fields
    /// above.
    pub named: bw_names,
}

/// Packets that an interface had since it was opened.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_live_counts {
    /// Packets that were read.
    pub captured: u64,
    /// Packets that were lost because the buffer was full.
    pub dropped: u64,
    /// Packets that the interface or its driver lost.
    pub dropped_by_interface: u64,
}

sized_struct!(bw_live_options { snaplen, buffer, promiscuous, named } + {});

impl bw_live_options {
    /// # Safety
    /// `options` is initialized and has texts.
    unsafe fn of_core(options: *const bw_live_options) -> Result<LiveOptions> {
        let usual = LiveOptions::default();
        // SAFETY: the caller's promise.
        let Some(options) = unsafe { sized_struct::copied(options) }? else { return Ok(usual) };
        let or = |number: u32, usual: u32| if number == 0 { usual } else { number };
        let mut found = LiveOptions {
            snaplen: or(options.snaplen, usual.snaplen),
            buffer: or(options.buffer, usual.buffer),
            promiscuous: options.promiscuous,
        };
        // SAFETY: the caller's promise.
        unsafe { named::fill(&mut found, &[LiveOptions::OPTIONS], Some(&options.named)) }?;
        Ok(found)
    }
}

/// Captures from the network interface of that name, through libpcap, which is loaded then: `BW_STATUS_MISSING_LIBRARY`
/// without it, `BW_STATUS_ARGUMENT` without such an interface, `BW_STATUS_IO` without the right to capture. What reads the
/// capture first has the packets from here on, what reads it later those from its own beginning on, until
/// `bw_capture_stop`. `live` and `options` may be null. Close it with `bw_capture_close`.
///
/// # Safety
/// `interface_name` is text, `live` is initialized and has texts, and `options` are as for `bw_capture_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_open_live(
    interface_name: *const c_char,
    live: *const bw_live_options,
    options: *const bw_capture_options,
    out: Option<&mut MaybeUninit<*mut bw_capture>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `interface_name`, `live` and `options`.
    let (name, options, live) = unsafe {
        (
            text(interface_name, "the name of an interface"),
            bw_capture_options::of_core(options),
            bw_live_options::of_core(live),
        )
    };
    bw_capture::hand_out_opened(options, out, error, |options, _| {
        host::Capture::live(name?, live?, options)
    })
}

/// Stops a running read of an interface; that read returns the packets that came before. For other captures it does nothing.
/// Any thread may call it while another one reads, and so may `interrupted`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_capture_stop(
    capture: Option<&bw_capture>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        held(capture, "a capture")?.capture.stop();
        Ok(bw_status::Ok)
    })
}

/// Counts the packets of an interface, up to date within a second; `BW_STATUS_NONE` for other captures.
#[unsafe(no_mangle)]
pub extern "C" fn bw_capture_live_counts(
    capture: Option<&bw_capture>,
    out: Option<&mut MaybeUninit<bw_live_counts>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the counts")?;
        let Some(counts) = held(capture, "a capture")?.capture.live_counts() else {
            return Ok(bw_status::None);
        };
        out.write(bw_live_counts {
            captured: counts.captured(),
            dropped: counts.dropped(),
            dropped_by_interface: counts.dropped_by_interface(),
        });
        Ok(bw_status::Ok)
    })
}
