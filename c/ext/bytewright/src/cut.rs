//! Packets of a capture in a new capture.

use std::ffi::c_char;
use std::path::Path;

use bytewright::ask::{CutOptions, CutTotals};
use bytewright::export::OutputOptions;
use bytewright::host::Item;
use bytewright::options::{NamedOptions, OptionSpec};
use bytewright::{Error, Result};

use crate::buffer::held;
use crate::capture::bw_capture;
use crate::error::{bw_error, bw_status, guard_raw};
use crate::in_use::InUse;
use crate::named;
use crate::sized_struct::{SizedPlace, sized_struct};
use crate::text::{self, bw_names};

/// Options of the packets, and of the file that they are written to.
const TABLES: &[&[OptionSpec]] = &[CutOptions::OPTIONS, OutputOptions::OPTIONS];

/// Counts of the packets that were written to a new capture. Initialize it with `BW_CUT_COUNTS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_cut_counts {
    /// Bytes of the struct, which `BW_CUT_COUNTS_INIT` sets.
    pub size: usize,
    /// Packets.
    pub packets: u64,
    /// Bytes of them on the wire.
    pub bytes: u64,
    /// Packets that are earlier than one before them, because they came late in their own capture.
    pub late: u64,
    /// Packets that `drop_duplicates` left out.
    pub duplicates: u64,
    /// Packets without a header that is known, with `anonymize`.
    pub opaque: u64,
    /// Files; `rotate` makes several, or none without packets.
    pub files: u64,
}

impl bw_cut_counts {
    fn of(totals: &CutTotals) -> bw_cut_counts {
        bw_cut_counts {
            size: size_of::<bw_cut_counts>(),
            packets: totals.packets,
            bytes: totals.bytes,
            late: totals.late,
            duplicates: totals.duplicates,
            opaque: totals.opaque,
            files: totals.files,
        }
    }
}

sized_struct!(bw_cut_counts { packets, bytes, late, duplicates, opaque, files } + {});

/// # Safety
/// `named` is none or has texts.
unsafe fn options_of(named: Option<&bw_names>) -> Result<(CutOptions, OutputOptions)> {
    let (mut options, mut output) = (CutOptions::default(), OutputOptions::default());
    // SAFETY: the caller's promise.
    unsafe {
        named::fill(&mut options, TABLES, named)?;
        named::fill(&mut output, TABLES, named)?;
    }
    Ok((options, output))
}

fn cut(capture: &bw_capture, path: &Path, options: CutOptions, force: bool) -> Result<CutTotals> {
    capture.give_up_under_way();
    let pass = capture.capture.cut(path.to_owned(), options, force)?;
    let _in_use = InUse::mark_shared(capture);
    let result = pass.next(&capture.host);
    if result.is_err() {
        // By then the file is there, or is not and never will be. The error of the pass is the one that counts.
        let _ = pass.close(&capture.host);
    }
    match result? {
        Some(Item::Cut(totals)) => Ok(*totals),
        _ => Err(Error::internal("a pass without its result")),
    }
}

/// Writes packets of a capture to a new capture at `path`. The name sets the form: .pcap or .pcapng, with .gz or .zst behind it to
/// compress it. The file has its name when it is whole; after an error an older one stays, but what an interface or a pipe brought
/// is kept. It never replaces the capture that is read, and another one, a table or a store only with `force`. `named` has options
/// by name, as "name=value": those of writing packets to a new capture in docs/options.md; it may be null. `counts`, which may be
/// null, says how much was written. Of an interface, it returns after `bw_capture_stop`. A call that was interrupted begins anew
/// when it is made again.
///
/// Damage that ends the capture is no failure: the packets before it are in the file, `counts` is filled, and `damage` becomes its
/// error, or is cleared where there is none. Where `damage` is null, the call returns that error.
///
/// # Safety
/// `path` is text, `named` is null or has texts, `counts` is null or initialized, and `damage` and `error` are null or errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_cut(
    capture: Option<&bw_capture>,
    path: *const c_char,
    named: *const bw_names,
    counts: *mut bw_cut_counts,
    damage: *mut bw_error,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        let capture = held(capture, "a capture")?;
        // SAFETY: the caller's promises about `path` and `named`, neither of which is used while functions of the program run.
        let (path, (options, output)) =
            unsafe { (text::path(path)?.to_owned(), options_of(named.as_ref())?) };
        // SAFETY: the caller's promise about `counts`.
        let counts = unsafe { SizedPlace::at_or_none(counts) }?;
        let mut totals = cut(capture, &path, options, output.force)?;
        counts.inspect(|counts| counts.write(bw_cut_counts::of(&totals)));
        let found = totals.damage.drain(..).next();
        // SAFETY: the caller's promise about `damage`; the functions of the program have ended.
        match (unsafe { damage.as_mut() }, found) {
            (None, Some(found)) => return Err(found),
            (None, None) => {}
            (Some(damage), found) => damage.hold(found.as_ref()),
        }
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}
