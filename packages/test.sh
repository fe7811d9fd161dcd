#!/usr/bin/env bash
# Installs packages of the command as a user does, on a new root of Debian without compilers, and runs the main job there:
#
#   packages/test.sh OUT [RELEASE]    the packages in OUT, on bookworm or another release
#
# It takes root and mmdebstrap. Nothing of the root is kept.
set -euo pipefail
out=$(realpath "${1:?usage: packages/test.sh OUT [RELEASE]}")
release=${2:-bookworm}
cd "$(dirname "$0")/.."
(cd "$out" && sha256sum --quiet --check SHA256SUMS)
job=$(mktemp)
trap 'rm -f "$job"' EXIT
cat >"$job" <<'END'
set -eu
cd /trial
for compiler in cc gcc clang rustc cargo ruby; do
  ! command -v "$compiler" || { echo "packages: expected a root without $compiler" >&2; exit 1; }
done

main_job() { # main_job COMMAND: a compressed capture becomes a table of flows, each capture once
  rm -f flows.bwt
  "$1" flows web.pcap.gz vlan.pcapng --into flows.bwt
  "$1" table scan flows.bwt --limit 1 | grep -q .
  [ "$("$1" flows web.pcap.gz --csv | wc -l)" = 927 ]
}
dpkg -i bytewright_*.deb
main_job bytewright
dpkg -r bytewright
[ ! -e /usr/bin/bytewright ]
tar -xzf bytewright-*.tar.gz
main_job "$(echo "$PWD"/bytewright-*-linux/bin/bytewright)"
END
mmdebstrap --quiet --variant=minbase --format=null --keyring=/usr/share/keyrings \
  --aptopt='Acquire::Check-Valid-Until "false"' \
  --customize-hook='mkdir "$1/trial"' \
  --customize-hook="copy-in $(echo "$out"/bytewright_*.deb "$out"/bytewright-*-linux.tar.gz) /trial" \
  --customize-hook="copy-in samples/web.pcap.gz samples/vlan.pcapng /trial" \
  --customize-hook="upload $job /trial/job" \
  --customize-hook='chroot "$1" sh /trial/job' \
  "$release" - >/dev/null
echo "packages: the command installs and works on $release"
