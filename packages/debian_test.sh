#!/usr/bin/env bash
# Builds the source package in a new root of Debian, with its compilers and without the network, and uses what comes out:
#
#   packages/debian_test.sh OUT [RELEASE]    what packages/debian_source.sh has put into OUT, on sid, whose Rust is new enough
#
# It takes root and mmdebstrap. The packages stay in OUT.
set -euo pipefail
out=$(realpath "${1:?usage: packages/debian_test.sh OUT [RELEASE]}")
release=${2:-sid}
cd "$(dirname "$0")/.."
if ! packages/clean_root.sh answers "$release"; then
  echo "packages: gap: the source package was not built: no answer from Debian" >&2
  exit
fi
job=$(mktemp)
trap 'rm -f "$job"' EXIT
cat >"$job" <<'END'
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd /trial
dpkg-source --extract bytewright_*.dsc source >/dev/null
apt-get -qq build-dep ./source >/dev/null
# Nobody but root is here, and root would not be refused what tests ask for.
useradd --create-home builder
chown -R builder .
cd source
unshare --net runuser -u builder -- dpkg-buildpackage --build=binary --no-sign
cd ..
lintian --allow-root --fail-on error --tag-display-limit 0 bytewright_*.changes
apt-get -qq install ./*.deb >/dev/null
bytewright demo >web.pcap.gz
[ "$(bytewright flows web.pcap.gz --csv | wc -l)" = 927 ]
man --pager=cat bytewright-flows | grep -q 'Sum up packets by conversation'
[ "$(perl -MBytewright -e 'print scalar(@{[Bytewright::Capture->open("web.pcap.gz")->count_by("dst_port")]})')" != 0 ]
sed -n '/^```c$/,/^```$/p' source/docs/c.md | sed '1d; /^```$/,$d' >program.c
cc program.c $(pkgconf --cflags --libs bytewright) -o program
[ "$(./program)" = green ]
cc -static program.c $(pkgconf --static --cflags --libs bytewright) -o program 2>/dev/null
[ "$(./program)" = green ]
END
mmdebstrap --quiet --variant=buildd --format=null --include=lintian,man-db,pkgconf,util-linux --keyring=/usr/share/keyrings \
  --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Get::Assume-Yes "true"' --skip=cleanup/apt/lists \
  --customize-hook='mkdir "$1/trial"' \
  --customize-hook="copy-in $(echo "$out"/bytewright_*.orig*.tar.gz "$out"/bytewright_*.debian.tar.xz "$out"/bytewright_*.dsc) /trial" \
  --customize-hook="upload $job /trial/job" \
  --customize-hook='chroot "$1" sh -x /trial/job >"$1/trial/log" 2>&1 || { tail -60 "$1/trial/log" >&2; exit 1; }' \
  --customize-hook="sync-out /trial $job.out" \
  "$release" - "deb http://deb.debian.org/debian $release main" "deb-src http://deb.debian.org/debian $release main" >/dev/null
cp "$job.out"/*.deb "$out"
rm -rf "$job.out"
echo "packages: the source package builds on $release, and what it makes installs and works" >&2
