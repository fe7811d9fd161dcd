//! Goal: captures that somebody still writes are answered when a signal ends them. Method: the program reads a pipe that
//! stays open, with half a packet at its end, and gets a signal.

use std::fs::{DirEntry, read_dir, read_to_string};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::capture::Capture;
use crate::run::Folder;

/// Two conversations, and the first bytes of a further packet.
fn capture() -> Vec<u8> {
    let whole = Capture::new().udp(0, (1, 5000), (2, 53), 1).udp(1, (3, 5000), (2, 53), 1);
    let mut bytes = whole.0.clone();
    let more = whole.udp(2, (4, 5000), (2, 53), 1).0;
    bytes.extend(&more[bytes.len()..bytes.len() + 20]);
    bytes
}

/// The program, reading a pipe that holds the capture.
fn start(folder: &Folder, args: &[&str]) -> (Child, ChildStdin) {
    let mut command = folder.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&capture()).unwrap();
    (child, stdin)
}

/// Sends a signal by name, which the program must be ready for.
fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until the program watches for signals: before, they end it.
fn wait_for_watch(child: &Child) {
    while !watches(child) {
        sleep(Duration::from_millis(5));
    }
}

/// Returns true if the program watches for signals. The thread that does is begun last.
pub(crate) fn watches(child: &Child) -> bool {
    let is_watch = |task: DirEntry| {
        read_to_string(task.path().join("comm")).is_ok_and(|name| name == "signals\n")
    };
    read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten().any(is_watch)
}

#[test]
fn a_signal_ends_a_pipe_with_the_answer_for_what_was_there() {
    for (signal, args) in [
        ("INT", &["flows", "-", "--csv"][..]),
        ("TERM", &["flows", "-", "--csv"]),
        ("INT", &["flows", "-", "--as", "zeek-json"]),
        ("INT", &["flows", "-", "--csv", "--group-by", "dst_port", "--sum", "packets"]),
        ("INT", &["packets", "-", "--csv"]),
        ("INT", &["packets", "-", "--csv", "--group-by", "dst_port", "--sum", "length"]),
        ("TERM", &["rpc", "-", "--csv"]),
        ("INT", &["info", "-", "--json"]),
    ] {
        let folder = Folder::new();
        let (child, stdin) = start(&folder, args);
        wait_for_watch(&child);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*told), (Some(0), ""), "{args:?}");
        let whole = folder.run_with_input(args, &capture());
        // Both differ only in the message of damage, which is none when a signal ends the input.
        assert!(whole.stderr.contains("expected"), "{}", whole.stderr);
        if args[0] != "info" {
            assert_eq!(String::from_utf8_lossy(&output.stdout), whole.stdout, "{args:?}");
        }
        drop(stdin);
    }
}

#[test]
fn a_cut_that_a_signal_ends_keeps_what_it_wrote() {
    for (name, signal) in [("out.pcap", "INT"), ("out.pcapng.zst", "TERM"), ("out.pcapng", "HUP")] {
        let folder = Folder::new();
        let (child, stdin) = start(&folder, &["cut", "-", "-o", name]);
        wait_for_watch(&child);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        drop(stdin);
        let rows = folder.run(&["packets", name, "--csv"]).stdout_of_success();
        assert_eq!(rows.lines().count(), 3, "{rows}");
    }
}

#[test]
fn a_log_that_a_signal_ends_has_the_flows_so_far_and_its_end() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new();
        let (child, stdin) = start(&folder, &["flows", "-", "--as", "zeek", "-o", "conn.log"]);
        wait_for_watch(&child);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        drop(stdin);
        let log = String::from_utf8(folder.read("conn.log")).unwrap();
        assert_eq!(log.lines().filter(|line| !line.starts_with('#')).count(), 2, "{log}");
        assert!(log.lines().last().is_some_and(|line| line.starts_with("#close\t")), "{log}");
    }
}

#[test]
fn a_hangup_that_is_ignored_ends_nothing() {
    let folder = Folder::new();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_bytewright");
    command.args(["-c", "trap '' HUP; exec \"$0\" cut - -o out.pcap"]).arg(program);
    command.current_dir(folder.path("")).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&capture()).unwrap();
    wait_for_watch(&child);
    send("HUP", &child);
    let whole = Capture::new().udp(0, (1, 5000), (2, 53), 1).udp(1, (3, 5000), (2, 53), 1);
    let whole = whole.udp(2, (4, 5000), (2, 53), 1).0;
    stdin.write_all(&whole[capture().len()..]).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let rows = folder.run(&["packets", "out.pcap", "--csv"]).stdout_of_success();
    assert_eq!(rows.lines().count(), 4, "{rows}");
}

#[test]
fn what_cannot_be_read_again_is_kept_up_to_the_last_packet_that_fitted() {
    let packets = noise();
    for (name, least) in [
        ("out.pcap", LIMIT - 200),
        ("out.pcapng", LIMIT - 200),
        ("out.pcap.gz", LIMIT - LIMIT / 8),
        ("out.pcapng.zst", LIMIT - LIMIT / 8),
    ] {
        let folder = Folder::new();
        let program = env!("CARGO_BIN_EXE_bytewright");
        let mut command = Command::new("sh");
        let limited = format!("ulimit -f {}; exec \"$0\" cut - -o {name}", LIMIT / 512);
        command.args(["-c", &limited]).arg(program).current_dir(folder.path(""));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The reader may be gone before all is written.
        let _ = stdin.write_all(&packets);
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains("cannot write: File too large"), "{told}");
        assert!(told.contains(&format!("{name} has the packets before that")), "{told}");
        assert_eq!(folder.names(), [name]);
        let len = folder.read(name).len();
        assert!((least..=LIMIT).contains(&len), "{name}: {len}");
        // It is whole, and has the first packets.
        folder.write("all.pcap", &packets);
        let kept = folder.run(&["packets", name, "--csv"]).stdout_of_success();
        let all = folder.run(&["packets", "all.pcap", "--csv"]).stdout_of_success();
        assert!(kept.lines().count() > 1 && all.starts_with(&kept), "{name}");
    }
}

/// Bytes that a file may have, which is more than a member of a compressed one.
const LIMIT: usize = 3 << 19;

/// Packets that cannot be compressed, which are more than that.
fn noise() -> Vec<u8> {
    let one = Capture::new().udp(1, (1, 5000), (2, 53), 100).0;
    let (header, record) = one.split_at(24);
    let mut bytes = [header, &record.repeat(20_000)].concat();
    let mut random = 1_u64;
    for record in bytes[24..].chunks_mut(record.len()) {
        for byte in record.iter_mut().rev().take(100) {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (random >> 56) as u8;
        }
    }
    bytes
}

#[test]
fn a_signal_before_the_first_byte_ends_without_an_error() {
    let folder = Folder::new();
    let mut command = folder.command(&["packets", "-", "--csv"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    wait_for_watch(&child);
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    drop(stdin);
}

#[test]
fn signals_that_come_together_are_one() {
    let folder = Folder::new();
    let (child, stdin) = start(&folder, &["packets", "-", "--csv"]);
    wait_for_watch(&child);
    // Both wait while it is stopped, so that it cannot end in between.
    for signal in ["STOP", "INT", "TERM", "CONT"] {
        send(signal, &child);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    drop(stdin);
}

/// An output that is full from the beginning, so that the program waits at its first byte; and its other end, which
/// nobody reads.
fn full_output() -> (OwnedFd, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    while (&theirs).write(&[b' '; 4096]).is_ok() {}
    theirs.set_nonblocking(false).unwrap();
    (theirs.into(), ours)
}

#[test]
fn a_later_signal_ends_a_program_that_the_first_did_not() {
    let folder = Folder::new();
    let (output, unread) = full_output();
    let mut command = folder.command(&["packets", "-", "--csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(output).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&capture()).unwrap();
    wait_for_watch(&child);
    while child.try_wait().unwrap().is_none() {
        send("TERM", &child);
        sleep(Duration::from_millis(50));
    }
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    drop((stdin, unread));
}

#[test]
fn a_writer_that_goes_on_does_not_keep_a_stopped_reader() {
    let folder = Folder::new();
    let (child, mut stdin) = start(&folder, &["packets", "-", "--csv", "--group-by", "dst_port"]);
    wait_for_watch(&child);
    let rest = Capture::new().udp(2, (4, 5000), (2, 53), 1).0.split_off(24 + 20);
    let packet = Capture::new().udp(3, (1, 5000), (2, 53), 1).0.split_off(24);
    let writer = std::thread::spawn(move || {
        let mut written = stdin.write_all(&rest);
        while written.is_ok() {
            written = stdin.write_all(&packet);
        }
    });
    send("TERM", &child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap();
}
