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
# BUILD, which is target/cross/build by default: another folder compiles all of it anew. RUBY_SOURCES are folders of the sources of Rubies
# that Debian does not have (packages/platform_gem.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: packages/cross.sh OUT}"
out=$(realpath "$1")
tools=$PWD/target/cross/tools
python/environment.sh python3 "$tools" packages/cross.txt
# cargo-zigbuild and maturin take zig from the Python that they find first.
export PATH=$tools/bin:$PATH
build=${BUILD:-$PWD/target/cross/build}
# Compilers get no time: cc, which compiles zstd, would do so again after each commit. The scripts that pack set all times.
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
unset SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# for_both COMMAND...: the command for each machine, which is its last word, at the same time: to link takes one processor. Each compiles
# into a folder of its own, because maturin and cargo-zigbuild give other flags.
for_both() {
  local machine worker workers=() failed=0
  for machine in x86_64 aarch64; do
    "$@" "$machine" &
    workers+=($!)
  done
  for worker in "${workers[@]}"; do wait "$worker" || failed=1; done
  return $failed
}

binary_of() { # binary_of MACHINE: the path of the static command
  echo "$build/command-$1/$1-unknown-linux-musl/release/bytewright"
}
command_for() { # command_for MACHINE
  CARGO_TARGET_DIR=$build/command-$1 \
    cargo-zigbuild zigbuild --quiet --locked --release -p bytewright-cli --target "$1-unknown-linux-musl"
}

# wheels_for LIBC PLATFORM MACHINE: libc is the system's, also musl. maturin knows the free-threaded CPython, which need not be there. Its
# own bill of materials is left to licenses.py.
wheels_for() {
  local target=$3-unknown-linux-$1 folder=$work/$3-$1 python
  for python in "" --interpreter=python3.14t; do
    CARGO_TARGET_DIR=$build/wheels-$1-$3 RUSTFLAGS=$(flags_of "$1") \
      maturin build --quiet --zig --release --locked --strip --manifest-path python/ext/bytewright/Cargo.toml \
      --target "$target" --compatibility "$2" $python --out "$folder"
    SOURCE_DATE_EPOCH=$time packages/licenses.py wheel "$folder"/*.whl "$target" zig
    mv "$folder"/*.whl "$out"
  done
}
flags_of() { # flags_of LIBC
  [ "$1" != musl ] || echo "-C target-feature=-crt-static"
}
gem_for() { # gem_for LIBC MACHINE
  # shellcheck disable=SC2086 # paths
  SOURCE_DATE_EPOCH=$time GEM_BUILD=$build/gem-$1-$2 \
    packages/platform_gem.sh "$out" --target "$2-unknown-linux-$1" bookworm trixie experimental ${RUBY_SOURCES:-}
}

for_both command_for
for machine in x86_64 aarch64; do
  SOURCE_DATE_EPOCH=$time packages/command.sh "$(binary_of "$machine")" "$out" "$machine" "$(binary_of "$(uname -m)")"
done
for_both wheels_for gnu manylinux_2_17
for_both wheels_for musl musllinux_1_2
for libc in gnu musl; do for_both gem_for $libc; done
