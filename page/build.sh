#!/usr/bin/env bash
# Builds target/wasm/bytewright.html, the page that reads captures by itself:
#
#   page/build.sh [check]   check: only asks the compilers about the code for WebAssembly
#
# The target is that of WASI, of which the page gives the core the clock only: the standard library's other target has no files,
# not even such as cannot be opened. Of zstd, the crate that compiles it brings the headers of C that it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-wasip1
export CFLAGS_wasm32_wasip1="-nostdlibinc -ffreestanding"
if [ "${1:-}" = check ]; then
  exec cargo clippy --quiet --locked -p bytewright-page --target "$target" -- -D warnings
fi
cargo build --quiet --locked --profile page -p bytewright-page --target "$target"
PYTHONDONTWRITEBYTECODE=1 python3 page/build.py "${CARGO_TARGET_DIR:-target}/$target/page/bytewright_page.wasm" target/wasm/bytewright.html
