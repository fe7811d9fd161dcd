"""Pages of an API, made of entries that a reader of each language takes from the sources."""

import dataclasses
import re

from sources.page import ROOT, MarkdownPage

#: A document of the repository that a comment names.
DOCUMENT = re.compile(r"(?<![\w/(\[`])((?:docs|examples)/[\w/.-]*\w\.\w+)")


@dataclasses.dataclass
class Entry:
    """A name with what is said of it. Its text is Markdown."""

    level: int
    heading: str
    anchor: str
    signature: str = ""
    text: str = ""


class ApiPage(MarkdownPage):
    """The entries of a page; the first is its title. `language` is that of the signatures."""

    def __init__(self, source, language, entries):
        self._anchors = iter([entry.anchor for entry in entries])
        super().__init__(source, f"{source}.html", "\n".join(self._written(entry, language) for entry in entries), html=False)

    @property
    def folder(self):
        return ROOT

    @staticmethod
    def _written(entry, language):
        code = f"```{language}\n{entry.signature}\n```\n\n" if entry.signature else ""
        return f"{'#' * entry.level} {_quoted(entry.heading)}\n\n{code}{_linked(entry.text)}\n"

    def _anchor(self, _heading):
        anchor = next(self._anchors)
        assert anchor not in self.anchors, f"{self.source}: two entries have the anchor {anchor}"
        self.anchors.add(anchor)
        return anchor


def field_texts(title):
    """Name => meaning of the fields in a table of docs/names.md."""
    section = (ROOT / "docs/names.md").read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `\w+::\w+` \| `(\w+)` \|.*\| ([^|]+) \|$", section, re.MULTILINE))


def _quoted(heading):
    return re.sub(r"([\\`*_\[\]<>&!#|~])", r"\\\1", heading)


def _linked(text):
    """The same text with links to the documents that it names, except within code."""
    lines, is_code = [], False
    for line in text.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        if not is_code and not line.startswith("    "):
            line = DOCUMENT.sub(lambda found: f"[{found[1]}]({found[1]})" if (ROOT / found[1]).is_file() else found[1], line)
        lines.append(line)
    return "\n".join(lines)
