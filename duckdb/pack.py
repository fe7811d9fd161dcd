"""Packs the extension that DuckDB loads: duckdb/pack.py LIBRARY FOLDER writes bytewright.duckdb_extension into the folder.

Behind the library that cargo has built stand eight fields of 32 bytes, the last one first, and room for a signature. DuckDB reads
them before it loads the library: it takes the file on the platform that is named, which is that of this machine, and in any
version that has the interface that is named.
"""

import pathlib
import platform
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: Names of DuckDB's for machines and systems.
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64"}
SYSTEMS = {"Darwin": "osx"}
FIELD, SIGNATURE = 32, 256


def fields():
    """Returns the fields, from the first on; the last three are not used."""
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    system, machine = platform.system(), platform.machine()
    name = f"{SYSTEMS.get(system, system.lower())}_{MACHINES.get(machine, machine)}"
    if system == "Linux" and platform.libc_ver()[0] != "glibc":
        name += "_musl"
    # A mark, the platform, the interface of border/api.rs, the extension's version, and the kind of interface.
    return ["4", name, "v1.2.0", f"v{version}", "C_STRUCT", "", "", ""]


def pack(library, folder):
    folder.mkdir(parents=True, exist_ok=True)
    packed = library.read_bytes() + b"".join(field.encode().ljust(FIELD, b"\0") for field in reversed(fields())) + bytes(SIGNATURE)
    # A new file: DuckDBs that run have the old one mapped.
    target = folder / "bytewright.duckdb_extension"
    target.unlink(missing_ok=True)
    target.write_bytes(packed)
    print(target)


if __name__ == "__main__":
    pack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
