#!/usr/bin/env bash
# Tests the Perl face as a user has it: the distribution unpacked, built and installed in a clean folder, and the tests run from
# there against what was installed; then what concerns the repository's documents.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/target/perl
rm -rf "$work/unpacked" "$work/installed"
mkdir -p "$work/unpacked"
archive=$(find "$work" -maxdepth 1 -name 'Bytewright-*.tar.gz')
tar -xzf "$archive" -C "$work/unpacked" --strip-components=1
cd "$work/unpacked"
perl Makefile.PL INSTALL_BASE="$work/installed" >/dev/null
make --silent >/dev/null
make --silent install >/dev/null
export PERL5LIB=$work/installed/lib/perl5
prove t/
rm -rf blib
BYTEWRIGHT_ROOT=$root prove "$root/perl/xt/"
