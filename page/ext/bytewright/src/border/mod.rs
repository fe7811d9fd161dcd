//! Functions that the scripts of the page call, and those of the scripts that are called. All `unsafe` of the page is here.
//!
//! A call answers a [`Status`] as a number. Text goes in through [`room`], which has to be asked for before each call, and comes
//! out at [`answer`]. There is one question at a time, and one thread.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::io::{self, Write};

use bytewright::bytes::Source;
use bytewright::{Error, ErrorKind, Result};

use crate::PageQuestion;

// Functions of the scripts.
#[link(wasm_import_module = "bytewright")]
unsafe extern "C" {
    /// Copies up to `len` bytes of a file from offset `at` on; answers how many, 0 at the end, -1 where the browser refuses. Files
    /// are counted from 0 on, in the order in which they were added.
    fn read(file: u32, at: f64, into: *mut u8, len: usize) -> i32;

    /// Takes the next bytes of an answer.
    fn write(from: *const u8, len: usize);

    /// Takes the text of a panic, behind which the program ends.
    fn take_panic(text: *const u8, len: usize);
}

/// Outcome of a call, as the scripts see it.
#[derive(Debug, Clone, Copy)]
enum Status {
    Done = 0,
    /// The answer is the text of an error.
    Failed = 1,
    /// The answer is the damage of a capture that counts up to it.
    Damaged = 2,
}

#[derive(Default)]
struct State {
    input: Vec<u8>,
    answer: Vec<u8>,
    question: Option<PageQuestion>,
    /// Files that were added to the question.
    files: u32,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

impl State {
    fn text(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.input)).into_owned()
    }

    fn end(&mut self, outcome: Result<(Status, Vec<u8>)>) -> u32 {
        let failed = |error: Error| (Status::Failed, error.to_string().into_bytes());
        let (status, answer) = outcome.unwrap_or_else(failed);
        self.answer = answer;
        status as u32
    }
}

/// File of the page.
struct PageFile {
    file: u32,
    at: u64,
    len: u64,
}

impl Source for PageFile {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let before = into.len();
        let spare = into.spare_capacity_mut();
        let len = limit.min(spare.len());
        // SAFETY: the script writes at most `len` bytes to this memory, which has room for them, and answers how many.
        let count = unsafe { read(self.file, self.at as f64, spare.as_mut_ptr().cast(), len) };
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= len) else {
            let message =
                "cannot read the file: the browser refuses it; it may have been changed or removed";
            return Err(Error::new(ErrorKind::Io(None), message));
        };
        // SAFETY: so many bytes behind those that were there have been written, within the capacity.
        unsafe { into.set_len(before + count) };
        self.at += count as u64;
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        self.at = offset;
        Ok(true)
    }

    fn len(&self) -> Option<u64> {
        Some(self.len)
    }

    fn is_nonblocking(&self) -> bool {
        true
    }

    fn skip(&mut self, count: u64) -> Result<u64> {
        let count = count.min(self.len.saturating_sub(self.at));
        self.at += count;
        Ok(count)
    }
}

/// Answer that the scripts take, piece by piece.
struct PageOutput;

impl Write for PageOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the script copies the bytes, which are there until it returns.
        unsafe { write(bytes.as_ptr(), bytes.len()) };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands panics to the scripts.
#[unsafe(no_mangle)]
extern "C" fn prepare() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // SAFETY: the script copies the text, which is there until it returns.
        unsafe { take_panic(text.as_ptr(), text.len()) };
    }));
}

/// Returns memory for `len` bytes of text, which the next call takes.
#[unsafe(no_mangle)]
extern "C" fn room(len: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; len];
        state.input.as_mut_ptr()
    })
}

/// Begins the question of the words in the input, which a NUL separates.
#[unsafe(no_mangle)]
extern "C" fn begin() -> u32 {
    STATE.with_borrow_mut(|state| {
        let words = state.text();
        let question = PageQuestion::new(words.split('\0'));
        let outcome = question.map(|question| {
            state.question = Some(question);
            state.files = 0;
            (Status::Done, Vec::new())
        });
        state.end(outcome)
    })
}

/// Reads the next file, whose name is the input, and whose length is `len`.
#[unsafe(no_mangle)]
extern "C" fn add(len: f64) -> u32 {
    STATE.with_borrow_mut(|state| {
        let name = state.text();
        let file = PageFile { file: state.files, at: 0, len: len as u64 };
        state.files += 1;
        let outcome = match &mut state.question {
            Some(question) => question.add(&name, Box::new(file)),
            None => Err(no_question()),
        };
        let outcome = outcome.map(|damage| match damage {
            Some(damage) => (Status::Damaged, damage.to_string().into_bytes()),
            None => (Status::Done, Vec::new()),
        });
        state.end(outcome)
    })
}

/// Ends the question: the scripts take its answer, and the answer of the call is what there is to say of it, in lines.
#[unsafe(no_mangle)]
extern "C" fn finish() -> u32 {
    STATE.with_borrow_mut(|state| {
        let question = state.question.take().ok_or_else(no_question);
        let outcome = question.and_then(|question| question.finish(Box::new(PageOutput)));
        state.end(outcome.map(|told| (Status::Done, told.join("\n").into_bytes())))
    })
}

/// Returns the place of the answer of the last call.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Returns the bytes of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer_len() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

fn no_question() -> Error {
    Error::new(ErrorKind::Argument, "expected a question that has begun, found none")
}
