#!/usr/bin/env bash
# Builds the gem that is installed without a compiler: packages/platform_gem.sh OUT [--target TARGET] [RELEASE|SOURCE...]
#
# It has a library for each Ruby: the one of this machine, and the one of each Debian release that is named. All are
# compiled and linked on this machine, so its C library is the oldest one that they run with. Of a release only the
# headers and the configuration of its Ruby are taken, which mmdebstrap unpacks into target/roots. Ruby 3.4 is in experimental.
# A word with a slash is the folder of the source of a Ruby that Debian does not have, as ruby-lang.org gives it: it is configured
# for the target, and not compiled.
#
# With --target, which names another machine or C library as the compiler does, the gem is for that one: cargo-zigbuild compiles
# for the Rubies of the releases alone, with glibc 2.17 or musl. Debian has no Ruby for musl: its Ruby for glibc has the same structures
# on the same machine, and its headers include those of musl.
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: packages/platform_gem.sh OUT [--target TARGET] [RELEASE|SOURCE...]"
mkdir -p "${1:?$usage}"
out=$(realpath "$1")
shift
target="" host=$(rustc -vV | sed -n 's/^host: //p')
[ "${1:-}" != --target ] || { target=${2:?$usage} && shift 2; }
case ${target:-$host} in
x86_64-*) architecture=amd64 ;;
aarch64-*) architecture=arm64 ;;
*) architecture=$(dpkg --print-architecture) ;;
esac
export CARGO_TARGET_DIR=${GEM_BUILD:-$PWD/target/gem-build}
debian=http://deb.debian.org/debian
stage=$PWD/target/gem-stage/${target:-$host}
libraries=$stage/libraries papers=$stage/papers
rm -rf "$stage"
# Compilers get no time: cc, which compiles zstd, would do so again after each commit. All times in the package are this one.
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
unset SOURCE_DATE_EPOCH

compile() { # compile OPTION...
  local flags=${RUSTFLAGS:-}
  if [ -z "$target" ]; then
    cargo build "$@"
    return
  fi
  # Ruby has loaded its musl when it loads the library.
  [ "${target##*-}" != musl ] || flags="$flags -C target-feature=-crt-static"
  # From this folder, in which zig is, cargo-zigbuild would name zig's headers by relative paths, and build scripts run in other folders.
  (cd packages && RUSTFLAGS=$flags cargo-zigbuild zigbuild --target "${target/%-gnu/-gnu.2.17}" "$@")
}

build() { # build RUBY: the library for that Ruby
  local folder
  folder=$libraries/$("$1" -rrbconfig -e 'puts RbConfig::CONFIG.values_at("MAJOR", "MINOR").join(".")')
  [ ! -e "$folder" ] || return 0
  RUBY=$1 compile --quiet --locked --release -p bytewright-ruby
  install -D -m 755 "$CARGO_TARGET_DIR/${target:+$target/}release/libbytewright_ruby.so" "$folder/bytewright.so"
}

unpack() { # unpack RELEASE ROOT: its Ruby's files, of which this script runs none; cross_test.sh does
  local root=$2
  [ ! -e "$root/unpacked" ] || return 0
  rm -rf "$root"
  mkdir -p "${root%/*}"
  local release=$1 packages=ruby,ruby-dev sources=()
  # What experimental has besides is made for sid.
  if [ "$1" = experimental ]; then
    release=sid packages=ruby3.4,ruby3.4-dev
    sources=("deb $debian sid main" "deb $debian experimental main")
  fi
  mmdebstrap --quiet --variant=extract --architectures="$architecture" --include="base-files,$packages" --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' "$release" "$root" "${sources[@]}"
  # A header of C23, which libclang of this machine may not have. Ruby has what takes its place.
  sed -i '/^#define HAVE_STDCKDINT_H/d' "$root"/usr/include/*-linux-gnu/ruby-*/ruby/config.h
  touch "$root/unpacked"
}

# configure SOURCE ROOT: the headers of that Ruby and its configuration, for glibc as Debian's
configure() {
  local root=$2 machine=${target:-$host} cc=cc arch version include
  [ ! -e "$root/unpacked" ] || return 0
  machine=${machine%%-*}
  [ -z "$target" ] || cc="python3 -m ziglang cc -target $machine-linux-gnu.2.17"
  rm -rf "$root"
  mkdir -p "$root/build"
  (cd "$root/build" && CC=$cc "$1/configure" --quiet --host="$machine-linux-gnu" --prefix="$root" --with-baseruby="$(command -v ruby)" \
    --disable-install-doc --disable-yjit --disable-zjit >configure.log 2>&1) || { tail -5 "$root/build/configure.log" >&2 && exit 1; }
  arch=$(configured arch "$root") version=$(configured MAJOR "$root").$(configured MINOR "$root")
  include=$root/include/ruby-$version.0
  mkdir -p "$include" "$root/lib/ruby/$version.0/$arch"
  cp -r "$1/include/." "$root/build/.ext/include/$arch" "$include"
  (cd "$root/build" && ruby "$1/tool/mkconfig.rb" -arch="$arch" -version="$version.$(configured TEENY "$root")" \
    -install_name=ruby -so_name=ruby) >"$root/lib/ruby/$version.0/$arch/rbconfig.rb"
  touch "$root/unpacked"
}
configured() { # configured NAME ROOT: what configure has found
  sed -n "s/^S\[\"$1\"\]=\"\(.*\)\"/\1/p" "$2/build/config.status"
}

# as_ruby ROOT: a command that answers for the configuration of the Ruby in ROOT. It runs this machine's Ruby, because
# another release's may need a newer C library, or another machine. The configuration finds its paths by its own place.
as_ruby() {
  local root=$1 config
  # The newest: Ruby 3.4 needs a package that needs Ruby 3.3.
  config=$(printf '%s\n' "$root"/usr/lib/*-linux-gnu/ruby/*/rbconfig.rb "$root"/lib/ruby/*/*/rbconfig.rb | grep -v '\*' | tail -1)
  sed -i 's/^ *RUBY_VERSION\.start_with.*//; s/^ *raise "ruby lib version.*//' "$config"
  printf '#!/bin/sh\nexec ruby --disable=gems -I %s "$@"\n' "${config%/*}" >"$root/ruby"
  chmod 755 "$root/ruby"
  echo "$root/ruby"
}

[ -n "$target" ] || build "$(command -v ruby)"
for ruby in "$@"; do
  case $ruby in
  */*)
    root=$PWD/target/roots/$(basename "$ruby")${target:+-zig}-$architecture
    configure "$(realpath "$ruby")" "$root"
    ;;
  *)
    root=$PWD/target/roots/ruby-$ruby-$architecture
    unpack "$ruby" "$root"
    ;;
  esac
  build "$(as_ruby "$root")"
done
export SOURCE_DATE_EPOCH=$time
packages/licenses.py write bytewright-ruby "${target:-$host}" "$papers" ${target:+zig}
# RubyGems' names have no vendor.
ruby packages/platform_gem.rb "$out" "$libraries" "$papers" ${target:+"${target/-unknown/}"}
