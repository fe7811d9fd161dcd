"""The API of C, from its header."""

import re

from sources.api import ApiPage, Entry
from sources.page import ROOT

HEADER = "c/include/bytewright.h"
#: A comment, and what it is about: up to the semicolon that is not within braces.
DECLARED = re.compile(r"^/\*\*\n((?: \*.*\n)+?) \*/\n(#define .*|typedef (?:enum|struct|union) \w+ \{\n(?:.*\n)*?\} \w+;|(?:.*\n)*?.*;)$", re.MULTILINE)
TYPES = "Constants and types"
#: What a function is about, by how its name begins.
SECTIONS = {
    "table": "Tables", "scan": "Scans", "snapshot": "Snapshots", "cursor": "Cursors", "capture": "Captures", "frames": "Packets",
    "rows": "Rows", "batch": "Batches", "schema": "Schemas", "flow_store": "Flow stores", "reader": "Readers", "thrift": "Thrift",
}


def pages():
    header = (ROOT / HEADER).read_text("utf-8")
    sections = {TYPES: [], "Library": []}
    for comment, declaration in DECLARED.findall(header):
        name = _name(declaration)
        sections.setdefault(_section(name, declaration), []).append(Entry(3, name, name, _short(declaration), _said(comment)))
    initial = "\n".join(re.findall(r"^#define BW_\w+_INIT.*", header, re.MULTILINE))
    sections[TYPES].insert(0, Entry(3, "Initial values of structs", "initial-values", initial))
    entries = [Entry(1, "bytewright.h", "bytewright-h", text=_said(header[2 : header.index("*/")]))]
    for title, declared in sections.items():
        entries += [Entry(2, title, title.lower().replace(" ", "-")), *declared]
    return [ApiPage("api/c", "c", entries)]


def _name(declaration):
    callback = re.match(r"typedef .*?\(\*(\w+)\)", declaration)
    if callback:
        return callback[1]
    if declaration.startswith(("typedef", "#define")):
        return re.match(r"(?:#define|typedef (?:enum|struct|union)) (\w+)", declaration)[1]
    return re.search(r"(\w+)\(", declaration)[1]


def _section(name, declaration):
    if declaration.startswith(("typedef", "#define")):
        return TYPES
    return next((title for prefix, title in SECTIONS.items() if name.startswith(f"bw_{prefix}_")), "Library")


def _said(comment):
    return "\n".join(line.removeprefix(" *").removeprefix(" ") for line in comment.strip("\n").split("\n"))


def _short(declaration):
    """The same with a line for each comment of a member."""
    return re.sub(r"/\*\*\n(.*?)\n\s*\*/", lambda comment: f"/* {' '.join(_said(comment[1].replace('   * ', ' * ')).split())} */",
                  declaration, flags=re.DOTALL)
