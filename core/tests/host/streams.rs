//! Goal: a reader and a writer of a session give, and write, the same bytes whatever their host does: an interrupt or an
//! error at any step takes and doubles nothing, and no turn stays taken.
//!
//! Method: random operations on random bytes, which come and go in random pieces through a host that raises wherever it is
//! asked. What was interrupted is done again. The answers are those of a slow, obvious twin over the whole bytes.
#![allow(unsafe_code, reason = "a host writes to memory that is not initialised")]

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::io::SeekFrom;
use std::mem::MaybeUninit;
use std::path::PathBuf;

use bytewright::bytes::{Compression, Feed, FileSource, LineRule, Search, Separator};
use bytewright::files::FileWriter;
use bytewright::host::{
    Blocking, Destination, GATHERED_MAX, Host, Operation, ReaderOptions, SingleCaller,
    SingleCallerHost, StreamHost, TurnHost, Whence,
};
use bytewright::wire::{VarintStart, varint_at_start};
use bytewright::{Error, ErrorKind};

use crate::bytes_cases::{gzip, zstd};
use crate::generate::{Random, seeds};
use crate::raised::Raised;

type Reader = bytewright::host::HostReader<SingleCaller>;
type Writer = bytewright::host::HostWriter<SingleCaller>;
type Result<T, E = Raised> = std::result::Result<T, E>;

/// A host that raises now and then wherever it is asked for something, with an object of `bytes`.
struct Trying {
    random: RefCell<Random>,
    /// It raises once in so many times; never where this is 0.
    raises: Cell<usize>,
    has_turn: Cell<bool>,
    bytes: RefCell<Vec<u8>>,
    position: Cell<usize>,
}

impl Trying {
    fn new(bytes: Vec<u8>, position: usize, random: &mut Random) -> Trying {
        Trying {
            raises: Cell::new(3 + random.below(40)),
            random: RefCell::new(Random::new(random.next())),
            has_turn: Cell::new(false),
            bytes: RefCell::new(bytes),
            position: Cell::new(position),
        }
    }

    fn below(&self, bound: usize) -> usize {
        self.random.borrow_mut().below(bound)
    }

    fn may_raise(&self) -> Result<()> {
        let raises = self.raises.get();
        if raises > 0 && self.below(raises) == 0 { Err(Raised::ByHost) } else { Ok(()) }
    }
}

impl Host for Trying {
    type Error = Raised;

    fn error(&self, error: Error) -> Raised {
        Raised::ByCore(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>> {
        self.may_raise()?;
        match self.below(3) {
            0 => return Ok(None),
            1 => wake(),
            _ => {}
        }
        Ok(Some(work()))
    }

    fn check_interrupts(&self) -> Result<()> {
        self.may_raise()
    }
}

impl TurnHost for Trying {
    type Caller = SingleCaller;

    fn caller(&self) -> Result<SingleCaller, Self::Error> {
        Ok(SingleCaller)
    }
    fn is_running(&self, _: &SingleCaller) -> Result<bool, Self::Error> {
        Ok(true)
    }
    fn is_of_this_thread(&self, _: &SingleCaller) -> bool {
        true
    }

    fn lock_turn(&self) -> Result<()> {
        self.may_raise()?;
        assert!(!self.has_turn.replace(true), "a turn is taken once");
        Ok(())
    }

    fn unlock_turn(&self) -> Result<()> {
        assert!(self.has_turn.replace(false), "a turn that was taken is given back");
        Ok(())
    }
}

impl StreamHost for Trying {
    fn read_into(&self, feed: &Feed) -> Result<()> {
        self.may_raise()?;
        let count = self.below([1, 10, 3000, 100_000][self.below(4)]);
        let bytes = self.bytes.borrow();
        let rest = bytes.get(self.position.get()..).unwrap_or_default();
        if rest.is_empty() {
            feed.end();
        }
        feed.push(&rest[..count.min(rest.len())]);
        self.position.set(self.position.get() + count.min(rest.len()));
        // The bytes it brought are there, whatever comes then.
        self.may_raise()
    }

    fn write_from(&self, writer: &Writer) -> Result<()> {
        self.may_raise()?;
        let most = self.below([2, 1000, 200_000][self.below(3)]);
        let taken = writer.gathered(most, |bytes| {
            let (mut object, at) = (self.bytes.borrow_mut(), self.position.get());
            let len = object.len().max(at + bytes.len());
            object.resize(len, 0);
            object[at..at + bytes.len()].copy_from_slice(bytes);
            bytes.len()
        });
        self.position.set(self.position.get() + taken);
        writer.forget(taken);
        self.may_raise()
    }

    fn flush(&self, _: bool) -> Result<()> {
        self.may_raise()
    }

    fn seek(&self, place: SeekFrom) -> Result<Option<u64>> {
        self.may_raise()?;
        let position = match place {
            SeekFrom::Start(offset) => offset as usize,
            SeekFrom::Current(offset) => self.position.get().saturating_add_signed(offset as isize),
            SeekFrom::End(offset) => {
                self.bytes.borrow().len().saturating_add_signed(offset as isize)
            }
        };
        self.position.set(position);
        // It has gone there, and nobody is told.
        self.may_raise()?;
        Ok(Some(position as u64))
    }
}

/// Memory of a host, all of which was written to.
#[derive(Default)]
struct Memory {
    slots: Vec<MaybeUninit<u8>>,
    len: usize,
    is_locked: bool,
    raises: usize,
}

impl Destination for Memory {
    type Error = Raised;

    fn room(&mut self, len: usize, count: usize) -> Result<&mut [MaybeUninit<u8>]> {
        assert!(!self.is_locked);
        self.raises = self.raises.wrapping_sub(1);
        if self.raises == 0 {
            return Err(Raised::ByHost);
        }
        self.slots.resize(self.slots.len().max(len + count), MaybeUninit::new(0));
        Ok(&mut self.slots[len..len + count])
    }

    fn set_len(&mut self, len: usize) {
        self.len = len;
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: each slot was made of a number.
        unsafe { &*(std::ptr::from_ref(&self.slots[..self.len]) as *const [u8]) }
    }

    fn lock(&mut self) -> Result<()> {
        assert!(!std::mem::replace(&mut self.is_locked, true));
        Ok(())
    }

    fn unlock(&mut self) {
        assert!(std::mem::replace(&mut self.is_locked, false));
    }
}

/// Request to a reader.
#[derive(Debug, Clone)]
enum Ask {
    Array,
    Byte,
    Varint,
    Read(usize),
    Fill(usize),
    Peek(usize),
    Skip(u64),
    Line,
    Lines(usize),
    Records(usize, usize),
    Find(Vec<u8>),
    CountLines,
    Go(Whence, i64),
    Rewind,
    Size,
}

/// A number below one of the bounds.
fn up_to(bounds: &[usize], random: &mut Random) -> usize {
    let bound = random.pick(bounds);
    random.below(bound)
}

fn any_ask(random: &mut Random) -> Ask {
    let length = up_to(&[4, 300, 40_000], random);
    match random.below(15) {
        0 => Ask::Array,
        1 => Ask::Byte,
        2 => Ask::Varint,
        3 => Ask::Read(length),
        4 => Ask::Fill(length * random.below(4)),
        5 => Ask::Peek(length),
        6 => Ask::Skip(length as u64),
        7 => Ask::Line,
        8 => Ask::Lines(1 + random.below(300)),
        9 => Ask::Records(1 + random.below(20), random.below(2000)),
        10 => Ask::Find((0..1 + random.below(3)).map(|_| b"abc\n"[random.below(4)]).collect()),
        11 if random.once_in(5) => Ask::CountLines,
        12 => {
            let whence = [Whence::Beginning, Whence::Here, Whence::End][random.below(3)];
            Ask::Go(whence, length as i64 - random.below(30_000) as i64)
        }
        13 if random.once_in(5) => Ask::Rewind,
        14 => Ask::Size,
        _ => Ask::Array,
    }
}

/// Answer to a request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Bytes(Option<Vec<u8>>),
    Number(Option<u64>),
    Parts(Vec<Vec<u8>>),
    Failed(&'static str),
}

fn failed(error: &Error) -> Answer {
    Answer::Failed(match error.kind() {
        ErrorKind::Truncated { .. } => "truncated",
        ErrorKind::Format => "format",
        ErrorKind::Io(Some(29)) => "ESPIPE",
        ErrorKind::Io(Some(22)) => "EINVAL",
        kind => panic!("{kind:?}: {error}"),
    })
}

/// Asks the reader. An error of the core is an answer, one of the host is raised.
fn ask(reader: &Reader, host: &Trying, ask: &Ask) -> Result<Answer> {
    let answer = reader.begin(host).and_then(|operation| ask_operation(&operation, host, ask));
    match answer {
        Err(Raised::ByCore(error)) => Ok(failed(&error)),
        answer => answer,
    }
}

fn ask_operation(operation: &Operation<'_, Trying>, host: &Trying, ask: &Ask) -> Result<Answer> {
    let read = |length: usize, is_taken: bool| {
        let there = operation.want(length)?;
        operation.take(there, if is_taken { there } else { 0 }, |bytes| Ok(bytes.to_vec()))
    };
    Ok(match ask {
        Ask::Array => Answer::Bytes(Some(operation.array::<4>("a value")?.to_vec())),
        Ask::Byte => Answer::Number(operation.byte()?.map(u64::from)),
        Ask::Varint => Answer::Number(Some(operation.varint()?)),
        Ask::Read(length) => Answer::Bytes(Some(read(*length, true)?)),
        Ask::Peek(length) => Answer::Bytes(Some(read(*length, false)?)),
        Ask::Fill(length) => {
            let raises = if host.raises.get() > 0 { host.below(6) } else { 0 };
            let mut memory = Memory { raises, ..Memory::default() };
            let filled = operation.fill(&mut memory, *length);
            assert!(filled.is_ok() || memory.len == 0, "a failure leaves nothing");
            assert_eq!(filled?, memory.len);
            Answer::Bytes(Some(memory.bytes().to_vec()))
        }
        Ask::Skip(count) => Answer::Number(Some(operation.skip(*count)?)),
        Ask::Line => {
            let line = operation.line(&LineRule::newline())?;
            let take = |bytes: &[u8]| Ok(bytes.to_vec());
            Answer::Bytes(line.map(|line| operation.take(line.len, line.len, take)).transpose()?)
        }
        Ask::Lines(count) => Answer::Parts(lines(operation, *count)?),
        Ask::Records(len, count) => {
            let mut records = Vec::new();
            operation.records(*len, *count, |buffered| {
                for _ in 0..buffered {
                    records.push(operation.take(*len, *len, |bytes| Ok(bytes.to_vec()))?);
                }
                Ok(())
            })?;
            Answer::Parts(records)
        }
        Ask::Find(pattern) => Answer::Number(operation.find(&Search::new(pattern).unwrap())?),
        Ask::CountLines => Answer::Number(Some(operation.count_lines()?)),
        Ask::Go(whence, offset) => {
            operation.go(*whence, *offset)?;
            Answer::Number(None)
        }
        Ask::Rewind => {
            operation.rewind()?;
            Answer::Number(None)
        }
        Ask::Size => Answer::Number(operation.size()?),
    })
}

fn lines(operation: &Operation<'_, Trying>, count: usize) -> Result<Vec<Vec<u8>>> {
    let rule = LineRule { separator: Separator::Byte(b'\n'), ..LineRule::newline() };
    let mut lines = Vec::new();
    operation.lines(&rule, count, |line| {
        let mut next = line.map(|line| line.len);
        while lines.len() < count {
            let buffered = operation.with_stream(|stream| {
                Ok(rule.buffered_line(stream.buffered()).map(|line| line.len))
            })?;
            let Some(len) = next.take().or(buffered) else { break };
            lines.push(operation.take(len, len, |bytes| Ok(bytes.to_vec()))?);
        }
        Ok(lines.len())
    })?;
    Ok(lines)
}

/// Input of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    File(Compression),
    /// An object that can be told to go elsewhere.
    Object,
    /// One that is read once.
    Pipe,
}

/// The slow, obvious twin: all bytes, and a place among them.
struct Twin<'a> {
    data: &'a [u8],
    at: usize,
    input: Input,
}

impl Twin<'_> {
    fn rest(&self) -> &[u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self, count: usize) -> Vec<u8> {
        let taken = self.rest()[..count.min(self.rest().len())].to_vec();
        self.at += taken.len();
        taken
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let newline = self.rest().iter().position(|byte| *byte == b'\n');
        let line = self.next(newline.map_or(usize::MAX, |at| at + 1));
        (!line.is_empty()).then_some(line)
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        let left = self.rest().len();
        match ask {
            Ask::Array if left < 4 => Answer::Failed("truncated"),
            Ask::Array => Answer::Bytes(Some(self.next(4))),
            Ask::Byte => Answer::Number(self.next(1).first().copied().map(u64::from)),
            Ask::Varint => match varint_at_start(self.rest()) {
                VarintStart::Whole(number, len) => {
                    self.at += len;
                    Answer::Number(Some(number))
                }
                VarintStart::Short => Answer::Failed("truncated"),
                VarintStart::TooLong => Answer::Failed("format"),
            },
            Ask::Read(length) | Ask::Fill(length) => Answer::Bytes(Some(self.next(*length))),
            Ask::Peek(length) => Answer::Bytes(Some(self.rest()[..left.min(*length)].to_vec())),
            Ask::Skip(count) => Answer::Number(Some(self.next(*count as usize).len() as u64)),
            Ask::Line => Answer::Bytes(self.line()),
            Ask::Lines(count) => Answer::Parts((0..*count).map_while(|_| self.line()).collect()),
            Ask::Records(len, count) if left < len * count && !left.is_multiple_of(*len) => {
                Answer::Failed("truncated")
            }
            Ask::Records(len, count) => {
                Answer::Parts((0..(*count).min(left / len)).map(|_| self.next(*len)).collect())
            }
            Ask::Find(pattern) => {
                let found = self.rest().windows(pattern.len()).position(|bytes| bytes == pattern);
                let place = found.map(|found| (self.at + found) as u64);
                self.next(found.map_or(usize::MAX, |found| found + pattern.len()));
                Answer::Number(place)
            }
            Ask::CountLines => {
                let mut count = 0;
                while self.line().is_some() {
                    count += 1;
                }
                Answer::Number(Some(count))
            }
            Ask::Go(whence, offset) => self.go(*whence, *offset),
            Ask::Rewind => self.go(Whence::Beginning, 0),
            Ask::Size => Answer::Number(match self.input {
                Input::File(Compression::None) | Input::Object => Some(self.data.len() as u64),
                _ => None,
            }),
        }
    }

    fn go(&mut self, whence: Whence, offset: i64) -> Answer {
        let base = match whence {
            Whence::Beginning => 0,
            Whence::Here => self.at,
            Whence::End => self.data.len(),
        };
        let target = base.checked_add_signed(offset as isize);
        match (self.input, target) {
            (Input::Pipe, _) if whence == Whence::End => return Answer::Failed("ESPIPE"),
            (Input::Pipe, None) => return Answer::Failed("ESPIPE"),
            (Input::Pipe, Some(target)) if target < self.at => return Answer::Failed("ESPIPE"),
            (Input::Pipe, Some(target)) => self.at = target.min(self.data.len()).max(self.at),
            (_, None) => return Answer::Failed("EINVAL"),
            (_, Some(target)) => self.at = target,
        }
        Answer::Number(None)
    }
}

fn file(name: &str, seed: u64, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("host-{name}-{seed}"));
    std::fs::write(&path, bytes).unwrap();
    path
}

fn text(random: &mut Random) -> Vec<u8> {
    let len = 1 + up_to(&[200, 70_000, 300_000], random);
    let kinds = 1 + random.below(5);
    (0..len).map(|_| b"abc\n\x80"[random.below(kinds)]).collect()
}

/// A reader of `data`, and its host.
fn reader_of(data: &[u8], input: Input, random: &mut Random) -> (Reader, Trying, Option<PathBuf>) {
    let auto = ReaderOptions::default();
    let origin = random.below(100);
    let object = [&vec![b'?'; origin], data].concat();
    let bytes = match input {
        Input::File(Compression::Gzip) => gzip(data, 1),
        Input::File(Compression::Zstd) => zstd(data, 1),
        Input::File(_) => data.to_vec(),
        Input::Object => {
            let reader = Reader::of_object(Some(origin as u64), "object", auto);
            return (reader, Trying::new(object, origin, random), None);
        }
        Input::Pipe => {
            let reader = Reader::of_object(None, "pipe", auto);
            return (reader, Trying::new(object, origin, random), None);
        }
    };
    let path = file("reader", random.next(), &bytes);
    let reader = Reader::of_file(FileSource::open(&path).unwrap(), "file", auto);
    (reader, Trying::new(Vec::new(), 0, random), Some(path))
}

fn here(reader: &Reader) -> usize {
    reader.begin(&Blocking).unwrap().position().unwrap() as usize
}

/// Returns true if an interrupted request may have moved the position.
fn may_go_some_way(ask: &Ask, input: Input) -> bool {
    match ask {
        Ask::Go(..) | Ask::Rewind | Ask::Find(_) => true,
        Ask::CountLines => input != Input::File(Compression::None),
        _ => false,
    }
}

/// Asks until the host lets it come to its end. In between nothing is taken, or what `may_go_some_way` has passed.
fn insist(reader: &Reader, host: &Trying, asked: &Ask, twin: &mut Twin<'_>) -> Answer {
    let usual = host.raises.get();
    for attempt in 0.. {
        if attempt == 20 {
            host.raises.set(0);
        }
        let answer = ask(reader, host, asked);
        assert!(!host.has_turn.get(), "{asked:?} keeps the turn");
        if let Ok(answer) = answer {
            host.raises.set(usual);
            return answer;
        }
        if may_go_some_way(asked, twin.input) {
            twin.at = here(reader);
        }
        assert_eq!(here(reader), twin.at, "{asked:?} took something and was interrupted");
    }
    unreachable!()
}

fn check<T: Debug + PartialEq>(real: &T, expected: &T, asked: &Ask) {
    assert!(real == expected, "{asked:?}: {real:?}, not {expected:?}");
}

#[test]
fn a_reader_gives_what_its_twin_gives_whatever_the_host_does() {
    seeds(200, |random| {
        let data = text(random);
        let input = [
            Input::File(Compression::None),
            Input::File(Compression::Gzip),
            Input::File(Compression::Zstd),
            Input::Object,
            Input::Pipe,
        ][random.below(5)];
        let (reader, host, path) = reader_of(&data, input, random);
        let mut twin = Twin { data: &data, at: 0, input };
        for _ in 0..30 {
            let asked = any_ask(random);
            let real = insist(&reader, &host, &asked, &mut twin);
            let before = twin.at;
            let mut expected = twin.answer(&asked);
            if let (Answer::Parts(real), Answer::Parts(expected), Ask::Lines(_)) =
                (&real, &mut expected, &asked)
                && input != Input::File(Compression::None)
                && !real.is_empty()
            {
                // Those that would be lost are not waited for.
                expected.truncate(real.len());
                twin.at = before + expected.iter().map(Vec::len).sum::<usize>();
            }
            check(&real, &expected, &asked);
            assert_eq!(here(&reader), twin.at, "after {asked:?} of {input:?}");
        }
        path.map(std::fs::remove_file);
    });
}

/// Request to a writer.
#[derive(Debug)]
enum Write {
    Put(Vec<u8>),
    Flush(bool),
    Go(Whence, i64),
}

fn any_write(random: &mut Random) -> Write {
    let length = up_to(&[4, 3000, GATHERED_MAX], random);
    match random.below(6) {
        0 => Write::Flush(random.once_in(2)),
        1 => {
            let whence = [Whence::Beginning, Whence::Here, Whence::End][random.below(3)];
            Write::Go(whence, length as i64 - random.below(3000) as i64)
        }
        _ => Write::Put(random.bytes(length)),
    }
}

/// The slow, obvious twin of a file that is written.
#[derive(Default)]
struct WrittenTwin {
    bytes: Vec<u8>,
    at: usize,
}

impl WrittenTwin {
    fn write(&mut self, write: &Write) -> std::result::Result<(), &'static str> {
        match write {
            Write::Put(value) if value.is_empty() => {}
            Write::Put(value) => {
                self.bytes.resize(self.bytes.len().max(self.at + value.len()), 0);
                self.bytes[self.at..self.at + value.len()].copy_from_slice(value);
                self.at += value.len();
            }
            Write::Flush(_) => {}
            Write::Go(whence, offset) => {
                let base = match whence {
                    Whence::Beginning => 0,
                    Whence::Here => self.at,
                    Whence::End => self.bytes.len(),
                };
                self.at = base.checked_add_signed(*offset as isize).ok_or("EINVAL")?;
            }
        }
        Ok(())
    }
}

fn write(writer: &Writer, host: &Trying, write: &Write) -> Result<()> {
    match write {
        Write::Put(value) => writer.put(host, value),
        Write::Flush(sync) => writer.flush(host, *sync),
        Write::Go(whence, offset) => writer.go(host, *whence, *offset),
    }
}

/// Does `work` until the host lets it come to its end; `between` is checked in between.
fn until_done<T>(
    host: &Trying,
    mut work: impl FnMut() -> Result<T>,
    between: impl Fn(),
) -> std::result::Result<T, Error> {
    let usual = host.raises.get();
    for attempt in 0.. {
        if attempt == 20 {
            host.raises.set(0);
        }
        let done = work();
        assert!(!host.has_turn.get(), "the turn was given back");
        match done {
            Err(Raised::ByHost) => between(),
            done => {
                host.raises.set(usual);
                return done.map_err(|raised| match raised {
                    Raised::ByCore(error) => error,
                    Raised::ByHost => unreachable!(),
                });
            }
        }
    }
    unreachable!()
}

fn place(writer: &Writer) -> usize {
    writer.position(&Blocking).unwrap() as usize
}

#[test]
fn a_writer_writes_what_its_twin_has_whatever_the_host_does() {
    seeds(150, |random| {
        let origin = random.below(100);
        let host = Trying::new(vec![b'?'; origin], origin, random);
        let path = random.once_in(2).then(|| file("writer", random.next(), b""));
        let writer = match &path {
            Some(path) => Writer::of_file(FileWriter::open(path).unwrap()),
            None => Writer::of_object(Some(origin as u64), "object"),
        };
        let mut twin = WrittenTwin::default();
        for _ in 0..20 {
            let asked = any_write(random);
            let done = until_done(
                &host,
                || write(&writer, &host, &asked),
                || assert_eq!(place(&writer), twin.at, "an interrupted {asked:?}"),
            );
            let done = done.map_err(|error| match error.kind() {
                ErrorKind::Io(Some(22)) => "EINVAL",
                kind => panic!("{asked:?}: {kind:?}: {error}"),
            });
            assert_eq!(done, twin.write(&asked), "{asked:?}");
            assert_eq!(place(&writer), twin.at);
        }
        until_done(&host, || writer.close(&host, true), || ()).unwrap();
        let written = match &path {
            Some(path) => std::fs::read(path).unwrap(),
            None => host.bytes.borrow()[origin..].to_vec(),
        };
        assert!(written == twin.bytes, "{} bytes, not {}", written.len(), twin.bytes.len());
        path.map(std::fs::remove_file);
    });
}

/// A host of ten lines and a few: it waits plainly, and reads an object.
struct Plain(RefCell<Vec<u8>>);

impl Host for Plain {
    type Error = Error;
    fn error(&self, error: Error) -> Error {
        error
    }
    fn read(&self, count_max: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = self.0.borrow_mut();
        let count = count_max.min(bytes.len());
        Ok(bytes.drain(..count).collect())
    }
}
impl SingleCallerHost for Plain {}
impl StreamHost for Plain {}

#[test]
fn a_host_that_waits_plainly_takes_ten_lines() -> Result<(), Error> {
    let host = Plain(RefCell::new(b"\x00\x00\x00\x05hello and more".to_vec()));
    let reader = Reader::of_object(None, "an object", ReaderOptions::default());
    assert_eq!(reader.take_array::<4>(), None);
    let length = u32::from_be_bytes(reader.begin(&host)?.array("a length")?) as usize;
    assert_eq!(reader.take_array(), Some(*b"hello"));
    assert_eq!(length, 5);
    assert_eq!(reader.begin(&host)?.want(100)?, 9);
    reader.close(&host)?;
    let closed = reader.begin(&host).map(drop).map_err(|error| error.kind());
    assert_eq!(closed, Err(ErrorKind::Closed));
    Ok(())
}

/// Uses the stream that waits for it, from inside of that wait.
struct Nested<'a> {
    reader: &'a Reader,
    seen: RefCell<Vec<Result<(), ErrorKind>>>,
}

impl Host for Nested<'_> {
    type Error = Error;
    fn error(&self, error: Error) -> Error {
        error
    }
}

impl TurnHost for Nested<'_> {
    type Caller = SingleCaller;
    fn caller(&self) -> Result<SingleCaller, Self::Error> {
        Ok(SingleCaller)
    }
    fn is_running(&self, _: &SingleCaller) -> Result<bool, Self::Error> {
        Ok(true)
    }
    fn is_of_this_thread(&self, _: &SingleCaller) -> bool {
        true
    }
}

impl StreamHost for Nested<'_> {
    fn read_into(&self, feed: &Feed) -> Result<(), Error> {
        assert_eq!(self.reader.take_array::<1>(), None, "an operation goes on");
        let used = self.reader.begin(self).map(drop);
        let closed = self.reader.close(self);
        self.seen.borrow_mut().extend([used, closed].map(|refused| refused.map_err(|e| e.kind())));
        feed.push(b"abcd");
        Ok(())
    }
}

#[test]
fn who_comes_back_in_the_middle_of_a_read_is_refused_and_the_read_goes_on() {
    let reader = Reader::of_object(None, "an object", ReaderOptions::default());
    let host = Nested { reader: &reader, seen: RefCell::default() };
    let value = reader.begin(&host).and_then(|operation| operation.array("a value"));
    assert_eq!(value.map_err(|error| error.kind()), Ok(*b"abcd"));
    assert_eq!(host.seen.take(), [Err(ErrorKind::Lock), Err(ErrorKind::Lock)]);
    assert!(!reader.turn().is_taken() && !reader.is_closed());
}

#[test]
fn a_writer_that_is_dropped_writes_what_it_has_but_no_file_that_is_not_whole() {
    let path = file("dropped", 1, b"old");
    let writer = Writer::of_file(FileWriter::replace(&path).unwrap());
    assert!(writer.try_put(b"new"));
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let writer = Writer::of_file(FileWriter::replace(&path).unwrap());
    assert!(writer.try_put(b"new"));
    writer.finish_replacement(&Blocking).unwrap();
    assert!(!writer.try_put(b"later"));
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    let writer = Writer::of_file(FileWriter::append(&path).unwrap());
    assert!(writer.try_put(b"er"));
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"newer");
    let writer = Writer::of_file(FileWriter::append(&path).unwrap());
    assert!(writer.try_put(b"st"));
    writer.abandon(&Blocking).unwrap();
    let kind = writer.put(&Blocking, b"x").map_err(|error| error.kind());
    assert_eq!(kind, Err(ErrorKind::Closed));
    assert_eq!(std::fs::read(&path).unwrap(), b"newer");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_value_that_cannot_be_gathered_is_refused() {
    let writer = Writer::of_object(None, "an object");
    let error = writer.put(&Blocking, &vec![0; GATHERED_MAX + 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let refused = writer.go(&Blocking, Whence::Here, 0).map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::Io(Some(29))));
}
