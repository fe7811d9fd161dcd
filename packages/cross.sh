#!/usr/bin/env bash
# Builds packages for other machines and other C libraries than those of this one: packages/cross.sh OUT
#
#   OUT/bytewright-VERSION-MACHINE-linux-static.tar.gz      the command as one file that needs no library, for x86_64 and aarch64
#   OUT/bytewright-static_VERSION_ARCHITECTURE.deb          the same for apt-get install ./FILE
#   OUT/bytewright-VERSION-cp310-abi3-PLATFORM.whl          wheels: manylinux_2_17 and musllinux_1_2, for x86_64 and aarch64
#   OUT/bytewright-VERSION-cp314-cp314t-PLATFORM.whl        the same for the free-threaded CPython 3.14
#   OUT/bytewright-VERSION-PLATFORM.gem                     gems: linux-gnu and linux-musl, for x86_64 and aarch64
#
# zig compiles the C of zstd, and links. It brings the C libraries: musl for the commands, which becomes a part of them, and what
# glibc and musl have of symbols for the wheels and gems. Tools are installed into target/cross/tools. What is compiled is kept in
# BUILD, which is target/cross/build by default: another folder compiles all of it anew.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: packages/cross.sh OUT}"
out=$(realpath "$1")
tools=$PWD/target/cross/tools
python/environment.sh python3 "$tools" packages/cross.txt
# cargo-zigbuild and maturin take zig from the Python that they find first.
export PATH=$tools/bin:$PATH
export CARGO_TARGET_DIR=${BUILD:-$PWD/target/cross/build}
# Compilers get no time: cc, which compiles zstd, would do so again after each commit. The scripts that pack set all times.
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
unset SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

binary_of() { # binary_of MACHINE: the path of the static command
  echo "$CARGO_TARGET_DIR/$1-unknown-linux-musl/release/bytewright"
}
for machine in x86_64 aarch64; do
  cargo-zigbuild zigbuild --quiet --locked --release -p bytewright-cli --target "$machine-unknown-linux-musl"
done
for machine in x86_64 aarch64; do
  SOURCE_DATE_EPOCH=$time packages/command.sh "$(binary_of "$machine")" "$out" "$machine" "$(binary_of "$(uname -m)")"
done

# wheel TARGET PLATFORM [OPTION]: libc is the system's, also musl. maturin's own bill of materials is left to licenses.py.
wheel() {
  rm -rf "$work/wheel"
  maturin build --quiet --zig --release --locked --strip --manifest-path python/ext/bytewright/Cargo.toml \
    --target "$1" --compatibility "$2" "${@:3}" --out "$work/wheel"
  SOURCE_DATE_EPOCH=$time packages/licenses.py wheel "$work"/wheel/*.whl "$1" zig
  mv "$work"/wheel/*.whl "$out"
}
# maturin knows the free-threaded CPython, which need not be there.
for machine in x86_64 aarch64; do
  for python in "" --interpreter=python3.14t; do
    wheel "$machine-unknown-linux-gnu" manylinux_2_17 $python
    RUSTFLAGS="-C target-feature=-crt-static" wheel "$machine-unknown-linux-musl" musllinux_1_2 $python
  done
done

for target in {x86_64,aarch64}-unknown-linux-{gnu,musl}; do
  SOURCE_DATE_EPOCH=$time GEM_BUILD=$CARGO_TARGET_DIR packages/platform_gem.sh "$out" --target $target bookworm trixie experimental
done
