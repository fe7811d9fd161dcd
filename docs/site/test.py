"""Goal: every page of the site opens, every link on it leads somewhere, and the search finds what pages say.

Method: a browser opens each page. Its links, as the browser resolves them, are compared with the files and with the headings
that the browser finds in them. What the builder must refuse is tried on a made document.

Usage: test.py SITE. Without a browser it says so, and tries only the builder.
"""

import pathlib
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cli/tests/report"))

import build
from browser import Browser, installed
from sources.page import MarkdownPage

SITE, BROWSER = pathlib.Path(sys.argv[1]).resolve(), installed()
RUST = SITE / "api/rust"
LINKS = "[...document.querySelectorAll('a[href], img[src]')].map((element) => element.href ?? element.src)"


class Built(unittest.TestCase):
    @staticmethod
    def page(text):
        with tempfile.NamedTemporaryFile("w", suffix=".md", dir=build.ROOT / "docs") as document:
            document.write(text)
            document.flush()
            return MarkdownPage(pathlib.Path(document.name).relative_to(build.ROOT).as_posix())

    def refused(self, text):
        site = build.Site(None)
        self.page(text).body(site)
        return [error.partition(": ")[2] for error in site.errors]

    def test_equal_headings_have_the_anchors_that_github_numbers(self):
        page = self.page("# Tests\n\n## Tests\n\n## Tests-1\n\n## Tests\n")
        self.assertEqual([anchor for anchor, _, _ in page.sections], ["tests", "tests-1", "tests-1-1", "tests-2"])

    def test_a_link_to_a_file_that_does_not_exist_is_an_error(self):
        self.assertEqual(self.refused("[a](nowhere.md)"), ["nowhere.md: expected a file of the repository, found none"])

    def test_a_link_out_of_the_repository_is_an_error(self):
        # The folder that the repository is in is there on every machine.
        for link in ["../../etc", "../.."]:
            self.assertEqual(self.refused(f"[a]({link})"), [f"{link}: expected a file of the repository, found none"])

    def test_a_link_to_a_heading_that_does_not_exist_is_an_error(self):
        self.assertEqual(
            self.refused("[a](tables.md#nothing)"),
            ["tables.md#nothing: expected a heading of docs/tables.md, found none with that name"],
        )

    def test_links_to_pages_headings_files_and_other_machines_are_no_errors(self):
        self.assertEqual(self.refused("[a](tables.md#what-is-lost-when) [b](../LICENSE) [c](https://example.org) [d](guides)"), [])


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
        pages = sorted(page for page in SITE.rglob("*.html") if RUST not in page.parents)
        self.assertGreater(len(pages), 80)
        links, ids = set(), {}
        for page in pages:
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

    def found(self, query):
        self.browser.open(SITE / "docs/guides/tables.html")
        self.browser.run(
            f"(() => {{ const field = document.getElementById('search'); field.value = '{query}'; field.dispatchEvent(new Event('input')); }})()"
        )
        return self.browser.run("[...document.querySelectorAll('#found a')].map((link) => link.href)")

    def test_pages_of_an_api_have_each_public_name_with_what_is_said_of_it(self):
        for page, anchor in (
            ("api/ruby/Capture", "Bytewright::Capture.flows"),
            ("api/ruby/Bytewright", "Bytewright::TruncatedError"),
            ("api/python/bytewright", "HashTable.get_many"),
            ("api/python/bytewright", "Packet.src_ip"),
            ("api/c", "bw_capture_open"),
            ("perl/lib/Bytewright/Capture", "count_by"),
        ):
            self.browser.open(SITE / f"{page}.html")
            text = f"(() => {{ const heading = [...document.querySelectorAll('[id]')].find((each) => each.id.startsWith('{anchor}')); "
            text += "let text = ''; for (let next = heading?.nextElementSibling; next && !/^H/.test(next.tagName); next = next.nextElementSibling) "
            text += "if (next.tagName !== 'PRE') text += next.innerText; return text; })()"
            self.assertGreater(len(self.browser.run(text)), 20, anchor)

    def test_a_search_finds_the_section_that_has_the_words_in_its_heading_first(self):
        self.assertEqual(self.found("what is lost when")[0], f"file://{SITE}/docs/tables.html#what-is-lost-when")

    def test_a_search_finds_words_in_the_text_of_every_manual(self):
        for words, page in (
            ("ultra_safe power", "docs/pstore.html"),
            ("next_columns", "perl/lib/"),
            ("Table values_at", "api/ruby/Table.html#"),
            ("scan_packets", "api/python/bytewright.polars.html#"),
            ("bw_table_get_many", "api/c.html#bw_table_get_many"),
            ("EntryMerge", "api/rust/bytewright/sums/struct.EntryMerge.html"),
        ):
            self.assertTrue(any(page in link for link in self.found(words)), words)

    def test_a_search_without_a_result_says_so(self):
        self.assertEqual(self.found("qqqxyz"), [])
        self.assertEqual(self.browser.run("document.getElementById('found').textContent"), "Nothing found.")

    def test_an_empty_search_shows_the_page_again(self):
        self.found("tables")
        self.assertTrue(self.browser.run("document.querySelector('article').hidden"))
        self.found("")
        self.assertFalse(self.browser.run("document.querySelector('article').hidden"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *([] if BROWSER else ["Built"])])
