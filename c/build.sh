#!/usr/bin/env bash
# Builds the C library: libbytewright.a, libbytewright.so with its versions, and bytewright.pc.
#
#   c/build.sh OUT                    in the folder OUT
#   c/build.sh OUT PREFIX [LIBDIR]    for an installation in PREFIX, with the libraries in LIBDIR, which is PREFIX/lib by default
#
# BYTEWRIGHT_LIBRARY names what cargo built of bytewright-c already.
#
# The shared library is linked from the static one, because rustc cannot give symbols versions. The static one is linked into one
# object, so that only bw_* leaves it: a program may have its own zstd, or another library that was written in Rust.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 prefix=${2:-}
# Below the prefix, so that pkg-config can be told another one.
libdir=${3:-$prefix/lib} libdir=${libdir/#$prefix\//\${prefix\}/}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
abi=$(sed -n 's/^pub const BW_ABI_VERSION: u32 = \(.*\);/\1/p' c/ext/bytewright/src/version.rs)
soname=libbytewright.so.$abi

built=${BYTEWRIGHT_LIBRARY:-${CARGO_TARGET_DIR:-target}/release/libbytewright_c.a}
[ -n "${BYTEWRIGHT_LIBRARY:-}" ] || cargo build --release --locked --quiet -p bytewright-c
mkdir -p "$out"
linked=$(mktemp -d)
trap 'rm -rf "$linked"' EXIT
ld -r --whole-archive "$built" -o "$linked/all.o"
# Intermediate code of LLVM, which Rust's own library has: joined it is none, and llvm's ar stops at it.
objcopy --wildcard --keep-global-symbol='bw_*' --remove-section=.llvmbc --remove-section=.llvmcmd \
  "$linked/all.o" "$linked/bytewright.o"
rm -f "$out/libbytewright.a"
ar rcs "$out/libbytewright.a" "$linked/bytewright.o"
cc -shared -o "$out/$soname" -Wl,-soname,"$soname" -Wl,--version-script=c/bytewright.map -Wl,--gc-sections -Wl,-s \
  $(sed -n 's/^    \(bw_[a-z_]*\);$/-Wl,-u,\1/p' c/bytewright.map) "$built" -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
ln -sf "$soname" "$out/libbytewright.so"
cat >"$out/bytewright.pc" <<PC
prefix=${prefix:-$out}
libdir=\${prefix}
includedir=$PWD/c/include

Name: bytewright
Description: Tables, captures and columns at native speed
Version: $version
Libs: -L\${libdir} -lbytewright
Libs.private: -lutil -lrt -lpthread -lm -ldl
Cflags: -I\${includedir}
PC
if [ -n "$prefix" ]; then
  sed -i "s|^libdir=.*|libdir=$libdir|; s|^includedir=.*|includedir=\${prefix}/include|" "$out/bytewright.pc"
fi
