//! Panics that become errors: those of a library over a damaged file, and those of defects in Bytewright.
//!
//! A panic is told on standard error before it can be caught. One that becomes an error is told twice then, and the
//! first time in words that are not for people. So [`catch`] keeps it from being told; all other panics are told as
//! the program wants.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

use crate::forks::ProcessValue;

/// Tasks of [`catch`] before its work: one number, so that most of the time it looks at nothing else.
static MODE: AtomicU8 = AtomicU8::new(0);

/// Of [`MODE`]: [`catch_all`] was called.
const ALL_ARE_CAUGHT: u8 = 1;
/// Of [`MODE`]: [`panic_in_nth`] was called, and the panic is still to come.
const ONE_PANICS: u8 = 2;

/// Calls of [`catch`] until one panics, where [`MODE`] says so.
static UNTIL_PANIC: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of calls of [`catch`] under way in this thread, one in another.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// Place of the last panic that nobody was told of.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Messages of a panic that ends the program, whoever would catch it: one that leaves a function from which none may.
const LAST_WORDS: [&str; 2] =
    ["panic in a function that cannot unwind", "panic in a destructor during cleanup"];

/// A panic that was caught. It displays as its message and its place in the source.
#[derive(Debug, Clone)]
pub struct Panic {
    message: String,
    place: Option<String>,
}

impl Panic {
    /// Returns its message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

/// Does `work`. A panic in it is the answer, and is not told on standard error.
///
/// # Errors
/// The panic. What `work` was changing may be half changed.
#[inline]
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    let _quiet = Quiet::begin()?;
    catch_unwind(AssertUnwindSafe(work)).map_err(caught)
}

/// Makes the `count`th [`catch`] from now on, in whatever thread, answer a panic in place of its work; none for 0. For
/// tests of what a host makes of a defect, of which there should be no other. The answer is what was left of an earlier
/// count.
#[doc(hidden)]
pub fn panic_in_nth(count: usize) -> usize {
    let left = UNTIL_PANIC.swap(count, Relaxed);
    match count {
        0 => MODE.fetch_and(!ONE_PANICS, Relaxed),
        _ => MODE.fetch_or(ONE_PANICS, Relaxed),
    };
    left
}

/// Says that no panic of this library's code goes uncaught, as in an extension of a host, which has a copy of the
/// standard library to itself: none is told any more, but for those that end the program. [`catch`] costs less then.
pub fn catch_all() {
    hook();
    MODE.fetch_or(ALL_ARE_CAUGHT, Relaxed);
}

/// Keeps panics of this thread quiet until it is dropped.
struct Quiet {
    is_counted: bool,
}

impl Quiet {
    /// The panic that a test asked for, where it is its turn.
    #[inline]
    fn begin() -> Result<Quiet, Panic> {
        match MODE.load(Relaxed) {
            ALL_ARE_CAUGHT => Ok(Quiet { is_counted: false }),
            mode => begin_slowly(mode),
        }
    }
}

// Not inlined, like the two below.
#[inline(never)]
fn begin_slowly(mode: u8) -> Result<Quiet, Panic> {
    let is_counted = mode & ALL_ARE_CAUGHT == 0;
    if is_counted {
        count_one_more();
    }
    let quiet = Quiet { is_counted };
    if mode & ONE_PANICS != 0 && is_last_before_panic() {
        catch_unwind(requested).map_err(caught)?;
    }
    Ok(quiet)
}

#[expect(clippy::panic, reason = "a test asked for it")]
fn requested() {
    panic!("a panic that a test asked for")
}

fn is_last_before_panic() -> bool {
    let left = UNTIL_PANIC.fetch_update(Relaxed, Relaxed, |count| count.checked_sub(1));
    let is_last = left == Ok(1);
    if is_last {
        MODE.fetch_and(!ONE_PANICS, Relaxed);
    }
    is_last
}

// Neither is inlined: there are many places that catch.
#[inline(never)]
fn count_one_more() {
    hook();
    CATCHING.set(CATCHING.get() + 1);
}

#[inline(never)]
fn count_one_less() {
    CATCHING.set(CATCHING.get() - 1);
}

impl Drop for Quiet {
    #[inline]
    fn drop(&mut self) {
        if self.is_counted {
            count_one_less();
        }
    }
}

/// Puts a hook before the program's, once, that says nothing of panics that are caught here.
fn hook() {
    static HOOKED: ProcessValue<()> = ProcessValue::new();
    // A thread that panics cannot set a hook; that panic has been told by then.
    if std::thread::panicking() {
        return;
    }
    HOOKED.get_or_init(|| {
        let programs = take_hook();
        set_hook(Box::new(move |panic| match is_caught(panic) {
            true => remember(panic),
            false => programs(panic),
        }));
    });
}

fn is_caught(panic: &PanicHookInfo<'_>) -> bool {
    if MODE.load(Relaxed) & ALL_ARE_CAUGHT != 0 {
        return !LAST_WORDS.contains(&text(panic.payload()));
    }
    CATCHING.try_with(Cell::get).is_ok_and(|count| count > 0)
}

fn remember(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(|place| {
        format!("{}:{}:{}", within_sources(place.file()), place.line(), place.column())
    });
    // At the end of a thread there is no place to keep it.
    let _ = PLACE.try_with(|kept| *kept.borrow_mut() = place);
}

/// The name of a source without the folders of the machine that built it, which are nobody's business.
fn within_sources(file: &str) -> &str {
    if !file.starts_with('/') {
        return file;
    }
    let crates =
        file.split_once("/registry/src/").and_then(|(_, of_registry)| of_registry.split_once('/'));
    match crates {
        Some((_, path)) => path,
        None => file.rsplit('/').next().unwrap_or(file),
    }
}

#[cold]
#[inline(never)]
fn caught(payload: Box<dyn Any + Send>) -> Panic {
    let place = PLACE.try_with(RefCell::take).ok().flatten();
    Panic { message: text(&*payload).to_owned(), place }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}
