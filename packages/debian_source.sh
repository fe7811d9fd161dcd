#!/usr/bin/env bash
# Makes the source package for Debian, of the last commit: packages/debian_source.sh OUT
#
#   OUT/bytewright_VERSION.orig.tar.gz, .orig-vendor.tar.gz    the sources, and those of the crates that are needed
#   OUT/bytewright_VERSION-1.debian.tar.xz, .dsc               packages/debian/, filled in
#
# dpkg-buildpackage makes the packages bytewright, libbytewright1, libbytewright-dev and libbytewright-perl of it, with the compiler of
# Debian's and without the network. DEBEMAIL is the address of who maintains them.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: packages/debian_source.sh OUT}"
out=$(realpath "$1")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
abi=$(sed -n 's/^pub const BW_ABI_VERSION: u32 = \(.*\);/\1/p' c/ext/bytewright/src/version.rs)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
maintainer="The Bytewright authors <${DEBEMAIL:-unknown@example.org}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/bytewright-$version

pack() { # pack FOLDER NAME: what is in work, always the same bytes
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1" | gzip -9n >"$work/$2"
}
git archive --prefix="bytewright-$version/" HEAD | tar -C "$work" -xf -
pack "bytewright-$version" "bytewright_$version.orig.tar.gz"
packages/vendor.sh "$tree" bytewright-cli bytewright-c
mv "$tree/vendor" "$work/vendor"
pack vendor "bytewright_$version.orig-vendor.tar.gz"
mv "$work/vendor" "$tree/vendor"

cp -r packages/debian "$tree/debian"
mv "$tree/debian/libbytewright.install" "$tree/debian/libbytewright$abi.install"
sed -i "s/@MAINTAINER@/$maintainer/; s/@ABI@/$abi/" "$tree/debian/control"
sed -n 's/^$/./; s/^/ /; 3,$p' LICENSE >"$work/license"
sed -i -e "/@LICENSE@/{r $work/license" -e 'd}' "$tree/debian/copyright"
cat >"$tree/debian/changelog" <<END
bytewright ($version-1) unstable; urgency=medium

  * New upstream version.

 -- $maintainer  $(LC_ALL=C date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
packages/licenses.py write bytewright-cli "$(rustc -vV | sed -n 's/^host: //p')" "$work/papers"
cp "$work/papers/third-party-licenses.txt" "$tree/debian/"
for package in bytewright "libbytewright$abi" libbytewright-perl; do
  echo debian/third-party-licenses.txt >"$tree/debian/$package.docs"
done
(cd "$work" && dpkg-source --build "bytewright-$version" >/dev/null)
cp "$work"/bytewright_"$version"* "$out"
