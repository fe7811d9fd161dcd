//! One network interface, opened by libpcap, which is loaded at run time. One of the files that may use `unsafe` to
//! call a C library.
//!
//! Only functions whose signatures have stood since libpcap 1.5 are used:
//! <https://www.tcpdump.org/manpages/pcap.3pcap.html>.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_uint};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::LiveOptions;
use super::libpcap::{
    BpfProgram, Handle, NETMASK_UNKNOWN, PacketHeader, c_text, load, missing, no_filter,
};
use super::live_interface::LiveInterface;
use crate::error::excerpt;
use crate::forks::ProcessValue;
use crate::{Error, ErrorKind, Result};

/// `PCAP_ERRBUF_SIZE`.
const ERROR_LEN: usize = 256;

/// The time after which packets are handed over, though their block of the ring buffer is not full.
pub(super) const TIMEOUT: Duration = Duration::from_millis(50);

/// `PCAP_TSTAMP_PRECISION_NANO`.
const NANOSECONDS: c_int = 1;

/// Statuses of `pcap_activate`.
const NO_SUCH_DEVICE: c_int = -5;
const PERM_DENIED: c_int = -8;
const PROMISC_PERM_DENIED: c_int = -11;

/// `EPERM`.
const NOT_PERMITTED: i32 = 1;

/// `struct pcap_stat`, with room for what some systems add.
#[repr(C)]
#[derive(Default)]
struct PcapStat {
    /// Some systems count those that the filter leaves out, and Linux those of the loopback interface twice.
    _received: c_uint,
    dropped: c_uint,
    dropped_by_interface: c_uint,
    _more: [c_uint; 5],
}

/// Lost packets that libpcap has counted since the interface was opened, up to 2^32 and then from 0 again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    pub(super) dropped: u32,
    pub(super) dropped_by_interface: u32,
}

/// `struct pcap_if`.
#[repr(C)]
struct ListedInterface {
    next: *mut ListedInterface,
    name: *const c_char,
    description: *const c_char,
    addresses: *const ListedAddress,
    flags: c_uint,
}

/// `struct pcap_addr`, as far as it is read.
#[repr(C)]
struct ListedAddress {
    next: *const ListedAddress,
    address: *const libc::sockaddr,
}

/// The functions that are called, each with its C signature.
struct DeviceLibrary {
    create: unsafe extern "C" fn(*const c_char, *mut c_char) -> Handle,
    close: unsafe extern "C" fn(Handle),
    set_snaplen: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_promiscuous: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_timeout: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_buffer_size: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_precision: unsafe extern "C" fn(Handle, c_int) -> c_int,
    get_precision: unsafe extern "C" fn(Handle) -> c_int,
    activate: unsafe extern "C" fn(Handle) -> c_int,
    set_nonblock: unsafe extern "C" fn(Handle, c_int, *mut c_char) -> c_int,
    selectable_fd: unsafe extern "C" fn(Handle) -> c_int,
    data_link: unsafe extern "C" fn(Handle) -> c_int,
    snapshot: unsafe extern "C" fn(Handle) -> c_int,
    compile: unsafe extern "C" fn(Handle, *mut BpfProgram, *const c_char, c_int, c_uint) -> c_int,
    set_filter: unsafe extern "C" fn(Handle, *mut BpfProgram) -> c_int,
    free_code: unsafe extern "C" fn(*mut BpfProgram),
    next: unsafe extern "C" fn(Handle, *mut *const PacketHeader, *mut *const c_uchar) -> c_int,
    stats: unsafe extern "C" fn(Handle, *mut PcapStat) -> c_int,
    get_error: unsafe extern "C" fn(Handle) -> *const c_char,
    find_all: unsafe extern "C" fn(*mut *mut ListedInterface, *mut c_char) -> c_int,
    free_all: unsafe extern "C" fn(*mut ListedInterface),
    /// Keeps the functions above loaded.
    _handle: libloading::Library,
}

impl DeviceLibrary {
    fn load() -> Option<DeviceLibrary> {
        load(|library| {
            // SAFETY: each symbol is libpcap's function of that name, and the type it is given here
            // is its prototype in pcap/pcap.h, unchanged since 1.5; `_handle` outlives them.
            unsafe {
                Some(DeviceLibrary {
                    create: *library.get(b"pcap_create\0").ok()?,
                    close: *library.get(b"pcap_close\0").ok()?,
                    set_snaplen: *library.get(b"pcap_set_snaplen\0").ok()?,
                    set_promiscuous: *library.get(b"pcap_set_promisc\0").ok()?,
                    set_timeout: *library.get(b"pcap_set_timeout\0").ok()?,
                    set_buffer_size: *library.get(b"pcap_set_buffer_size\0").ok()?,
                    set_precision: *library.get(b"pcap_set_tstamp_precision\0").ok()?,
                    get_precision: *library.get(b"pcap_get_tstamp_precision\0").ok()?,
                    activate: *library.get(b"pcap_activate\0").ok()?,
                    set_nonblock: *library.get(b"pcap_setnonblock\0").ok()?,
                    selectable_fd: *library.get(b"pcap_get_selectable_fd\0").ok()?,
                    data_link: *library.get(b"pcap_datalink\0").ok()?,
                    snapshot: *library.get(b"pcap_snapshot\0").ok()?,
                    compile: *library.get(b"pcap_compile\0").ok()?,
                    set_filter: *library.get(b"pcap_setfilter\0").ok()?,
                    free_code: *library.get(b"pcap_freecode\0").ok()?,
                    next: *library.get(b"pcap_next_ex\0").ok()?,
                    stats: *library.get(b"pcap_stats\0").ok()?,
                    get_error: *library.get(b"pcap_geterr\0").ok()?,
                    find_all: *library.get(b"pcap_findalldevs\0").ok()?,
                    free_all: *library.get(b"pcap_freealldevs\0").ok()?,
                    _handle: library,
                })
            }
        })
    }

    /// The library, loaded once.
    fn get() -> Result<&'static DeviceLibrary> {
        static LIBRARY: ProcessValue<Option<DeviceLibrary>> = ProcessValue::new();
        LIBRARY
            .get_or_init(DeviceLibrary::load)
            .as_ref()
            .ok_or_else(|| missing("captures from interfaces"))
    }

    /// The interfaces that there are, as far as they may be known.
    fn interfaces(&self) -> Result<Vec<LiveInterface>> {
        let mut list = std::ptr::null_mut();
        let mut message = [0; ERROR_LEN];
        let mut found = Vec::new();
        // SAFETY: the list is libpcap's, and null where there is none; its entries, their texts and their addresses stay until
        // it is freed, once, at the end, and all of them was copied by then. The message ends with a NUL.
        unsafe {
            if (self.find_all)(&raw mut list, message.as_mut_ptr()) != 0 {
                let message = CStr::from_ptr(message.as_ptr()).to_string_lossy();
                return Err(Error::io("list interfaces", &std::io::Error::other(message)));
            }
            let mut entry: *const ListedInterface = list;
            while let Some(interface) = entry.as_ref() {
                found.push(LiveInterface {
                    name: text_at(interface.name).unwrap_or_default(),
                    description: text_at(interface.description),
                    addresses: addresses_at(interface.addresses),
                    flags: interface.flags,
                });
                entry = interface.next;
            }
            (self.free_all)(list);
        }
        Ok(found)
    }
}

/// Copies a text of libpcap's; none where the pointer is null.
///
/// # Safety
/// The pointer is null, or leads to a text that ends with a NUL.
unsafe fn text_at(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises, and null is left out.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Copies the addresses of IPv4 and IPv6 of an interface.
///
/// # Safety
/// The pointer is null, or leads to a list of libpcap's that is not freed yet.
unsafe fn addresses_at(mut entry: *const ListedAddress) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    // SAFETY: as the caller promises. An address is as long as its family says, and libpcap's may not be aligned.
    unsafe {
        while let Some(listed) = entry.as_ref() {
            if let Some(address) = listed.address.as_ref() {
                match i32::from(address.sa_family) {
                    libc::AF_INET => {
                        let address = listed.address.cast::<libc::sockaddr_in>().read_unaligned();
                        addresses
                            .push(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()).into());
                    }
                    libc::AF_INET6 => {
                        let address = listed.address.cast::<libc::sockaddr_in6>().read_unaligned();
                        addresses.push(Ipv6Addr::from(address.sin6_addr.s6_addr).into());
                    }
                    _ => {}
                }
            }
            entry = listed.next;
        }
    }
    addresses
}

/// The interfaces that packets can be captured from, as libpcap lists them.
///
/// # Errors
/// `MissingLibrary` without libpcap, `Io` where the system refuses the list.
pub fn live_interfaces() -> Result<Vec<LiveInterface>> {
    DeviceLibrary::get()?.interfaces()
}

/// An interface that packets are taken from.
pub(super) struct Device {
    library: &'static DeviceLibrary,
    handle: Handle,
    /// Units of the second part of a time in a nanosecond's place.
    nanoseconds_per_unit: u32,
}

// SAFETY: the handle is used by one thread at a time, whoever owns this value; libpcap ties it to no thread.
unsafe impl Send for Device {}

/// A packet as libpcap gives it.
pub(super) struct DevicePacket<'d> {
    pub(super) seconds: u32,
    pub(super) nanoseconds: u32,
    pub(super) length: u32,
    pub(super) captured: &'d [u8],
}

impl Device {
    /// Opens the interface of that name, and has the system leave out what `filter` does not match.
    pub(super) fn open(name: &str, options: &LiveOptions, filter: Option<&str>) -> Result<Device> {
        let library = DeviceLibrary::get()?;
        let Ok(c_name) = CString::new(name) else { return Err(unknown(library, name)) };
        let mut message = [0; ERROR_LEN];
        // SAFETY: the name ends with a NUL, and the message has the room that libpcap asks for.
        let handle = unsafe { (library.create)(c_name.as_ptr(), message.as_mut_ptr()) };
        if handle.is_null() {
            return Err(unknown(library, name));
        }
        let mut device = Device { library, handle, nanoseconds_per_unit: 1000 };
        device.activate(name, options)?;
        if let Some(filter) = filter {
            device.set_filter(filter)?;
        }
        Ok(device)
    }

    fn activate(&mut self, name: &str, options: &LiveOptions) -> Result<()> {
        let int = |number: u32| c_int::try_from(number).unwrap_or(c_int::MAX);
        let (library, handle) = (self.library, self.handle);
        let mut message = [0; ERROR_LEN];
        // SAFETY: the handle is open and was not activated before, as the setters ask. Only they can be refused for a
        // value, which then keeps its default.
        let status = unsafe {
            (library.set_snaplen)(handle, int(options.snaplen));
            (library.set_promiscuous)(handle, options.promiscuous.into());
            (library.set_timeout)(handle, TIMEOUT.as_millis() as c_int);
            (library.set_buffer_size)(handle, int(options.buffer));
            (library.set_precision)(handle, NANOSECONDS);
            (library.activate)(handle)
        };
        if status < 0 {
            return Err(self.refused(name, status));
        }
        // SAFETY: the handle is activated, and the message has the room that libpcap asks for.
        let (precision, status) = unsafe {
            let status = (library.set_nonblock)(handle, 1, message.as_mut_ptr());
            ((library.get_precision)(handle), status)
        };
        if status < 0 {
            return Err(self.refused(name, status));
        }
        self.nanoseconds_per_unit = if precision == NANOSECONDS { 1 } else { 1000 };
        Ok(())
    }

    fn set_filter(&mut self, expression: &str) -> Result<()> {
        let text = c_text(expression)?;
        let mut code = BpfProgram { len: 0, instructions: std::ptr::null_mut() };
        // SAFETY: the handle is activated; `code` and `text` outlive the calls that are given their addresses, and the
        // program is freed once, where it was made.
        let status = unsafe {
            let compiled = (self.library.compile)(
                self.handle,
                &raw mut code,
                text.as_ptr(),
                1,
                NETMASK_UNKNOWN,
            );
            if compiled == 0 {
                let status = (self.library.set_filter)(self.handle, &raw mut code);
                (self.library.free_code)(&raw mut code);
                status
            } else {
                compiled
            }
        };
        if status == 0 { Ok(()) } else { Err(no_filter(expression, &self.message())) }
    }

    /// The link type of its packets, as libpcap numbers it in memory.
    pub(super) fn data_link(&self) -> u16 {
        // SAFETY: the handle is activated.
        let number = unsafe { (self.library.data_link)(self.handle) };
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Bytes that are kept of each packet at most.
    pub(super) fn snaplen(&self) -> u32 {
        // SAFETY: the handle is activated.
        let snaplen = unsafe { (self.library.snapshot)(self.handle) };
        u32::try_from(snaplen).unwrap_or(0)
    }

    /// Returns the descriptor to wait for: readable when there are packets.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the handle is activated; what is no descriptor is answered as -1, which is left out, and another one
        // is open as long as the handle, which this borrow keeps open.
        unsafe {
            let fd = (self.library.selectable_fd)(self.handle);
            (fd >= 0).then(|| BorrowedFd::borrow_raw(fd))
        }
    }

    /// The next packet, if there is one now.
    pub(super) fn next(&mut self) -> Result<Option<DevicePacket<'_>>> {
        let (mut header, mut bytes) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the handle is activated. Where the answer is 1, both point to what stays until the next call on the
        // handle, which the borrow of this value keeps away, and the header counts the bytes.
        let (header, captured) = unsafe {
            match (self.library.next)(self.handle, &raw mut header, &raw mut bytes) {
                1 => {}
                0 => return Ok(None),
                _ => return Err(Error::io("capture", &std::io::Error::other(self.message()))),
            }
            let header: &PacketHeader = &*header;
            (header, std::slice::from_raw_parts(bytes, header.caplen as usize))
        };
        Ok(Some(DevicePacket {
            seconds: header.seconds as u32,
            nanoseconds: (header.microseconds as u32).saturating_mul(self.nanoseconds_per_unit),
            length: header.length,
            captured,
        }))
    }

    /// Returns the counts of libpcap so far.
    pub(super) fn statistics(&self) -> Option<Statistics> {
        let mut stat = PcapStat::default();
        // SAFETY: the handle is activated, and `stat` has more room than libpcap writes to.
        let status = unsafe { (self.library.stats)(self.handle, &raw mut stat) };
        let PcapStat { dropped, dropped_by_interface, .. } = stat;
        (status == 0).then_some(Statistics { dropped, dropped_by_interface })
    }

    /// libpcap's words for what failed last.
    fn message(&self) -> String {
        // SAFETY: the handle is open, and the text, which ends with a NUL, is copied at once.
        let text = unsafe { CStr::from_ptr((self.library.get_error)(self.handle)) };
        text.to_string_lossy().into_owned()
    }

    /// Returns the error for an interface that cannot be opened.
    fn refused(&self, name: &str, status: c_int) -> Error {
        match status {
            NO_SUCH_DEVICE => unknown(self.library, name),
            PERM_DENIED | PROMISC_PERM_DENIED => Error::new(
                ErrorKind::Io(Some(NOT_PERMITTED)),
                format!(
                    "expected the right to capture from the interface \"{name}\", found none; run as root, or \
                     with CAP_NET_RAW (setcap cap_net_raw=ep PROGRAM)"
                ),
            ),
            _ => Error::new(
                ErrorKind::Io(None),
                format!("cannot capture from the interface \"{name}\": {}", self.message()),
            ),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and closed nowhere else.
        unsafe { (self.library.close)(self.handle) }
    }
}

/// There is no interface of that name.
fn unknown(library: &DeviceLibrary, name: &str) -> Error {
    let interfaces = library.interfaces().unwrap_or_default();
    let names: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    let mut there_are = names.join(", ");
    if there_are.is_empty() {
        there_are.push_str("none");
    }
    let (name, there_are) = (excerpt(name), excerpt(&there_are));
    let message =
        format!("expected the name of an interface, found \"{name}\"; there are {there_are}");
    Error::new(ErrorKind::Argument, message)
}
