"""Goal: the page that reads captures by itself answers with the bytes of the command, and sends nothing anywhere.

Method: node asks the core in the page, and a browser opens the page as a file, drops captures on it, and reads what it shows. Both are
compared with what the command prints. A server on this machine waits for what the page must not send.

Usage: page.py COMMAND PAGE. Without a browser it says so, and asks the core only.
"""

import csv
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "cli/tests/report"))

from browser import Browser, installed

ROOT = pathlib.Path(__file__).parents[2]
COMMAND, PAGE, BROWSER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), installed()
SAMPLES = sorted(path for path in (ROOT / "samples").rglob("*") if ".pcap" in path.name)
WEB = ROOT / "samples/web.pcap.gz"
#: What pages of the command and of the core are asked, and how the command says it.
ASKED = (([], []), (["where=length > 100 and proto == 6"], ["--where", "length > 100 and proto == 6"]))
#: Resolves when the page is not at work.
READY = """new Promise((done) => {
  const look = () => (document.body.dataset.state === 'reading' ? setTimeout(look, 20) : done(document.body.dataset.state));
  look();
})"""
MESSAGES = "[...document.querySelectorAll('#messages li')].map((item) => item.textContent)"
SENT = """Promise.all([
  fetch(%(url)s).then(() => 'sent', () => 'refused'),
  new Promise((done) => {
    const picture = new Image();
    picture.onload = () => done('sent');
    picture.onerror = () => done('refused');
    picture.src = %(url)s;
  }),
  new Promise((done) => {
    const code = `fetch(${JSON.stringify(%(url)s)}).then(() => postMessage('sent'), () => postMessage('refused'))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => done(data);
  }),
  new Promise((done) => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    done(window.injected ? 'sent' : 'refused');
  }),
])"""


def command(*arguments):
    """Returns what the command prints, whatever its exit status."""
    return subprocess.run([COMMAND, *arguments], capture_output=True, check=False).stdout


def report(*captures, options=()):
    """Returns the page of the command over captures, which it is given without their folders, as the browser is."""
    folders = {path.parent for path in captures}
    assert len(folders) == 1
    names = [path.name for path in captures]
    return subprocess.run([COMMAND, "report", *names, *options, "-o", "-"], cwd=folders.pop(), capture_output=True, check=False).stdout


def core(question, *captures, named=(), **environment):
    """Asks the core by node. Returns the answer, and the lines on standard error."""
    asked = ["node", ROOT / "page/tests/read.js", PAGE, question, *named, "--", *captures]
    done = subprocess.run(asked, capture_output=True, check=False, env={**os.environ, **environment})
    return done.stdout, done.stderr.decode().splitlines()


def table(text):
    return list(csv.reader(io.StringIO(text.decode())))


class Core(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def made(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(content)
        return path

    def test_reports_of_all_samples_are_those_of_the_command_byte_for_byte(self):
        self.assertGreater(len(SAMPLES), 7)
        for sample in SAMPLES:
            for named, options in ASKED:
                with self.subTest(sample.name, named=named):
                    self.assertEqual(core("report", sample, named=named), (report(sample, options=options), []))

    def test_captures_are_one_report_in_their_order(self):
        several = [sample for sample in SAMPLES if sample.parent == WEB.parent]
        self.assertEqual(core("report", *several), (report(*several), []))

    def test_groups_are_those_of_the_command(self):
        for named, options in (
            (["by=proto", "sum=length"], ["--group-by", "proto", "--sum", "length"]),
            (["by=host", "by=dst_port", "where=length > 100"], ["--group-by", "host,dst_port", "--where", "length > 100"]),
            (["every=60", "sum=distinct(src_ip)", "by=proto"], ["--every", "60", "--sum", "distinct(src_ip)", "--group-by", "proto"]),
        ):
            with self.subTest(named):
                printed = command("packets", WEB, *options, "--csv")
                found, told = core("sums", WEB, named=named)
                self.assertEqual((sorted(table(found)), told), (sorted(table(printed)), []))
                self.assertGreater(len(table(found)), 2)

    def cut(self, captures, options, name="cut.pcapng"):
        """Returns the capture that the command writes."""
        written = pathlib.Path(self.folder.name, f"command-{name}")
        subprocess.run([COMMAND, "cut", *captures, *options, "--force", "-o", written], capture_output=True, check=True)
        return written.read_bytes()

    def test_captures_that_are_written_are_those_of_the_command_byte_for_byte(self):
        vlan = ROOT / "samples/vlan.pcapng"
        for name in ("cut.pcap", "cut.pcapng", "cut.pcapng.gz", "cut.pcapng.zst"):
            for captures, named, options in (
                ([WEB], ["where=dst_port == 80", "snaplen=96"], ["--where", "dst_port == 80", "--snaplen", "96"]),
                ([WEB], ["anonymize=key", "payload=cut"], ["--anonymize", "key", "--payload", "cut"]),
                ([vlan, WEB], [], []),
            ):
                with self.subTest(name, named=named):
                    found, told = core("cut", *captures, named=[f"name={name}", *named])
                    self.assertEqual(found, self.cut(captures, options, name))
                    self.assertRegex(told[0], "^packets written: [1-9]")

    def test_addresses_that_are_changed_by_a_key_that_nobody_knows_differ_each_time(self):
        found = {core("cut", WEB, named=["name=a.pcap", "anonymize=random"])[0] for _ in range(2)}
        self.assertEqual(len(found), 2)

    def test_damage_of_a_capture_that_is_cut_is_told_and_the_packets_before_it_are_written(self):
        damaged = self.made("web.pcap.gz", WEB.read_bytes()[:-1000])
        found, told = core("cut", damaged, ROOT / "samples/vlan.pcapng", named=["name=a.pcapng"])
        self.assertRegex(told[1], "^damaged: web.pcap.gz: ")
        self.assertGreater(len(found), 1_000_000)

    def test_a_hundred_captures_are_one_report_and_one_capture_in_little_memory(self):
        pattern = pathlib.Path(self.folder.name, "part-%n.pcap")
        subprocess.run([COMMAND, "cut", WEB, "--rotate", "88p", "-o", pattern], capture_output=True, check=True)
        parts = sorted(pathlib.Path(self.folder.name).glob("part-*.pcap"), key=lambda part: int(part.stem.partition("-")[2]))
        self.assertEqual(len(parts), 100)
        found, told = core("report", *parts, MEMORY="1")
        self.assertEqual(found, report(*parts))
        self.assertLess(int(told[0].partition(": ")[2]), 200 << 20)
        found, told = core("cut", *parts, named=["name=a.pcap"], MEMORY="1")
        self.assertEqual(found, self.cut([WEB], [], "whole.pcap"))
        self.assertLess(int(told[-1].partition(": ")[2]), 200 << 20)

    def test_times_before_now_are_those_of_the_clock(self):
        since, before = (table(core("sums", WEB, named=["by=proto", f"where=ts {sign} -10m"])[0]) for sign in (">=", "<"))
        self.assertEqual(since, before[:1])
        self.assertEqual(before, table(core("sums", WEB, named=["by=proto"])[0]))

    def test_pieces_of_any_length_give_one_report(self):
        for piece in ("1000", "65537"):
            self.assertEqual(core("report", WEB, PIECE=piece), (report(WEB), []))

    def test_damaged_captures_count_up_to_their_damage(self):
        for name in ("web.pcap.gz", "warehouse.pcap.zst", "vlan.pcapng"):
            with self.subTest(name):
                cut = self.made(name, (ROOT / "samples" / name).read_bytes()[:-1000])
                found, told = core("report", cut)
                self.assertEqual(found, report(cut))
                self.assertEqual([line.partition(" ")[0] for line in told], ["damage:"])

    def test_what_is_no_capture_is_told_and_leaves_the_others(self):
        texts = (PAGE, self.made("empty.pcap", b""), self.made("a.pcap.xz", b"\xfd7zXZ\0\0"))
        for text in texts:
            with self.subTest(text):
                found, told = core("report", text, WEB)
                self.assertEqual(found, report(WEB))
                self.assertEqual([line.partition(" ")[0] for line in told], ["error:"])
                found, told = core("report", text)
                self.assertEqual((found, told[1:]), (b"", ["failure: expected captures, found none"]))

    def test_a_question_that_is_not_understood_is_told(self):
        found, told = core("report", WEB, named=["where=lenth > 3"])
        self.assertEqual(found, b"")
        self.assertIn("length", told[0])

    def test_a_file_that_cannot_be_read_any_more_is_told(self):
        found, told = core("report", WEB, REFUSED_AT="200000")
        self.assertEqual(found, b"")
        self.assertIn("the browser refuses it", told[0])

    def test_a_call_within_another_is_a_defect_that_is_told(self):
        found, told = core("report", WEB, OVERLAPPED="1")
        self.assertEqual(found, b"")
        self.assertIn("failure: defect in the core of Bytewright", told[0])
        self.assertIn("already", told[0] + told[1])


@unittest.skipIf(BROWSER is None, "no browser")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser(BROWSER, os.path.join(cls.folder.name, "profile"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.open(PAGE)

    def read(self, *captures):
        """Drops captures, and waits for the answer."""
        self.browser.drop((300, 200), captures)
        return self.ready()

    def ready(self):
        return self.browser.run(READY)

    def submit(self, **fields):
        for name, value in fields.items():
            self.browser.run(f"document.getElementById({json.dumps(name)}).value = {json.dumps(value)}")
        self.browser.run("document.getElementById('question').requestSubmit()")
        return self.ready()

    def shown(self):
        """Returns the report that the page shows."""
        return self.browser.run("document.querySelector('iframe').srcdoc").encode()

    def test_the_report_of_a_dropped_capture_is_that_of_the_command_and_draws_itself(self):
        for sample in SAMPLES:
            with self.subTest(sample.name):
                self.browser.open(PAGE)
                self.assertEqual(self.read(sample), "done")
                self.assertEqual(self.shown(), report(sample))
                drawn = "document.querySelector('iframe').contentDocument.querySelectorAll('section').length"
                while self.browser.run(drawn) == 0:
                    pass
                self.assertGreater(self.browser.run(drawn), 3)
                self.assertEqual((self.browser.run(MESSAGES), self.browser.messages), ([], []))

    def test_chosen_captures_are_one_report(self):
        several = [ROOT / "samples/vlan.pcapng", WEB]
        self.browser.choose("#files", several)
        while self.browser.run("document.body.dataset.state") == "idle":
            pass
        self.assertEqual((self.ready(), self.shown()), ("done", report(*several)))

    def test_a_capture_of_several_pieces_is_read_in_pieces(self):
        header, records = (lambda content: (content[:24], content[24:]))((ROOT / "samples/fragments.pcap").read_bytes())
        long = pathlib.Path(self.folder.name, "long.pcap")
        long.write_bytes(header + records * 30)
        length = long.stat().st_size
        self.assertGreater(length, 8 << 20)
        self.browser.run(
            "window.places = []; const bar = document.getElementById('progress');"
            " new MutationObserver(() => window.places.push(bar.value)).observe(bar, { attributeFilter: ['value'] })"
        )
        self.assertEqual((self.read(long), self.shown()), ("done", report(long)))
        self.assertEqual(self.browser.run("[...new Set(window.places)]"), [0, 4 << 20, 8 << 20, length])

    def test_conditions_and_groups_are_asked_of_what_was_dropped(self):
        self.read(WEB)
        named, options = ASKED[1]
        self.assertEqual(self.submit(where=named[0].partition("=")[2]), "done")
        self.assertEqual(self.shown(), report(WEB, options=options))
        self.assertEqual(self.submit(where="", by="proto, dst_port", sum="length"), "done")
        rows = "[...document.querySelectorAll('#answer tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
        found, _ = core("sums", WEB, named=["by=proto", "by=dst_port", "sum=length"])
        self.assertEqual(self.browser.run(rows), table(found))
        self.assertEqual(self.submit(by="protoo"), "idle")
        self.assertIn("proto", self.browser.run(MESSAGES)[0])
        self.assertEqual(self.browser.messages, [])

    def test_what_is_no_capture_is_told(self):
        self.assertEqual(self.read(PAGE), "idle")
        self.assertIn("bytewright.html", self.browser.run(MESSAGES)[0])
        self.assertEqual(self.read(PAGE, WEB), "done")
        self.assertEqual(self.shown(), report(WEB))

    def test_names_of_files_are_text(self):
        name = "<b onclick=alert(1)>web.pcap.gz"
        hostile = pathlib.Path(self.folder.name, name)
        hostile.write_bytes(WEB.read_bytes()[:-1000])
        self.assertEqual((self.read(hostile), self.shown()), ("done", report(hostile)))
        self.assertIn(name, self.browser.run(MESSAGES)[0])
        self.assertEqual(self.browser.run("document.querySelectorAll('b').length"), 0)

    def test_reading_that_is_stopped_or_begun_anew_leaves_one_answer(self):
        self.read(WEB)
        ask = "document.getElementById('question').requestSubmit();"
        self.browser.run(f"{ask} document.getElementById('stop').click()")
        self.assertEqual((self.ready(), self.browser.run(MESSAGES)), ("idle", ["Stopped."]))
        self.assertIsNone(self.browser.run("document.querySelector('iframe')"))
        self.browser.run(f"{ask} {ask} {ask}")
        self.assertEqual((self.ready(), self.shown()), ("done", report(WEB)))
        self.assertEqual(self.browser.run("document.querySelectorAll('iframe').length"), 1)

    def test_the_report_is_saved(self):
        folder = pathlib.Path(self.folder.name, "saved")
        folder.mkdir()
        self.browser.save_in(folder)
        self.read(WEB)
        self.browser.run("document.getElementById('save').click()")
        deadline = time.monotonic() + 60
        while not (folder / "report.html").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual((folder / "report.html").read_bytes(), report(WEB))

    def test_a_capture_is_written_and_saved_and_one_that_cannot_be_is_told(self):
        folder = pathlib.Path(self.folder.name, "written")
        folder.mkdir()
        self.browser.save_in(folder)
        self.read(WEB)
        for name, value in (("name", "web.pcapng.zst"), ("where", "dst_port == 80"), ("anonymize", "key")):
            self.browser.run(f"document.getElementById('{name}').value = '{value}'")
        self.browser.run("document.getElementById('cut').click()")
        self.assertEqual(self.ready(), "done")
        self.assertEqual(self.browser.run("document.getElementById('told').innerText"), "packets written: 1898")
        written = folder / "web.pcapng.zst"
        deadline = time.monotonic() + 60
        while not written.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        named = ["name=web.pcapng.zst", "where=dst_port == 80", "anonymize=key", "payload=zero"]
        self.assertEqual(written.read_bytes(), core("cut", WEB, named=named)[0])
        self.browser.run("document.getElementById('name').value = 'web.txt'; document.getElementById('cut').click()")
        self.assertEqual(self.ready(), "idle")
        self.assertIn("expected the name of a capture to write", self.browser.run(MESSAGES)[0])

    def test_nothing_can_be_sent_and_no_other_script_runs(self):
        asked = []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = json.dumps(f"http://127.0.0.1:{server.server_address[1]}/")
            found = self.browser.run(SENT % {"url": url})
            server.shutdown()
        self.assertEqual((found, asked), (["refused"] * 4, []))
        self.assertIn("Content Security Policy", json.dumps(self.browser.messages))
        self.assertIn("Nothing leaves this machine", self.browser.run("document.body.textContent"))

    def test_the_page_is_small(self):
        self.assertLess(os.path.getsize(PAGE), 1_500_000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
