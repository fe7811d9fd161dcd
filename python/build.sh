#!/usr/bin/env bash
# Builds the wheel into FOLDER with a maturin of its own: python/build.sh FOLDER [PYTHON].
#
# It is one wheel for CPython 3.10 and later (abi3-py310), without dependencies at run time. For a free-threaded PYTHON, which
# takes no such wheel, it is one for that version alone: cp314-cp314t.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?usage: python/build.sh FOLDER [PYTHON]}
interpreter=${2:+--interpreter=$2}
tools=target/python/tools
python/environment.sh python3 "$tools" python/tests/tools.txt
mkdir -p "$folder"
rm -f "$folder"/*.whl
# The same folder as the gem's build: what both are made of is compiled once.
CARGO_TARGET_DIR=$PWD/target/gem-build "$tools/bin/maturin" build --quiet --release --locked --strip \
  --manifest-path python/ext/bytewright/Cargo.toml --out "$folder" ${interpreter:+"$interpreter"}
