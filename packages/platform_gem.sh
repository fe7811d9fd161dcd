#!/usr/bin/env bash
# Builds the gem that is installed without a compiler: packages/platform_gem.sh OUT [RELEASE...]
#
# It has a library for each Ruby: the one of this machine, and the one of each Debian release that is named. All are
# compiled and linked on this machine, so its C library is the oldest one that they run with. Of a release only the
# headers and the configuration of its Ruby are taken, which mmdebstrap unpacks into target/roots.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: packages/platform_gem.sh OUT [RELEASE...]}"
out=$(realpath "$1")
shift
export CARGO_TARGET_DIR=${GEM_BUILD:-$PWD/target/gem-build}
libraries=$PWD/target/gem-libraries
rm -rf "$libraries"

build() { # build RUBY: the library for that Ruby
  local folder
  folder=$libraries/$("$1" -rrbconfig -e 'puts RbConfig::CONFIG.values_at("MAJOR", "MINOR").join(".")')
  [ ! -e "$folder" ] || return 0
  RUBY=$1 cargo build --quiet --locked --release -p bytewright-ruby
  install -D -m 755 "$CARGO_TARGET_DIR/release/libbytewright_ruby.so" "$folder/bytewright.so"
}

unpack() { # unpack RELEASE ROOT: its Ruby's files, of which none is run
  local root=$2
  [ ! -e "$root/unpacked" ] || return 0
  rm -rf "$root"
  mkdir -p "${root%/*}"
  mmdebstrap --quiet --variant=extract --include=ruby-dev --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$root"
  touch "$root/unpacked"
}

# as_ruby ROOT: a command that answers for the configuration of the Ruby in ROOT. It runs this machine's Ruby, because
# another release's may need a newer C library. The configuration finds its paths by its own place.
as_ruby() {
  local root=$1 config
  config=$(echo "$root"/usr/lib/*-linux-gnu/ruby/*/rbconfig.rb)
  sed -i 's/^ *RUBY_VERSION\.start_with.*//; s/^ *raise "ruby lib version.*//' "$config"
  printf '#!/bin/sh\nexec ruby --disable=gems -I %s "$@"\n' "${config%/*}" >"$root/ruby"
  chmod 755 "$root/ruby"
  echo "$root/ruby"
}

build "$(command -v ruby)"
for release in "$@"; do
  root=$PWD/target/roots/ruby-$release
  unpack "$release" "$root"
  build "$(as_ruby "$root")"
done
papers=$PWD/target/gem-papers
rm -rf "$papers"
packages/licenses.py write bytewright-ruby "$(rustc -vV | sed -n 's/^host: //p')" "$papers"
ruby packages/platform_gem.rb "$out" "$libraries" "$papers"
