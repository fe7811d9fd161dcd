//! Handler of SIGBUS, so that a file that somebody cuts while it is mapped is an error for those who read it, and no signal.
//!
//! A page that is not in its file any more (the file was cut, its disk fails, or a store finds no room) raises SIGBUS in the
//! thread that touches it. The handler maps a page of zeros in its place, sets the flag of the map and returns; then the thread
//! touches the page again and goes on. Readers find zeros, which carry no valid check, and look at the flag.
//! systemd-journald does so, too (sigbus.c).
//!
//! Rules:
//! - The handler is installed once, when the first pages are guarded, and stays. What is not ours goes on to the action that
//!   was there before, with its mask: a fault elsewhere ends the process as it would have, a handler is called, and so is one
//!   for a SIGBUS that somebody sends.
//! - Nobody is fought: who installs another handler later has the faults first. If that one restores ours and returns, the fault
//!   repeats and comes here. If it raises the signal again before (Python's faulthandler does, in case it was enabled
//!   after the first map), that signal only says that a fault will repeat: a signal that a thread of the process sends to a
//!   thread is taken for such a one, and ignored, once between two faults and only while pages are guarded. So a program that
//!   calls raise(SIGBUS) for no fault while a table is open is obeyed at the second call.
//! - A thread that blocks SIGBUS is ended by the system with its process, whatever handlers there are.
//! - If two threads touch a page at once, each maps zeros. What the first has written then may be lost: it would have
//!   been lost anyway, since the page is this process's alone and the map is of no use any more.
//! - The handler uses atomics, mmap and calls for signals only. It keeps errno.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    fence,
};

use crate::forks::ProcessValue;

/// True if a page that is not in its file any more can be touched.
pub(super) const IS_THERE: bool = true;

// Bound (Tables): pieces of files that a process maps by page = 8,192; a file has two up to 1 GiB, and one more each
// time that it is twice as long.
const REGION_COUNT: usize = 8192;

static REGIONS: [GuardedRegion; REGION_COUNT] = [const { GuardedRegion::new() }; REGION_COUNT];

/// Regions that are guarded.
static GUARDED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Action that was there before, as the handler can read it.
static EARLIER: EarlierAction =
    EarlierAction { handler: AtomicUsize::new(libc::SIG_DFL), flags: AtomicI32::new(0) };

/// A page that nobody uses: where the system has as many pieces of address space as it allows, this one is given up for another.
/// Since Linux 6.18, it refuses then also a map that replaces others.
static SPARE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Times that a thread waits for another one that has given it up.
const SPARE_TRIES: usize = 10_000;

/// Bytes that the system maps at once.
static SYSTEM_PAGE_LEN: AtomicUsize = AtomicUsize::new(4096);

/// True if a signal of our own was taken for the news of a fault that repeats, and no fault came since.
static EXPECTS_FAULT: AtomicBool = AtomicBool::new(false);

/// Pages that are guarded, or a free place for some.
///
/// The handler may read one while another thread changes it, and then has to pass it over; it is not the region of
/// the handler's fault, because a region does not change while a thread touches its pages.
struct GuardedRegion {
    /// Changes with the other fields. Its lowest bits are one of the states below, the others count.
    version: AtomicUsize,
    start: AtomicPtr<u8>,
    len: AtomicUsize,
    /// From `Arc::into_raw`.
    was_cut: AtomicPtr<AtomicBool>,
}

/// States of a region: the bits of a version that do not count.
const STATE: usize = 3;
const FREE: usize = 0;
const CHANGING: usize = 1;
const GUARDED: usize = 2;
const GUARDED_FOR_WRITES: usize = 3;

/// Fields of a region, read at one time.
struct RegionFields {
    start: *mut u8,
    len: usize,
    writes: bool,
    was_cut: *const AtomicBool,
}

impl GuardedRegion {
    const fn new() -> Self {
        GuardedRegion {
            version: AtomicUsize::new(FREE),
            start: AtomicPtr::new(ptr::null_mut()),
            len: AtomicUsize::new(0),
            was_cut: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Begins a change, if the region is free.
    fn take(&self) -> bool {
        let version = self.version.load(Relaxed);
        let is_taken = version & STATE == FREE
            && self.version.compare_exchange(version, version | CHANGING, Acquire, Relaxed).is_ok();
        // The fields are written after this is seen: who reads one of them then sees that the version has changed.
        fence(Release);
        is_taken
    }

    /// Ends a change, or begins and ends one by which the region is free.
    fn set_state(&self, state: usize) {
        let version = self.version.load(Relaxed);
        self.version.store((version & !STATE).wrapping_add(STATE + 1) | state, Release);
    }

    /// Returns the fields, if the region is guarded.
    fn read(&self) -> Option<RegionFields> {
        let version = self.version.load(Acquire);
        if !matches!(version & STATE, GUARDED | GUARDED_FOR_WRITES) {
            return None;
        }
        let fields = RegionFields {
            start: self.start.load(Relaxed),
            len: self.len.load(Relaxed),
            writes: version & STATE == GUARDED_FOR_WRITES,
            was_cut: self.was_cut.load(Relaxed),
        };
        fence(Acquire);
        (self.version.load(Relaxed) == version).then_some(fields)
    }
}

/// Handler and flags of a `sigaction`; its mask is that of our own action.
struct EarlierAction {
    handler: AtomicUsize,
    flags: AtomicI32,
}

impl EarlierAction {
    fn keep(&self, action: &libc::sigaction) {
        self.flags.store(action.sa_flags, Relaxed);
        self.handler.store(action.sa_sigaction, Release);
    }
}

/// Installs the handler, unless it was installed before.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn ensure_installed() -> io::Result<()> {
    static ERROR: ProcessValue<Option<i32>> = ProcessValue::new();
    let error = ERROR.get_or_init(|| install().err().map(|e| e.raw_os_error().unwrap_or_default()));
    error.map_or(Ok(()), |error| Err(io::Error::from_raw_os_error(error)))
}

fn install() -> io::Result<()> {
    // SAFETY: asks for a number.
    if let Ok(len) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) {
        SYSTEM_PAGE_LEN.store(len, Relaxed);
    }
    keep_spare();
    // Before ours is there, which may be called at once.
    let earlier = change_action(None)?;
    EARLIER.keep(&earlier);
    let mut ours = earlier;
    ours.sa_sigaction = on_bus_error as *const () as usize;
    // The mask and SA_NODEFER stay as they are, so that a handler that is called by ours runs as it asked for.
    ours.sa_flags &= libc::SA_NODEFER | libc::SA_RESTART;
    ours.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
    let replaced = change_action(Some(&ours))?;
    // Another, if somebody installed it meanwhile.
    EARLIER.keep(&replaced);
    Ok(())
}

/// Sets the action of SIGBUS, if there is one to set, and returns the one before.
fn change_action(action: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    let action = action.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `action` is null or an action whose handler is a function for the signal, and `before` has room for one.
    if unsafe { libc::sigaction(libc::SIGBUS, action, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system wrote the action to it, over zeros, which are a value, too.
    Ok(unsafe { before.assume_init() })
}

/// Has faults of the pages from `start` on answered with zeros, and `was_cut` set then, until [`unguard`].
///
/// # Safety
/// The pages are mapped there, of a whole number of the system's pages, until after [`unguard`]; `writes` says whether they can
/// be written. Whoever touches them refers to the map while it does, and is ready to find other bytes there at any time.
///
/// # Errors
/// Returns `OutOfMemory` if too many regions are guarded, and the system's error if it refuses the handler.
pub(super) unsafe fn guard(
    start: NonNull<u8>,
    len: usize,
    writes: bool,
    was_cut: Arc<AtomicBool>,
) -> io::Result<()> {
    ensure_installed()?;
    let Some(region) = REGIONS.iter().find(|region| region.take()) else {
        return Err(io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!("{REGION_COUNT} parts of files are mapped already"),
        ));
    };
    region.start.store(start.as_ptr(), Relaxed);
    region.len.store(len, Relaxed);
    region.was_cut.store(Arc::into_raw(was_cut).cast_mut(), Relaxed);
    region.set_state(if writes { GUARDED_FOR_WRITES } else { GUARDED });
    GUARDED_COUNT.fetch_add(1, Relaxed);
    Ok(())
}

/// Leaves faults of the pages that begin at `start` to others again.
pub(super) fn unguard(start: NonNull<u8>) {
    for region in &REGIONS {
        let Some(fields) = region.read().filter(|fields| fields.start == start.as_ptr()) else {
            continue;
        };
        region.set_state(FREE);
        GUARDED_COUNT.fetch_sub(1, Relaxed);
        // SAFETY: `guard` put it there by `Arc::into_raw`, and the region, which is free now, does not have it any more. A
        // handler that uses it answers somebody who touches the pages and so refers to the map, which has another.
        drop(unsafe { Arc::from_raw(fields.was_cut) });
        return;
    }
}

/// Handles SIGBUS.
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system calls this with what it says of the signal, and every thread has an errno. The calls that follow are
    // those that a handler may use.
    unsafe {
        let errno = *libc::__errno_location();
        if !replace_page(&*info) && !tells_of_fault(&*info) {
            hand_on(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Maps zeros where a guarded page is missing. Returns false if the signal says something else.
fn replace_page(info: &libc::siginfo_t) -> bool {
    // Not BUS_ADRALN, which zeros do not help.
    if !matches!(info.si_code, libc::BUS_ADRERR | libc::BUS_OBJERR | libc::BUS_MCEERR_AR) {
        return false;
    }
    // SAFETY: a fault of these kinds has an address.
    let address = unsafe { info.si_addr() }.cast::<u8>();
    let holds = |fields: &RegionFields| {
        let from_start = address.addr().checked_sub(fields.start.addr());
        from_start.is_some_and(|from_start| from_start < fields.len)
    };
    let Some(region) = REGIONS.iter().filter_map(GuardedRegion::read).find(holds) else {
        return false;
    };
    EXPECTS_FAULT.store(false, Relaxed);
    let page_len = SYSTEM_PAGE_LEN.load(Relaxed);
    // SAFETY: the thread touches a page of this region, so the region stays as it is until the handler returns, with its flag
    // and its pages. A region begins with a page of the system and holds whole ones.
    unsafe {
        // Before the page is there, which others may read at once.
        (*region.was_cut).store(true, Release);
        let from_start = address.addr() - region.start.addr();
        let page = region.start.add(from_start - from_start % page_len);
        // The system counts the pieces of address space. If there are too many, all pages become zeros, which is one piece.
        map_zeros(page, page_len, region.writes)
            || map_zeros(region.start, region.len, region.writes)
            || map_zeros_in_place_of_spare(region.start, region.len, region.writes)
    }
}

/// Maps pages of zeros where the system refuses even what replaces many pieces by one, and says whether that worked.
///
/// # Safety
/// That of [`map_zeros`].
unsafe fn map_zeros_in_place_of_spare(start: *mut u8, len: usize, writes: bool) -> bool {
    let spare = SPARE.swap(ptr::null_mut(), AcqRel);
    if spare.is_null() {
        // Another thread is doing this, and then there is room.
        // SAFETY: the caller's promise; the other call lets other threads run.
        return (0..SPARE_TRIES)
            .any(|_| unsafe { map_zeros(start, len, writes) || libc::sched_yield() != 0 });
    }
    // SAFETY: the page is a map of its own that nobody touches; the caller's promise about the others.
    let is_mapped = unsafe {
        libc::munmap(spare.cast(), SYSTEM_PAGE_LEN.load(Relaxed));
        map_zeros(start, len, writes)
    };
    keep_spare();
    is_mapped
}

/// Maps the spare page. It is shared, so that the system joins it with no other piece.
fn keep_spare() {
    let (len, flags) = (SYSTEM_PAGE_LEN.load(Relaxed), libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new map, in place of nothing.
    let page = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
    if page != libc::MAP_FAILED {
        SPARE.store(page.cast(), Release);
    }
}

/// Maps pages of zeros in the place of others, and says whether that worked.
///
/// # Safety
/// The pages belong to a guarded region that a thread touches.
unsafe fn map_zeros(start: *mut u8, len: usize, writes: bool) -> bool {
    let protection = if writes { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: all these pages are of one map of ours, whose users are ready for other bytes: what they were promised at `guard`.
    unsafe { libc::mmap(start.cast(), len, protection, flags, -1, 0) != libc::MAP_FAILED }
}

/// Returns true if the signal is taken for one that a later handler raised again for a fault, which then repeats when that
/// handler returns: see the head of this file.
fn tells_of_fault(info: &libc::siginfo_t) -> bool {
    // SAFETY: a signal that a thread was sent has its sender, and this asks for a number.
    let is_ours = info.si_code == libc::SI_TKILL && unsafe { info.si_pid() == libc::getpid() };
    is_ours && GUARDED_COUNT.load(Relaxed) > 0 && !EXPECTS_FAULT.swap(true, Relaxed)
}

/// Does what would have been done without this handler.
///
/// # Safety
/// The arguments are those of a handler of signals.
unsafe fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = EARLIER.handler.load(Acquire);
    let flags = EARLIER.flags.load(Relaxed);
    // SAFETY: the caller promises it of `info`.
    let code = unsafe { (*info).si_code };
    // One that was sent, or tells of memory that nobody touched yet, does not repeat.
    let repeats = code > 0 && code != libc::BUS_MCEERR_AO;
    if handler == libc::SIG_IGN && !repeats {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: sets one of the two actions that are no functions, with no flags and an empty mask. What is raised waits
        // until this handler returns.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
            if !repeats {
                libc::raise(signal);
            }
        }
        return;
    }
    if flags & libc::SA_RESETHAND != 0 {
        EARLIER.handler.store(libc::SIG_DFL, Release);
    }
    // SAFETY: it was installed as a handler, which takes these arguments if it has this flag, and only the number without.
    unsafe {
        if flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]
mod tests {
    //! Goal: what is ours never ends the process, and what is not ours does what it did before.
    //! Method: this program starts itself again, once for each case, and looks how that process ends.

    use std::fs::File;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus, Stdio};
    use std::sync::atomic::AtomicU32;
    use std::time::{Duration, Instant};

    use super::super::mapping::Mapping;
    use super::super::page_map::{PAGE_LEN, PageMap};
    use super::*;

    /// Variable with the name of the case that a started process is for.
    const CASE: &str = "BYTEWRIGHT_TEST_BUS";

    /// Status of a process in which all was as it should be.
    const DONE: i32 = 40;

    /// Status of one that a handler ended.
    const HANDLED: i32 = 41;

    fn file_of(page_count: u64) -> File {
        let name = format!("bytewright_bus_guard_{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        let file = options.create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.set_len(page_count * PAGE_LEN as u64).unwrap();
        file
    }

    /// A map whose file has no pages any more.
    fn cut_map() -> PageMap {
        let file = file_of(300_000);
        let map = PageMap::of_file(file.try_clone().unwrap(), true).unwrap();
        assert_eq!(map.words(0).unwrap()[0].load(Relaxed), 0);
        file.set_len(0).unwrap();
        map
    }

    fn is_zero_and_cut(map: &PageMap, page: u32) -> bool {
        map.words(page).unwrap()[0].load(Relaxed) == 0 && map.was_cut()
    }

    /// Touches a page that is not in its file, and not ours.
    fn fault_elsewhere() {
        let file = file_of(1);
        let mapping = Mapping::shared(&file, 512).unwrap();
        file.set_len(0).unwrap();
        assert_eq!(mapping[0].load(Relaxed), 0);
    }

    /// Sets the action of SIGBUS, as a program could, and returns the one before.
    fn set_action(handler: usize, flags: c_int) -> libc::sigaction {
        // SAFETY: an action of zeros has an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        change_action(Some(&action)).unwrap()
    }

    extern "C" fn exit_with_info(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the arguments are those of a handler of signals.
        unsafe {
            let is_fault = (*info).si_code == libc::BUS_ADRERR && !(*info).si_addr().is_null();
            libc::_exit(if signal == libc::SIGBUS && is_fault { HANDLED } else { 1 });
        }
    }

    extern "C" fn exit(signal: c_int) {
        // SAFETY: ends the process.
        unsafe { libc::_exit(if signal == libc::SIGBUS { HANDLED } else { 1 }) };
    }

    static CALLS: AtomicU32 = AtomicU32::new(0);

    extern "C" fn count(_: c_int) {
        CALLS.fetch_add(1, Relaxed);
    }

    /// Action that `restore_and_raise` restores: ours.
    static OURS: EarlierAction =
        EarlierAction { handler: AtomicUsize::new(0), flags: AtomicI32::new(0) };

    extern "C" fn restore_and_raise(signal: c_int) {
        CALLS.fetch_add(1, Relaxed);
        set_action(OURS.handler.load(Relaxed), OURS.flags.load(Relaxed));
        // SAFETY: sends a signal.
        unsafe { libc::raise(signal) };
    }

    /// Sends the signal to the process, of which another thread may take it, and waits so long for a call of `count`.
    fn send_to_process(patience: Duration) {
        let (calls, begin) = (CALLS.load(Relaxed), Instant::now());
        // SAFETY: sends a signal.
        unsafe { libc::kill(libc::getpid(), libc::SIGBUS) };
        while CALLS.load(Relaxed) == calls && begin.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn send_to_thread() {
        // SAFETY: sends a signal.
        unsafe { libc::raise(libc::SIGBUS) };
    }

    /// Faults at every second page of more pieces than the system gives a process.
    fn fault_at_many_pages() {
        let map = cut_map();
        let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
        if limit.trim().parse::<u32>().unwrap() < 100_000 {
            assert!((0..130_000).all(|page| is_zero_and_cut(&map, page * 2)));
        }
    }

    /// Guards regions until there are no more.
    fn guard_too_many() {
        let pages = Mapping::anonymous(REGION_COUNT * 8192).unwrap();
        let places: Vec<NonNull<u8>> =
            pages.chunks(8192).map(|part| NonNull::from(&part[0]).cast()).collect();
        for _ in 0..3 {
            for place in &places {
                // SAFETY: the first page there, or several on a system with small ones, is mapped until the end of the test.
                unsafe { guard(*place, 65536, true, Arc::default()) }.unwrap();
            }
            let refused = PageMap::of_file(file_of(1), true).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
            assert_eq!(GUARDED_COUNT.load(Relaxed), REGION_COUNT);
            places.iter().for_each(|place| unguard(*place));
            assert_eq!(GUARDED_COUNT.load(Relaxed), 0);
        }
        assert!(is_zero_and_cut(&cut_map(), 3));
    }

    /// A fork's child reads a page that is not there.
    fn fault_in_a_forked_child() {
        let map = cut_map();
        // SAFETY: the child only reads words.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(i32::from(!is_zero_and_cut(&map, 5)));
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
        assert!(!map.was_cut());
    }

    /// Many threads touch the same missing pages at the same time.
    fn fault_in_many_threads() {
        let map = cut_map();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for page in 0..2000 {
                        barrier.wait();
                        assert!(is_zero_and_cut(&map, page));
                    }
                });
            }
        });
    }

    /// Does the work of the other process, which is this test with a case; passes without one.
    #[test]
    fn the_process_of_other_tests() {
        let Ok(case) = std::env::var(CASE) else { return };
        // SAFETY: no core file is wanted.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        }
        let (before, what) = case.split_once(' ').unwrap();
        match before {
            "default:" => _ = set_action(libc::SIG_DFL, 0),
            "ignored:" => _ = set_action(libc::SIG_IGN, 0),
            "info:" => {
                let _ = set_action(exit_with_info as *const () as usize, libc::SA_SIGINFO);
            }
            "plain:" => _ = set_action(exit as *const () as usize, 0),
            "counted:" => _ = set_action(count as *const () as usize, 0),
            "once:" => _ = set_action(count as *const () as usize, libc::SA_RESETHAND),
            _ => {}
        }
        let map = cut_map();
        assert!(is_zero_and_cut(&map, 7));
        match what {
            "fault" => fault_elsewhere(),
            "sent" if before == "ignored:" => send_to_process(Duration::from_millis(50)),
            "sent" => send_to_process(Duration::from_secs(60)),
            "sent twice" => (0..2).for_each(|_| send_to_process(Duration::from_secs(60))),
            "raised" => send_to_thread(),
            "raised twice" => (0..2).for_each(|_| send_to_thread()),
            "raised unmapped" => {
                drop(map);
                send_to_thread();
            }
            "raised later" => {
                let flags = if before == "nested:" { libc::SA_NODEFER } else { 0 };
                let ours = set_action(restore_and_raise as *const () as usize, flags);
                OURS.keep(&ours);
                assert!(is_zero_and_cut(&map, 8));
                assert_eq!(CALLS.swap(0, Relaxed), 1);
            }
            "many pages" => {
                drop(map);
                fault_at_many_pages();
            }
            "too many" => {
                drop(map);
                guard_too_many();
            }
            "forked" => fault_in_a_forked_child(),
            "threads" => fault_in_many_threads(),
            _ => panic!("{what} is no case"),
        }
        // It still works, and the handler before ours was called as often as it should.
        assert!(is_zero_and_cut(&cut_map(), 9));
        let calls = match case.as_str() {
            "counted: sent twice" => 2,
            "counted: raised twice" => 1,
            _ => 0,
        };
        assert_eq!(CALLS.load(Relaxed), calls);
        std::process::exit(DONE);
    }

    /// Returns how the process of a case ends.
    fn end_of(case: &str) -> ExitStatus {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::bus_guard::tests::the_process_of_other_tests", "--nocapture"])
            .env(CASE, case)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        process.wait().unwrap()
    }

    // Promise (tree-table-file): also A file that was cut is an error
    #[test]
    fn what_is_not_ours_goes_on_to_the_action_before() {
        for case in [
            "untouched: fault",
            "default: fault",
            "ignored: fault",
            "default: sent",
            "default: raised twice",
            "default: raised unmapped",
            "once: sent twice",
        ] {
            assert_eq!(end_of(case).signal(), Some(libc::SIGBUS), "{case}");
        }
        for case in ["info: fault", "plain: fault", "plain: sent", "plain: raised unmapped"] {
            assert_eq!(end_of(case).code(), Some(HANDLED), "{case}");
        }
        for case in ["ignored: sent", "counted: sent twice", "counted: raised twice"] {
            assert_eq!(end_of(case).code(), Some(DONE), "{case}");
        }
    }

    #[test]
    fn a_handler_that_came_later_and_raises_the_signal_again_ends_nothing() {
        for case in ["default: raised later", "nested: raised later", "default: raised"] {
            assert_eq!(end_of(case).code(), Some(DONE), "{case}");
        }
    }

    // Promise (tree-table-file): also A file that was cut is an error
    #[test]
    fn a_process_goes_on_however_many_faults_it_has_and_wherever() {
        for case in ["default: threads", "default: forked", "default: many pages"] {
            assert_eq!(end_of(case).code(), Some(DONE), "{case}");
        }
    }

    #[test]
    fn too_many_regions_are_refused_and_free_ones_used_again() {
        assert_eq!(end_of("default: too many").code(), Some(DONE));
    }
}
