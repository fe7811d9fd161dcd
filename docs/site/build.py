"""Makes the site: README, all documents and the manuals for Perl as HTML pages that need no network and can be searched.

Usage: build.py FOLDER. Every link must lead to a page, a heading or a file of the repository; otherwise nothing is
written, and the errors name the document and the link. Addresses on other machines are not asked.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from markdown_it import MarkdownIt

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
#: The pages of the menu. Every other Markdown file that a page links to becomes a page, too.
MENU = {
    "Guides": sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides").glob("*.md")),
    "Reference": [
        f"docs/{name}.md"
        for name in ("captures", "report", "rpc", "tables", "adb", "pstore", "thrift", "reader", "c", "names", "errors", "tshark")
    ],
    "Perl": sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "perl/lib").rglob("*.p*") if "=head1" in path.read_text("utf-8")
    ),
    "File formats": [f"docs/{name}.md" for name in ("flow-table", "call-table", "hash-table-file", "tree-table-file", "pstore-journal")],
    "Figures": ["docs/benchmarks.md", "docs/compared.md", "docs/spark.md"],
    "Project": ["CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"],
}
FIRST = "README.md"


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def address(source):
    """Where the page of a document is in the site."""
    return "index.html" if source == FIRST else re.sub(r"\.(md|pm|pod)$", ".html", source)


class Page:
    """A document: its HTML, its headings with their texts, and its links."""

    def __init__(self, source):
        self.source = source
        self.links = []  # of the document, as it has them
        self.copied = []  # files of the repository that it links to
        self.sections = []  # (anchor, heading, text) in order
        self.anchors = {"top"}

    @property
    def title(self):
        return self.sections[0][1] if self.sections else self.source


class MarkdownPage(Page):
    def __init__(self, source):
        super().__init__(source)
        self._tokens = MarkdownIt("commonmark").enable("table").parse((ROOT / source).read_text("utf-8"))
        self._read()

    def _read(self):
        texts = []
        for at, token in enumerate(self._tokens):
            if token.type == "heading_open":
                heading = "".join(child.content for child in self._tokens[at + 1].children)
                anchor = self._anchor(heading)
                token.attrSet("id", anchor)
                texts = []
                self.sections.append((anchor, heading, texts))
            elif token.type in ("fence", "code_block"):
                texts.append(token.content)
            elif token.type == "inline":
                texts.append("".join(" " if child.type == "softbreak" else child.content for child in token.children))
                self.links += [child for child in token.children if child.type in ("link_open", "image")]

    def _anchor(self, heading):
        """The anchor of the next heading. Equal ones are numbered as on GitHub."""
        first = anchor = slug(heading)
        number = 0
        while anchor in self.anchors:
            number += 1
            anchor = f"{first}-{number}"
        self.anchors.add(anchor)
        return anchor

    def body(self, site):
        for link in self.links:
            name = "href" if link.type == "link_open" else "src"
            link.attrSet(name, site.led(self, link.attrGet(name)))
        return MarkdownIt("commonmark").enable("table").renderer.render(self._tokens, MarkdownIt("commonmark").options, {})


class PodPage(Page):
    """A manual for Perl. Links of POD lead to manuals of other modules, which are not checked."""

    def __init__(self, source):
        super().__init__(source)
        command = ["perl", "-MPod::Simple::HTML", "-e", "my $p = Pod::Simple::HTML->new; $p->index(0); $p->output_string(\\my $o); "
                   "$p->parse_file(shift); binmode STDOUT, ':utf8'; print $o", str(ROOT / source)]
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        made = made[made.index("<h1>"):made.rindex("</body>")]
        self._body = re.sub(r"</?a[^>]*>", "", made)
        name = source.removeprefix("perl/lib/").rsplit(".", 1)[0].replace("/", "::")
        self.sections.append(("top", name, [html.unescape(re.sub(r"<[^>]+>", " ", self._body))]))
        self._body = f"<h1>{name}</h1>\n{self._body.replace('<h1>', '<h2>').replace('</h1>', '</h2>')}"

    def body(self, _site):
        return self._body


class Site:
    def __init__(self):
        self.pages = {}
        self.errors = []
        for source in [FIRST, *(source for sources in MENU.values() for source in sources)]:
            self._add(source)

    def _add(self, source):
        """The page of a document, with those that it leads to."""
        if source in self.pages:
            return
        page = MarkdownPage(source) if source.endswith(".md") else PodPage(source)
        self.pages[source] = page
        for link in page.links:
            path = (link.attrGet("href") or link.attrGet("src")).partition("#")[0]
            target = self._target(page, path)
            if path.endswith(".md") and ":" not in path and target.is_relative_to(ROOT) and target.is_file():
                self._add(target.relative_to(ROOT).as_posix())

    def _target(self, page, path):
        return (ROOT / page.source).parent.joinpath(path).resolve()

    def led(self, page, link):
        """The same link within the site."""
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        target = self._target(page, path) if path else ROOT / page.source
        source = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if source in self.pages:
            if anchor and anchor not in self.pages[source].anchors:
                self.errors.append(f"{page.source}: {link}: expected a heading of {source}, found none with that name")
            place = address(source)
        elif source and target.is_dir():
            place = address(FIRST)
        elif source and target.is_file():
            page.copied.append(source)
            place = source
        else:
            self.errors.append(f"{page.source}: {link}: expected a file of the repository, found none")
            place = path
        return os.path.relpath(place, os.path.dirname(address(page.source)) or ".") + (f"#{anchor}" if anchor else "")

    def write(self, folder):
        frame = (HERE / "page.html").read_text("utf-8")
        made = {source: self._framed(frame, page) for source, page in self.pages.items()}
        if self.errors:
            raise SystemExit("\n".join(self.errors))
        shutil.rmtree(folder, ignore_errors=True)
        for source, text in made.items():
            self._put(folder / address(source), text)
            for copied in self.pages[source].copied:
                (folder / copied).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / copied, folder / copied)
        for name in ("style.css", "search.js"):
            shutil.copy(HERE / name, folder / name)
        # A script, because pages that are opened from files may not read others.
        self._put(folder / "index.js", f"const SECTIONS = {json.dumps(self._index(), ensure_ascii=False)};\n")

    def _framed(self, frame, page):
        root = os.path.relpath(".", os.path.dirname(address(page.source)) or ".")
        parts = {"title": html.escape(page.title), "root": root, "menu": self._menu(page), "body": page.body(self)}
        return re.sub(r"\{\{(\w+)\}\}", lambda part: parts[part[1]], frame)

    def _menu(self, page):
        def entry(source):
            place = os.path.relpath(address(source), os.path.dirname(address(page.source)) or ".")
            here = ' aria-current="page"' if source == page.source else ""
            return f'<li><a href="{place}"{here}>{html.escape(self.pages[source].title)}</a></li>'

        groups = [f"<ul>{entry(FIRST)}</ul>"]
        for name, sources in MENU.items():
            groups.append(f"<h2>{name}</h2><ul>{''.join(entry(source) for source in sources)}</ul>")
        return "\n".join(groups)

    def _index(self):
        """Page, anchor, title of the page, heading and text of each section."""
        return [
            [address(source), anchor, page.title, heading, re.sub(r"\s+", " ", " ".join(texts))]
            for source, page in self.pages.items()
            for anchor, heading, texts in page.sections
        ]

    @staticmethod
    def _put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: build.py FOLDER")
    site = Site()
    site.write(pathlib.Path(sys.argv[1]))
    print(f"site: {len(site.pages)} pages in {sys.argv[1]}")
