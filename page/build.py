"""Writes the page that reads captures by itself: one file, with the core in it.

Usage: build.py PROGRAM PAGE, the former the core as WebAssembly.
"""

import base64
import gzip
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[1]
WEB = ROOT / "page/web"
REPORT = ROOT / "core/src/report"
PART = re.compile("<!--([a-z]+)-->")


def source(script):
    """Returns how a policy names a script that stands in a page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def script_of_reports():
    """Returns the script of the pages that the core writes, which is the same in all of them: `core/src/report/page.rs`."""
    names = re.findall(r'include_str!\("(page/\w+\.js)"\)', (REPORT / "page.rs").read_text("utf-8"))
    scripts = "".join((REPORT / name).read_text("utf-8") for name in names)
    last = (REPORT / "page/page.html").read_text("utf-8").rpartition("<script>")[2].partition("</script>")[0]
    return last.replace("<!--script-->", scripts)


def page(program):
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)[1]
    script = (WEB / "page.js").read_text("utf-8")
    parts = {
        "hashes": f"{source(script)} {source(script_of_reports())}",
        "style": (WEB / "page.css").read_text("utf-8"),
        "version": version,
        "core": (WEB / "core.js").read_text("utf-8"),
        "worker": (WEB / "worker.js").read_text("utf-8"),
        # Without a time, so that the same core makes the same page.
        "program": base64.b64encode(gzip.compress(program, mtime=0)).decode(),
        "script": script,
    }
    return PART.sub(lambda part: parts[part[1]], (WEB / "page.html").read_text("utf-8"))


if __name__ == "__main__":
    program, written = map(pathlib.Path, sys.argv[1:])
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(page(program.read_bytes()), "utf-8")
