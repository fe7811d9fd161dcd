//! Panics that become errors: those of a library over a damaged file, and those of defects in Bytewright.
//!
//! A panic is told on standard error before it can be caught. One that becomes an error is told twice then, and the
//! first time in words that are not for people. So [`catch`] keeps it from being told; all other panics are told as
//! the program wants.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether [`catch_all`] was called.
static ALL_ARE_CAUGHT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many [`catch`] of this thread are under way, one in another.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// Where the last panic was that nobody was told of.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What a panic says that ends the program, whoever would catch it: one that leaves a function from which none may.
const LAST_WORDS: [&str; 2] =
    ["panic in a function that cannot unwind", "panic in a destructor during cleanup"];

/// A panic that was caught. It displays as its message and its place in the source.
#[derive(Debug, Clone)]
pub struct Panic {
    message: String,
    place: Option<String>,
}

impl Panic {
    /// What it said.
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
    let _quiet = Quiet::begin();
    catch_unwind(AssertUnwindSafe(work)).map_err(caught)
}

/// Says that no panic of this library's code goes uncaught, as in an extension of a host, which has a copy of the
/// standard library to itself: none is told any more, but for those that end the program. [`catch`] costs less then.
pub fn catch_all() {
    hook();
    ALL_ARE_CAUGHT.store(true, Relaxed);
}

/// Keeps panics of this thread quiet until it is dropped.
struct Quiet {
    is_counted: bool,
}

impl Quiet {
    #[inline]
    fn begin() -> Quiet {
        let is_counted = !ALL_ARE_CAUGHT.load(Relaxed);
        if is_counted {
            count_one_more();
        }
        Quiet { is_counted }
    }
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
    static HOOKED: Once = Once::new();
    // A thread that panics cannot set a hook; that panic has been told by then.
    if HOOKED.is_completed() || std::thread::panicking() {
        return;
    }
    HOOKED.call_once(|| {
        let programs = take_hook();
        set_hook(Box::new(move |panic| match is_caught(panic) {
            true => remember(panic),
            false => programs(panic),
        }));
    });
}

fn is_caught(panic: &PanicHookInfo<'_>) -> bool {
    if ALL_ARE_CAUGHT.load(Relaxed) {
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
