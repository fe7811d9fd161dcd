#!/usr/bin/env bash
# Runs the tests where others would: in a minimal root of a Debian release, with what setup.sh installs there, or with
# another Ruby of this machine.
#
#   ruby/test/rubies.sh bookworm trixie sid /opt/ruby-4.0/bin/ruby
#
# A word with a slash is an interpreter: its Ruby tests run with YJIT, and while objects are collected and moved
# without. Any other word is a release: `make test` runs in a clone of the last commit, without a locale. That takes
# root, mmdebstrap and unshare; the root is kept in target/roots and used again; remove its folder to begin anew.
# TARGETS are other targets of make.
set -euo pipefail
cd "$(dirname "$0")/../.."
project=$PWD

make_root() { # make_root RELEASE ROOT: what a minimal installation has, git, make and certificates
  local mirror
  mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)
  # A mirror that lags behind serves lists that have expired.
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,git,make --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$2" ${mirror:+"$mirror"}
  if [ -n "$mirror" ] && [ "$1" != sid ]; then
    echo "deb $mirror-security $1-security main" >>"$2/etc/apt/sources.list"
  fi
  echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/90expired"
  mkdir -p "$2/root/.cargo" "$2/root/.rustup"
  touch "$2/made"
}

in_release() { # in_release RELEASE: the tests in its root; Rust comes from this machine
  local root=$project/target/roots/$1 cargo=${CARGO_HOME:-$HOME/.cargo}
  [ -e "$root/made" ] || { rm -rf "$root" && mkdir -p "${root%/*}" && make_root "$1" "$root"; }
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  rm -rf "$root/root/.cargo/bin" "$root/bytewright"
  cp -a "$cargo/bin" "$root/root/.cargo/"
  cp "$cargo"/config* "$root/root/.cargo/" 2>/dev/null || true
  git clone -q "$project" "$root/bytewright"
  ROOT=$root RUSTUP=${RUSTUP_HOME:-$HOME/.rustup} PROXIES=$(env | grep -iE '^(https?|no|all)_proxy=' | tr '\n' ' ' || true) \
    unshare --mount --pid --fork --kill-child --propagation private bash -euc '
      mount -t proc proc "$ROOT/proc"
      mount -t sysfs sysfs "$ROOT/sys"
      mount --bind /dev "$ROOT/dev"
      mount -t tmpfs tmpfs "$ROOT/dev/shm"
      mount -t devpts devpts "$ROOT/dev/pts"
      mount --bind "$RUSTUP" "$ROOT/root/.rustup"
      exec chroot "$ROOT" env -i HOME=/root PATH=/root/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt $PROXIES make -C /bytewright "$@"' run ${TARGETS:-test}
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
