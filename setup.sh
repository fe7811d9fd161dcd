#!/usr/bin/env bash
# Installs what this machine lacks of what building and testing need:
#
#   setup.sh [PART...]    c, gem, wheel, perl, wasm or cross: what building that needs, and testing the last two; packages: what
#                         building all but those two needs; all, which is the default: what `make test` needs, and the Ruby libraries and
#                         programs that tests compare with, without which those tests print a gap; spark: Java alone
#
# Quick when nothing is missing.
set -euo pipefail

missing=()
need() { # need PACKAGES PROBE...: PACKAGES are wanted unless the command PROBE succeeds
  local packages=$1
  shift
  "$@" >/dev/null 2>&1 || [[ " ${missing[*]} " == *" $packages "* ]] || missing+=($packages)
}
peers=()
peer() { # peer PACKAGE PROBE...: PACKAGE is wanted unless PROBE succeeds, and can be done without
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || peers+=("$package")
}
ruby_library() { ruby -e "require '$1'"; }
library() { # library NAME: whether the dynamic linker knows it
  # Not grep -q: it ends before ldconfig has said all, and then ldconfig fails.
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep "$1"
}
ruby_header() { ruby -rrbconfig -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))'; }
java_from() { # java_from NUMBER: whether the Java that Spark runs has this version, or a later one
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | awk -F'[".]' -v least="$1" '/version/ { is = $2 >= least } END { exit !is }'
}
# Perl's headers include it, and Debian's libc6-dev brings it no more.
crypt_header() { echo '#include <crypt.h>' | cc -E -o /dev/null -; }
libclang() { compgen -G "/usr/lib/llvm-*/lib/libclang*.so*" || compgen -G "/usr/lib/*/libclang*.so*"; }

if ! command -v cargo >/dev/null; then
  echo "setup: expected Rust's cargo, found none; install Rust 1.90 or later from https://rustup.rs" >&2
  exit 1
fi
if ! rustc --version | awk '{ split($2, v, "."); exit !(v[1] > 1 || v[2] >= 90) }'; then
  echo "setup: expected Rust 1.90 or later, found $(rustc --version); run: rustup update" >&2
  exit 1
fi

part_c() {
  need "gcc libc6-dev make" command -v cc
}
part_gem() {
  part_c
  need "ruby" command -v ruby
  need "ruby-dev" ruby_header
  need "libclang-dev" libclang
}
part_wheel() {
  part_c
  need "python3" command -v python3
  need "python3-venv" python3 -c "import ensurepip, venv"
}
part_perl() { # for the distribution; what is compiled from it needs more
  need "perl make" perl -MExtUtils::MakeMaker -MTest::More -e 1
}
part_wasm() {
  part_c
  need "python3" command -v python3
  need "clang" command -v clang
  need "nodejs" command -v node
  if ! rustc --print target-libdir --target wasm32-wasip1 | xargs test -d && ! rustup --quiet target add wasm32-wasip1; then
    echo "setup: expected Rust's library for wasm32-wasip1, found none; run: rustup target add wasm32-wasip1" >&2
    exit 1
  fi
}
part_packages() {
  part_gem
  part_wheel
  part_perl
  need "mmdebstrap" command -v mmdebstrap
  need "dpkg-dev" command -v dpkg-source
}
part_cross() {
  part_gem
  part_wheel
  local target
  for target in {x86_64,aarch64}-unknown-linux-musl {x86_64,aarch64}-unknown-linux-gnu; do
    if ! rustc --print target-libdir --target "$target" | xargs test -d && ! rustup --quiet target add "$target"; then
      echo "setup: expected Rust's library for $target, found none; run: rustup target add $target" >&2
      exit 1
    fi
  done
  need "mmdebstrap" command -v mmdebstrap
  need "qemu-user" command -v qemu-aarch64
  need "musl" test -e /lib/ld-musl-x86_64.so.1
  need "lintian" command -v lintian
}
part_spark() { # large
  need "default-jre-headless" java_from 17
}
part_all() {
  part_gem
  part_wheel
  part_perl
  need "libperl-dev" perl -MConfig -e 'exit !-e "$Config{archlibexp}/CORE/perl.h"'
  need "libcrypt-dev" crypt_header
  need "ruby-minitest" ruby -e 'require "minitest"'
  need "yard" ruby -e 'require "yard"'
  need "libpod-markdown-perl" perl -MPod::Markdown -e 1
  need "g++" command -v c++
  need "clang" command -v clang
  need "libpcap0.8" library "libpcap.so"
  case "$(uname -m)" in # isa-l exists for these only; elsewhere the built-in zlib-rs serves
  x86_64 | aarch64) need "libisal2" library "libisal.so" ;;
  esac

  peer "ruby-tokyocabinet" ruby_library tokyocabinet
  peer "ruby-moneta" ruby_library moneta
  peer "ruby-thrift" ruby_library thrift
  peer "ruby-activesupport" ruby_library active_support
  peer "bundler" ruby -e 'require "bundler"; require "bundler/cli"'
  peer "rubocop" command -v rubocop
  peer "libtokyocabinet-perl" perl -MTokyoCabinet -e 1
  peer "libchi-perl" perl -MCHI -e 1
  peer "thrift-compiler" command -v thrift
  peer "pypy3" command -v pypy3
  peer "luajit" command -v luajit
  peer "chromium" command -v chromium
  peer "tcpdump" command -v tcpdump
  peer "iproute2" command -v ip
}

[ $# -gt 0 ] || set -- all
for part; do
  case $part in
  c | gem | wheel | perl | wasm | cross | packages | spark | all) "part_$part" ;;
  *)
    echo "setup: expected c, gem, wheel, perl, wasm, cross, packages, spark or all, found $part" >&2
    exit 2
    ;;
  esac
done

((${#missing[@]} + ${#peers[@]})) || exit 0
cannot() { # cannot ADVICE: packages cannot be installed; that is an error where they are needed
  if ((${#missing[@]})); then
    echo "setup: missing; $1 ${missing[*]}" >&2
    exit 1
  fi
  echo "setup: gap: tests will not compare with ${peers[*]}" >&2
  exit 0
}
install=(apt-get install -y --no-install-recommends)
if ! command -v apt-get >/dev/null; then
  cannot "install what your system calls these Debian packages:"
elif [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo)
else
  cannot "run as root: ${install[*]}"
fi
echo "setup: installing ${missing[*]} ${peers[*]}"
export DEBIAN_FRONTEND=noninteractive
if ((${#missing[@]})); then
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" "${install[@]}" "${missing[@]}" >/dev/null
else
  "${as_root[@]}" apt-get update -qq || true
fi
for package in "${peers[@]}"; do
  "${as_root[@]}" "${install[@]}" "$package" >/dev/null || echo "setup: gap: tests will not compare with $package" >&2
done
