#!/usr/bin/env bash
# Makes a distribution of the Perl face that holds what it is built from: the module, the Rust sources in rust/, and in rust/vendor
# those of the crates that these need, so that the build needs no network.
#
#   perl/dist.sh OUT    OUT/Bytewright-VERSION.tar.gz
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

files() { # files PATTERN...: those of them that the repository has, or will have
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}
copy() { # copy PREFIX FOLDER FILES...: into a folder, without the prefix
  local prefix=$1 folder=$2 file
  shift 2
  for file; do
    install -D -p -m "$(stat -c %a "$file")" "$file" "$work/$folder/${file#"$prefix"}"
  done
}
mapfile -t module < <(files perl/Makefile.PL perl/Bytewright.xs perl/xs perl/lib perl/t)
mapfile -t rust < <(files Cargo.toml Cargo.lock core/Cargo.toml core/src c/ext c/include)
copy perl/ . "${module[@]}"
copy "" . LICENSE CHANGELOG.md
copy "" rust "${rust[@]}"
# The command and the other faces stay where they are.
sed -i 's/"core", "cli", /"core", /' "$work/rust/Cargo.toml"
# Nor does a distribution test crates of Rust.
sed -i '/^\[dev-dependencies\]/,/^$/d; /^\[\[example\]\]/,/^$/d' "$work"/rust/core/Cargo.toml "$work"/rust/c/ext/*/Cargo.toml

mkdir "$work/.cargo"
packages/vendor.sh "$work/rust" bytewright-c
# Cargo looks for it from the folder in which it is called.
printf '[source.crates-io]\nreplace-with = "vendor"\n\n[source.vendor]\ndirectory = "rust/vendor"\n' >"$work/.cargo/config.toml"
cd "$work"
{ echo MANIFEST; find . -type f -printf "%P\n"; } | sort >"$work.manifest"
mv "$work.manifest" MANIFEST
perl Makefile.PL >/dev/null
make --silent dist >/dev/null
mv Bytewright-*.tar.gz "$out/"
