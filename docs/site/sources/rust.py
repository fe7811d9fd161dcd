"""The API of Rust, as rustdoc writes it. Its pages are taken as they are; only the search knows what is on them."""

import html
import re
import shutil

ADDRESS = "api/rust"
#: What of the folder of rustdoc belongs to the crate. Other crates may be there, too.
PARTS = ["bytewright", "src/bytewright", "search.desc/bytewright", "search.index", "static.files", "trait.impl", "type.impl"]
ITEM = re.compile(r"(?:struct|enum|trait|fn|constant|type|union|macro)\.(\w+)\.html")
SAID = re.compile(r'<meta name="description" content="([^"]*)"')


class RustDoc:
    """The pages that `cargo doc` made in a folder."""

    title = "The crate bytewright"
    address = f"{ADDRESS}/bytewright/index.html"

    def __init__(self, folder):
        self.folder = folder
        if not (folder / "bytewright/index.html").is_file():
            raise SystemExit(f"{folder}: expected pages of rustdoc; run: cargo doc -p bytewright --no-deps")

    def copy_to(self, site):
        for part in PARTS:
            if (self.folder / part).is_dir():
                shutil.copytree(self.folder / part, site / ADDRESS / part)
        for path in self.folder.glob("*.*"):
            if path.is_file():
                shutil.copy(path, site / ADDRESS / path.name)

    def index(self):
        """What the search finds: each item with the first sentence about it."""
        for path in sorted((self.folder / "bytewright").rglob("*.html")):
            item = ITEM.fullmatch(path.name)
            said = SAID.search(path.read_text("utf-8"))
            if item and said:
                module = "::".join(path.parent.relative_to(self.folder).parts)
                address = f"{ADDRESS}/{path.relative_to(self.folder).as_posix()}"
                yield [address, "top", f"Rust {module}", item[1], html.unescape(said[1])]
