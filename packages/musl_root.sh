#!/usr/bin/env bash
# Makes a root with a Python and a Ruby on musl, for which Debian has neither: packages/musl_root.sh ROOT
#
# musl-gcc compiles them in ROOT, of the sources that Debian has: ROOT/opt/musl/bin/python3.13 with pip, and ruby with gem. That takes some
# minutes. Takes root and mmdebstrap.
set -euo pipefail
root=${1:?usage: packages/musl_root.sh ROOT}
debian=http://deb.debian.org/debian
[ ! -e "$root/made" ] || exit 0
rm -rf --one-file-system "$root"
mkdir -p "${root%/*}"
build=$(mktemp)
trap 'rm -f "$build"' EXIT
cat >"$build" <<'END'
set -eu
prefix=/opt/musl
# Python asks the compiler what system it compiles for, and musl-gcc says that of gcc.
printf '#!/bin/sh\n[ "$*" = --print-multiarch ] || exec musl-gcc "$@"\n' >/usr/local/bin/musl-cc
chmod 755 /usr/local/bin/musl-cc
export CC=musl-cc CPPFLAGS=-I$prefix/include LDFLAGS=-L$prefix/lib LC_ALL=C

unpack() { # unpack PACKAGE: the sources as they were before Debian's changes, without what they would fetch
  mkdir -p "/build/$1"
  cd "/build/$1"
  apt-get source --print-uris "$1" | tr -d "'" | grep '\.orig\.tar\.[a-z]* ' >about
  read -r address file size sum <about
  echo "$1: $size bytes from $address"
  /usr/lib/apt/apt-helper download-file "$address" "$file" "$sum"
  tar --strip-components=1 -xf "$file"
}
unpack zlib
CFLAGS="-O2 -fPIC" ./configure --static --prefix=$prefix
make -s install
unpack libyaml
# It has no script that configures it.
$CC -O2 -fPIC -Iinclude -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 '-DYAML_VERSION_STRING="0.2.5"' -c src/*.c
ar rcs $prefix/lib/libyaml.a ./*.o
cp include/yaml.h $prefix/include
unpack python3.13
./configure --quiet --disable-test-modules --prefix=$prefix
make -s -j2 install
unpack ruby3.3
: >gems/bundled_gems
# musl has crypt_r, and Debian's package of it no header that declares it.
./configure --quiet --disable-install-doc --disable-yjit --disable-rjit --prefix=$prefix ac_cv_func_crypt_r=no
make -s -j2
make -s install
# RubyGems takes sums of OpenSSL's, which takes as long to compile as all of this.
cat >$prefix/lib/ruby/site_ruby/3.3.0/openssl.rb <<'RUBY'
require "digest"

module OpenSSL
  module Digest
    def self.new(name) = ::Digest.const_get(name.delete("-")).new
  end
end
RUBY
$prefix/bin/python3.13 -c 'import sys, zlib; print(sys.version)'
$prefix/bin/ruby -rzlib -rpsych -e 'abort RUBY_PLATFORM unless RUBY_PLATFORM.end_with?("-linux-musl")'
rm -rf /build
END
mmdebstrap --quiet --variant=minbase --include=ca-certificates,dpkg-dev,make,musl-tools,ruby,xz-utils --keyring=/usr/share/keyrings \
  --aptopt='Acquire::Check-Valid-Until "false"' --skip=cleanup/apt/lists \
  --customize-hook="upload $build /build.sh" \
  --customize-hook='chroot "$1" sh /build.sh >"$1/build.log" 2>&1 || { tail -50 "$1/build.log" >&2; exit 1; }' \
  trixie "$root" "deb $debian trixie main" "deb-src $debian trixie main"
touch "$root/made"
