"""The API of Rust: the pages that rustdoc writes, as they are, and pages with their items, which the search knows."""

import html
import re
import shutil

#: Parts of the folder of rustdoc that belong to the crate. Other crates may be there, too.
PARTS = ["bytewright", "src/bytewright", "search.desc/bytewright", "search.index", "static.files", "trait.impl", "type.impl"]
ITEM = re.compile(r"(struct|enum|trait|fn|constant|type|union|macro)\.(\w+)\.html")
SAID = re.compile(r'<meta name="description" content="([^"]*)"')


def pages(folder):
    """Returns path => Markdown of each module: its items, with the first sentence about each."""
    made = {}
    for path in sorted((folder / "bytewright").rglob("*.html")):
        item, said = ITEM.fullmatch(path.name), SAID.search(path.read_text("utf-8"))
        if item and said:
            module = ".".join(path.parent.relative_to(folder).parts)
            link = f"rust/{path.relative_to(folder).as_posix()}"
            made.setdefault(f"api/rust.{module}.md", [f"# {module.replace('.', '::')}"])
            made[f"api/rust.{module}.md"].append(f"## {item[2]} {{ #{item[1]}.{item[2]} }}\n\n[{item[1]} `{item[2]}`]({link}): {html.unescape(said[1])}")
    return {path: "\n\n".join(parts) + "\n" for path, parts in made.items()}


def copy(folder, to):
    for part in PARTS:
        if (folder / part).is_dir():
            shutil.copytree(folder / part, to / part)
    for path in folder.glob("*.*"):
        if path.is_file():
            shutil.copy(path, to / path.name)
