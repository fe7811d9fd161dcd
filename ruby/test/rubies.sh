#!/usr/bin/env bash
# Runs the tests where others would: in a minimal root of a Debian release, with what setup.sh installs there, or with
# another Ruby of this machine.
#
#   ruby/test/rubies.sh bookworm trixie sid /opt/ruby-4.0/bin/ruby
#
# A word with a slash is an interpreter: its Ruby tests run with YJIT, and while objects are collected and moved
# without. Any other word is a release: all of `make test-all` but Spark runs in a clone of the last commit
# (packages/clean_root.sh). The root is kept in target/roots and used again; remove its folder to begin anew.
# TARGETS are other targets of make.
set -euo pipefail
cd "$(dirname "$0")/../.."
project=$PWD

in_release() { # in_release RELEASE: the tests in its root
  local root=$project/target/roots/$1
  packages/clean_root.sh make "$1" "$root"
  packages/clean_root.sh run "$root" sh -euc '
    command -v make || { apt-get update -qq && apt-get install make; } >/dev/null
    exec make "$@"' run ${TARGETS:-test test-packed test-unsafe test-bench test-site}
}

with_interpreter() { # with_interpreter RUBY: the gem built for it and its tests
  local name yjit=
  name=$("$1" -e 'puts RUBY_VERSION')
  "$1" --yjit -e 0 2>/dev/null && yjit=--yjit
  local with=(env PATH="$(dirname "$1"):$PATH" RUBY="$1")
  local folders=(GEM_DIR="$project/target/gems-$name" GEM_BUILD="$project/target/gem-build-$name")
  "${with[@]}" RUBYOPT="$yjit" LC_ALL=C make "${folders[@]}" ${TARGETS:-test-gem}
  [ -n "${TARGETS:-}" ] || "${with[@]}" make "${folders[@]}" test-gc
}

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for where in "$@"; do
  echo "rubies: $where"
  case $where in
  */*) with_interpreter "$where" ;;
  *) in_release "$where" ;;
  esac
  echo "rubies: $where passed"
done
