#!/usr/bin/env bash
# Packs the command, with its man pages, completions, and the licences of what is linked in:
#
#   packages/command.sh BINARY OUT                    the command of this machine:
#     OUT/bytewright-VERSION-x86_64-linux.tar.gz      to be unpacked into any prefix, such as /usr/local
#     OUT/bytewright_VERSION_amd64.deb                for apt-get install ./FILE
#
#   packages/command.sh BINARY OUT MACHINE SPEAKER    one that is linked statically, for x86_64 or aarch64:
#     OUT/bytewright-VERSION-MACHINE-linux-static.tar.gz
#     OUT/bytewright-static_VERSION_ARCHITECTURE.deb
#
# Help and completions of a command for another machine are asked of SPEAKER, which is built of the same sources and runs here.
# DEBEMAIL is the address that users of the .deb write to.
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: packages/command.sh BINARY OUT [MACHINE SPEAKER]"
binary=$(realpath "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(realpath "$2")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
if [ $# -gt 2 ]; then
  package=bytewright-static machine=$3-linux-static speaker=$(realpath "${4:?$usage}")
  target=$3-unknown-linux-musl parts=(zig musl)
  case $3 in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) echo "packages: expected x86_64 or aarch64, found $3" >&2 && exit 2 ;;
  esac
else
  package=bytewright machine=$(uname -m)-linux speaker=$binary architecture=$(dpkg --print-architecture)
  target=$(rustc -vV | sed -n "s/^host: //p") parts=()
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# All times in the packages, so that the same sources give the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

put() { # put MODE PATH: standard input as a file of the tree
  install -D -m "$1" /dev/stdin "$tree/$2"
}
fill() { # fill TREE: what stands below a prefix
  tree=$1
  packages/command_files.sh "$binary" "$tree" "$speaker"
}
packages/licenses.py write bytewright-cli "$target" "$work/papers" "${parts[@]}"

fill "$work/bytewright-$version-$machine"
install -m 644 LICENSE "$work"/papers/* "$tree/"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "bytewright-$version-$machine" |
  gzip -9n >"$out/bytewright-$version-$machine.tar.gz"

fill "$work/deb/usr"
put 644 "share/doc/$package/copyright" <LICENSE
gzip -9n <CHANGELOG.md | put 644 "share/doc/$package/CHANGELOG.md.gz"
maintainer="The Bytewright authors${DEBEMAIL:+ <$DEBEMAIL>}"
gzip -9n <<END | put 644 "share/doc/$package/changelog.gz"
$package ($version) unstable; urgency=medium

  * CHANGELOG.md.gz tells what is new.

 -- $maintainer  $(LC_ALL=C date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
install -m 644 "$work"/papers/* "$tree/share/doc/$package/"
# needs: the lines of the package that tell what it needs
needs() {
  if [ "$package" = bytewright-static ]; then
    # They have files of the same names.
    printf 'Conflicts: bytewright\nReplaces: bytewright\nProvides: bytewright (= %s)\n' "$version"
    return
  fi
  # The C library is the only one that the command is linked with. It has to have the newest of the symbols that are asked of it.
  printf 'Depends: libc6 (>= %s), libgcc-s1\nRecommends: libpcap0.8t64 | libpcap0.8\n' \
    "$(objdump --dynamic-syms "$binary" | sed -n 's/.*GLIBC_\([0-9.]*\)).*/\1/p' | sort --version-sort | tail -1)"
}
tree=$work/deb put 644 DEBIAN/control <<END
Package: $package
Version: $version
Architecture: $architecture
Maintainer: $maintainer
$(needs)
Section: utils
Priority: optional
Installed-Size: $(du -sk "$work/deb/usr" | cut -f1)
Description: reads, decodes and keeps bulk binary data
 Packet captures to fields, flows and Thrift calls in one pass over the
 compressed file; tables of keys and values in a file that survives a crash;
 Thrift messages; stores of Ruby's PStore.$(if [ "$package" = bytewright-static ]; then printf '\n This one needs no library, and has neither filters nor interfaces.'; fi)
END
dpkg-deb --root-owner-group --build "$work/deb" "$out/${package}_${version}_$architecture.deb" >/dev/null
