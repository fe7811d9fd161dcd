#!/usr/bin/env bash
# Makes a release ready, and publishes nothing:
#
#   packages/release.sh VERSION           writes the version and the date, runs all checks, makes all packages, commits
#   packages/release.sh --write VERSION   only writes the version and the date
#
# The heading of the newest entries in CHANGELOG.md has to be "## VERSION, unreleased". A checkout with changes is refused. If a check
# fails, what was written is taken back.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "release: $*" >&2
  exit 1
}

writes_only=false
[ "${1:-}" != --write ] || { writes_only=true && shift; }
version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "expected a version such as VERSION=0.2.0, found '$version'"
[ -z "$(git status --porcelain)" ] || fail "expected a checkout without changes; git status shows them"
needs() { # needs NAME MEANING
  $writes_only || [ -n "${!1:-}" ] || fail "expected $1, $2"
}
needs DEBEMAIL "the address that users of the packages for Debian write to"
needs RUBY_SOURCES "folders of the sources of Rubies that Debian does not have, such as 4.0"
needs RUBIES "an interpreter of each of these, to run the gem"
heading="## $version, unreleased"
grep -qxF "$heading" CHANGELOG.md || fail "expected the line '$heading' in CHANGELOG.md"
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || fail "expected a new version, found the tag v$version"

# Files that name the version; the version of all others is that of Cargo.toml.
naming=(
  Cargo.toml bench/Cargo.toml perl/lib/Bytewright.pm perl/lib/CHI/Driver/Bytewright.pm packages/documents.sh README.md
  docs/guides/install.md docs/guides/perl.md
)

write_version() {
  local old date
  old=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
  date=$(date --utc --date="@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)
  sed -i "s/\(^\|[^0-9.]\)${old//./\\.}\([^0-9]\|$\)/\1$version\2/g" "${naming[@]}"
  sed -i "s/^$heading\$/## $version, $date/" CHANGELOG.md
  # Crates without a source are ours. `cargo update` would need the registry.
  sed -i "/^name = /{N;N;/\nsource = /!s/\nversion = \"${old//./\\.}\"/\nversion = \"$version\"/}" \
    Cargo.lock bench/Cargo.lock core/fuzz/Cargo.lock
}

check_and_pack() {
  make generate
  make test-all
  make fuzz SECONDS=600
  make test-packages
  make test-packages-cross
  make test-packages-debian
  make wasm test-wasm
  cp target/wasm/bytewright.html pkg/
  (cd pkg && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >../target/SHA256SUMS)
  mv target/SHA256SUMS pkg/
}

trap 'git checkout --quiet -- .' EXIT
write_version
if $writes_only; then
  trap - EXIT
  exit
fi
check_and_pack
git commit --quiet --all --message "Release $version"
trap - EXIT
cat <<TEXT
Bytewright $version is ready in pkg/, and committed. To publish it:

    git tag -s v$version && git push origin HEAD v$version
    for gem in pkg/bytewright-$version.gem pkg/cross/*.gem; do gem push \$gem || break; done
    twine upload pkg/bytewright-$version.tar.gz pkg/cross/*.whl
    cpan-upload pkg/Bytewright-$version.tar.gz

Attach the rest of pkg/ to the release, and let README.md and docs/guides/install.md say where the packages are.
TEXT
