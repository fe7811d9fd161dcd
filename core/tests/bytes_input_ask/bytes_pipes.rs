//! Sources that make a reader wait: pipes, FIFOs, descriptors that do not block. What is there comes
//! at once, and a read that waits can be called off from another thread without losing a byte.

use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::bytes::{ByteStream, Cancel, FileSource, StreamOptions};

use crate::bytes_cases::{drain, gzip, mixed, zstd};
use crate::generate::Random;

const ECANCELED: i32 = 125;
const A_MOMENT: Duration = Duration::from_millis(30);

fn pipe() -> (FileSource, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    (FileSource::from_fd(OwnedFd::from(reader)).unwrap(), writer)
}

fn stream(source: FileSource) -> ByteStream {
    ByteStream::new(Box::new(source), "pipe", &StreamOptions::default()).unwrap()
}

fn fifo(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    path
}

fn cancel_soon(cancel: &Cancel) -> thread::JoinHandle<()> {
    let cancel = cancel.clone();
    thread::spawn(move || {
        thread::sleep(A_MOMENT);
        cancel.cancel();
    })
}

#[test]
fn a_read_that_waits_is_called_off_and_goes_on_after_a_reset() {
    for compress in [|bytes: &[u8]| bytes.to_vec(), |b: &[u8]| gzip(b, 6), |b: &[u8]| zstd(b, 3)] {
        let data = mixed(&mut Random::new(21), 20_000);
        let input = compress(&data);
        let (source, mut writer) = pipe();
        writer.write_all(&input[..1000]).unwrap();
        let mut stream = stream(source);
        let cancel = stream.cancel();
        for _ in 0..2 {
            let canceller = cancel_soon(&cancel);
            let error = stream.fill(20_000).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io(Some(ECANCELED)), "{error}");
            assert_eq!(error.file(), Some("pipe"));
            assert!(Cancel::caused(&error));
            canceller.join().unwrap();
            assert_eq!(stream.fill(20_000).unwrap_err().kind(), error.kind());
            cancel.reset();
        }
        writer.write_all(&input[1000..]).unwrap();
        assert!(stream.fill(20_000).unwrap() == data);
        drop(writer);
        stream.consume(20_000);
        assert!(stream.fill(1).unwrap().is_empty());
    }
}

#[test]
fn a_fifo_nobody_writes_to_opens_at_once_and_its_first_read_is_called_off() {
    let mut options = StreamOptions::default();
    let cancel = Cancel::new();
    options.cancel = Some(cancel.clone());
    let path = fifo("io_fifo_cancelled");
    let mut stream = ByteStream::open(&path, &options).unwrap();
    let canceller = cancel_soon(&cancel);
    let error = stream.fill(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(ECANCELED)));
    canceller.join().unwrap();
}

#[test]
fn a_fifo_is_read_from_its_writers_coming_to_its_going() {
    let path = fifo("io_fifo_read");
    let data = mixed(&mut Random::new(22), 500_000);
    let (written, input) = (path.clone(), gzip(&data, 1));
    let writer = thread::spawn(move || {
        thread::sleep(A_MOMENT);
        std::fs::write(written, input).unwrap();
    });
    let mut stream = ByteStream::open(&path, &StreamOptions::default()).unwrap();
    assert_eq!(stream.input_len(), None);
    let (bytes, error) = drain(&mut stream);
    assert!(error.is_none() && bytes == data);
    writer.join().unwrap();
}

#[test]
fn what_a_pipe_has_is_handed_on_without_waiting_for_more() {
    for compress in [|bytes: &[u8]| bytes.to_vec(), |b: &[u8]| gzip(b, 6), |b: &[u8]| zstd(b, 3)] {
        let (source, mut writer) = pipe();
        writer.write_all(&compress(b"a whole member or frame")).unwrap();
        let mut stream = stream(source);
        assert_eq!(stream.fill(1).unwrap(), b"a whole member or frame");
        assert!(!stream.at_end());
    }
}

#[test]
fn a_descriptor_that_does_not_block_is_waited_for() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    let source = FileSource::from_fd(OwnedFd::from(reader)).unwrap();
    let writer = thread::spawn(move || {
        for byte in b"slowly" {
            thread::sleep(Duration::from_millis(3));
            writer.write_all(&[*byte]).unwrap();
        }
    });
    let (bytes, error) = drain(&mut stream(source));
    assert!(error.is_none(), "{error:?}");
    assert_eq!(bytes, b"slowly");
    writer.join().unwrap();
}

#[test]
fn a_cancel_before_the_first_read_refuses_files_as_well() {
    let cancel = Cancel::new();
    cancel.cancel();
    cancel.cancel();
    let mut options = StreamOptions::default();
    options.cancel = Some(cancel.clone());
    let path = PathBuf::from(env!("CARGO_MANIFEST_PATH"));
    let error = ByteStream::open(&path, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(ECANCELED)));
    cancel.reset();
    assert!(!cancel.is_cancelled());
    assert!(ByteStream::open(&path, &options).is_ok());
}

#[test]
fn a_device_is_read_like_a_pipe() {
    let mut stream = ByteStream::open("/dev/zero".as_ref(), &StreamOptions::default()).unwrap();
    assert_eq!(stream.fill(1000).unwrap()[..1000], [0; 1000]);
    let mut stream = ByteStream::open("/dev/null".as_ref(), &StreamOptions::default()).unwrap();
    assert!(stream.fill(1).unwrap().is_empty());
}

#[test]
fn an_end_gives_what_is_there_and_then_the_end_of_the_input() {
    let (source, mut writer) = pipe();
    writer.write_all(b"there").unwrap();
    let mut stream = ByteStream::unread(Box::new(source), "pipe", &StreamOptions::default());
    let cancel = stream.cancel();
    cancel.end();
    assert!(cancel.is_ended());
    assert_eq!(stream.fill(6).unwrap(), b"there");
    assert!(stream.at_end());
    drop(writer);
}

#[test]
fn an_end_wakes_the_read_that_waits() {
    let (source, writer) = pipe();
    let mut stream = ByteStream::unread(Box::new(source), "pipe", &StreamOptions::default());
    let cancel = stream.cancel();
    let ending = thread::spawn(move || {
        thread::sleep(A_MOMENT);
        cancel.end();
    });
    assert_eq!(stream.fill(1).unwrap(), b"");
    ending.join().unwrap();
    drop(writer);
}
