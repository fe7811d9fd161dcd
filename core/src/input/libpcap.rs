//! libpcap's filter compiler, loaded at run time where the system has it, so that nothing depends
//! on it being there. One of the files that may use `unsafe` to call a C library.
//!
//! Only functions whose signatures have stood since libpcap 1.0 are used:
//! <https://www.tcpdump.org/manpages/pcap_compile.3pcap.html>.
//!
//! The crate `pcap` links the library: the gem would then not build, or not load, where libpcap is missing, though only filters
//! and interfaces need it. Where it is missing, the error names the package.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uchar, c_uint, c_void};

use crate::error::excerpt;
use crate::forks::ProcessValue;
use crate::packet::Field;
use crate::query::Condition;
use crate::{Error, ErrorKind, Result};

/// Names under which systems keep the library.
const LIBRARY_NAMES: [&str; 4] =
    ["libpcap.so.1", "libpcap.so.0.8", "libpcap.so", "libpcap.A.dylib"];

/// True if filters and interfaces are there wherever the system has libpcap: this program loads libraries.
pub const LOADS_LIBPCAP: bool = true;

/// Filters are told that frames are never cut short of this, like tcpdump's.
const SNAPLEN: c_int = 262_144;

/// `PCAP_NETMASK_UNKNOWN`.
pub(super) const NETMASK_UNKNOWN: c_uint = 0xffff_ffff;

pub(super) type Handle = *mut c_void;

/// `struct bpf_program`.
#[repr(C)]
pub(super) struct BpfProgram {
    pub(super) len: c_uint,
    pub(super) instructions: *mut c_void,
}

/// `struct pcap_pkthdr`.
#[repr(C)]
pub(super) struct PacketHeader {
    pub(super) seconds: c_long,
    pub(super) microseconds: c_long,
    pub(super) caplen: u32,
    pub(super) length: u32,
}

/// The library under the first of its names where `bind` finds the functions that it takes.
pub(super) fn load<T>(bind: impl Fn(libloading::Library) -> Option<T>) -> Option<T> {
    LIBRARY_NAMES.iter().find_map(|name| {
        // SAFETY: libpcap's initialisation has no preconditions.
        bind(unsafe { libloading::Library::new(*name) }.ok()?)
    })
}

/// The library is not there, which `what` need.
pub(super) fn missing(what: &str) -> Error {
    let message = format!(
        "expected libpcap, which {what} need, found none; install it (Debian and Ubuntu: apt-get install libpcap0.8)"
    );
    Error::new(ErrorKind::MissingLibrary, message)
}

/// The functions that are called, each with its C signature.
struct FilterLibrary {
    open_dead: unsafe extern "C" fn(c_int, c_int) -> Handle,
    close: unsafe extern "C" fn(Handle),
    compile: unsafe extern "C" fn(Handle, *mut BpfProgram, *const c_char, c_int, c_uint) -> c_int,
    free_code: unsafe extern "C" fn(*mut BpfProgram),
    get_error: unsafe extern "C" fn(Handle) -> *const c_char,
    offline_filter:
        unsafe extern "C" fn(*const BpfProgram, *const PacketHeader, *const c_uchar) -> c_int,
    lib_version: unsafe extern "C" fn() -> *const c_char,
    /// Keeps the functions above loaded.
    _handle: libloading::Library,
}

impl FilterLibrary {
    fn load() -> Option<FilterLibrary> {
        load(|library| {
            // SAFETY: each symbol is libpcap's function of that name, and the type it is given here
            // is its prototype in pcap/pcap.h, unchanged since 1.0; `_handle` outlives them.
            unsafe {
                Some(FilterLibrary {
                    open_dead: *library.get(b"pcap_open_dead\0").ok()?,
                    close: *library.get(b"pcap_close\0").ok()?,
                    compile: *library.get(b"pcap_compile\0").ok()?,
                    free_code: *library.get(b"pcap_freecode\0").ok()?,
                    get_error: *library.get(b"pcap_geterr\0").ok()?,
                    offline_filter: *library.get(b"pcap_offline_filter\0").ok()?,
                    lib_version: *library.get(b"pcap_lib_version\0").ok()?,
                    _handle: library,
                })
            }
        })
    }

    /// The library, loaded once.
    fn get() -> Result<&'static FilterLibrary> {
        static LIBRARY: ProcessValue<Option<FilterLibrary>> = ProcessValue::new();
        LIBRARY.get_or_init(FilterLibrary::load).as_ref().ok_or_else(|| missing("filters"))
    }
}

/// libpcap's own description of its version, where the system has it.
pub fn version() -> Option<String> {
    let library = FilterLibrary::get().ok()?;
    // SAFETY: pcap_lib_version returns a NUL-terminated string that lives as long as the library.
    let text = unsafe { CStr::from_ptr((library.lib_version)()) };
    Some(text.to_string_lossy().into_owned())
}

/// Amount of work on an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Enough to know whether it is one, which is quick.
    Check,
    /// A program that runs fast. Of hundreds of ports, it takes libpcap seconds to make.
    Optimize,
}

/// A filter program for frames of one link type.
pub(super) struct FilterProgram {
    library: &'static FilterLibrary,
    code: BpfProgram,
}

// SAFETY: the program is plain memory that libpcap allocated and that only this value points to;
// running it reads it, and libpcap ties neither running nor freeing to a thread.
unsafe impl Send for FilterProgram {}

// SAFETY: through a shared reference a program can only be run, which reads its memory and writes to nothing but the stack
// of the thread that does so.
unsafe impl Sync for FilterProgram {}

impl FilterProgram {
    /// Compiles `expression` for frames of the given link type (as libpcap numbers it, `DLT_`).
    pub(super) fn compile(
        expression: &str,
        link_type: u16,
        effort: Effort,
    ) -> Result<FilterProgram> {
        let library = FilterLibrary::get()?;
        let text = c_text(expression)?;
        let mut code = BpfProgram { len: 0, instructions: std::ptr::null_mut() };
        // SAFETY: pcap_open_dead takes any numbers; the handle is checked, used only here and
        // closed once. `code` and `text` outlive the call that is given their addresses; the error
        // text belongs to the handle and is copied before it is closed.
        unsafe {
            let handle = (library.open_dead)(link_type.into(), SNAPLEN);
            if handle.is_null() {
                return Err(no_filter(expression, "libpcap is out of memory"));
            }
            let optimize = c_int::from(effort == Effort::Optimize);
            let status =
                (library.compile)(handle, &raw mut code, text.as_ptr(), optimize, NETMASK_UNKNOWN);
            let message =
                CStr::from_ptr((library.get_error)(handle)).to_string_lossy().into_owned();
            (library.close)(handle);
            if status != 0 {
                return Err(no_filter(expression, &message));
            }
        }
        Ok(FilterProgram { library, code })
    }

    /// Returns true if a frame of `length` bytes on the wire, of which `captured` are there, matches.
    #[inline]
    pub(super) fn matches(&self, captured: &[u8], length: u32) -> bool {
        let caplen = captured.len().min(u32::MAX as usize) as u32;
        let header = PacketHeader { seconds: 0, microseconds: 0, caplen, length };
        // SAFETY: `code` was filled by a successful pcap_compile and not freed; the header says how
        // many bytes of `captured` may be read, and the program is checked against it.
        unsafe {
            (self.library.offline_filter)(
                &raw const self.code,
                &raw const header,
                captured.as_ptr(),
            ) != 0
        }
    }
}

/// A filter as libpcap takes it.
pub(super) fn c_text(expression: &str) -> Result<CString> {
    CString::new(expression).map_err(|_| no_filter(expression, "contains a NUL byte"))
}

/// A text is no filter, for that reason.
pub(super) fn no_filter(expression: &str, reason: &str) -> Error {
    // People mistake one for the other.
    let other = match Condition::new(expression, &Field::SCHEMA) {
        Ok(_) => "; it is a condition on fields, as the option where of packets takes it",
        Err(_) => "",
    };
    let (expression, reason) = (excerpt(expression), excerpt(reason));
    let message =
        format!("expected a filter expression of libpcap, found \"{expression}\": {reason}{other}");
    Error::new(ErrorKind::Argument, message)
}

impl Drop for FilterProgram {
    fn drop(&mut self) {
        // SAFETY: `code` was filled by pcap_compile and is freed nowhere else.
        unsafe { (self.library.free_code)(&raw mut self.code) }
    }
}
