//! Goal: a stream that is driven without waiting gives what a stream that waits gives, whatever its
//! source does; and a file that is written is whole, or the old one, whatever the disk does.
//!
//! Method: a source that gives any number of bytes, has none yet, or fails, as chance says; the same
//! bytes by `fill` are the answer. Files are written to a simulated disk that fails and loses power at
//! each of its calls.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::path::PathBuf;

use bytewright::bytes::{
    ByteStream, CompressionChoice, Feed, FileSource, Fill, Found, LineCount, LineRule, LineStep,
    Search, Separator, Source, StreamOptions,
};
use bytewright::files::FileWriter;
use bytewright::{Error, ErrorKind, Result};

use crate::bytes_cases::{gzip, mixed, zstd};
use crate::generate::{Random, seeds};
use crate::simulated_disk::{Failure, SimulatedDisk};

/// Gives its bytes in pieces by chance, now and then after it had none.
struct Fitful {
    bytes: Vec<u8>,
    position: usize,
    random: Random,
    fails_at: Option<usize>,
}

impl Source for Fitful {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if self.fails_at.is_some_and(|at| self.position >= at) {
            return Err(Error::new(ErrorKind::Io(Some(5)), "cannot read"));
        }
        let most = limit.min(self.bytes.len() - self.position).min(1 + self.random.below(3000));
        into.extend_from_slice(&self.bytes[self.position..self.position + most]);
        self.position += most;
        Ok(most)
    }

    fn try_read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Option<usize>> {
        if self.random.once_in(3) { Ok(None) } else { self.read(into, limit).map(Some) }
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        self.position = self.bytes.len().min(offset as usize);
        Ok(true)
    }
}

fn fitful(bytes: &[u8], random: &mut Random, piece: usize) -> ByteStream {
    let source = Fitful {
        bytes: bytes.to_vec(),
        position: 0,
        random: Random::new(random.next()),
        fails_at: None,
    };
    unread(Box::new(source), piece)
}

fn unread(source: Box<dyn Source>, piece: usize) -> ByteStream {
    let mut options = StreamOptions::default();
    options.piece = piece;
    options.compression = CompressionChoice::AutoElseNone;
    ByteStream::unread(source, "fitful", &options)
}

/// Makes bytes buffered, by asking again and again.
fn insist(stream: &mut ByteStream, count: usize) -> Result<usize> {
    loop {
        match stream.try_fill(count)? {
            Fill::Ready => return Ok(count),
            Fill::Ended => return Ok(stream.buffered().len()),
            Fill::WouldWait => {}
        }
    }
}

#[test]
fn asking_again_and_again_gives_all_bytes_in_their_order() {
    seeds(60, |random| {
        let len = random.below(60_000);
        let data = mixed(random, len);
        for input in [data.clone(), gzip(&data, 6), zstd(&data, 3)] {
            let piece = 1 + random.below(9000);
            let mut stream = fitful(&input, random, piece);
            let mut seen = Vec::new();
            loop {
                let wanted = 1 + random.below(5000);
                let there = insist(&mut stream, wanted).unwrap().min(wanted);
                if there == 0 {
                    break;
                }
                assert_eq!(stream.position(), seen.len() as u64);
                seen.extend_from_slice(&stream.buffered()[..there]);
                stream.consume(there);
                if random.once_in(10) {
                    let back = random.below(there + 1);
                    let taken = seen.split_off(seen.len() - back);
                    stream.give_back(&taken);
                }
            }
            assert!(seen == data);
        }
    });
}

#[test]
fn going_anywhere_gives_the_bytes_that_stand_there() {
    seeds(40, |random| {
        let data = mixed(random, 30_000);
        for input in [data.clone(), gzip(&data, 6), zstd(&data, 3)] {
            let mut stream = fitful(&input, random, 4096);
            for _ in 0..30 {
                let target = random.below(data.len());
                insist(&mut stream, 1).unwrap();
                stream.seek(target as u64).unwrap();
                while stream.try_skip_to(target as u64).unwrap() == Fill::WouldWait {}
                assert_eq!(stream.position(), target as u64);
                let there = insist(&mut stream, 100).unwrap().min(100);
                assert_eq!(stream.buffered()[..there], data[target..data.len().min(target + 100)]);
                stream.consume(random.below(there));
            }
        }
    });
}

#[test]
fn an_error_comes_after_the_bytes_before_it_and_again() {
    seeds(20, |random| {
        let data = mixed(random, 20_000);
        let at = random.below(data.len());
        let random_of_source = Random::new(random.next());
        let source = Fitful {
            bytes: data.clone(),
            position: 0,
            random: random_of_source,
            fails_at: Some(at),
        };
        let mut stream = unread(Box::new(source), 1000);
        let mut seen = Vec::new();
        let error = loop {
            match insist(&mut stream, 1) {
                Ok(_) => {
                    seen.extend_from_slice(stream.buffered());
                    stream.consume(stream.buffered().len());
                }
                Err(error) => break error,
            }
        };
        assert!(seen.len() >= at && data.starts_with(&seen));
        assert_eq!(error.kind(), ErrorKind::Io(Some(5)));
        assert_eq!(insist(&mut stream, 1).unwrap_err().to_string(), error.to_string());
    });
}

#[test]
fn lines_and_sequences_are_found_across_pieces() {
    seeds(60, |random| {
        let words: [&[u8]; 5] = [b"\n", b"a", b"--", b"-", b"long word "];
        let mut text = Vec::new();
        while text.len() < 5000 {
            text.extend_from_slice(random.pick(&words));
        }
        let separator = random.pick(&[b"\n".as_slice(), b"--", b"a"]);
        let rule = LineRule {
            separator: Separator::new(separator),
            limit: None,
            keeps_characters: false,
            chomp: true,
        };
        let mut stream = fitful(&text, random, 64);
        let (mut rest, mut searched) = (&text[..], 0);
        loop {
            match rule.try_line(&mut stream, &mut searched).unwrap() {
                LineStep::Line(line) => {
                    let end = rest.windows(separator.len()).position(|bytes| bytes == separator);
                    let expected = &rest[..end.unwrap_or(rest.len())];
                    let found = &stream.buffered()[..line.content_len];
                    let expected = match separator {
                        b"\n" => expected.strip_suffix(b"\r").unwrap_or(expected),
                        _ => expected,
                    };
                    assert_eq!(found, expected);
                    rest = &rest[line.len..];
                    stream.consume(line.len);
                    searched = 0;
                }
                LineStep::Ended => break,
                LineStep::Later | LineStep::WouldWait => {}
            }
        }
        assert!(rest.is_empty());

        let search = Search::new(b"a--a").unwrap();
        let mut stream = fitful(&text, random, 16);
        let (mut found, mut begin) = (Vec::new(), 0);
        loop {
            match search.try_find(&mut stream).unwrap() {
                Found::Here => {
                    found.push(stream.position());
                    stream.consume(search.pattern_len());
                }
                Found::Nowhere => break,
                Found::Later | Found::WouldWait => {}
            }
        }
        let mut expected = Vec::new();
        while let Some(at) = text[begin..].windows(4).position(|bytes| bytes == b"a--a") {
            expected.push((begin + at) as u64);
            begin += at + 4;
        }
        assert_eq!(found, expected);

        let mut count = LineCount::default();
        count.add_all(&mut fitful(&text, random, 100)).unwrap();
        let newlines = text.iter().filter(|byte| **byte == b'\n').count();
        let ends_within = usize::from(text.last() != Some(&b'\n'));
        assert_eq!(count.lines(), (newlines + ends_within) as u64);
    });
}

/// Returns the end of the paragraph that `text` begins with, and the start of the next one.
fn paragraph(text: &[u8]) -> (usize, usize) {
    let Some(end) = text.windows(2).position(|bytes| bytes == b"\n\n") else {
        return (text.len(), text.len());
    };
    let next = text[end..].iter().position(|byte| *byte != b'\n');
    (end + 2, next.map_or(text.len(), |next| end + next))
}

#[test]
fn a_paragraph_ends_behind_all_of_its_newlines_wherever_pieces_end() {
    seeds(60, |random| {
        let words: [&[u8]; 4] = [b"\n", b"\n\n\n", b"a", b"bc"];
        let text = (0..300).flat_map(|_| random.pick(&words).to_vec()).collect::<Vec<_>>();
        let separator = Separator::Paragraph;
        let rule = LineRule { separator, limit: None, keeps_characters: false, chomp: false };
        let piece = 1 + random.below(20);
        let mut stream = fitful(&text, random, piece);
        let mut at = text.iter().take_while(|byte| **byte == b'\n').count();
        let mut searched = 0;
        loop {
            match rule.try_line(&mut stream, &mut searched).unwrap() {
                LineStep::Line(line) => {
                    let (content_len, len) = paragraph(&text[at..]);
                    assert_eq!((line.content_len, line.len), (content_len, len), "at {at}");
                    stream.consume(len);
                    at += len;
                    searched = 0;
                }
                LineStep::Ended => break,
                LineStep::Later | LineStep::WouldWait => {}
            }
        }
        assert_eq!(at, text.len());
    });
}

#[test]
fn a_line_that_is_whole_comes_before_the_error_behind_it() {
    for (text, separator) in
        [("one\n\n", Separator::Paragraph), ("one\n\n", Separator::Byte(b'\n'))]
    {
        let source = Fitful {
            bytes: text.into(),
            position: 0,
            random: Random::new(1),
            fails_at: Some(text.len()),
        };
        let mut stream = unread(Box::new(source), 100);
        let rule = LineRule { separator, limit: None, keeps_characters: false, chomp: true };
        let mut searched = 0;
        let line = loop {
            match rule.try_line(&mut stream, &mut searched).unwrap() {
                LineStep::Line(line) => break line,
                step => assert_ne!(step, LineStep::Ended),
            }
        };
        assert_eq!(line.content_len, 3);
    }
}

#[test]
fn damage_that_was_repaired_is_read_anew_after_going_back() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("repaired");
    let data = Random::new(6).bytes(20_000);
    let whole = gzip(&data, 6);
    let mut damaged = whole.clone();
    damaged[0] = 0;
    let cut = &whole[..whole.len() / 2];
    for (target, broken) in [(0, cut), (100, cut), (0, &damaged), (12_000, cut)] {
        std::fs::write(&path, broken).unwrap();
        let mut options = StreamOptions::default();
        options.piece = 1000;
        let source = Box::new(FileSource::open(&path).unwrap());
        options.compression = CompressionChoice::Is(bytewright::bytes::Compression::Gzip);
        let mut stream = ByteStream::unread(source, "repaired", &options);
        assert!(stream.skip(20_000).is_err());
        std::fs::write(&path, &whole).unwrap();
        stream.seek(target).unwrap();
        stream.skip(target - stream.position()).unwrap();
        assert_eq!(stream.fill(50).unwrap()[..50], data[target as usize..target as usize + 50]);
    }
}

#[test]
fn beyond_the_end_of_compressed_input_there_is_nothing_and_the_way_back_is_open() {
    let data = Random::new(7).bytes(5000);
    let mut stream = fitful(&gzip(&data, 6), &mut Random::new(8), 1000);
    stream.seek_past_end(9000);
    assert_eq!(stream.position(), 0, "while the end is not known");
    while stream.try_skip_to(9000).unwrap() != Fill::Ended {}
    assert_eq!(stream.position(), 5000);
    stream.seek_past_end(9000);
    assert_eq!((stream.position(), insist(&mut stream, 1).unwrap()), (9000, 0));
    stream.seek(4990).unwrap();
    while stream.try_skip_to(4990).unwrap() != Fill::Ready {}
    assert_eq!((insist(&mut stream, 100).unwrap(), stream.buffered()), (10, &data[4990..]));
}

#[test]
fn a_file_tells_the_length_that_it_has_now() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("length");
    std::fs::write(&path, [b'x'; 5000]).unwrap();
    let mut source = FileSource::open(&path).unwrap();
    std::fs::write(&path, [b'x'; 9000]).unwrap();
    assert_eq!((source.len(), source.skip(7000).unwrap()), (Some(9000), 7000));
    std::fs::write(&path, [b'x'; 8000]).unwrap();
    assert_eq!((source.len(), source.skip(7000).unwrap()), (Some(8000), 1000));
    assert_eq!(source.skip(1).unwrap(), 0);
    std::fs::write(&path, [b'x'; 10]).unwrap();
    assert_eq!(source.skip(1).unwrap(), 0);
}

#[test]
fn a_number_that_is_wrong_takes_no_memory() {
    let mut options = StreamOptions::default();
    options.max_buffer = usize::MAX >> 1;
    let feed = Feed::new(false);
    let mut stream = ByteStream::unread(Box::new(feed.source()), "feed", &options);
    assert_eq!(stream.try_fill(1 << 50).unwrap(), Fill::WouldWait);
    feed.push(b"abc");
    assert_eq!(stream.try_fill(1 << 50).unwrap(), Fill::WouldWait);
    feed.end();
    assert_eq!(stream.try_fill(1 << 50).unwrap(), Fill::Ended);
    assert_eq!(stream.buffered(), b"abc");
    assert!(stream.fill(1 << 50).is_ok());
}

#[test]
fn a_feed_tells_where_it_is_to_go_and_asks_again_after_its_end() {
    let feed = Feed::new(true);
    let mut stream = unread(Box::new(feed.source()), 100);
    feed.push(b"0123456789");
    assert_eq!(insist(&mut stream, 4).unwrap(), 4);
    stream.seek(500).unwrap();
    assert_eq!((stream.position(), feed.take_seek()), (500, Some(500)));
    assert_eq!(stream.try_fill(1).unwrap(), Fill::WouldWait);
    feed.end();
    assert_eq!(stream.try_fill(1).unwrap(), Fill::Ended);
    stream.recheck_end();
    assert_eq!(stream.try_fill(1).unwrap(), Fill::WouldWait);
    stream.rewind().unwrap();
    assert_eq!((stream.position(), feed.take_seek()), (0, Some(0)));
    let once = Feed::new(false);
    let mut stream = unread(Box::new(once.source()), 4);
    once.push(&[b'x'; 20]);
    insist(&mut stream, 1).unwrap();
    stream.consume(4);
    assert!(stream.rewind().is_ok());
    for _ in 0..5 {
        insist(&mut stream, 4).unwrap();
        stream.consume(4);
    }
    assert_eq!(stream.rewind().unwrap_err().kind(), ErrorKind::Io(Some(29)));
}

#[test]
fn a_file_is_read_without_waiting_or_says_that_it_would_wait() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("without_waiting");
    let data = mixed(&mut Random::new(5), 300_000);
    std::fs::write(&path, &data).unwrap();
    let mut source = FileSource::open(&path).unwrap().from_offset(1000);
    let mut into = Vec::with_capacity(100);
    match source.try_read(&mut into, 50).unwrap() {
        Some(count) => assert_eq!((count, into.as_slice()), (50, &data[1000..1050])),
        None => assert_eq!(source.read(&mut into, 50).unwrap(), 50),
    }
    assert!(source.seek(10).unwrap());
    let mut slice = [MaybeUninit::new(0_u8); 20];
    if let Some(count) = source.try_read_slice(&mut slice).unwrap() {
        assert_eq!(count, 20);
        into.clear();
        assert_eq!(source.read(&mut into, 20).unwrap(), 20);
        assert_eq!(into, data[1030..1050]);
    }
    assert!(source.seek(1 << 40).unwrap());
    into.clear();
    assert_eq!(source.read(&mut into, 20).unwrap(), 0);
    assert!(source.seek(u64::MAX).is_err());
}

const OLD: &[u8] = b"the old content, of some length, as it was";

/// Replaces the file `data` of a disk by `new`.
fn replace(disk: &SimulatedDisk, new: &[u8]) -> Result<()> {
    let name = OsStr::new("data");
    let mut writer = FileWriter::replace_in(Box::new(disk.clone()), name, None, "data")?;
    for part in new.chunks(1000) {
        writer.write(&mut part.to_vec())?;
    }
    writer.finish()
}

fn disk_with_old() -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let file = disk.file("data");
    file.write_at(0, OLD).unwrap();
    file.sync().unwrap();
    disk
}

#[test]
fn a_power_cut_at_any_call_leaves_the_old_file_or_the_new_one() {
    let new = mixed(&mut Random::new(9), 4500);
    let disk = disk_with_old();
    let begin = disk.calls();
    replace(&disk, &new).unwrap();
    let end = disk.calls();
    assert!(end - begin >= 7);
    for call in begin..=end {
        for seed in 0..50 {
            for left in [disk.cut(call, seed), disk.killed(call, seed)] {
                let bytes = left.bytes("data").unwrap();
                assert!(bytes == OLD || bytes == new, "call {call}, seed {seed}");
                if call == end {
                    assert!(bytes == new);
                }
            }
        }
    }
}

#[test]
fn a_failure_at_any_call_leaves_the_old_file_and_no_other() {
    let new = mixed(&mut Random::new(9), 4500);
    let counting = disk_with_old();
    let begin = counting.calls();
    replace(&counting, &new).unwrap();
    for failure in [Failure::Io, Failure::NoSpace, Failure::ShortWrite, Failure::Sync] {
        for call in begin..counting.calls() {
            let disk = disk_with_old();
            disk.fail(call..call + 1, failure);
            let outcome = replace(&disk, &new);
            let bytes = disk.bytes("data").unwrap();
            match outcome {
                Ok(()) => assert!(bytes == new),
                // The directory may not be synced though the name was given.
                Err(_) => assert!(bytes == OLD || call + 1 == counting.calls()),
            }
            assert_eq!(disk.names(), ["data"], "{failure:?} at {call}");
        }
    }
}
