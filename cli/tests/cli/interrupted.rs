//! Goal: a command that dies while it writes a file leaves none, and what had the name stays. Method: the program is killed
//! while the new file is open.

use std::fs::{read_dir, read_link};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::capture::Capture;
use crate::live::watches;
use crate::run::Folder;

/// A capture that takes a while.
fn long() -> Vec<u8> {
    let one = Capture::new().udp(1, (1, 5000), (2, 53), 100).0;
    let (header, record) = one.split_at(24);
    [header, &record.repeat(100_000)].concat()
}

/// Waits until the program has a file of the folder open to write, or has ended.
fn wait_for_file(child: &mut Child, folder: &Folder) {
    let fds = format!("/proc/{}/fd", child.id());
    let place = folder.path("").canonicalize().unwrap();
    let is_output = |path: std::path::PathBuf| {
        path.starts_with(&place) && !path.ends_with("in.pcap") && path != place
    };
    let has_file = || {
        let fds = read_dir(&fds).into_iter().flatten().flatten();
        fds.filter_map(|fd| read_link(fd.path()).ok()).any(is_output)
    };
    while !has_file() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_leaves_the_older_file_and_no_other() {
    let folder = Folder::new();
    folder.write("in.pcap", &long());
    let runs = [
        &["cut", "in.pcap", "-o", "out"][..],
        &["packets", "in.pcap", "--parquet", "out"],
        &["flows", "in.pcap", "--as", "ipfix", "-o", "out"],
    ];
    for (run, ending) in runs.iter().zip([".pcapng.zst", ".parquet", ".ipfix"]) {
        let name = format!("out{ending}");
        let args: Vec<_> = run.iter().map(|arg| if *arg == "out" { &name } else { *arg }).collect();
        for signal in ["INT", "TERM", "HUP", "KILL"] {
            folder.write(&name, b"older");
            let mut child = folder.command(&args).spawn().unwrap();
            wait_for_file(&mut child, &folder);
            send(signal, &child);
            let status = child.wait().unwrap();
            assert_eq!(folder.names(), ["in.pcap", &name], "{signal}: {args:?}");
            // A machine that is so quick has replaced it.
            assert_eq!(folder.read(&name) == b"older", !status.success());
            std::fs::remove_file(folder.path(&name)).unwrap();
        }
    }
}

#[test]
fn a_program_that_is_killed_while_it_waits_for_packets_leaves_no_file() {
    let folder = Folder::new();
    let mut command = folder.command(&["cut", "-", "-o", "out.pcap"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&Capture::new().udp(1, (1, 5000), (2, 53), 100).0).unwrap();
    wait_for_file(&mut child, &folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.names(), [""; 0]);
    drop(stdin);
}

/// Returns a command that runs a program without `/proc`, so that files without a name can get none.
fn without_proc() -> Option<Vec<&'static str>> {
    let tries = [vec!["unshare", "-m"], vec!["unshare", "-r", "-m"]];
    let hides = "mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    let commands = tries.into_iter().map(|tried| [tried, vec!["sh", "-c", hides]].concat());
    commands.into_iter().find(|command| {
        let mut tried = Command::new(command[0]);
        let status = tried.args(&command[1..]).arg("true").stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

#[test]
fn a_signal_takes_a_file_away_that_has_to_have_a_name() {
    let Some(without_proc) = without_proc() else {
        eprintln!(
            "gap: no mount namespace can be made here, so every output was a file without a name"
        );
        return;
    };
    let folder = Folder::new();
    folder.write("in.pcap", &long());
    let runs = [
        &["cut", "in.pcap", "-o", "out.pcapng.zst"][..],
        &["packets", "in.pcap", "--parquet", "out.parquet"],
        &["flows", "in.pcap", "--as", "zeek", "-o", "conn.log"],
    ];
    for args in runs {
        for signal in ["INT", "TERM", "HUP"] {
            let mut command = Command::new(without_proc[0]);
            let program = folder.command(args);
            command.args(&without_proc[1..]).arg(program.get_program()).args(program.get_args());
            command.current_dir(folder.path(""));
            let mut child = command.spawn().unwrap();
            while !watches(&child) && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
            let hidden = folder.names().into_iter().find(|name| name.starts_with('.'));
            send(signal, &child);
            let status = child.wait().unwrap();
            // A machine that is so quick has made it.
            if !status.success() {
                assert!(hidden.is_some(), "{signal}: {args:?}");
                assert_eq!(folder.names(), ["in.pcap"], "{signal}: {args:?}");
            }
            drop(std::fs::remove_file(folder.path(args[3])));
        }
    }
}
