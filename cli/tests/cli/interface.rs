//! Goal: packets of an interface are read as they come, all of them, and are told as those of a capture are.
//!
//! Method: real traffic on the loopback interface of a network namespace of its own, where nobody else sends, beside
//! tcpdump. What a test waits for, it waits for without end; only a hang would show that it does not come.

use std::fs::read_to_string;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::run::{Folder, Outcome, outcome};

/// A network namespace with its loopback interface, as long as the process that holds it.
struct Network {
    holder: Child,
    /// True if it needed a user namespace, too: then we are nobody's root elsewhere.
    is_of_user: bool,
}

impl Network {
    /// Nothing, once the gap is told, where the system has none for us, or no libpcap.
    fn new() -> Option<Self> {
        let version = Folder::new().run(&["--version"]).stdout;
        let network = match version.contains("filters: libpcap is absent") {
            true => Err("libpcap is not here"),
            false => Self::make().ok_or("no network namespace can be made here (unshare, ip)"),
        };
        if let Err(gap) = network {
            eprintln!("gap: {gap}, so no packets of an interface were read");
        }
        network.ok()
    }

    fn make() -> Option<Self> {
        let hold = "ip link set lo up && echo up && exec sleep 600";
        let is_of_user = !can_unshare("-n");
        let mut command = Command::new("unshare");
        command.args(is_of_user.then_some("-r")).args(["-n", "sh", "-c", hold]);
        let mut holder = command.stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        let read = BufReader::new(holder.stdout.take()?).read_line(&mut line);
        let network = Network { holder, is_of_user };
        (read.is_ok() && line == "up\n").then_some(network)
    }

    /// A program that runs there, as the process that is started.
    fn command(&self, program: &Command) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.holder.id().to_string(), "-n", "--preserve-credentials"]);
        command.args(self.is_of_user.then_some("-U"));
        command.arg(program.get_program()).args(program.get_args());
        command.current_dir(program.get_current_dir().unwrap());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the program, and waits until `count` programs capture.
    fn start(&self, program: &Command, count: usize) -> Child {
        let mut child = self.command(program).spawn().unwrap();
        // Sockets of all protocols: what libpcap sets last.
        let sockets = format!("/proc/{}/net/packet", self.holder.id());
        let is_bound = |line: &&str| line.split_whitespace().nth(3) == Some("0003");
        while read_to_string(&sockets).unwrap().lines().filter(is_bound).count() < count {
            if child.try_wait().unwrap().is_some() {
                let ended = Outcome::of(child.wait_with_output().unwrap());
                panic!("{program:?} ended: {}", ended.stderr);
            }
            sleep(Duration::from_millis(5));
        }
        child
    }

    /// Sends so many datagrams to a port of the loopback interface, each answered by ICMP.
    fn send(&self, count: usize, port: u16) {
        self.send_to("127.0.0.1", count, port);
    }

    fn send_to(&self, address: &str, count: usize, port: u16) {
        let script = format!(
            "for i in $(seq {count}); do echo $i > /dev/udp/{address}/{port}; done 2>/dev/null"
        );
        let mut bash = Command::new("bash");
        bash.args(["-c", &script]).current_dir(".");
        assert!(self.command(&bash).status().unwrap().success());
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop((self.holder.kill(), self.holder.wait()));
    }
}

/// Returns true if we may have a namespace of that kind.
fn can_unshare(kind: &str) -> bool {
    let status = Command::new("unshare").args([kind, "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Ends a program as Ctrl-C does, and answers what it said.
fn interrupt(child: Child) -> Outcome {
    end(child, "INT")
}

/// Ends a program by a signal, and answers what it said.
fn end(child: Child, signal: &str) -> Outcome {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    Outcome::of(child.wait_with_output().unwrap())
}

#[test]
fn what_is_cut_of_an_interface_is_what_tcpdump_writes_with_its_name() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    // At a signal it would leave what the system still holds. Where packets are lost, it would wait for more for ever.
    let mut tcpdump = Command::new("timeout");
    tcpdump.args(["--signal=INT", "60", "tcpdump", "-c", "10000"]);
    // With a buffer like ours: its own, of 2 MB, is too small for a machine with other work.
    tcpdump.args(["-i", "lo", "-B", "16384", "--time-stamp-precision=nano"]);
    tcpdump.args(["-Z", "root", "-w", "peer.pcap"]).current_dir(folder.path(""));
    if network.is_of_user || Command::new("tcpdump").arg("--version").output().is_err() {
        let gap = "tcpdump is not here, or we are not root, which it asks for";
        return eprintln!("gap: {gap}, so captures of an interface were not compared");
    }
    let peer = network.start(&tcpdump, 1);
    let ours = folder.command(&["cut", "--interface", "lo", "-o", "ours.pcapng.zst"]);
    let ours = network.start(&ours, 2);
    network.send(5000, 9);
    let ours = interrupt(ours);
    assert_eq!((ours.code, &*ours.stdout), (0, ""), "{}", ours.stderr);
    assert_eq!(ours.stderr, "bytewright: lo: 10000 packets captured, 0 dropped\n");
    let peer = Outcome::of(peer.wait_with_output().unwrap());
    assert!(peer.stderr.contains("10000 packets captured"), "{}", peer.stderr);
    let rows = |file| folder.run(&["packets", file, "--json"]).stdout_of_success();
    assert_eq!(rows("ours.pcapng.zst"), rows("peer.pcap"));
    let info = folder.run(&["info", "ours.pcapng.zst"]).stdout_of_success();
    assert!(info.contains("times in ns, named lo"), "{info}");
}

#[test]
fn a_full_disk_ends_a_capture_behind_the_last_packet_that_fitted() {
    let Some(network) = Network::new() else { return };
    let forms =
        ["now.pcap", "now.pcapng", "now.pcap.gz", "now.pcapng.zst"].map(|name| (name, name));
    let rotated = [
        ("now.pcap --rotate 1d", "now-00001.pcap"),
        ("now.pcapng.zst --rotate 1d", "now-00001.pcapng.zst"),
    ];
    for (form, name) in forms.into_iter().chain(rotated) {
        let folder = Folder::new();
        let mut limited = Command::new("sh");
        let script = format!("ulimit -f 64; exec \"$0\" cut --interface lo -o {form}");
        limited.args(["-c", &script, env!("CARGO_BIN_EXE_bytewright")]);
        let mut child = network.start(limited.current_dir(folder.path("")), 1);
        while child.try_wait().unwrap().is_none() {
            network.send(200, 9);
        }
        let ended = Outcome::of(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 1, "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains("cannot write: File too large"), "{}", ended.stderr);
        assert_eq!(folder.names(), [name]);
        assert!(folder.read(name).len() > 28_000, "{name}");
        let rows = folder.run(&["packets", name, "--csv"]).stdout_of_success();
        assert!(rows.lines().count() > 200, "{name}: {rows}");
    }
}

#[test]
fn a_rotated_capture_loses_nothing_between_files_nor_where_its_folder_is_away_for_a_while() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let [here, away] = ["here", "away"].map(|name| folder.path(name));
    std::fs::create_dir(&here).unwrap();
    let args = ["cut", "--interface", "lo", "--rotate", "4p", "-o", "here/%n.pcapng"];
    let mut child = network.start(&folder.command(&args), 1);
    // Each datagram is answered.
    let mut packets = 0;
    let mut send_until = |is_enough: &mut dyn FnMut() -> bool| {
        while !is_enough() {
            network.send(5, 9);
            packets += 10;
        }
    };
    send_until(&mut || here.join("00002.pcapng").exists());
    std::fs::rename(&here, &away).unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let fault = std::thread::spawn(move || {
        let mut fault = String::new();
        told.read_line(&mut fault).map(|_| (fault, told))
    });
    send_until(&mut || fault.is_finished());
    let (fault, _told) = fault.join().unwrap().unwrap();
    assert!(fault.ends_with("; the capture goes on\n"), "{fault}");
    std::fs::rename(&away, &here).unwrap();
    let files = || std::fs::read_dir(&here).unwrap().count();
    let before = files();
    send_until(&mut || files() > before);
    assert_eq!(interrupt(child).code, 0);
    let names = std::fs::read_dir(&here).unwrap().map(|entry| entry.unwrap().path());
    let counts = names.map(|path| {
        let rows = folder.run(&["packets", path.to_str().unwrap(), "--csv"]).stdout_of_success();
        rows.lines().count() - 1
    });
    assert_eq!(counts.sum::<usize>(), packets);
}

#[test]
fn the_part_of_a_rotated_capture_that_was_captured_stays_where_the_program_is_killed() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let args = ["cut", "--interface", "lo", "--rotate", "6p", "-o", "%n.pcapng"];
    let mut child = network.start(&folder.command(&args), 1);
    network.send(4, 9);
    while folder.names() != ["00001.pcapng", "00002.pcapng.part"] {
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let packets = |name: &str| {
        folder.run(&["packets", name, "--csv"]).stdout_of_success().lines().count() - 1
    };
    assert_eq!(packets("00001.pcapng"), 6);
    assert!((1..=2).contains(&packets("00002.pcapng.part")));
}

#[test]
fn the_file_of_an_interval_is_complete_soon_after_it_though_nothing_comes() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let args = ["cut", "--interface", "lo", "--rotate", "1s", "-o", "part.pcapng.zst"];
    let child = network.start(&folder.command(&args), 1);
    network.send(2, 9);
    while folder.names().is_empty() || folder.names().iter().any(|name| name.ends_with(".part")) {
        sleep(Duration::from_millis(20));
    }
    let names = folder.names();
    assert_eq!(names[0], "part-00001.pcapng.zst");
    let ended = interrupt(child);
    assert_eq!((ended.code, folder.names()), (0, names.clone()), "{}", ended.stderr);
    let rows = names.iter().map(|name| {
        folder.run(&["packets", name, "--csv"]).stdout_of_success().lines().count() - 1
    });
    assert_eq!(rows.sum::<usize>(), 4);
}

#[test]
fn a_capture_ends_by_itself_after_a_time_though_nothing_comes_and_after_a_number_of_packets() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let args = ["cut", "--interface", "lo", "--stop-after", "1s", "-o", "a.pcap"];
    let ended = Outcome::of(network.start(&folder.command(&args), 1).wait_with_output().unwrap());
    assert_eq!((ended.code, folder.names()), (0, vec!["a.pcap".into()]), "{}", ended.stderr);
    let args = ["cut", "--interface", "lo", "--stop-after", "5p", "-o", "b.pcap"];
    let child = network.start(&folder.command(&args), 1);
    network.send(20, 9);
    let ended = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let rows = folder.run(&["packets", "b.pcap", "--csv"]).stdout_of_success();
    assert_eq!(rows.lines().count(), 6);
}

#[test]
fn a_hangup_ends_a_capture_as_other_signals_do() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let cut = folder.command(&["cut", "--interface", "lo", "-o", "now.pcapng.zst"]);
    let child = network.start(&cut, 1);
    network.send(5, 9);
    let ended = end(child, "HUP");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(folder.names(), ["now.pcapng.zst"]);
    let rows = folder.run(&["packets", "now.pcapng.zst", "--csv"]).stdout_of_success();
    assert_eq!(rows.lines().count(), 11);
}

#[test]
fn packets_that_were_captured_stay_where_the_program_is_killed() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let cut = folder.command(&["cut", "--interface", "lo", "-o", "now.pcapng"]);
    let is_there = || folder.names() == ["now.pcapng"];
    let mut child = network.start(&cut, 1);
    assert!(!is_there());
    network.send(1, 9);
    while !is_there() {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let rows = folder.run(&["packets", "now.pcapng", "--csv"]).stdout_of_success();
    assert!(rows.lines().count() > 1, "{rows}");
    // A file that has the name is replaced at the end, and not by what has none.
    folder.write("now.pcapng", b"older");
    let mut child = network.start(&cut, 1);
    network.send(1, 9);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        (folder.names(), folder.read("now.pcapng")),
        (vec!["now.pcapng".into()], b"older".into())
    );
    let child = network.start(&cut, 1);
    network.send(1, 9);
    assert_eq!(interrupt(child).code, 0);
    let rows = folder.run(&["packets", "now.pcapng", "--csv"]).stdout_of_success();
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn packets_of_an_interface_are_printed_as_they_come_and_counted_at_the_end() {
    let Some(network) = Network::new() else { return };
    let args = ["packets", "--interface", "lo", "--filter", "udp", "--fields", "dst_port,caplen"];
    let args = [&args[..], &["--snaplen", "44", "--buffer", "1000000", "--csv"]].concat();
    let mut child = network.start(&Folder::new().command(&args), 1);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for port in [7, 8] {
        network.send(1, port);
        // The header comes with the first row.
        let line = if port == 7 { lines.nth(1) } else { lines.next() };
        assert_eq!(line, Some(format!("{port},44")));
    }
    let ended = interrupt(child);
    assert_eq!(lines.next(), None);
    assert_eq!(ended.stderr, "bytewright: lo: 2 packets captured, 0 dropped\n");
    assert_eq!(ended.code, 0);
}

#[test]
fn interfaces_are_listed_with_their_states_and_addresses() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let list = |form: &[&str]| {
        let command = folder.command(&[&["interfaces"], form].concat());
        let ended = outcome(network.command(&command));
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{form:?}");
        ended.stdout
    };
    let json = list(&["--json"]);
    let lo = json.lines().find(|line| line.contains("\"name\":\"lo\"")).unwrap();
    for part in ["\"state\":\"up\"", "\"kind\":\"loopback\"", "\"addresses\":\"127.0.0.1,::1\""] {
        assert!(lo.contains(part), "{lo}");
    }
    assert!(list(&[]).lines().next().unwrap().starts_with("name "), "{}", list(&[]));
    assert!(list(&["--csv"]).starts_with("name,state,kind,addresses,description\n"));
}

#[test]
fn packets_of_several_interfaces_are_one_capture_that_tells_them_apart() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    // The pseudo-device has the packets of all interfaces, of some releases of libpcap in both directions.
    let args = ["cut", "--interface", "lo", "--interface", "any", "--filter", "udp port 7"];
    let args = [&args[..], &["-o", "both.pcapng"]].concat();
    let child = network.start(&folder.command(&args), 2);
    network.send(50, 7);
    let ended = interrupt(child);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.ends_with("packets captured, 0 dropped\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("bytewright: lo, any: 1"), "{}", ended.stderr);
    let args = ["packets", "both.pcapng", "--group-by", "interface_name,link_type", "--csv"];
    let groups = folder.run(&args).stdout_of_success();
    let mut groups: Vec<_> = groups.lines().skip(1).collect();
    groups.sort_unstable();
    let of_any = ["any,113,50", "any,113,100", "any,276,50", "any,276,100"];
    assert!(of_any.iter().any(|expected| groups[0].starts_with(expected)), "{groups:?}");
    assert!(groups[1].starts_with("lo,1,50"), "{groups:?}");
    let unknown = ["packets", "--interface", "lo", "--interface", "eth77"];
    let ended = outcome(network.command(&folder.command(&unknown)));
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("found \"eth77\"; there are "), "{}", ended.stderr);
}

#[test]
fn packets_of_several_interfaces_come_in_the_order_of_their_times() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let mut add = Command::new("sh");
    let addresses = "ip addr add 10.9.0.1/24 dev one; ip link set one up; ip link set two up";
    let neighbour = "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:09 dev one";
    let script = format!("ip link add one type veth peer name two && {addresses} && {neighbour}");
    add.args(["-c", &script]).current_dir(".");
    if !network.command(&add).status().unwrap().success() {
        eprintln!(
            "gap: no pair of interfaces can be made here, so no packets of several were put in order"
        );
        return;
    }
    let args = ["cut", "--filter", "udp port 7", "-o", "all.pcapng"];
    let interfaces = ["--interface", "two", "--interface", "lo", "--interface", "one"];
    let child = network.start(&folder.command(&[&args[..], &interfaces].concat()), 3);
    for _ in 0..20 {
        network.send(5, 7);
        network.send_to("10.9.0.2", 5, 7);
    }
    let ended = interrupt(child);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let rows = folder.run(&["packets", "all.pcapng", "--csv", "--fields", "ts,interface_name"]);
    let rows = rows.stdout_of_success();
    let rows: Vec<(i64, &str)> = rows
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap())
        .map(|(ts, name)| (ts.parse().unwrap(), name))
        .collect();
    for name in ["lo", "one", "two"] {
        assert_eq!(rows.iter().filter(|(_, found)| *found == name).count(), 100, "{name}");
    }
    assert!(rows.is_sorted_by_key(|(ts, _)| *ts), "{rows:?}");
}

#[test]
fn flows_of_an_interface_end_while_nothing_comes() {
    let Some(network) = Network::new() else { return };
    let args = ["flows", "--interface", "lo", "--filter", "udp", "--idle-timeout", "0.5", "--json"];
    let mut child = network.start(&Folder::new().command(&args), 1);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for port in [7, 8] {
        network.send(1, port);
        let line = lines.next().unwrap();
        assert!(line.contains(&format!("\"dst_port\":{port},")), "{line}");
    }
    assert_eq!(interrupt(child).code, 0);
}

#[test]
fn every_command_of_captures_answers_for_an_interface_when_a_signal_ends_it() {
    let Some(network) = Network::new() else { return };
    for (args, expected) in [
        (&["packets", "--group-by", "dst_port", "--csv", "--filter", "udp"][..], "\n9,20,"),
        (
            &["flows", "--group-by", "dst_port", "--sum", "packets", "--csv", "--filter", "udp"],
            // Flows are 20, or fewer: the system may give two senders the same port.
            ",20,1\n",
        ),
        (&["flows", "--top", "1", "--csv"], ",1,"),
        (&["rpc", "--csv"], "method,"),
        (&["rpc", "--calls", "--csv"], "method,"),
        (&["report", "-o", "-"], "<html"),
        (&["flows", "--into", "flows.bwt", "--json"], "\"packets\":40,"),
    ] {
        let folder = Folder::new();
        let args = [args, &["--interface", "lo"]].concat();
        let child = network.start(&folder.command(&args), 1);
        network.send(20, 9);
        let ended = interrupt(child);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        assert!(ended.stdout.contains(expected), "{args:?}: {}", ended.stdout);
        assert!(ended.stderr.ends_with(" packets captured, 0 dropped\n"), "{}", ended.stderr);
    }
}

#[test]
fn memory_is_bounded_while_traffic_goes_on() {
    let Some(network) = Network::new() else { return };
    let args = ["flows", "--interface", "lo", "--idle-timeout", "0.2", "--csv"];
    let mut child = network.start(&Folder::new().command(&args), 1);
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
    let status = format!("/proc/{}/status", child.id());
    let kilobytes = || {
        let status = read_to_string(&status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    network.send(5000, 9);
    let early = kilobytes();
    (0..5).for_each(|_| network.send(5000, 9));
    let late = kilobytes();
    assert!(late < early + 4096, "{early} kB, then {late} kB");
    assert_eq!(interrupt(child).code, 0);
    assert!(reader.join().unwrap().is_ok());
}

#[test]
fn what_cannot_be_captured_from_is_told() {
    let Some(network) = Network::new() else { return };
    let folder = Folder::new();
    let ended = outcome(network.command(&folder.command(&["packets", "--interface", "eth77"])));
    assert_eq!(ended.code, 2);
    let expected = "expected the name of an interface, found \"eth77\"; there are ";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(ended.stderr.contains("lo"), "{}", ended.stderr);
    let args = ["flows", "--interface", "lo", "--filter", "udp port"];
    let ended = outcome(network.command(&folder.command(&args)));
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("expected a filter expression"), "{}", ended.stderr);
    if !can_unshare("-r") {
        return eprintln!("gap: no namespace of users can be made here, so no right was missing");
    }
    // In a namespace of users, root has no right to the network outside of it.
    let mut stranger = Command::new("unshare");
    stranger.arg("-r").arg(env!("CARGO_BIN_EXE_bytewright")).args(["cut", "--interface", "lo"]);
    let ended = outcome({
        stranger.args(["-o", "out.pcap"]).current_dir(folder.path(""));
        stranger
    });
    assert_eq!(ended.code, 1);
    let expected =
        "expected the right to capture from the interface \"lo\", found none; run as root";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(folder.names().is_empty());
}

#[test]
fn an_interface_and_captures_exclude_each_other() {
    let folder = Folder::new();
    for args in [
        &["packets", "a.pcap", "--interface", "lo"][..],
        &["packets", "a.pcap", "--snaplen", "60"],
        &["flows", "a.pcap", "--buffer", "60000"],
        &["rpc", "a.pcap", "--promiscuous"],
        &["flows", "--from", "a.bwt", "--interface", "lo"],
        &["report", "a.pcap", "--snaplen", "60", "-o", "a.html"],
        &["flows", "--snaplen", "60"],
        &["info", "--interface", "lo"],
    ] {
        assert_eq!(folder.run(args).code, 2, "{args:?}");
    }
}

#[test]
fn packets_are_kept_with_a_byte_or_more() {
    let folder = Folder::new();
    for args in [
        &["cut", "--interface", "lo", "--snaplen", "0", "-o", "a.pcap"][..],
        &["cut", "a.pcap", "--snaplen", "0", "-o", "b.pcap"],
        &["packets", "--interface", "lo", "--buffer", "0"],
    ] {
        let outcome = folder.run(args);
        assert_eq!(outcome.code, 2, "{args:?}");
        assert!(outcome.stderr.contains("of 1 or more, found 0"), "{}", outcome.stderr);
    }
}

#[test]
fn the_live_job_of_the_guide_is_one_command() {
    let Some(network) = Network::new() else { return };
    let guide = include_str!("../../../docs/guides/captures.md");
    let jobs: Vec<_> = guide.lines().filter(|line| line.contains("--interface eth0")).collect();
    assert!(!jobs.is_empty());
    for job in jobs {
        let folder = Folder::new();
        let script = job.trim_start_matches("$ bytewright");
        let script = script.replace("eth0", "lo").replace("eth1", "any");
        let script = format!("exec {}{script}", env!("CARGO_BIN_EXE_bytewright"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path(""));
        let interfaces = if job.contains("eth1") { "lo, any" } else { "lo" };
        let child = network.start(&shell, interfaces.split(", ").count());
        let ended = interrupt(child);
        assert_eq!(ended.code, 0, "{job}: {}", ended.stderr);
        let told = format!("bytewright: {interfaces}: 0 packets captured, 0 dropped\n");
        assert_eq!(ended.stderr, told);
    }
}

#[test]
fn the_busiest_flows_of_each_interval_are_printed_when_it_is_over() {
    let Some(network) = Network::new() else { return };
    let args = ["flows", "--interface", "lo", "--filter", "udp", "--every", "300ms", "--top", "1"];
    let mut child = network.start(&Folder::new().command(&args), 1);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    network.send(1, 7);
    let total = lines.find(|line| line.ends_with(": 1 packets, 44 bytes, 1 flows")).unwrap();
    assert!(total.contains("Z to "), "{total}");
    assert!(lines.next().unwrap().starts_with("ts "));
    assert!(lines.next().unwrap().contains("127.0.0.1         7  udp"));
    assert_eq!(lines.next().unwrap(), "");
    // Time passes, though nothing comes.
    assert!(lines.next().unwrap().ends_with(": 0 packets, 0 bytes, 0 flows"));
    assert_eq!(lines.next().unwrap(), "");
    let ended = interrupt(child);
    assert_eq!((ended.code, lines.count() % 2), (0, 0));

    let args =
        [&args[..], &["--json", "--where", "dst_port in (8, 9)", "--by", "packets"]].concat();
    let mut child = network.start(&Folder::new().command(&args), 1);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    [7, 8, 9].into_iter().for_each(|port| network.send(2, port));
    let line = lines.next().unwrap();
    assert!(line.contains("\"dst_port\":8,") || line.contains("\"dst_port\":9,"), "{line}");
    assert_eq!(interrupt(child).code, 0);
    // A row names its interval, which its flow began in.
    let number = |name: &str| -> i64 {
        let (_, behind) = line.split_once(&format!("\"{name}\":")).unwrap();
        behind.split(',').next().unwrap().parse().unwrap()
    };
    let (start, ts) = (number("interval_ts"), number("ts"));
    assert!(start % 300_000_000 == 0 && (start..start + 300_000_000).contains(&ts), "{line}");
}

#[test]
fn on_a_terminal_an_interval_takes_the_place_of_the_one_before() {
    let Some(network) = Network::new() else { return };
    let mut on_terminal = Command::new("script");
    on_terminal.args(["-qec", "true", "/dev/null"]).current_dir(".").stdin(Stdio::null());
    if !on_terminal.output().unwrap().status.success() {
        return eprintln!("gap: no terminal can be made here, so nothing was drawn on one");
    }
    let program = env!("CARGO_BIN_EXE_bytewright");
    let line = format!("{program} flows --interface lo --every 100ms");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(".");
    let mut child = network.start(&script, 1);
    network.send(1, 7);
    let (mut seen, mut stdout) = (Vec::new(), child.stdout.take().unwrap());
    let redraws = |seen: &[u8]| seen.windows(7).filter(|bytes| bytes == b"\x1b[H\x1b[2J").count();
    while redraws(&seen) < 3 {
        let mut piece = [0; 4096];
        let count = stdout.read(&mut piece).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..count]);
    }
    assert!(seen.starts_with(b"\x1b[H\x1b[2J"), "{}", String::from_utf8_lossy(&seen));
    // With its terminal, the program is gone, too.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_interface_that_goes_away_ends_with_an_error_after_the_packets_before() {
    let Some(network) = Network::new() else { return };
    let ip = |args: &[&str]| {
        let mut ip = Command::new("ip");
        ip.args(args).current_dir(".");
        network.command(&ip).status().unwrap().success()
    };
    if !ip(&["link", "add", "there", "type", "veth", "peer", "name", "here"]) {
        return eprintln!("gap: no virtual interface can be made here, so none went away");
    }
    assert!(ip(&["link", "set", "there", "up"]) && ip(&["link", "set", "here", "up"]));
    let folder = Folder::new();
    let packets =
        folder.command(&["packets", "--interface", "here", "--csv", "--fields", "number"]);
    let mut child = network.start(&packets, 1);
    assert!(ip(&["addr", "add", "192.0.2.1/24", "dev", "there"]));
    // Who has the other address is asked on the wire.
    network.send_to("192.0.2.2", 1, 9);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.nth(1).as_deref(), Some("1"));
    assert!(ip(&["link", "del", "here"]));
    let ended = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("bytewright: here: cannot capture: "), "{}", ended.stderr);
    assert!(ended.stderr.contains(" packets captured, 0 dropped"), "{}", ended.stderr);
}
