//! Room of a file on its disk: taken before it is needed, because a store into a map has no way to say that the disk is full,
//! and given back where nothing of value is.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, retry_on_intr};

/// Bytes that are written at once where a file system cannot take room otherwise.
const PIECE_LEN: usize = 1 << 16;

/// Takes blocks for the bytes from `from` to `to`, so that a later store into a map of the file finds room, and makes the file
/// longer if it is shorter than `to`. Bytes that are there stay; nobody else may change them or the file's length meanwhile.
///
/// # Errors
/// Returns the system's error; the file then has the length that it had.
pub(crate) fn reserve(file: &File, from: u64, to: u64) -> io::Result<()> {
    if from >= to {
        return Ok(());
    }
    let len = file.metadata()?.len();
    let reserved = match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), from, to - from))
    {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_again(file, from, to),
        reserved => reserved.map_err(io::Error::from),
    };
    // A file system may have made it longer by the blocks that it found.
    if reserved.is_err() && file.metadata().is_ok_and(|now| now.len() > len) {
        // The first error is what there is to say.
        drop(file.set_len(len));
    }
    reserved
}

/// Writes the bytes from `from` to `to` that are there, and zeros behind them.
fn write_again(file: &File, from: u64, to: u64) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let mut bytes = [0; PIECE_LEN];
        let len = usize::try_from(to - at).map_or(PIECE_LEN, |len| len.min(PIECE_LEN));
        let there = read_what_is_there(file, &mut bytes[..len], at)?;
        bytes[there..].fill(0);
        file.write_all_at(&bytes[..len], at)?;
        at += len as u64;
    }
    Ok(())
}

/// Reads until the file or the buffer ends, and returns the bytes that were read.
fn read_what_is_there(file: &File, bytes: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], from + filled as u64) {
            Ok(0) => break,
            Ok(len) => filled += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Gives the blocks between `from` and `to` back, which are zeros from then on, and need [`reserve`] before a map writes them
/// again. A file system that refuses keeps them.
#[cfg(target_os = "linux")]
pub(crate) fn punch(file: &File, from: u64, to: u64) {
    if from < to {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = retry_on_intr(|| fallocate(file, flags, from, to - from));
    }
}

/// Does nothing: blocks stay the file's on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn punch(_: &File, _: u64, _: u64) {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn test_file(name: &str) -> File {
        let name = format!("bytewright_file_room_{name}_{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        let file = options.create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn read(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    // Promise (tree-table-file): Room is taken before it is used, and given back.
    #[test]
    fn room_is_taken_without_a_change_of_bytes() {
        let file = test_file("taken");
        file.write_all_at(b"begin", 0).unwrap();
        reserve(&file, 3, 1 << 20).unwrap();
        let status = file.metadata().unwrap();
        assert_eq!(status.len(), 1 << 20);
        assert!(status.blocks() * 512 >= 1 << 20, "{} blocks", status.blocks());
        assert_eq!(&read(&file)[..6], b"begin\0");
        reserve(&file, 0, 5).unwrap();
        reserve(&file, 9, 9).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
        assert!(reserve(&file, 0, u64::MAX).is_err(), "no file is so long");
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
    }

    #[test]
    fn room_is_taken_by_writing_where_there_is_no_other_way() {
        let file = test_file("written");
        let bytes: Vec<u8> = (0..100_000_u32).map(|at| at as u8 | 1).collect();
        file.write_all_at(&bytes, 0).unwrap();
        write_again(&file, 5, 90_000).unwrap();
        assert!(read(&file) == bytes);
        write_again(&file, 70_000, 200_000).unwrap();
        let longer = read(&file);
        assert!(longer[..100_000] == bytes && longer[100_000..].iter().all(|byte| *byte == 0));
        assert_eq!(longer.len(), 200_000);
        if let Ok(full) = File::options().read(true).write(true).open("/dev/full") {
            assert_eq!(write_again(&full, 0, 10).unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
    }

    // Promise (tree-table-file): also Room is taken before it is used
    #[test]
    fn blocks_that_were_given_back_are_zeros_and_can_be_taken_again() {
        let file = test_file("punched");
        file.write_all_at(&[7; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        let blocks = file.metadata().unwrap().blocks();
        punch(&file, 1 << 16, 1 << 19);
        punch(&file, 5, 5);
        if file.metadata().unwrap().blocks() == blocks {
            // The file system keeps them.
            return;
        }
        let bytes = read(&file);
        assert_eq!(bytes.len(), 1 << 20);
        assert!(bytes[1 << 16..1 << 19].iter().all(|byte| *byte == 0));
        assert!(bytes[1 << 19..].iter().all(|byte| *byte == 7));
        reserve(&file, 1 << 16, 1 << 19).unwrap();
        assert!(file.metadata().unwrap().blocks() >= blocks);
        assert!(read(&file) == bytes);
    }
}
