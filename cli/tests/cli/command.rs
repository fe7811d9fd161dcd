//! Behaviour that all commands have in common.

use crate::capture::mixed;
use crate::run::{Folder, Outcome, outcome};

#[test]
fn help_names_every_command_and_shows_examples() {
    let stdout = Folder::new().run(&["--help"]).stdout_of_success();
    for word in ["Usage: bytewright", "flows", "packets", "info", "completions", "Examples:"] {
        assert!(stdout.contains(word), "{word} in {stdout}");
    }
}

#[test]
fn an_output_that_takes_nothing_is_told_whatever_is_printed() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [
        &["--help"][..],
        &["help"],
        &["packets", "--help"],
        &["help", "table", "put"],
        &["--version"],
        &["completions", "bash"],
        &["demo"],
        &["packets", "mixed.pcap"],
        &["packets", "--fields", "help"],
        &["info", "mixed.pcap"],
        &["report", "mixed.pcap", "-o", "-"],
        &["cut", "mixed.pcap", "-o", "-"],
    ] {
        let mut command = folder.command(args);
        command.stdout(full());
        let told = outcome(command);
        assert_eq!(told.code, 1, "{args:?}: {}", told.stderr);
        assert!(told.stderr.contains("No space left on device"), "{args:?}: {}", told.stderr);
        // Nobody who reads it wants the rest.
        let mut command = folder.command(args);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer);
        let quiet = outcome(command);
        assert_eq!((quiet.code, quiet.stderr.as_str()), (141, ""), "{args:?}");
    }
}

#[test]
fn what_cannot_be_told_changes_no_exit_code() {
    let folder = Folder::new();
    for (args, code) in [(&["info", "absent.pcap"][..], 1), (&["explode"], 2), (&["--help"], 0)] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = folder.command(args);
        command.stderr(full);
        assert_eq!(outcome(command).code, code, "{args:?}");
    }
}

#[test]
fn version_says_which_libraries_serve() {
    let folder = Folder::new();
    let stdout = folder.run(&["--version"]).stdout_of_success();
    assert!(stdout.starts_with(concat!("bytewright ", env!("CARGO_PKG_VERSION"), "\n")));
    assert!(stdout.contains("\ngzip: isa-l\n") || stdout.contains("\ngzip: zlib-rs\n"), "{stdout}");
    assert!(stdout.contains("libpcap"), "{stdout}");
}

/// Runs the command where a test names what decompresses gzip.
fn run_by(folder: &Folder, name: &str, args: &[&str]) -> Outcome {
    let mut command = folder.command(args);
    command.env("BYTEWRIGHT_INFLATE", name);
    outcome(command)
}

#[test]
fn both_decompressors_of_gzip_give_the_same_packets_to_tests_that_name_them() {
    let folder = Folder::new();
    folder.write("mixed.pcap.gz", &crate::capture::gzip(&mixed().0));
    let packets = ["packets", "mixed.pcap.gz", "--csv", "--fields", "number"];
    let serving = folder.run(&["--version"]).stdout_of_success();
    for (name, backend) in [("zlib", "zlib-rs"), ("isal", "isa-l")] {
        // If isa-l is there, it serves.
        if name == "isal" && !serving.contains("\ngzip: isa-l\n") {
            println!("skipped: there is no isa-l");
            continue;
        }
        let version = run_by(&folder, name, &["--version"]).stdout_of_success();
        assert!(version.contains(&format!("\ngzip: {backend}\n")), "{version}");
        let numbers = run_by(&folder, name, &packets).stdout_of_success();
        assert_eq!(numbers, "number\n1\n2\n3\n4\n");
    }
}

#[test]
fn a_decompressor_of_gzip_that_is_none_is_refused_where_gzip_is_opened() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder.write("mixed.pcap.gz", &crate::capture::gzip(&mixed().0));
    let told = "expected BYTEWRIGHT_INFLATE to name a decompressor that works here (";
    let outcome = run_by(&folder, "quickly", &["info", "mixed.pcap.gz"]);
    assert_ne!(outcome.code, 0);
    assert!(outcome.stderr.contains(&format!("mixed.pcap.gz: {told}")), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(r#"zlib), found "quickly""#), "{}", outcome.stderr);
    run_by(&folder, "quickly", &["info", "mixed.pcap"]).stdout_of_success();
    let version = run_by(&folder, "quickly", &["--version"]).stdout_of_success();
    assert!(version.contains(&format!("\ngzip: {told}")), "{version}");
}

#[test]
fn a_command_line_that_makes_no_sense_is_a_usage_error() {
    let folder = Folder::new();
    for args in [
        &[][..],
        &["explode"],
        &["packets"],
        &["packets", "x", "--json", "--csv"],
        &["packets", "x", "--limit", "-1"],
        &["flows"],
        &["flows", "x", "--top", "many"],
        &["flows", "x", "--by", "bytes"],
        &["flows", "x", "--into", "t", "--top", "3"],
        &["flows", "x", "--into", "t", "--csv"],
        &["flows", "x", "--from", "t"],
        &["info"],
    ] {
        let outcome = folder.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}");
        assert!(outcome.stderr.contains("--help"), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    let run = |variables: &[(&str, &str)]| {
        let mut command = folder.command(&["packets", "mixed.pcap", "no.pcap"]);
        command.envs(variables.iter().copied());
        let outcome = outcome(command);
        (outcome.stdout.contains('\u{1b}'), outcome.stderr.contains('\u{1b}'))
    };
    assert_eq!(run(&[]), (false, false));
    assert_eq!(run(&[("CLICOLOR_FORCE", "1")]), (true, true));
    assert_eq!(run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), (false, false));
}

#[test]
fn completions_are_made_for_every_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let stdout = folder.run(&["completions", shell]).stdout_of_success();
        assert!(stdout.contains("idle-timeout"), "{shell}");
    }
}

#[test]
fn a_full_disk_is_told() {
    if !std::path::Path::new("/dev/full").exists() {
        return eprintln!("skipped: no /dev/full");
    }
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    let mut command = folder.command(&["packets", "mixed.pcap"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("bytewright: cannot write the output: "), "{stderr}");
}

#[test]
fn a_host_program_can_call_it_again_and_again() {
    let run = |args: &[&str]| bytewright_cli::run(args.iter().map(Into::into));
    assert_eq!(run(&["info", "/nowhere/no.pcap"]), bytewright_cli::FAILED);
    assert_eq!(run(&["explode"]), bytewright_cli::USAGE);
    assert_eq!(run(&["--version"]), bytewright_cli::DONE);
}
