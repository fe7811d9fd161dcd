"""Packs a wheel over a library that cargo has built: python/pack.py LIBRARY FOLDER.

For `make test`, which compiles the library together with the others. The wheel of users is maturin's (build.sh), and `make
test-wheel` tests that one.
"""

import pathlib
import re
import shutil
import sys
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).parent
TAG = f"cp310-abi3-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def described(version):
    """Returns the texts of the files that tell pip about the package, by name."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
        f"Requires-Python: {project['requires-python']}\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\nTag: {TAG}\n",
        "entry_points.txt": f"[console_scripts]\n{scripts}",
    }


def pack(library, folder):
    """Writes the wheel into the folder, in place of an older one."""
    workspace = (HERE.parent / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"', workspace, re.MULTILINE)[1]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    about = f"bytewright-{version}.dist-info"
    with zipfile.ZipFile(folder / f"bytewright-{version}-{TAG}.whl", "w") as wheel:
        for path in sorted((HERE / "bytewright").rglob("*")):
            if path.is_file() and path.suffix not in (".so", ".pyc"):
                wheel.write(path, path.relative_to(HERE))
        wheel.write(library, "bytewright/_bytewright.abi3.so")
        for name, text in described(version).items():
            wheel.writestr(f"{about}/{name}", text)
        record = f"{about}/RECORD"
        wheel.writestr(record, "".join(f"{name},,\n" for name in [*wheel.namelist(), record]))


if __name__ == "__main__":
    pack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
