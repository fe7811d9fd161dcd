#!/usr/bin/env bash
# Packs the command, with its man page and completions: packages/command.sh BINARY OUT
#
#   OUT/bytewright-VERSION-x86_64-linux.tar.gz    to be unpacked into any prefix, such as /usr/local
#   OUT/bytewright_VERSION_amd64.deb              for apt-get install ./FILE
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:?usage: packages/command.sh BINARY OUT}")
mkdir -p "${2:?usage: packages/command.sh BINARY OUT}"
out=$(realpath "$2")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
machine=$(uname -m)-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# All times in the packages, so that the same sources give the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

put() { # put MODE PATH: standard input as a file of the tree
  install -D -m "$1" /dev/stdin "$tree/$2"
}

# manual: the help of all commands as one page. Their texts are the parser's own, so the page cannot disagree with it.
manual() {
  printf '.TH BYTEWRIGHT 1 "" "bytewright %s"\n' "$version"
  printf '.SH NAME\nbytewright \\- read, decode and keep bulk binary data\n.SH SYNOPSIS\n'
  printf '.B bytewright\n.I COMMAND\n[options]\n.SH OPTIONS AND COMMANDS\n'
  literally "$("$binary" --help)"
  commands_of
}
commands_of() { # commands_of [COMMAND]: a section for each of its subcommands, and theirs
  local command
  "$binary" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' | sed '/^help$/d' | while read -r command; do
    printf '.SH "%s"\n' "$(tr a-z A-Z <<<"bytewright $* $command" | tr -s ' ')"
    literally "$("$binary" "$@" "$command" --help)"
    commands_of "$@" "$command"
  done
}
literally() { # literally TEXT: lines as they are, for troff
  printf '.nf\n'
  sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/' <<<"$1"
  printf '.fi\n'
}

# fill TREE: what stands below a prefix
fill() {
  tree=$1
  install -D -m 755 "$binary" "$tree/bin/bytewright"
  manual | gzip -9n | put 644 share/man/man1/bytewright.1.gz
  "$binary" completions bash | put 644 share/bash-completion/completions/bytewright
  "$binary" completions zsh | put 644 share/zsh/vendor-completions/_bytewright
  "$binary" completions fish | put 644 share/fish/vendor_completions.d/bytewright.fish
  put 644 share/doc/bytewright/copyright <LICENSE
}

fill "$work/bytewright-$version-$machine"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "bytewright-$version-$machine" |
  gzip -9n >"$out/bytewright-$version-$machine.tar.gz"

fill "$work/deb/usr"
# The C library is the only one that the command is linked with. It has to have the newest of the symbols that are asked of it.
libc=$(objdump --dynamic-syms "$binary" | sed -n 's/.*GLIBC_\([0-9.]*\)).*/\1/p' | sort --version-sort | tail -1)
tree=$work/deb put 644 DEBIAN/control <<END
Package: bytewright
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: The Bytewright authors
Depends: libc6 (>= $libc), libgcc-s1
Recommends: libpcap0.8t64 | libpcap0.8
Section: utils
Priority: optional
Installed-Size: $(du -sk "$work/deb/usr" | cut -f1)
Description: reads, decodes and keeps bulk binary data
 Packet captures to fields, flows and Thrift calls in one pass over the compressed
 file; tables of keys and values in a file that survives a crash; Thrift messages;
 stores of Ruby's PStore.
END
dpkg-deb --root-owner-group --build "$work/deb" "$out/bytewright_${version}_$(dpkg --print-architecture).deb" >/dev/null
