"""Tests of packages/licenses.py: what it finds is what cargo compiles, and what it cannot find is an error.

The papers in packages are tested where the packages are (test.sh, cross_test.sh).
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import licenses

HOST = licenses.output("rustc", "-vV").partition("host: ")[2].split("\n")[0]
MUSL = "aarch64-unknown-linux-musl"


def crates(crate, target, *more):
    """Returns name and version of what cargo tells of the crate's graph."""
    command = ("cargo", "tree", "--locked", "-p", crate, "--target", target, "--prefix", "none", "-f", "{p}", *more)
    return {tuple(line.split(" ")[:2]) for line in licenses.output(*command).splitlines()}


def told(text):
    """Returns name => component of a bill of materials."""
    return {component["name"]: component for component in json.loads(text)["components"]}


class Licenses(unittest.TestCase):
    def test_every_crate_that_is_linked_is_told_with_its_checksum_and_a_text(self):
        for crate, target in ("bytewright-cli", HOST), ("bytewright-python", MUSL), ("bytewright-ruby", HOST):
            made = licenses.papers(crate, target, [])
            bill = json.loads(made[licenses.BILL])["components"]
            listed = {(component["name"], f"v{component['version']}") for component in bill if "hashes" in component}
            linked = {pair for pair in crates(crate, target, "-e", "normal,no-proc-macro") if not pair[0].startswith("bytewright")}
            self.assertEqual(listed, linked)
            for name, version in linked:
                self.assertIn(f"\n{name} {version[1:]}, ", made[licenses.TEXTS])

    def test_what_only_builds_or_tests_is_not_told(self):
        bill = told(licenses.papers("bytewright-cli", HOST, [])[licenses.BILL])
        for name in ("clap_derive", "syn", "cc", "pkg-config", "etherparse"):
            self.assertNotIn(name, bill)

    def test_the_gem_which_has_no_parquet_does_not_tell_of_it(self):
        for crate, is_there in ("bytewright-ruby", False), ("bytewright-cli", True):
            self.assertEqual("parquet" in told(licenses.papers(crate, HOST, [])[licenses.BILL]), is_there)

    def test_zstds_own_licence_is_told_beside_that_of_the_crate(self):
        made = licenses.papers("bytewright-cli", HOST, [])
        self.assertIn('"purl": "pkg:cargo/zstd@', made[licenses.BILL])
        self.assertIn('"purl": "pkg:generic/zstd@1.', made[licenses.BILL])
        self.assertIn("Copyright (c) Meta Platforms, Inc. and affiliates", made[licenses.TEXTS])

    def test_the_bill_is_whole_and_its_references_lead_somewhere(self):
        bill = json.loads(licenses.papers("bytewright-python", MUSL, [])[licenses.BILL])
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"))
        refs = [component["bom-ref"] for component in bill["components"]] + [bill["metadata"]["component"]["bom-ref"]]
        self.assertEqual(len(refs), len(set(refs)))
        self.assertEqual({entry["ref"] for entry in bill["dependencies"]}, set(refs))
        reached, ahead = set(), [bill["metadata"]["component"]["bom-ref"]]
        edges = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
        while ahead:
            ref = ahead.pop()
            if ref not in reached:
                reached.add(ref)
                ahead += edges[ref]
        self.assertEqual(reached, set(refs))

    def test_the_same_sources_write_the_same_bytes(self):
        self.assertEqual(licenses.papers("bytewright-cli", HOST, []), licenses.papers("bytewright-cli", HOST, []))

    def test_a_crate_without_a_text_is_an_error(self):
        graph = licenses.Graph("bytewright-cli", HOST)
        with tempfile.TemporaryDirectory() as folder:
            package = next(package for package in graph.packages.values() if package["name"] == "clap")
            with self.assertRaisesRegex(SystemExit, "expected a licence and its text in .*, found none"):
                graph.component(package | {"manifest_path": f"{folder}/Cargo.toml"})

    def test_a_crate_that_links_a_library_nobody_knows_of_is_an_error(self):
        graph = licenses.Graph("bytewright-cli", HOST)
        graph.packages["new"] = {"name": "new-sys", "version": "1.0.0", "links": "new"}
        with self.assertRaisesRegex(SystemExit, "expected new-sys in VENDORED, because it links new"):
            graph.vendored()

    def test_what_a_wheel_says_of_itself_is_followed_by_its_licences_with_a_description_and_without(self):
        for text, behind in ("Name: a\n", ""), ("Name: a", ""), ("Name: a\nLicense-File: old\n\nText\n", "\nText\n"):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "a.whl"
                with zipfile.ZipFile(path, "w") as wheel:
                    wheel.writestr("a-1.dist-info/METADATA", text)
                    wheel.writestr("a-1.dist-info/RECORD", "")
                licenses.add_to_wheel(path, {licenses.TEXTS: "texts", licenses.BILL: "{}"})
                with zipfile.ZipFile(path) as wheel:
                    told = wheel.read("a-1.dist-info/METADATA").decode()
            self.assertEqual(told, f"Name: a\nLicense-File: LICENSE\nLicense-File: third-party-licenses.txt\n{behind}")

    def test_a_wheel_gets_its_papers_once_and_its_record_holds(self):
        made = {licenses.TEXTS: "texts", licenses.BILL: "{}"}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.whl"
            with zipfile.ZipFile(path, "w") as wheel:
                wheel.writestr("a/__init__.py", "")
                wheel.writestr("a-1.dist-info/METADATA", "Metadata-Version: 2.4\nName: a\n\nText\n\nbelow\n")
                wheel.writestr("a-1.dist-info/sboms/old.json", "{}")
                wheel.writestr("a-1.dist-info/RECORD", "")
            licenses.add_to_wheel(path, made)
            first = path.read_bytes()
            licenses.add_to_wheel(path, made)
            self.assertEqual(path.read_bytes(), first)
            with zipfile.ZipFile(path) as wheel:
                files = {name: wheel.read(name) for name in wheel.namelist()}
        self.assertEqual(list(files)[-1], "a-1.dist-info/RECORD")
        self.assertNotIn("a-1.dist-info/sboms/old.json", files)
        self.assertEqual(files["a-1.dist-info/sboms/bytewright.cdx.json"], b"{}")
        head = "Metadata-Version: 2.4\nName: a\nLicense-File: LICENSE\nLicense-File: third-party-licenses.txt"
        self.assertEqual(files["a-1.dist-info/METADATA"].decode(), f"{head}\n\nText\n\nbelow\n")
        lines = files["a-1.dist-info/RECORD"].decode().splitlines()
        self.assertEqual({line.split(",")[0] for line in lines}, set(files))
        for line in lines:
            name, digest, size = line.split(",")
            if digest:
                self.assertEqual(int(size), len(files[name]))
                self.assertEqual(len(digest), len("sha256=") + 43)

    def test_a_part_that_is_none_is_refused(self):
        run = subprocess.run([sys.executable, licenses.__file__, "write", "bytewright-cli", HOST, "out", "glibc"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("expected zig or musl, found glibc", run.stderr)

    def test_a_package_without_parts_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, licenses.__file__, "write", "bytewright-cli", HOST, folder], check=True)
            self.assertEqual({path.name for path in pathlib.Path(folder).iterdir()}, {licenses.TEXTS, licenses.BILL})


if __name__ == "__main__":
    unittest.main()
