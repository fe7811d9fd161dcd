//! Goal: `report` writes one page, whole or not at all, that holds nothing of a capture but text.
//!
//! Method: the page's block of data is looked into as text. What the page shows in a browser is the matter of
//! `cli/tests/report/`.

use crate::capture::{Capture, mixed};
use crate::run::{Folder, Outcome};

/// The JSON in a page.
fn data(page: &[u8]) -> String {
    let page = std::str::from_utf8(page).unwrap();
    let (_, behind) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    behind.split_once("</script>").unwrap().0.to_owned()
}

#[track_caller]
fn assert_has(data: &str, parts: &[&str]) {
    for part in parts {
        assert!(data.contains(part), "expected {part} in {data:.3000}");
    }
}

#[track_caller]
fn assert_code(outcome: &Outcome, code: i32) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{}", outcome.stderr);
}

#[test]
fn a_page_has_the_sums_of_all_captures() {
    let folder = Folder::new();
    folder.write("a.pcap", &mixed().0);
    folder.write("b.pcap", &mixed().0);
    assert_code(&folder.run(&["report", "a.pcap", "b.pcap", "-o", "page.html"]), 0);
    assert_eq!(folder.names(), ["a.pcap", "b.pcap", "page.html"]);
    let page = folder.read("page.html");
    assert!(page.starts_with(b"<!DOCTYPE html>"));
    assert!(String::from_utf8_lossy(&page).contains("<title>a.pcap, b.pcap</title>"));
    assert_has(
        &data(&page),
        &[
            "\"title\":\"a.pcap, b.pcap\"",
            "\"packets\":8,",
            "\"conversations_seen\":2,",
            "{\"name\":\"no IP\",\"packets\":2,\"bytes\":120}",
            "{\"name\":\"53\",\"packets\":4,",
            "\"damage\":null",
        ],
    );
}

#[test]
fn a_title_and_a_filter_say_what_was_asked() {
    let folder = Folder::new();
    folder.write("a.pcap", &mixed().0);
    let outcome = folder.run(&["report", "a.pcap", "-o", "-", "--title", "Who & <what>"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(outcome.stdout.contains("<title>Who &amp; &lt;what&gt;</title>"));
    assert_has(&data(outcome.stdout.as_bytes()), &["\"title\":\"Who \\u0026 \\u003cwhat\\u003e\""]);
    let outcome = folder.run(&["report", "a.pcap", "-o", "-", "--filter", "udp port 53"]);
    if outcome.code == 2 && outcome.stderr.contains("libpcap") {
        return eprintln!("gap: libpcap is not here, so no filter was tried");
    }
    assert_has(
        &data(outcome.stdout.as_bytes()),
        &["\"title\":\"a.pcap: udp port 53\"", "\"packets\":2,", "\"asked\":\"udp port 53\""],
    );
}

#[test]
fn a_condition_and_a_flow_choose_packets_and_are_in_the_title() {
    let folder = Folder::new();
    folder.write("a.pcap", &mixed().0);
    let report = |args: &[&str]| folder.run(&[&["report", "a.pcap", "-o", "-"], args].concat());
    let page = report(&["--where", "proto == udp and length > 100"]).stdout_of_success();
    assert!(page.contains("<title>a.pcap: where proto == udp and length &gt; 100</title>"));
    let shown = folder.run(&["packets", "a.pcap", "--where", "proto == udp and length > 100"]);
    let packets = shown.stdout_of_success().lines().count() - 1;
    assert!((1..4).contains(&packets), "{packets}");
    let asked = "\"asked\":\"where proto == udp and length \\u003e 100\"";
    assert_has(&data(page.as_bytes()), &[asked, &format!("\"packets\":{packets},")]);

    let flow = folder.run(&["flows", "a.pcap", "--csv"]).stdout_of_success();
    let flow: Vec<&str> = flow.lines().nth(1).unwrap().split(',').collect();
    let flow = format!("{}:{}-{}:{}", flow[1], flow[3], flow[2], flow[4]);
    let page = report(&["--flow", &flow, "--where", "length > 1e6"]).stdout_of_success();
    assert!(page.contains(&format!("<title>a.pcap: flow {flow}, where length &gt; 1e6</title>")));
    assert_has(&data(page.as_bytes()), &["\"packets\":0,"]);

    let outcome = report(&["--where", "lenght > 1"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("did you mean length?"), "{}", outcome.stderr);
}

#[test]
fn damage_is_told_on_the_page_and_on_standard_error() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(7).0);
    let outcome = folder.run(&["report", "cut.pcap", "-o", "page.html"]);
    assert_code(&outcome, 1);
    assert!(outcome.stderr.contains("cut.pcap"), "{}", outcome.stderr);
    let data = data(&folder.read("page.html"));
    assert_has(&data, &["\"packets\":3,", "\"captures_damaged\":1", "\"damage\":\"byte "]);
}

#[test]
fn what_is_no_capture_leaves_the_page_that_was_there() {
    let folder = Folder::new();
    folder.write("text", b"no capture at all");
    folder.write("page.html", b"before");
    let outcome = folder.run(&["report", "text", "-o", "page.html"]);
    assert_code(&outcome, 1);
    assert_eq!(folder.read("page.html"), b"before");
    assert_code(&folder.run(&["report", "text"]), 2);
    folder.write("a.pcap", &mixed().0);
    let outcome = folder.run(&["report", "a.pcap", "text", "-o", "missing/page.html"]);
    assert_code(&outcome, 1);
    assert_eq!(folder.names(), ["a.pcap", "page.html", "text"]);
}

#[test]
fn a_name_of_a_capture_is_text_whatever_it_holds() {
    let folder = Folder::new();
    let name = "<!--<script><img src=x onerror=alert(1)>.pcap";
    folder.write(name, &mixed().0);
    assert_code(&folder.run(&["report", name, "-o", "page.html"]), 0);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert!(!page.contains("<img") && !page.contains("<!--<"), "{}", data(page.as_bytes()));
    assert!(page.contains("\\u003cimg src=x onerror=alert(1)\\u003e"));
}

#[test]
fn a_page_stays_small_whatever_the_capture_holds() {
    let folder = Folder::new();
    let mut capture = Capture::new();
    for number in 0..40_000u32 {
        let (host, port) = ((number % 250) as u8, (number * 7919 % 60_000) as u16);
        capture = capture.udp(number * 97 % 3_000_000, (host, port), (251, port + 1), 1000);
    }
    folder.write("many.pcap", &capture.0);
    let title = "\u{1f600}".repeat(20_000);
    let outcome = folder.run(&["report", "many.pcap", "-o", "page.html", "--title", &title]);
    assert_code(&outcome, 0);
    let page = folder.read("page.html");
    assert!(page.len() <= bytewright::report::PAGE_MAX, "{} bytes", page.len());
    assert_has(&data(&page), &["\"conversations_seen\":40000", "\"packets\":40000,"]);
}
