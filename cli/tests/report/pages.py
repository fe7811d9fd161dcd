"""Goal: a report that is opened shows the numbers that the command prints, and can be zoomed, searched, sorted and read.

Method: the command makes pages of the samples, and of a capture that means ill. A browser opens each; what its elements show
is compared with the answers of `packets`, `flows` and `rpc` with `--json`, to which the same was asked.

Usage: pages.py COMMAND [FOLDER], which keeps screenshots there. Without a browser it says so and is done.
"""

import csv
import datetime
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, installed

COMMAND, BROWSER = os.path.abspath(sys.argv[1]), installed()
PICTURES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
SAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "samples")
CAPTURES = ("web.pcap.gz", "warehouse.pcap.zst", "loopback.pcap.zst", "vlan.pcapng", "interfaces.pcapng", "fragments.pcap", "tunnels.pcap")

DATA = "JSON.parse(document.getElementById('data').textContent)"
#: The section with a heading.
SECTION = "[...document.querySelectorAll('section')].find((s) => s.querySelector('h2').textContent === %s)"

#: Texts with less contrast to what is behind them than WCAG 2.2 asks for at level AA, which is 4.5.
FAINT = """(() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = new Set();
  for (const element of document.querySelectorAll('main *')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!isText || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(element.namespaceURI.endsWith('svg') ? style.fill : style.color), light(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(`${element.tagName} ${element.parentElement.className}: ${contrast.toFixed(2)}`);
  }
  return [...found];
})()"""


def sample(name):
    return os.path.join(SAMPLES, name)


def rows(*arguments):
    """The rows that the command prints."""
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def report(page, *arguments):
    subprocess.run([COMMAND, "report", *arguments, "-o", page], check=True)


def added_up(groups, key):
    sums = {}
    for group in groups:
        packets, length = sums.get(key(group), (0, 0))
        sums[key(group)] = (packets + group["packets"], length + group["length"])
    return sums


def service(group):
    ports = [group["src_port"], group["dst_port"]]
    return "no port" if None in ports else str(min(ports))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser(BROWSER, os.path.join(cls.folder.name, "profile"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def page(self, name, *arguments, **window):
        path = os.path.join(self.folder.name, f"{name}.html")
        report(path, *(arguments or [sample(name)]))
        self.assertLessEqual(os.path.getsize(path), 500_000)
        self.browser.open(path, **window)
        return path

    def section(self, title):
        return SECTION % json.dumps(title)

    def place(self, title, share, height=0.5):
        """Returns the point at a share of the way over the picture of a section."""
        box = self.browser.run(
            f"(() => {{ const svg = {self.section(title)}.querySelector('svg'); svg.scrollIntoView({{ block: 'center' }});"
            " const { left, top, width, height } = svg.getBoundingClientRect(); return [left, top, width, height]; })()"
        )
        return (box[0] + 58 + share * (box[2] - 62), box[1] + height * box[3])

    def cells(self, title, column):
        script = f"[...{self.section(title)}.querySelectorAll('tbody tr')].map((row) => row.children[{column}].textContent)"
        return self.browser.run(script)

    def test_each_sample_is_shown_without_an_error(self):
        for name in CAPTURES:
            with self.subTest(name):
                self.page(name)
                self.assertEqual(self.browser.messages, [])
                self.assertEqual(self.browser.run("document.querySelector('h1').textContent"), name)
                self.assertEqual(self.browser.run("document.title"), name)
                self.assertGreater(self.browser.run("document.querySelectorAll('section').length"), 3)

    def test_the_pages_fit_narrow_windows_and_both_themes(self):
        for name, width, is_dark in [("web.pcap.gz", 1240, False), ("warehouse.pcap.zst", 1240, True), ("warehouse.pcap.zst", 390, False)]:
            with self.subTest((name, width, is_dark)):
                self.page(name, width=width, is_dark=is_dark)
                overflow = self.browser.run("document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(overflow, 0, "the page is wider than its window")
                if PICTURES:
                    self.browser.screenshot(os.path.join(PICTURES, f"{name}-{width}-{'dark' if is_dark else 'light'}.png"))

    def test_the_picture_has_the_numbers_of_the_command(self):
        for name in CAPTURES:
            with self.subTest(name):
                self.page(name)
                shown = self.browser.run(DATA)
                width, begin = int(shown["time"]["width"]), int(shown["time"]["begin"])
                every = f"{width // 1000}us"
                asked = ("packets", sample(name), "--sum", "length", "--every", every)
                by_protocol = rows(*asked, "--group-by", "proto")
                names = {int(number): text for number, text in shown["protocol_names"].items()}
                protocol = lambda group: "no IP" if group["proto"] is None else names.get(group["proto"], f"protocol {group['proto']}")
                self.assert_series(shown["protocols"], added_up(by_protocol, lambda g: (protocol(g), (g["ts"] - begin) // width)))
                by_port = rows(*asked, "--group-by", "src_port,dst_port")
                self.assert_series(shown["ports"], added_up(by_port, lambda g: (service(g), (g["ts"] - begin) // width)))
                totals = {row["name"]: (row["packets"], row["bytes"]) for row in shown["port_totals"]["rows"]}
                self.assertEqual(totals, {key: value for key, value in added_up(by_port, service).items() if key in totals})

    def assert_series(self, series, expected):
        """Asserts that what is drawn is what was printed; what is drawn as `other` is the rest."""
        told = {one["name"] for one in series}
        found = {}
        for one in series:
            for place, (packets, length) in enumerate(zip(one["packets"], one["bytes"])):
                if packets:
                    found[one["name"], place] = (packets, length)
        sums = {}
        for (name, place), (packets, length) in expected.items():
            key = (name if name in told else "other", place)
            before = sums.get(key, (0, 0))
            sums[key] = (before[0] + packets, before[1] + length)
        self.assertEqual(found, sums)

    def test_the_tables_have_the_numbers_of_the_command(self):
        self.page("web.pcap.gz")
        flows = rows("flows", sample("web.pcap.gz"), "--top", "100")
        conversations = self.browser.run(DATA)["conversations"]
        self.assertEqual(
            sorted((flow["bytes"] + flow["rev_bytes"], flow["community_id"]) for flow in conversations[:90]),
            sorted((flow["bytes"] + flow["rev_bytes"], flow["community_id"]) for flow in flows[:90]),
        )
        self.assertEqual(len(self.cells("Conversations", 0)), 100)
        self.page("warehouse.pcap.zst")
        methods = {row["method"]: row for row in rows("rpc", sample("warehouse.pcap.zst"))}
        for row in self.browser.run(DATA)["methods"]["rows"]:
            self.assertEqual(row, methods[row["method"]])
        calls = self.browser.run(f"{DATA}.calls.calls.reduce((all, one) => all + one)")
        self.assertEqual(calls, sum(row["calls"] for row in methods.values()))

    def test_dragging_zooms_and_a_button_shows_all_again(self):
        self.page("web.pcap.gz")
        labels = f"[...{self.section('Traffic over time')}.querySelectorAll('svg text')].map((text) => text.textContent).join(' ')"
        before = self.browser.run(labels)
        self.browser.drag(self.place("Traffic over time", 0.3), self.place("Traffic over time", 0.5))
        zoomed = self.browser.run(labels)
        self.assertNotEqual(zoomed, before)
        button = f"{self.section('Traffic over time')}.querySelector('button.plain')"
        self.assertFalse(self.browser.run(f"{button}.hidden"))
        self.browser.run(f"{button}.click()")
        self.browser.settle()
        self.assertEqual(self.browser.run(labels), before)
        self.assertTrue(self.browser.run(f"{button}.hidden"))

    def copied(self, title):
        """Returns what the button of a section copies, as rows with their names."""
        self.browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.run(f"[...{self.section(title)}.querySelectorAll('button.plain')].at(-1).click()")
        self.browser.settle()
        return list(csv.DictReader(self.browser.run("window.copied").splitlines()))

    def part(self, title):
        """The part of the time that a table says it is of, in nanoseconds."""
        note = self.browser.run(f"{self.section(title)}.querySelector('.note').textContent")
        times = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", note)
        self.assertEqual(len(times), 2, note)
        utc = [datetime.datetime.fromisoformat(f"{time}+00:00") for time in times]
        return [round(time.timestamp() * 1000) * 1_000_000 for time in utc]

    def test_a_part_that_is_zoomed_into_narrows_the_tables(self):
        self.page("web.pcap.gz")
        before = {title: self.copied(title) for title in ("Hosts", "Ports", "Protocols", "Conversations")}
        shown = self.browser.run(DATA)
        self.browser.drag(self.place("Traffic over time", 0.3), self.place("Traffic over time", 0.5))
        begin, end = self.part("Hosts")
        self.assertLess(end - begin, 0.4 * (int(shown["last"]) - int(shown["first"])))
        fields = "ts,src_ip,dst_ip,src_port,dst_port,proto,length"
        packets = [p for p in rows("packets", sample("web.pcap.gz"), "--fields", fields) if begin <= p["ts"] < end]
        hosts, ports, protocols = {}, {}, {}
        names = {int(number): text for number, text in shown["protocol_names"].items()}
        for packet in packets:
            for sums, keys in [
                (hosts, {packet["src_ip"], packet["dst_ip"]}),
                (ports, {service(packet)}),
                (protocols, {"no IP" if packet["proto"] is None else names[packet["proto"]]}),
            ]:
                for key in keys:
                    count, length = sums.get(key, (0, 0))
                    sums[key] = (count + 1, length + packet["length"])
        for title, key, expected in [("Hosts", "ip", hosts), ("Ports", "port", ports), ("Protocols", "name", protocols)]:
            with self.subTest(title):
                self.assertEqual(self.part(title), [begin, end])
                told = {row[key]: (int(row["packets"]), int(row["bytes"])) for row in self.copied(title)}
                known = {row[key] for row in before[title]}
                self.assertEqual(told, {key: sums for key, sums in expected.items() if key in known})
                self.assertLessEqual(len(told), len(before[title]))
        self.assertLess(len(self.copied("Hosts")), len(before["Hosts"]))
        conversations = self.copied("Conversations")
        self.assertLess(len(conversations), len(before["Conversations"]))
        note = self.browser.run(f"{self.section('TCP resets and retransmissions')}.querySelector('.note').textContent")
        self.assertTrue(note.endswith("Of all of the time."), note)
        self.browser.run(f"{self.section('Traffic over time')}.querySelector('button.plain').click()")
        self.browser.settle()
        self.assertEqual({title: self.copied(title) for title in before}, before)
        self.assertEqual(self.browser.messages, [])

    def test_every_row_of_a_sample_is_known_by_time(self):
        for name in CAPTURES:
            with self.subTest(name):
                self.page(name)
                shown = self.browser.run(DATA)
                for key, there in [("hosts", shown["hosts"]), ("protocols", shown["protocol_totals"]["rows"]), ("ports", shown["port_totals"]["rows"])]:
                    for row, by_time in zip(there, shown["parts"][key], strict=True):
                        self.assertEqual([sum(by_time["packets"]), sum(by_time["bytes"])], [row["packets"], row["bytes"]])

    def test_keys_zoom_and_read_and_escape_shows_all(self):
        self.page("web.pcap.gz")
        chart = f"{self.section('Traffic over time')}.querySelector('.chart')"
        labels = f"[...{chart}.querySelectorAll('svg text')].map((text) => text.textContent).join(' ')"
        before = self.browser.run(labels)
        self.browser.run(f"{chart}.focus()")
        self.browser.key("+")
        self.assertNotEqual(self.browser.run(labels), before)
        self.browser.key("ArrowRight")
        self.assertFalse(self.browser.run(f"{chart}.querySelector('.tip').hidden"))
        self.browser.key("Escape")
        self.assertEqual(self.browser.run(labels), before)

    def test_hovering_tells_an_interval_and_a_name_can_be_left_out(self):
        self.page("web.pcap.gz")
        tip = f"{self.section('Traffic over time')}.querySelector('.tip')"
        self.browser.hover(self.place("Traffic over time", 0.418))
        self.assertIn("tcp", self.browser.run(f"{tip}.textContent"))
        name = f"{self.section('Traffic over time')}.querySelector('.legend button')"
        self.browser.run(f"{name}.click()")
        self.browser.settle()
        self.assertEqual(self.browser.run(f"{name}.getAttribute('aria-pressed')"), "false")
        drawn = f"[...{self.section('Traffic over time')}.querySelectorAll('path')].map((path) => path.dataset.name)"
        self.assertNotIn("tcp", self.browser.run(drawn))

    def test_a_tap_tells_an_interval_until_another_place_is_tapped(self):
        self.page("web.pcap.gz")
        tip = f"{self.section('Traffic over time')}.querySelector('.tip')"
        self.browser.tap(self.place("Traffic over time", 0.418))
        self.assertFalse(self.browser.run(f"{tip}.hidden"))
        self.assertIn("tcp", self.browser.run(f"{tip}.textContent"))
        first = self.browser.run(f"{tip}.querySelector('.at').textContent")
        self.browser.tap(self.place("Traffic over time", 0.7))
        self.assertNotEqual(self.browser.run(f"{tip}.querySelector('.at').textContent"), first)

    def test_the_head_has_the_times_and_the_retransmissions_of_the_capture(self):
        self.page("web.pcap.gz")
        shown = self.browser.run(DATA)
        times = [packet["ts"] for packet in rows("packets", sample("web.pcap.gz"), "--fields", "ts")]
        self.assertEqual([int(shown["first"]), int(shown["last"])], [min(times), max(times)])
        # tshark tells as many; `samples/README.md` says about as many.
        self.assertEqual((shown["repeats"], shown["fills"]), (2, 138))
        figure = "[...document.querySelectorAll('.figures div')].find((div) => div.textContent.startsWith('Retransmissions')).textContent"
        self.assertEqual(self.browser.run(figure), "Retransmissions140138 of them fill a gap")
        by_service = self.browser.run(f"{DATA}.troubles.map((row) => row.repeats + row.fills).reduce((all, one) => all + one)")
        self.assertEqual(by_service, 140)

    def test_everything_that_a_table_tells_is_printed(self):
        self.page("web.pcap.gz")
        self.browser.print()
        hidden = "[...document.querySelectorAll('tbody tr')].filter((row) => row.getClientRects().length === 0).length"
        self.assertEqual(self.browser.run(hidden), 0)
        cut = "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollHeight > box.clientHeight + 1).length"
        self.assertEqual(self.browser.run(cut), 0)

    def test_a_page_without_packets_says_what_was_asked_and_found(self):
        found = f"{self.section('Nothing found')}.querySelector('p').textContent"
        for arguments, expected in [
            (["--where", "length > 1e6"], "None of 8,760 packets matches where length > 1e6."),
            (["--flow", "192.0.2.1:1-192.0.2.2:2"], "The capture holds no packet that matches flow 192.0.2.1:1-192.0.2.2:2."),
        ]:
            with self.subTest(arguments):
                self.page("none", sample("web.pcap.gz"), *arguments)
                self.assertEqual(self.browser.messages, [])
                self.assertEqual(self.browser.run(found), expected)
                self.assertNotIn("No row has these words", self.browser.run("document.body.innerText"))

    def test_all_text_stands_out_from_its_ground_in_both_themes(self):
        for is_dark in (False, True):
            with self.subTest(is_dark):
                self.page("warehouse.pcap.zst", is_dark=is_dark)
                self.assertEqual(self.browser.run(FAINT), [])

    def test_forced_colours_leave_what_the_pictures_and_their_names_have_in_common(self):
        self.page("web.pcap.gz", has_forced_colours=True)
        self.assertTrue(self.browser.run("matchMedia('(forced-colors: active)').matches"))
        colours = f"[...{self.section('Traffic over time')}.querySelectorAll('.legend i')].map((i) => getComputedStyle(i).backgroundColor)"
        colours = self.browser.run(colours)
        self.assertEqual(len(set(colours)), len(colours))
        drawn = f"[...{self.section('Traffic over time')}.querySelectorAll('path')].map((path) => getComputedStyle(path).fill)"
        self.assertEqual(set(self.browser.run(drawn)), set(colours))

    def test_tables_search_and_sort(self):
        self.page("web.pcap.gz")
        search = f"{self.section('Conversations')}.querySelector('input')"
        self.browser.run(f"{search}.value = '10.20.0.82:80 tcp'; {search}.dispatchEvent(new Event('input'))")
        found = self.cells("Conversations", 1)
        self.assertTrue(found and all(text == "10.20.0.82:80" for text in found), found)
        header = f"{self.section('Ports')}.querySelector('th button')"
        self.browser.run(f"{header}.click()")
        ports = [int(text) for text in self.cells("Ports", 0)]
        self.assertEqual(ports, sorted(ports, reverse=True))
        self.browser.run(f"{header}.click()")
        self.assertEqual([int(text) for text in self.cells("Ports", 0)], sorted(ports))

    def test_a_table_is_copied_as_csv(self):
        self.page("web.pcap.gz")
        self.browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.run(f"[...{self.section('Ports')}.querySelectorAll('button.plain')].at(-1).click()")
        self.browser.settle()
        lines = self.browser.run("window.copied").splitlines()
        self.assertEqual(lines[0], "port,service,bytes,packets")
        expected = self.browser.run(DATA)["port_totals"]["rows"][0]
        self.assertEqual(lines[1], f"{expected['name']},http,{expected['bytes']},{expected['packets']}")

    def test_what_a_capture_holds_is_text_and_no_markup(self):
        hostile = "</script><script>window.hurt=1<img src=x onerror=window.hurt=1>"
        path = os.path.join(self.folder.name, hostile.replace("/", "") + ".pcap")
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            file.write(struct.pack("<IIII", 1_700_000_000, 0, 60, 60) + bytes(60))
        self.page("hostile", path, "--title", hostile)
        self.assertEqual(self.browser.messages, [])
        self.assertIsNone(self.browser.run("window.hurt ?? null"))
        self.assertEqual(self.browser.run("document.querySelector('h1').textContent"), hostile)
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_damage_and_captures_without_packets_are_shown(self):
        with open(sample("fragments.pcap"), "rb") as file:
            capture = file.read()
        cut, empty = (os.path.join(self.folder.name, name) for name in ("cut.pcap", "empty.pcap"))
        with open(cut, "wb") as file:
            file.write(capture[:-5])
        with open(empty, "wb") as file:
            file.write(capture[:24])
        page = os.path.join(self.folder.name, "cut.html")
        done = subprocess.run([COMMAND, "report", cut, "-o", page], capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.browser.open(page)
        self.assertEqual(self.browser.messages, [])
        self.assertIn("cut.pcap: byte ", self.browser.run("document.querySelector('.damage').textContent"))
        self.page("empty", empty)
        self.assertEqual(self.browser.messages, [])
        self.assertIn("The capture holds no packet.", self.browser.run("document.body.innerText"))


if __name__ == "__main__" and BROWSER:
    unittest.main(argv=[sys.argv[0], "-v"])
