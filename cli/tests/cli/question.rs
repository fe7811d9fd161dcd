//! `--where`, `--group-by`, `--sum`, `--every`: what they answer is what a program would make of the rows.

use std::collections::BTreeMap;

use crate::capture::Capture;
use crate::run::Folder;
use crate::sample;

fn lines(folder: &Folder, args: &[&str]) -> Vec<String> {
    folder.run(args).stdout_of_success().lines().map(str::to_owned).collect()
}

/// The text of a value in a line of JSON.
fn value<'l>(line: &'l str, name: &str) -> &'l str {
    let key = format!("\"{name}\":");
    let rest = &line[line.find(&key).unwrap() + key.len()..];
    rest.split([',', '}']).next().unwrap()
}

#[test]
fn where_takes_the_rows_that_hold_the_condition() {
    let (folder, Some(web)) = (Folder::new(), sample("web.pcap.gz")) else {
        return eprintln!("skipped: no samples");
    };
    let all = lines(&folder, &["packets", &web, "--json"]);
    let wanted: Vec<_> = all
        .iter()
        .filter(|line| {
            value(line, "dst_port") == "6379" && value(line, "length").parse::<u32>().unwrap() > 100
        })
        .cloned()
        .collect();
    assert!(!wanted.is_empty());
    let condition = "dst_port == 6379 and length > 1e2";
    assert_eq!(lines(&folder, &["packets", &web, "--json", "--where", condition]), wanted);
    let limited = ["packets", &web, "--json", "--where", condition, "--limit", "3"];
    assert_eq!(lines(&folder, &limited), wanted[..3]);
    let fields =
        ["packets", &web, "--csv", "--where", condition, "--fields", "number", "--limit", "1"];
    assert_eq!(lines(&folder, &fields).len(), 2);

    let flows = lines(&folder, &["flows", &web, "--json"]);
    let of_redis: Vec<_> =
        flows.iter().filter(|line| value(line, "dst_port") == "6379").cloned().collect();
    assert_eq!(lines(&folder, &["flows", &web, "--json", "--where", "dst_port == 6379"]), of_redis);
    folder.run(&["flows", &web, "--into", "all.bwt"]).stdout_of_success();
    let stored =
        lines(&folder, &["flows", "--from", "all.bwt", "--json", "--where", "dst_port == 6379"]);
    let community_ids = |lines: &[String]| {
        let mut ids: Vec<_> =
            lines.iter().map(|line| value(line, "community_id").to_owned()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    assert_eq!(community_ids(&stored), community_ids(&of_redis));
}

#[test]
fn groups_are_what_a_count_of_the_rows_gives() {
    let (folder, Some(web)) = (Folder::new(), sample("web.pcap.gz")) else {
        return eprintln!("skipped: no samples");
    };
    let mut expected = BTreeMap::new();
    for line in lines(&folder, &["packets", &web, "--json"]) {
        let second = value(&line, "ts").parse::<i64>().unwrap() / 1_000_000_000;
        let key = (second, value(&line, "dst_port").to_owned(), value(&line, "proto").to_owned());
        let (packets, bytes) = expected.entry(key).or_insert((0, 0));
        *packets += 1;
        *bytes += value(&line, "length").parse::<u64>().unwrap();
    }
    for jobs in ["1", "2"] {
        let args = [
            "packets",
            &web,
            "--group-by",
            "dst_port,proto",
            "--sum",
            "length",
            "--every",
            "1s",
            "--json",
            "--jobs",
            jobs,
        ];
        let groups: BTreeMap<_, _> = lines(&folder, &args)
            .iter()
            .map(|line| {
                assert_eq!(value(line, "groups"), "1");
                let number = |name| value(line, name).parse::<u64>().unwrap();
                let second = number("ts") as i64 / 1_000_000_000;
                let key =
                    (second, value(line, "dst_port").to_owned(), value(line, "proto").to_owned());
                (key, (number("packets"), number("length")))
            })
            .collect();
        assert_eq!(groups, expected);
    }
}

#[test]
fn people_see_the_largest_groups_first() {
    let folder = Folder::new();
    let capture = Capture::new().udp(0, (1, 5000), (2, 53), 10).udp(1, (1, 5000), (2, 53), 10).udp(
        61,
        (2, 53),
        (1, 5000),
        100,
    );
    folder.write("small.pcap", &capture.0);
    let run = |args: &[&str]| {
        folder.run(&[&["packets", "small.pcap"], args].concat()).stdout_of_success()
    };
    assert_eq!(
        run(&["--group-by", "dst_port", "--sum", "length"]),
        "\
dst_port  packets  length  groups
    5000        1     142       1
      53        2     104       1
"
    );
    assert_eq!(
        run(&["--group-by", "dst_port", "--top", "1"]),
        "\
dst_port  packets  groups
      53        2       1
"
    );
    assert_eq!(
        run(&["--sum", "length", "--every", "1m"]),
        "\
ts                              packets  length  groups
2023-11-14T22:13:00.000000000Z        2     104       1
2023-11-14T22:14:00.000000000Z        1     142       1
"
    );
}

#[test]
fn slow_calls_are_told_from_others() {
    let (folder, Some(warehouse)) = (Folder::new(), sample("warehouse.pcap.zst")) else {
        return eprintln!("skipped: no samples");
    };
    let all = lines(&folder, &["rpc", &warehouse, "--calls", "--json"]);
    let slow: Vec<_> = all
        .iter()
        .filter(|line| value(line, "latency").parse::<u64>().is_ok_and(|latency| latency > 20_000))
        .cloned()
        .collect();
    assert!(!slow.is_empty() && slow.len() < all.len());
    assert_eq!(
        lines(&folder, &["rpc", &warehouse, "--calls", "--json", "--slower-than", "20ms"]),
        slow
    );
    let method = value(&slow[0], "method");
    let condition = format!("method == {}", method.replace('"', "'"));
    let args =
        ["rpc", &warehouse, "--calls", "--json", "--slower-than", "20ms", "--where", &condition];
    let of_method: Vec<_> =
        slow.iter().filter(|line| value(line, "method") == method).cloned().collect();
    assert_eq!(lines(&folder, &args), of_method);
    // The sums are those of the same calls.
    let sums =
        lines(&folder, &["rpc", &warehouse, "--json", "--slower-than", "20ms", "--by", "max"]);
    let calls = |line: &String| value(line, "calls").parse::<usize>().unwrap();
    assert_eq!(sums.iter().map(calls).sum::<usize>(), slow.len());
    let groups = lines(
        &folder,
        &[
            "rpc",
            &warehouse,
            "--calls",
            "--group-by",
            "method",
            "--sum",
            "latency",
            "--top",
            "2",
            "--json",
        ],
    );
    assert_eq!(groups.len(), 2);
}

#[test]
fn a_question_that_makes_no_sense_is_a_wrong_usage() {
    let (folder, Some(web)) = (Folder::new(), sample("web.pcap.gz")) else {
        return eprintln!("skipped: no samples");
    };
    let cases: [(&[&str], &str); 7] = [
        (&["packets", &web, "--where", "dst_prot == 1"], "did you mean dst_port?"),
        (&["packets", &web, "--where", "dst_port =="], "column 12: expected a number"),
        (&["flows", &web, "--group-by", "bites"], "did you mean bytes?"),
        (&["flows", &web, "--sum", "src_ip"], "expected a field of numbers to sum up"),
        (&["packets", &web, "--every", "soon"], "expected an interval"),
        (&["rpc", &web, "--group-by", "method"], "expected --calls"),
        (&["rpc", &web, "--calls", "--slower-than", "slow"], "expected a duration"),
    ];
    for (args, told) in cases {
        let outcome = folder.run(args);
        assert_eq!(outcome.code, 2, "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(told), "{args:?}: {outcome:?}");
    }
}

#[test]
fn a_plot_draws_the_groups_over_time() {
    let folder = Folder::new();
    let mut capture = Capture::new();
    for second in 0..130 {
        let payload = if second < 65 { 100 } else { 10 };
        capture = capture.udp(second, (1, 5000), (2, 53), payload);
    }
    folder.write("a.pcap", &capture.tcp(60, (3, 40_000), (4, 443), 2).0);
    let run =
        |args: &[&str]| lines(&folder, &[&["packets", "a.pcap", "--every", "1s"], args].concat());
    // 130 seconds in blocks of three; the 22nd block has two of the large ones.
    let (high, low) = ("\u{2588}".repeat(21), "\u{2583}".repeat(21));
    assert_eq!(
        run(&["--group-by", "proto", "--sum", "length", "--plot"]),
        [
            "length, 3 s a block, from 2023-11-14T22:13:20.000000000Z".to_owned(),
            format!("udp  {high}\u{2587}{low}\u{2581}  12610 in all, 426 at most"),
            format!("tcp  {}\u{2588}{}     54 in all, 54 at most", " ".repeat(20), " ".repeat(23)),
        ]
    );
    let all = run(&["--plot"]);
    assert_eq!(all.len(), 2);
    assert!(
        all[1].starts_with("all  ") && all[1].ends_with(" 131 in all, 4 at most"),
        "{}",
        all[1]
    );
    for (args, expected) in
        [(&["--plot", "--json"][..], "cannot be used"), (&["--plot", "--csv"], "cannot be used")]
    {
        let outcome = folder.run(&[&["packets", "a.pcap", "--every", "1s"], args].concat());
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    assert_eq!(folder.run(&["packets", "a.pcap", "--plot"]).code, 2);
}
