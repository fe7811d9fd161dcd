"""Goal: every page of the site opens, every link on it leads somewhere, and the search finds what pages say.

Method: a browser opens each page. Its links, as the browser resolves them, are compared with the files and with the headings
that the browser finds in them. What MkDocs must refuse is tried on a made document.

Usage: test.py SITE. Without a browser it says so, and tries only what is refused.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).parents[2] / "cli/tests/report"))

import pages
from browser import Browser, installed

SITE, BROWSER = pathlib.Path(sys.argv[1]).resolve(), installed()
RUST = SITE / "api/rust"
#: Pages that are no documents.
TRIED = SITE / "try"
LINKS = "[...document.querySelectorAll('a[href], img[src]')].map((element) => element.href ?? element.src)"
SAID = "document.querySelector('.md-search-result__meta').textContent.trim()"
FOUND = "[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href.replace(/\\?h=[^#]*/, ''))"

#: What people type, and the page that they want. "sync" leads to the methods of that name in every API first.
SOUGHT = {
    "getting started": r"tutorials/\w+\.html",
    "asyncio": r"guides/threads\.html",
    "thread safe": r"guides/threads\.html",
    "multiple processes": r"guides/processes\.html",
    "rails": r"cache\.html",
    "django": r"cache\.html",
    "windows": r"guides/install\.html",
    "macos": r"guides/install\.html",
    "arm64": r"guides/install\.html",
    "docker": r"guides/install\.html",
    "exit codes": r"errors\.html",
    "filter": r"captures\.html|guides/captures\.html",
    "ipv6": r"captures\.html|guides/captures\.html|names\.html",
    "labels": r"flows\.html",
    "zeek": r"flow-formats\.html",
    "regular expression": r"conditions\.html",
    "error message": r"guides/troubleshooting\.html",
    "durability": r"tables\.html",
    "timeout": r"guides/processes\.html|options\.html|tables\.html",
}


class Refused(unittest.TestCase):
    @staticmethod
    def built(text):
        """Builds a site with a made document. Returns the exit status of MkDocs and its warnings."""
        with tempfile.TemporaryDirectory() as folder:
            made = pages.Pages(pathlib.Path(folder) / "docs")
            made.write("README.md", "# First\n")
            made.write("LICENSE", "")
            made.write("docs/tables.md", "# Tables\n\n## What is lost when\n")
            made.write("docs/made.md", pages.adapted("docs/made.md", text))
            pages.configure(pathlib.Path(folder), ["README.md", "docs/tables.md", "docs/made.md"])
            command = [pathlib.Path(sys.executable).with_name("mkdocs"), "build", "-f", f"{folder}/mkdocs.yml", "-d", f"{folder}/site"]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
            return done.returncode, [line for line in done.stderr.splitlines() if "WARNING" in line]

    def test_links_that_lead_to_no_file_to_no_heading_or_out_of_the_repository_are_errors(self):
        # The folder that the repository is in is there on every machine.
        links = ["nowhere.md", "../../etc", "../..", "tables.md#nothing"]
        status, warnings = self.built("".join(f"[a]({link})\n\n" for link in links))
        self.assertEqual(status, 1)
        for link in links:
            self.assertTrue(any(f"'{link}'" in line for line in warnings), f"{link}: {warnings}")

    def test_links_to_pages_headings_files_folders_and_other_machines_are_no_errors(self):
        text = "[a](tables.md#what-is-lost-when) [b](../LICENSE) [c](https://example.org) [d](guides)\n"
        self.assertEqual(self.built(text), (0, []))

    def test_a_list_below_a_paragraph_is_one_as_on_github_and_code_stays(self):
        self.assertEqual(pages.adapted("docs/made.md", "It has\n- one\n  more\n- two\n"), "It has\n\n- one\n  more\n- two\n")
        for text in ("```\nkeys:\n- one\n```\n", "- one\n- two\n", "1. one\n2. two\n"):
            self.assertEqual(pages.adapted("docs/made.md", text), text)


class Opened(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory()
        cls.browser = Browser(BROWSER, cls.profile.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.profile.cleanup()

    def test_every_page_opens_and_every_link_leads_to_a_file_and_a_heading(self):
        # rustdoc checks its own pages, which have no article.
        opened = sorted(page for page in SITE.rglob("*.html") if not {RUST, TRIED} & {*page.parents} and page.name != "404.html")
        self.assertGreater(len(opened), 110)
        links, ids = set(), {}
        for page in opened:
            self.browser.open(page)
            self.assertEqual(self.browser.messages, [], page)
            self.assertGreater(self.browser.run("document.querySelector('article').innerText.length"), 100, page)
            self.assertTrue(self.browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{page} is wider than the window")
            ids[page] = set(self.browser.run("[...document.querySelectorAll('[id]')].map((element) => element.id)"))
            links.update((page, link) for link in self.browser.run(LINKS))
        for page, link in links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme != "file":
                self.assertIn(parts.scheme, ("https", "mailto"), f"{page}: {link}")
                continue
            target = pathlib.Path(urllib.parse.unquote(parts.path))
            self.assertTrue(target.is_file(), f"{page}: {link}")
            if parts.fragment and target in ids:
                self.assertIn(urllib.parse.unquote(parts.fragment), ids[target], f"{page}: {link}")
        for page in filter(lambda page: page.is_relative_to(SITE / "docs"), opened):
            # GitHub numbers them in another way, so that no link to one would be right in both places.
            self.assertEqual([name for name in ids[page] if re.search(r"^[^_].*_\d+$", name)], [], f"{page}: equal headings")

    def test_a_report_is_there_to_try(self):
        self.browser.open(SITE / "try/report.html")
        self.assertIn("web.pcap.gz", self.browser.run("document.body.innerText"))
        self.assertEqual(self.browser.messages, [])

    def test_every_document_is_a_page(self):
        for path in [*pages.ROOT.glob("*.md"), *(pages.ROOT / "docs").rglob("*.md")]:
            path = path.relative_to(pages.ROOT)
            page = "index.html" if path.name == "README.md" else path.with_suffix(".html")
            self.assertTrue((SITE / page).is_file(), path)

    def test_pages_are_light_or_dark_as_the_system_is(self):
        for is_dark, scheme in ((False, "default"), (True, "slate")):
            self.browser.open(SITE / "index.html", is_dark=is_dark)
            self.assertEqual(self.browser.run("document.body.dataset.mdColorScheme"), scheme)

    def test_pages_of_an_api_have_each_public_name_with_what_is_said_of_it(self):
        for page, anchor in (
            ("api/ruby/Capture", "Bytewright::Capture.flows"),
            ("api/ruby/Bytewright", "Bytewright::TruncatedError"),
            ("api/python/bytewright", "bytewright.HashTable.get_many"),
            ("api/python/bytewright", "bytewright.Packet.src_ip"),
            ("api/python/bytewright", "bytewright.Rows"),
            ("api/c", "bw_capture_open"),
            ("perl/lib/Bytewright/Capture", "count_by"),
            ("api/rust.bytewright.sums", "struct.EntryMerge"),
        ):
            self.browser.open(SITE / f"{page}.html")
            text = f"(() => {{ const heading = [...document.querySelectorAll('[id]')].find((each) => each.id.startsWith('{anchor}')); "
            text += "let text = ''; for (let next = heading?.nextElementSibling; next && !/^H/.test(next.tagName); next = next.nextElementSibling) "
            text += "if (!next.matches('.highlight')) text += next.innerText; return text; })()"
            self.assertGreater(len(self.browser.run(text)), 20, anchor)

    def found(self, query):
        """Searches. Returns the links that are found, and the text about their number."""
        self.browser.open(SITE / "docs/tables.html")
        self.browser.run(
            "(() => { const field = document.querySelector('[data-md-component=search-query]'); field.focus(); "
            f"field.value = '{query}'; field.dispatchEvent(new Event('keyup')); }})()"
        )
        deadline = time.monotonic() + 20
        while not re.search(r"matching documents?$", self.browser.run(SAID)) and time.monotonic() < deadline:
            self.browser.settle()
        self.assertEqual(self.browser.messages, [])
        return self.browser.run(FOUND), self.browser.run(SAID)

    def test_a_search_finds_the_page_and_the_section_that_have_the_words_in_their_headings_first(self):
        page = f"file://{SITE}/docs/tables.html"
        self.assertEqual(self.found("what is lost when")[0][:2], [page, f"{page}#what-is-lost-when"])

    def test_a_search_finds_names_of_every_api_and_words_of_documents(self):
        for words, page in (
            ("ultra_safe power", "docs/pstore.html#"),
            ("next_columns", "perl/lib/Bytewright/Rows.html#next_columns"),
            ("values_at", "api/ruby/Table.html#Bytewright::Table#values_at"),
            ("scan_packets", "api/python/bytewright.polars.html#bytewright.polars.scan_packets"),
            ("bw_table_get_many", "api/c.html#bw_table_get_many"),
            ("EntryMerge", "api/rust.bytewright.sums.html#struct.EntryMerge"),
        ):
            self.assertTrue(any(page in link for link in self.found(words)[0]), words)

    def test_a_search_for_what_people_look_for_finds_the_page_among_the_first_three(self):
        missed = {}
        for words, page in SOUGHT.items():
            seen = list(dict.fromkeys(link.partition("#")[0].removeprefix(f"file://{SITE}/docs/") for link in self.found(words)[0]))
            if not any(re.fullmatch(page, link) for link in seen[:3]):
                missed[words] = seen[:5]
        self.assertEqual(missed, {})

    def test_a_search_without_a_result_says_so(self):
        self.assertEqual(self.found("qqqxyz"), ([], "No matching documents"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *([] if BROWSER else ["Refused"])])
