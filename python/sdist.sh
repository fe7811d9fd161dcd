#!/usr/bin/env bash
# Packs what the wheel is built from, for pip on systems that no wheel is for: python/sdist.sh OUT
#
#   OUT/bytewright-VERSION.tar.gz    the sources that git knows, and what PyPI shows (PKG-INFO), which is the METADATA of a wheel
#
# pip asks for pyproject.toml at the top, beside the sources of the core. maturin, which pip then fetches, does not pack what stands
# outside a crate, such as the sample of the command.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?usage: python/sdist.sh OUT}"
out=$(realpath "$1")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=bytewright-$version

mkdir "$work/$folder"
git ls-files -z Cargo.toml Cargo.lock LICENSE README.md core/Cargo.toml core/src cli/Cargo.toml cli/src python/ext python/bytewright \
  samples/web.pcap.gz | xargs -0 cp --parents --target-directory "$work/$folder"
# The other faces stay where they are. Cargo takes from the lock what is needed of it.
sed -i 's/^members = .*/members = ["core", "cli", "python\/ext\/bytewright"]/' "$work/$folder/Cargo.toml"
sed 's|"\.\./README.md"|"README.md"|; s|^manifest-path = "|&python/|; s|^python-packages|python-source = "python"\n&|' \
  python/pyproject.toml >"$work/$folder/pyproject.toml"
tools=$PWD/target/python/tools
python/environment.sh python3 "$tools" python/tests/tools.txt
(cd "$work/$folder" && "$tools/bin/maturin" pep517 write-dist-info --metadata-directory "$work" --interpreter python3 >/dev/null)
mv "$work/$folder.dist-info/METADATA" "$work/$folder/PKG-INFO"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$folder" | gzip -9n >"$out/$folder.tar.gz"
