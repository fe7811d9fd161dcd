"""Makes the site: README, all documents and the APIs of all languages as HTML pages that need no network and can be searched.

Usage: build.py FOLDER RUSTDOC, the latter the folder where `cargo doc` writes. Every link must lead to a page, a heading or a
file of the repository; otherwise nothing is written, and the errors name the document and the link. Addresses on other
machines are not asked.
"""

import html
import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse

from sources import c, python, ruby
from sources.page import ROOT, MarkdownPage
from sources.pod import PodPage
from sources.rust import RustDoc

HERE = pathlib.Path(__file__).parent
#: The pages of the menu. Every other Markdown file that a page links to becomes a page, too.
MENU = {
    "Guides": sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides").glob("*.md")),
    "Reference": [
        f"docs/{name}.md"
        for name in ("captures", "report", "rpc", "tables", "adb", "pstore", "thrift", "reader", "c", "options", "names", "errors", "bounds", "tshark")
    ],
    "File formats": [f"docs/{name}.md" for name in ("flow-table", "call-table", "hash-table-file", "tree-table-file", "pstore-journal")],
    "Figures": ["docs/benchmarks.md", "docs/compared.md", "docs/spark.md"],
    "Project": ["CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"],
}
#: The manuals of Perl's modules. Those of other languages are made by a module each.
MANUALS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "perl/lib").rglob("*.p*") if "=head1" in path.read_text("utf-8"))
FIRST = "README.md"
#: The groups of the menu that are shown open.
OPEN = ["Guides", "Reference"]


class Site:
    def __init__(self, rust):
        self.pages = {}
        self.errors = []
        self.rust = rust
        self.menu = {"Guides": MENU["Guides"], "Reference": MENU["Reference"]}
        apis = {"Ruby": ruby.pages(), "Python": python.pages(), "Perl": [PodPage(source) for source in MANUALS], "C": c.pages()}
        for language, pages in apis.items():
            self.menu[f"API of {language}"] = [page.source for page in pages]
            self.pages |= {page.source: page for page in pages}
        self.menu["API of Rust"] = []
        self.menu |= MENU
        for source in [FIRST, *(source for sources in MENU.values() for source in sources)]:
            self._add(source)

    def _add(self, source):
        """The page of a document, with those that it leads to."""
        if source in self.pages:
            return
        page = self.pages[source] = MarkdownPage(source)
        for link in page.links:
            path = (link.attrGet("href") or link.attrGet("src")).partition("#")[0]
            target = self._target(page, path)
            if path.endswith(".md") and ":" not in path and target.is_relative_to(ROOT) and target.is_file():
                self._add(target.relative_to(ROOT).as_posix())

    @staticmethod
    def _target(page, path):
        """The file that a link leads to. Links with a slash before them are to sources of pages."""
        return ROOT / path[1:] if path.startswith("/") else page.folder.joinpath(path).resolve()

    def led(self, page, link):
        """The same link within the site."""
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        target = self._target(page, path) if path else ROOT / page.source
        source = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if source in self.pages:
            if anchor and urllib.parse.unquote(anchor) not in self.pages[source].anchors:
                self.errors.append(f"{page.source}: {link}: expected a heading of {source}, found none with that name")
            place = self.pages[source].address
        elif source and target.is_dir():
            place = self.pages[FIRST].address
        elif source and target.is_file():
            page.copied.append(source)
            place = source
        else:
            self.errors.append(f"{page.source}: {link}: expected a file of the repository, found none")
            place = path
        return _relative(page, place) + (f"#{anchor}" if anchor else "")

    def write(self, folder):
        frame = (HERE / "page.html").read_text("utf-8")
        made = {source: self._framed(frame, page) for source, page in self.pages.items()}
        if self.errors:
            raise SystemExit("\n".join(self.errors))
        shutil.rmtree(folder, ignore_errors=True)
        for source, text in made.items():
            self._put(folder / self.pages[source].address, text)
            for copied in self.pages[source].copied:
                (folder / copied).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / copied, folder / copied)
        for name in ("style.css", "search.js"):
            shutil.copy(HERE / name, folder / name)
        self.rust.copy_to(folder)
        # A script, because pages that are opened from files may not read others.
        self._put(folder / "index.js", f"const SECTIONS = {json.dumps(self._index(), ensure_ascii=False)};\n")

    def _framed(self, frame, page):
        parts = {"title": html.escape(page.title), "root": _relative(page, "."), "menu": self._menu(page), "body": page.body(self)}
        return re.sub(r"\{\{(\w+)\}\}", lambda part: parts[part[1]], frame)

    def _menu(self, page):
        def entry(other):
            here = ' aria-current="page"' if other is page else ""
            return f'<li><a href="{_relative(page, other.address)}"{here}>{html.escape(other.title)}</a></li>'

        groups = [f"<ul>{entry(self.pages[FIRST])}</ul>"]
        for name, sources in self.menu.items():
            entries = [self.pages[source] for source in sources] or [self.rust]
            is_open = " open" if name in OPEN or page in entries else ""
            groups.append(f"<details{is_open}><summary>{name}</summary><ul>{''.join(map(entry, entries))}</ul></details>")
        return "\n".join(groups)

    def _index(self):
        """Page, anchor, title of the page, heading and text of each section."""
        return [
            [page.address, anchor, page.title, heading, re.sub(r"\s+", " ", " ".join(texts))]
            for page in self.pages.values()
            for anchor, heading, texts in page.sections
        ] + list(self.rust.index())

    @staticmethod
    def _put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _relative(page, place):
    return os.path.relpath(place, os.path.dirname(page.address) or ".")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: build.py FOLDER RUSTDOC")
    site = Site(RustDoc(pathlib.Path(sys.argv[2])))
    site.write(pathlib.Path(sys.argv[1]))
    print(f"site: {len(site.pages)} pages in {sys.argv[1]}")
