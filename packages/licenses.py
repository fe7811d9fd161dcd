#!/usr/bin/env python3
"""Writes what a package has to say of the code of others that is linked into it: the texts of its licences, and a bill of
materials in CycloneDX.

    packages/licenses.py write CRATE TARGET FOLDER [PART...]   third-party-licenses.txt and bytewright.cdx.json in FOLDER
    packages/licenses.py wheel WHEEL TARGET [PART...]          the same in the wheel, which is written anew

CRATE is that of the workspace which the package is built of, TARGET the compiler's name of the machine. All that is linked in is
found: crates as cargo resolves them with the features of CRATE, the C sources that they bring (VENDORED), the standard library of
Rust, and each PART: `zig` for what it links beside a C library that is not in the package, `musl` for that one.

What is missing is an error: a crate without the text of a licence, or one that links a library that VENDORED does not know. The
same sources and tools write the same bytes; times are those of SOURCE_DATE_EPOCH.
"""

import argparse
import base64
import dataclasses
import hashlib
import html
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).parents[1]
TEXTS = "third-party-licenses.txt"
BILL = "bytewright.cdx.json"
#: Files of a crate that have terms, by their names. A README that tells of them is no such file.
TERMS = re.compile(r"(?i)^(un)?licen[sc]e|^copying|^notice|^copyright")
#: Crate => the C library whose sources it brings and links, its licence, and where the text stands; none where it links nothing
#: that is in a package, because it is the interpreter's.
VENDORED = {
    "zstd-sys": ("zstd", "BSD-3-Clause", "zstd/LICENSE"),
    "pyo3": None,
    "pyo3-ffi": None,
    "rb-sys": None,
}


@dataclasses.dataclass(order=True)
class Component:
    """Something that is linked in."""

    name: str
    version: str
    license: str
    texts: list = dataclasses.field(compare=False)
    url: str = dataclasses.field(default="", compare=False)
    sha256: str = dataclasses.field(default="", compare=False)
    is_crate: bool = dataclasses.field(default=False, compare=False)

    @property
    def ref(self):
        return f"pkg:{'cargo' if self.is_crate else 'generic'}/{self.name}@{self.version.replace('+', '%2B')}"


def fail(message):
    sys.exit(f"licenses: {message}")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def read(path):
    if not path.is_file():
        fail(f"expected the text of a licence in {path}, found no file")
    return path.read_text("utf-8", "replace").strip("\n")


def expression(text):
    """Returns SPDX's form of what old crates write with a slash."""
    return re.sub(r"\s*/\s*", " OR ", text)


class Graph:
    """The crates that are linked into one of the workspace."""

    def __init__(self, crate, target):
        lines = output("cargo", "tree", "--locked", "--package", crate, "--target", target, "--edges", "normal,no-proc-macro", "--prefix", "none")
        linked = {tuple(line.split(" ")[:2]) for line in lines.splitlines()}
        facts = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
        self.packages = {p["id"]: p for p in facts["packages"] if (p["name"], f"v{p['version']}") in linked}
        if len(self.packages) != len(linked):
            fail(f"expected {len(linked)} crates as cargo tree tells, found {len(self.packages)}")
        self.edges = {
            node["id"]: [dep["pkg"] for dep in node["deps"] if dep["pkg"] in self.packages and any(kind["kind"] is None for kind in dep["dep_kinds"])]
            for node in facts["resolve"]["nodes"]
            if node["id"] in self.packages
        }
        locked = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
        self.sums = {(p["name"], p["version"]): p.get("checksum", "") for p in locked}
        self.root = next(id for id, package in self.packages.items() if package["name"] == crate)

    def foreign(self):
        """Returns the crates that are not ours: id => component."""
        return {id: self.component(package) for id, package in self.packages.items() if package["source"]}

    def component(self, package):
        folder = pathlib.Path(package["manifest_path"]).parent
        texts = [(path.name, read(path)) for path in sorted(folder.iterdir()) if TERMS.match(path.name)]
        if not texts or not package["license"]:
            fail(f"expected a licence and its text in {folder}, found none")
        name, version = package["name"], package["version"]
        url = package["repository"] or f"https://crates.io/crates/{name}"
        return Component(name, version, expression(package["license"]), texts, url, self.sums[name, version], True)

    def vendored(self):
        """Returns the C libraries in crates: id of the crate => component."""
        found = {}
        for id, package in self.packages.items():
            if not package["links"]:
                continue
            if package["name"] not in VENDORED:
                fail(f"expected {package['name']} in VENDORED, because it links {package['links']}")
            if library := VENDORED[package["name"]]:
                name, license, text = library
                path = pathlib.Path(package["manifest_path"]).parent / text
                version = package["version"].partition(f"+{name}.")[2]
                if not version:
                    fail(f"expected a version of {name} in that of {package['name']}, found {package['version']}")
                found[id] = Component(name, version, license, [(path.name, read(path))], package["repository"])
        return found


#: Crates of the standard library that only other systems link, or its tests and builds.
ELSEWHERE = re.compile(r"cc|shlex|getopts|rand(_.+)?|dlmalloc|fortanix-.+|hermit-abi|moto-rt|r-efi.*|unwinding|vex-sdk|wasi|windows.*|wit-bindgen")
NOTICE = re.compile(r"<summary><code>(.+?)</code></summary>\s*<pre>(.*?)</pre>", re.DOTALL)


def standard_library():
    """Returns Rust's standard library, and the crates that it is built with, as its own page of notices tells them."""
    folder = pathlib.Path(output("rustc", "--print", "sysroot").strip()) / "share/doc/rust"
    version = output("rustc", "--version").split(" ")[1]
    names = ("Apache-2.0", "MIT", "Unicode-3.0")
    texts = [(f"{name}.txt", read(folder / "licenses" / f"{name}.txt")) for name in names]
    url = "https://github.com/rust-lang/rust"
    found = [Component("rust-std", version, "(MIT OR Apache-2.0) AND Unicode-3.0", texts, url)]
    crates = read(folder / "COPYRIGHT-library.html").split("<h3>📦 ")[1:]
    if not crates:
        fail(f"expected crates in {folder}/COPYRIGHT-library.html, found none")
    for part in crates:
        name, version = re.match(r"(.+?)-(\d[^<]*)</h3>", part).groups()
        if ELSEWHERE.fullmatch(name):
            continue
        license = html.unescape(re.search(r"<b>License:</b> (.+?)</p>", part)[1])
        notices = [(html.unescape(file), html.unescape(text).strip("\n")) for file, text in NOTICE.findall(part)]
        if not notices:
            fail(f"expected the text of the licence of {name} in {folder}/COPYRIGHT-library.html, found none")
        found.append(Component(name, version, expression(license), notices, f"https://crates.io/crates/{name}", "", True))
    return found


def zig():
    """Returns zig's folder."""
    try:
        import ziglang
    except ImportError:
        fail("expected Python's package ziglang, found none; run this by the Python of target/cross/tools")
    return pathlib.Path(ziglang.__file__).parent


def part(name):
    """Returns the components of what a linker adds."""
    if name == "zig":
        version = output(sys.executable, "-m", "ziglang", "version").strip()
        return [
            Component("zig-compiler-rt", version, "MIT", [("LICENSE", read(zig() / "LICENSE"))], "https://ziglang.org"),
            Component(
                "llvm-libunwind",
                f"zig-{version}",
                "Apache-2.0 WITH LLVM-exception",
                [("LICENSE.TXT", read(zig() / "lib/libunwind/LICENSE.TXT"))],
                "https://github.com/llvm/llvm-project",
            ),
        ]
    musl = zig() / "lib/libc/musl"
    version = re.search(r'"(.+)"', read(musl / "src/internal/version.h"))[1]
    return [Component("musl", version, "MIT", [("COPYRIGHT", read(musl / "COPYRIGHT"))], "https://musl.libc.org")]


def texts_of(components):
    """Returns the texts, each once, with the names of those that have it."""
    by_text = {}
    for component in sorted(components):
        for file, text in component.texts:
            name = f"{component.name} {component.version}, {component.license} ({file})"
            names = by_text.setdefault(" ".join(text.split()), ([], text))[0]
            if name not in names:
                names.append(name)
    parts = [
        "Bytewright is under the MIT licence, in the file LICENSE or copyright. This package also has code of others in it, as the\n"
        "machine executes it, under the licences below. Each text stands behind the names of all that have it. Where a licence is one\n"
        "OR another, you may choose."
    ]
    parts += ["\n".join(sorted(names)) + "\n\n" + text for names, text in by_text.values()]
    return f"\n\n{'=' * 120}\n".join(parts) + "\n"


def bill_of(root, version, components, dependencies):
    """Returns the bill of materials as JSON."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))

    def told(component):
        entry = {
            "type": "library",
            "bom-ref": component.ref,
            "name": component.name,
            "version": component.version,
            "licenses": [{"expression": component.license}],
            "purl": component.ref,
        }
        if component.sha256:
            entry["hashes"] = [{"alg": "SHA-256", "content": component.sha256}]
        if component.url:
            entry["externalReferences"] = [{"type": "website", "url": component.url}]
        return entry

    subject = {"type": "application", "bom-ref": root, "name": "bytewright", "version": version, "licenses": [{"expression": "MIT"}], "purl": root}
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "component": subject},
        "components": [told(component) for component in sorted(components)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(refs)} for ref, refs in sorted(dependencies.items())],
    }
    return json.dumps(bill, indent=1, ensure_ascii=False) + "\n"


def papers(crate, target, parts):
    """Returns what is said of a crate's package: name of the file => text."""
    graph = Graph(crate, target)
    foreign, vendored = graph.foreign(), graph.vendored()
    linked = standard_library() + [component for name in parts for component in part(name)]
    # A crate of the standard library may be one of ours, whose checksum is known.
    components = {component.ref: component for component in [*linked, *vendored.values(), *foreign.values()]}
    version = graph.packages[graph.root]["version"]
    root = f"pkg:generic/bytewright@{version}"

    def refs(id):
        # Our own crates are one thing to others.
        return {foreign[to].ref for to in graph.edges[id] if to in foreign} | ({vendored[id].ref} if id in vendored else set())

    ours = [id for id in graph.packages if id not in foreign]
    dependencies = {ref: set() for ref in components}
    for id, component in foreign.items():
        dependencies[component.ref] |= refs(id)
    dependencies[root] = set().union(*map(refs, ours), {component.ref for component in linked})
    all_of_it = components.values()
    return {TEXTS: texts_of(all_of_it), BILL: bill_of(root, version, all_of_it, dependencies)}


def write(folder, made):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")


def record_of(files):
    """Returns the lines of RECORD for files, without its own."""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        yield f"{name},sha256={digest},{len(data)}\n"


def add_to_wheel(path, made):
    """Adds the papers to a wheel where Python's packages have them (PEP 639 and PEP 770)."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
        modes = {info.filename: info.external_attr for info in wheel.infolist()}
    about = next(name for name in files if name.endswith(".dist-info/METADATA")).removesuffix("/METADATA")
    # maturin's own bill has crates only, and a number by chance.
    files = {name: data for name, data in files.items() if not name.startswith((f"{about}/licenses/", f"{about}/sboms/"))}
    licenses = {"LICENSE": (ROOT / "LICENSE").read_bytes(), TEXTS: made[TEXTS].encode()}
    files |= {f"{about}/licenses/{name}": data for name, data in licenses.items()}
    files[f"{about}/sboms/{BILL}"] = made[BILL].encode()
    head, blank, body = files[f"{about}/METADATA"].decode().partition("\n\n")
    lines = [line for line in head.rstrip("\n").split("\n") if not line.startswith("License-File:")]
    lines += [f"License-File: {name}" for name in licenses]
    files[f"{about}/METADATA"] = ("\n".join(lines) + (blank or "\n") + body).encode()
    record = f"{about}/RECORD"
    del files[record]
    files[record] = ("".join(sorted(record_of(files))) + f"{record},,\n").encode()
    packed = io.BytesIO()
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct")))[:6]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        # RECORD last, as the rules of wheels want it.
        for name in [*sorted(set(files) - {record}), record]:
            info = zipfile.ZipInfo(name, moment)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = modes.get(name) or 0o100644 << 16
            wheel.writestr(info, files[name])
    path.write_bytes(packed.getvalue())


def main():
    parser = argparse.ArgumentParser(description="licences and bill of materials of a package")
    commands = parser.add_subparsers(dest="command", required=True)
    to_folder = commands.add_parser("write")
    to_folder.add_argument("crate")
    to_folder.add_argument("target")
    to_folder.add_argument("folder", type=pathlib.Path)
    to_wheel = commands.add_parser("wheel")
    to_wheel.add_argument("wheel", type=pathlib.Path)
    to_wheel.add_argument("target")
    for command in (to_folder, to_wheel):
        command.add_argument("parts", nargs="*", metavar="PART")
    args = parser.parse_args()
    for name in args.parts:
        if name not in ("zig", "musl"):
            parser.error(f"expected zig or musl, found {name}")
    if args.command == "write":
        write(args.folder, papers(args.crate, args.target, args.parts))
    else:
        add_to_wheel(args.wheel, papers("bytewright-python", args.target, args.parts))


if __name__ == "__main__":
    main()
