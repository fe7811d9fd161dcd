"""Writes the sources of the site for MkDocs: the documents, the APIs of all languages as Markdown, rustdoc's pages, the menu.

Usage: pages.py FOLDER RUSTDOC COMMAND: RUSTDOC is the folder where `cargo doc` writes, COMMAND makes the report to try. Documents
keep the paths that they have in the repository, so that their links lead to the same files. A file that a document links to is
written, too. MkDocs refuses links that lead nowhere.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import c
import perl
import rust

ROOT = pathlib.Path(__file__).parents[2]
#: The pages of the menu. Every other document that a page links to becomes a page, too.
MENU = {
    "Tutorials": [f"docs/tutorials/{name}.md" for name in ("command", "python", "ruby", "perl")],
    "Guides": sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides").glob("*.md")),
    "Reference": [
        f"docs/{name}.md"
        for name in (
            *("captures", "conditions", "flows", "flow-formats", "cut", "live", "damage"),
            *("report", "rpc", "tables", "tables-ruby", "cache", "adb", "pstore", "thrift", "reader", "c"),
            *("questions", "options", "names", "errors", "bounds", "tshark"),
        )
    ],
    "File formats": [f"docs/{name}.md" for name in ("flow-table", "hash-table-file", "tree-table-file", "pstore-journal", "capture-index")],
    "Figures": ["docs/benchmarks.md", "docs/compared.md"],
    "Project": ["CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"],
}
#: The page of `make wasm`.
READER = ROOT / "target/wasm/bytewright.html"
PYTHON = ("bytewright", "bytewright.thrift", "bytewright.pstore", "bytewright.polars", "bytewright.spark")
LINK = re.compile(r"\]\(([^)#:\s]+)")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
#: Blocks of code, and code within a line.
CODE = re.compile(r"(^```.*?^```$|^    [^\n]*$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
#: A list right below a paragraph, which Python's Markdown wants a blank line before.
LIST = re.compile(r"^((?![-*+#|\s]|\d+\. ).+\n)(?=[-*+] |1\. )", re.MULTILINE)
#: A document that the text of an API names, outside of code.
NAMED = re.compile(r"(?<![\w/\[(`\".])(?:docs|examples)/[\w/.-]*\w\.\w+")


def apis(rustdoc):
    """Returns language => path and Markdown of its pages."""
    ruby = subprocess.run(["ruby", ROOT / "docs/site/ruby.rb"], check=True, capture_output=True, text=True).stdout
    return {
        "Ruby": json.loads(ruby),
        "Python": {f"api/python/{name}.md": f"# {name}\n\n::: {name}\n" for name in PYTHON},
        "Perl": perl.pages(ROOT / "perl/lib"),
        "C": {"api/c.md": c.page((ROOT / "c/include/bytewright.h").read_text("utf-8"))},
        "Rust": rust.pages(rustdoc),
    }


#: Of pages that have the same words in their headings, a search tells what people begin with first, and the APIs last.
RANKS = {
    **dict.fromkeys(MENU["File formats"], 1),
    **{"docs/tutorials/": 3, "docs/guides/": 3, "docs/": 1.5},
    **{"bench/": 0.5, "CHANGELOG.md": 0.3, "CONTRIBUTING.md": 0.5},
}
RANK_OF_APIS = 0.5


def ranked(text, rank):
    """Puts the rank of a page in a search in front of it."""
    return f"---\nsearch:\n  boost: {rank}\n---\n\n{text}"


class Pages:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)

    def write(self, path, text):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    def copy(self, path):
        """Copies a file of the repository, and the files that it links to."""
        if (self.folder / path).exists():
            return
        if path.endswith(".md"):
            text = (ROOT / path).read_text("utf-8")
            rank = next((rank for beginning, rank in RANKS.items() if path.startswith(beginning)), 1)
            self.write(path, ranked(adapted(path, text), rank))
            self.copy_linked(path, text)
        else:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.folder / path)

    def copy_linked(self, path, text):
        for link in LINK.findall(text):
            target = (ROOT / path).parent.joinpath(link).resolve()
            if target.is_file() and target.is_relative_to(ROOT):
                self.copy(target.relative_to(ROOT).as_posix())


def adapted(path, text):
    """Makes of a document what MkDocs wants: links to folders lead to the first page, and a blank line is above each list."""
    folder = (ROOT / path).parent

    def led(link):
        target = folder.joinpath(link[1]).resolve()
        return f"]({'../' * path.count('/')}README.md" if target.is_dir() and target.is_relative_to(ROOT / "docs") else link[0]

    parts = FENCED.split(text)
    parts[::2] = [LIST.sub(r"\1\n", LINK.sub(led, part)) for part in parts[::2]]
    return "".join(parts)


def linked(path, text):
    """Adds links to the documents that a text names."""
    up = "../" * path.count("/")
    parts = CODE.split(text)
    parts[::2] = [NAMED.sub(lambda name: f"[{name[0]}]({up}{name[0]})" if (ROOT / name[0]).is_file() else name[0], part) for part in parts[::2]]
    return "".join(parts)


def to_try(pages, command):
    """Writes a page with the report of a sample and, where `make wasm` has made it, the page that reads captures by itself."""
    report = subprocess.run([command, "report", "samples/web.pcap.gz", "-o", "-"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    pages.write("try/report.html", report)
    text = "# Try it\n\nPages of one file each, which open from a disk and send nothing anywhere.\n\n"
    text += "- [A report](try/report.html), as `bytewright report` makes it of `samples/web.pcap.gz`: one file, without a network.\n"
    if READER.is_file():
        shutil.copy(READER, pages.folder / "try/bytewright.html")
        text += "- [A page that reads captures by itself](try/bytewright.html): drop yours on it; nothing leaves this machine.\n"
    pages.write("try.md", text)


def main(folder, rustdoc, command):
    pages = Pages(folder / "docs")
    to_try(pages, command)
    menu = [{"Bytewright": "README.md"}, {"Try it": "try.md"}, *({title: MENU[title]} for title in ("Tutorials", "Guides", "Reference"))]
    for language, made in apis(rustdoc).items():
        for path, text in made.items():
            text = linked(path, text)
            pages.write(path, ranked(text, RANK_OF_APIS))
            pages.copy_linked(path, text)
        menu.append({f"API of {language}": list(made)})
    for path in ("README.md", *sum(MENU.values(), [])):
        pages.copy(path)
    rust.copy(rustdoc, folder / "docs/api/rust")
    configure(folder, [*menu, *({title: MENU[title]} for title in list(MENU)[3:])])


def configure(folder, menu):
    """Writes the configuration of a site, whose pages are in the folder already."""
    shutil.copytree(ROOT / "docs/site/assets", folder / "docs/assets")
    # JSON is YAML, too.
    (folder / "mkdocs.yml").write_text(f"INHERIT: {ROOT}/docs/site/mkdocs.yml\nnav: {json.dumps(menu)}\n", "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: pages.py FOLDER RUSTDOC COMMAND")
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve())
