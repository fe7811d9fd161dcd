"""What all pages of the site have, and pages of Markdown."""

import pathlib
import re

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).parents[3]


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


class Page:
    """A document: where it is in the site, its headings with their texts, and its links."""

    def __init__(self, source, address):
        self.source = source
        self.address = address
        self.links = []  # of the document, as it has them
        self.copied = []  # files of the repository that it links to
        self.sections = []  # (anchor, heading, texts) in order
        self.anchors = {"top"}

    @property
    def folder(self):
        """What its links are relative to."""
        return (ROOT / self.source).parent

    @property
    def title(self):
        return self.sections[0][1] if self.sections else self.source

    def body(self, site):
        """Its HTML, with links that lead to pages of the site."""
        raise NotImplementedError


class MarkdownPage(Page):
    def __init__(self, source, address=None, text=None, html=True):
        super().__init__(source, address or ("index.html" if source == "README.md" else re.sub(r"\.md$", ".html", source)))
        self._markdown = MarkdownIt("commonmark", {"html": html}).enable("table")
        self._tokens = self._markdown.parse((ROOT / source).read_text("utf-8") if text is None else text)
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
        return self._markdown.renderer.render(self._tokens, self._markdown.options, {})
