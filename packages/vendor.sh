#!/usr/bin/env bash
# Puts the sources of crates beside the sources that need them, so that these are built without the network:
#
#   packages/vendor.sh WORKSPACE PACKAGE...    WORKSPACE/vendor, with the crates that the packages need on Linux and FreeBSD
#
# Cargo asks for each crate of the lock, also for those of Windows: of those that are not needed there are only the names.
set -euo pipefail
cd "${1:?usage: packages/vendor.sh WORKSPACE PACKAGE...}"
shift

needed() { # needed PACKAGE...: NAME-VERSION of the crates, as the folders are called
  local target
  for target in {x86_64,aarch64,riscv64gc,powerpc64le,s390x,i686}-unknown-linux-gnu x86_64-unknown-freebsd; do
    cargo tree --quiet --offline "${@/#/--package=}" -e normal,build --prefix none --format '{p}' --target "$target"
  done | awk '{ print $1 "-" substr($2, 2) }' | sort -u
}

hollow_out() { # hollow_out CRATE: cargo compares what the list has with what is there
  find "$1" -mindepth 1 ! -name Cargo.toml ! -name .cargo-checksum.json -delete
  mkdir "$1/src"
  : >"$1/src/lib.rs"
  sed -i 's/"files":{[^}]*}/"files":{}/' "$1/.cargo-checksum.json"
}

cargo vendor --quiet --versioned-dirs vendor >/dev/null
names=$(needed "$@")
for crate in vendor/*; do
  grep -qxF "${crate#vendor/}" <<<"$names" || hollow_out "$crate"
done
