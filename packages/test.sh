#!/usr/bin/env bash
# Installs the packages as a user does, on new roots of Debian without compilers, and runs the main job with each of them:
#
#   packages/test.sh OUT [RELEASE...]    the packages in OUT, on bookworm and trixie, or on other releases
#
# It takes root and mmdebstrap. Nothing of the roots is kept. How they are installed are README's lines behind `make packages`, word
# for word. packages/documents.sh runs all that the documents say about installing, on roots with compilers.
set -euo pipefail
out=$(realpath "${1:?usage: packages/test.sh OUT [RELEASE...]}")
shift
[ $# -gt 0 ] || set -- bookworm trixie
cd "$(dirname "$0")/.."
(cd "$out" && sha256sum --quiet --check SHA256SUMS)
job=$(mktemp)
# mmdebstrap makes its root in TMPDIR, and leaves it there when it fails. Its apt reads there as a user of its own. A file
# system that is still mounted there is not emptied. A signal waits until mmdebstrap has ended.
roots=$(mktemp -d)
chmod 755 "$roots"
trap 'rm -rf --one-file-system "$job" "$job".* "$roots"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$job" <<'END'
set -eu
export LC_ALL=C
cd /trial
for compiler in cc gcc clang rustc cargo; do
  ! command -v "$compiler" || { echo "packages: expected a root without $compiler" >&2; exit 1; }
done

main_job() { # main_job COMMAND: a compressed capture becomes a table of flows, each capture once
  rm -f flows.bwt
  "$1" flows web.pcap.gz vlan.pcapng --into flows.bwt
  "$1" table scan flows.bwt --limit 1 | grep -q .
  [ "$("$1" flows web.pcap.gz --csv | wc -l)" = 927 ]
}
has_papers() { # has_papers FOLDER FOLDER CRATE: the licences of what is linked in, and the bill of materials, with the crate among others
  grep -q '^zstd [0-9.]*, BSD-3-Clause' "$1"/third-party-licenses.txt
  grep -q '"purl": "pkg:generic/zstd@' "$2"/bytewright.cdx.json
  for crate in clap zlib-rs rust-std $3; do
    grep -q "^$crate " "$1"/third-party-licenses.txt
    grep -q "\"name\": \"$crate\"" "$2"/bytewright.cdx.json
  done
}
installs() { # installs WHAT: all before it has worked
  echo "packages: $1 installs and works on $RELEASE" >>/trial/report
}

. ./block
main_job /usr/bin/bytewright
dpkg -L bytewright | grep -q man1/bytewright.1.gz
has_papers /usr/share/doc/bytewright /usr/share/doc/bytewright parquet
dpkg -r bytewright
[ ! -e /usr/bin/bytewright ]
installs "the .deb of the command"
tar -xzf pkg/bytewright-*-linux.tar.gz
main_job "$(echo "$PWD"/bytewright-*-linux/bin/bytewright)"
gzip -dc bytewright-*-linux/share/man/man1/bytewright-table.1.gz | grep -q '"BYTEWRIGHT TABLE GET"'
has_papers bytewright-*-linux bytewright-*-linux parquet
installs "the tarball of the command"

# A Ruby between those that the gem has libraries for has to take the source gem.
ruby -r rubygems/package -e 'exit !Gem::Package.new(ARGV[0]).spec.required_ruby_version.satisfied_by?(Gem::Version.new("3.2.8"))' pkg/bytewright-*-linux.gem
[ "$(ruby -r bytewright -e 'puts Bytewright::Capture.flows("web.pcap.gz").count')" = 926 ]
[ "$(ruby -r bytewright/pstore -e 'store = Bytewright::PStore.new("a.pstore"); store.transaction { store["a"] = 7 }; p store.transaction(true) { store["a"] }')" = 7 ]
main_job "$(ruby -e 'puts Gem.bindir')/bytewright"
gem=$(ruby -e 'puts Gem::Specification.find_by_name("bytewright").full_gem_path')
has_papers "$gem" "$gem" magnus
# It has no Parquet.
[ "$(grep -c '^parquet ' "$gem/third-party-licenses.txt")" = 0 ]
installs "the gem, with $(ruby -e 'print "Ruby ", RUBY_VERSION'),"

[ "$(env/bin/python -c 'import bytewright; print(len(list(bytewright.flows("web.pcap.gz"))))')" = 926 ]
main_job env/bin/bytewright
about=$(echo env/lib/python3*/site-packages/bytewright-*.dist-info)
has_papers "$about/licenses" "$about/sboms" pyo3
installs "the wheel, with $(python3 --version),"
END
ruby ruby/test/markdown_blocks.rb README.md "sh install" 1 | sed '1,/^make packages/d' >"$job.block"
for release in "$@"; do
  if ! packages/clean_root.sh answers "$release"; then
    echo "packages: gap: nothing was installed on $release: no answer from Debian" >&2
    continue
  fi
  sed "1i RELEASE=$release" "$job" >"$job.$release"
  TMPDIR=$roots mmdebstrap --quiet --variant=minbase --format=null --include=ruby,python3-venv --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --aptopt='APT::Get::Assume-Yes "true"' --skip=cleanup/apt/lists \
    --customize-hook='mkdir -p "$1/trial/pkg"' \
    --customize-hook="copy-in $(echo "$out"/bytewright_*.deb "$out"/bytewright-*-linux.tar.gz "$out"/bytewright-*-linux.gem "$out"/bytewright-*.whl) /trial/pkg" \
    --customize-hook="upload $job.block /trial/block" \
    --customize-hook="copy-in samples/web.pcap.gz samples/vlan.pcapng /trial" \
    --customize-hook="upload $job.$release /trial/job" \
    --customize-hook='chroot "$1" sh /trial/job >"$1/trial/log" 2>&1 || { cat "$1/trial/log" >&2; exit 1; }' \
    --customize-hook='cat "$1/trial/report" >&2' \
    "$release" - >/dev/null
  rm -f "$job.$release"
done
