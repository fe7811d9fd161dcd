#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks. Quick when nothing is missing.
set -euo pipefail

missing=()
need() { # need PACKAGES PROBE...: PACKAGES are wanted unless the command PROBE succeeds
  local packages=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=($packages)
}
library() { # library NAME: whether the dynamic linker knows it
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q "$1"
}
ruby_header() { ruby -rrbconfig -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))'; }
libclang() { compgen -G "/usr/lib/llvm-*/lib/libclang*.so*" || compgen -G "/usr/lib/*/libclang*.so*"; }

if ! command -v cargo >/dev/null; then
  echo "setup: expected Rust's cargo, found none; install Rust 1.90 or later from https://rustup.rs" >&2
  exit 1
fi
if ! rustc --version | awk '{ split($2, v, "."); exit !(v[1] > 1 || v[2] >= 90) }'; then
  echo "setup: expected Rust 1.90 or later, found $(rustc --version); run: rustup update" >&2
  exit 1
fi

need "ruby" command -v ruby
need "ruby-dev" ruby_header
need "ruby-minitest" ruby -e 'require "minitest"'
need "gcc libc6-dev make" command -v cc
need "clang" command -v clang
need "libclang-dev" libclang
need "libpcap0.8" library "libpcap.so"
case "$(uname -m)" in # isa-l exists for these only; elsewhere the built-in inflate serves
x86_64 | aarch64) need "libisal2" library "libisal.so" ;;
esac

((${#missing[@]})) || exit 0
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if ! command -v apt-get >/dev/null; then
  echo "setup: missing; install what your system calls these Debian packages: ${missing[*]}" >&2
  exit 1
elif [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo)
else
  echo "setup: missing; run as root: ${install[*]}" >&2
  exit 1
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" "${install[@]}" >/dev/null
