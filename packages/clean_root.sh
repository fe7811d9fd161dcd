#!/usr/bin/env bash
# Runs commands where a newcomer would: in a clone of the last commit, in a minimal root of a Debian release. The root has
# git and certificates; this machine lends Rust to it, and the crates that it downloaded. There is no locale.
#
#   packages/clean_root.sh answers RELEASE              fails if Debian's packages of the release cannot be reached
#   packages/clean_root.sh make RELEASE FOLDER          makes the root in FOLDER, unless it is there, and clones anew
#   packages/clean_root.sh run FOLDER COMMAND...        runs a command in the clone
#
# With BUILDS=FOLDER, what is compiled is kept there for the next root, and is not optimised: for those who install many times
# and measure nothing. Takes root, mmdebstrap and unshare.
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
cargo=${CARGO_HOME:-$HOME/.cargo}

mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)

bootstrap() { # bootstrap RELEASE WHERE OPTION...
  # A mirror that lags behind serves lists that have expired.
  mmdebstrap --quiet "${@:3}" --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$2" ${mirror:+"$mirror"}
}

make_root() { # make_root RELEASE ROOT
  bootstrap "$1" "$2" --variant=minbase --include=ca-certificates,git
  if [ -n "$mirror" ] && [ "$1" != sid ]; then
    echo "deb $mirror-security $1-security main" >>"$2/etc/apt/sources.list"
  fi
  # Nobody is there to answer.
  printf 'Acquire::Check-Valid-Until "false";\nAPT::Get::Assume-Yes "true";\n' >"$2/etc/apt/apt.conf.d/90unattended"
  touch "$2/made"
}

clone() { # clone ROOT: the last commit, and what a machine has beside it
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
  rm -rf "$1/root/.cargo/bin" "$1/bytewright"
  mkdir -p "$1/root/.cargo/registry" "$1/root/.rustup"
  cp -a "$cargo/bin" "$1/root/.cargo/"
  cp "$cargo"/config* "$1/root/.cargo/" 2>/dev/null || true
  git clone -q "$project" "$1/bytewright"
}

run() { # run ROOT COMMAND...: what is mounted is unmounted when the command has ended
  local root
  root=$(realpath "$1")
  shift
  mkdir -p "$root/bytewright/target/gem-build" "$cargo/registry" ${BUILDS:+"$BUILDS"}
  ROOT=$root CARGO=$cargo RUSTUP=${RUSTUP_HOME:-$HOME/.rustup} BUILDS=${BUILDS:-} \
    PROXIES=$(env | grep -iE '^(https?|no|all)_proxy=' | tr '\n' ' ' || true) \
    unshare --mount --pid --fork --kill-child --propagation private bash -euc '
      mount -t proc proc "$ROOT/proc"
      mount -t sysfs sysfs "$ROOT/sys"
      mount --bind /dev "$ROOT/dev"
      mount -t tmpfs tmpfs "$ROOT/dev/shm"
      mount -t devpts devpts "$ROOT/dev/pts"
      mount --bind "$RUSTUP" "$ROOT/root/.rustup"
      mount --bind "$CARGO/registry" "$ROOT/root/.cargo/registry"
      kept=
      if [ -n "$BUILDS" ]; then
        mount --bind "$BUILDS" "$ROOT/bytewright/target/gem-build"
        kept="CARGO_TARGET_DIR=/bytewright/target/gem-build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off
          CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16"
      fi
      exec chroot "$ROOT" env -i HOME=/root PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt $kept $PROXIES sh -c "cd /bytewright && exec \"\$@\"" run "$@"' run "$@"
}

case ${1:-} in
answers) bootstrap "$2" - --variant=custom --format=null ;;
make)
  [ -e "$3/made" ] || { rm -rf --one-file-system "$3" && mkdir -p "$3" && make_root "$2" "$3"; }
  clone "$3"
  ;;
run) run "${@:2}" ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
