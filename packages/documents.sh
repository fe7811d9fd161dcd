#!/usr/bin/env bash
# Runs what the documents say about installing from a clone, word for word, on new roots of Debian, and checks what it says
# comes of it:
#
#   packages/documents.sh PKG [RELEASE...]    on bookworm and trixie, or on other releases; PKG is what `make packages` made
#
# Each block that is marked ```sh install has a root of its own (packages/clean_root.sh), with make, which README's block installs.
# ONLY="docs/c.md 1" runs that one. All are run, also after one that fails, and a gap is told where a registry does not answer.
# README's installs without a compiler are also run by packages/test.sh. Compiled files are kept in target/clean-builds.
set -euo pipefail
pkg=$(realpath "${1:?usage: packages/documents.sh PKG [RELEASE...]}")
shift
[ $# -gt 0 ] || set -- bookworm trixie
cd "$(dirname "$0")/.."
roots=$(mktemp -d)
chmod 755 "$roots" # mmdebstrap's apt reads there as a user of its own
trap 'rm -rf --one-file-system "$roots"' EXIT
trap 'exit 1' HUP INT TERM
blocks=0 # those that have a check, of all documents
works=0 gaps=0 failures=0

# block DOCUMENT NUMBER REGISTRY...: the block runs in a new root, and then the check on standard input. In the clone are pkg/
# and the document's first examples, as program.c and program.py. A registry is one that the block needs beside Debian's packages and
# crates.io: a block that fails where one does not answer is a gap. Others run all the same.
block() {
  local check root=$roots/root document=$1 number=$2 name="block $2 of $1" start=$SECONDS silent
  check=$(cat)
  blocks=$((blocks + 1))
  [[ "$document $number" == *"${ONLY:-}"* ]] || return 0
  cp -a --reflink=auto "$roots/$release" "$root"
  cp -a "$pkg" "$root/bytewright/pkg"
  {
    echo 'apt-get update -qq'
    [ "$document" = README.md ] || echo 'apt-get install -qq make >/dev/null'
    ruby ruby/test/markdown_blocks.rb "$document" "sh install" "$number"
    echo "$check"
  } >"$root/block"
  ruby ruby/test/markdown_blocks.rb "$document" c 1 >"$root/bytewright/program.c" 2>/dev/null || true
  ruby ruby/test/markdown_blocks.rb "$document" python 1 >"$root/bytewright/program.py" 2>/dev/null || true
  if in_root sh -eux /block >"$roots/log" 2>&1; then
    works=$((works + 1))
    echo "documents: $name works on $release, after $((SECONDS - start)) s" >&2
  else
    cat "$roots/log" >&2
    silent=$(silent_registries "${@:3}")
    if [ -n "$silent" ]; then
      gaps=$((gaps + 1))
      echo "documents: gap: $name was not checked on $release: no answer from $silent" >&2
    else
      failures=$((failures + 1))
      echo "documents: $name fails on $release, after $((SECONDS - start)) s" >&2
    fi
  fi
  rm -rf --one-file-system "$root"
}

in_root() { # in_root COMMAND...
  BUILDS=$PWD/target/clean-builds/$release packages/clean_root.sh run "$roots/root" "$@"
}

silent_registries() { # silent_registries REGISTRY...: those of them, of Debian and of crates.io that do not answer in the root
  local registry
  for registry in Debian crates.io "$@"; do
    in_root sh -euc "$(asking "$registry")" >/dev/null 2>&1 || echo "$registry"
  done | paste -s -d ' '
}

asking() { # asking REGISTRY: a script that fails if it does not answer; one that answers has to have what the script needs
  case $1 in
  Debian) echo 'apt-get update --error-on=any' ;;
  crates.io) echo 'cargo fetch --locked' ;;
  PyPI) echo 'apt-get install python3-venv || exit 0; python3 -m venv /asking; /asking/bin/pip download --no-deps --dest /asking pip' ;;
  esac
}

asserting() { # asserting FILE: an example in Python, in which `expression # => value` must hold
  echo "sed -E 's/^(.*[^ ]) +# => (.*)\$/assert (\\1) == (\\2)/' $1 >checked.py && grep -q '^assert' checked.py && env/bin/python checked.py"
}

every_block() {
  block README.md 1 PyPI <<'END'
[ -s pkg/bytewright-0.1.0.gem ]
[ -s pkg/Bytewright-0.1.0.tar.gz ]
(cd pkg && sha256sum --quiet --check SHA256SUMS)
[ "$(ruby -r bytewright -e 'puts Bytewright::Capture.flows("samples/web.pcap.gz").count')" = 926 ]
for command in /usr/bin/bytewright /usr/local/bin/bytewright env/bin/bytewright; do
  [ "$("$command" flows samples/web.pcap.gz --csv | wc -l)" = 927 ]
done
END
  block docs/guides/install.md 1 <<'END'
[ "$(ruby -r bytewright -e 'puts Bytewright::Capture.flows("samples/web.pcap.gz").count')" = 926 ]
[ "$(bytewright flows samples/web.pcap.gz --csv | wc -l)" = 927 ]
ri --no-pager --format=markdown 'Bytewright::Packet#src_ip' 'Bytewright::Capture#each'
END
  block docs/guides/install.md 2 PyPI <<'END'
[ "$(env/bin/python -c 'import bytewright; print(len(list(bytewright.flows("samples/web.pcap.gz"))))')" = 926 ]
END
  # `make install-c` has apt install what compiling needs, and what that depends on. 289 packages were installed once.
  block docs/c.md 1 <<'END'
[ "$(./a.out)" = green ]
readelf --dynamic a.out | grep -q libbytewright.so.1
grep '^Commandline: .*--no-install-recommends' /var/log/apt/history.log >asked
[ "$(cat asked)" = "Commandline: apt-get install -y --no-install-recommends gcc libc6-dev make" ]
[ "$(grep -A1 -F "$(cat asked)" /var/log/apt/history.log | grep -o ':amd64' | wc -l)" -le 50 ]
END
  block docs/guides/perl.md 1 <<'END'
[ "$(cd / && perl -MBytewright -e 'tie my %users, "Bytewright::TreeTable"; $users{"user:ada"} = 1815; print keys(%users)')" = user:ada ]
END
  block docs/guides/python.md 1 PyPI <<END
$(asserting program.py)
[ "\$(env/bin/bytewright flows samples/web.pcap.gz --csv | wc -l)" = 927 ]
END
  block docs/guides/spark.md 1 PyPI <<END
$(asserting program.py)
END
  block docs/guides/sql.md 1 PyPI <<'END'
python3 -m venv env
env/bin/pip install --quiet duckdb
env/bin/python - <<'CHECK'
import duckdb
database = duckdb.connect(config={"allow_unsigned_extensions": "true"})
database.execute("LOAD 'target/duckdb/bytewright.duckdb_extension'")
assert database.execute("SELECT count(*) FROM 'samples/web.pcap.gz'").fetchall() == [(8760,)]
CHECK
END
}

for release; do
  if ! packages/clean_root.sh answers "$release"; then
    gaps=$((gaps + 1))
    echo "documents: gap: nothing was checked on $release: no answer from Debian" >&2
    continue
  fi
  packages/clean_root.sh make "$release" "$roots/$release"
  blocks=0
  every_block
  marked=$(cat README.md $(git ls-files 'docs/*.md') | grep -c '^```sh install$')
  if [ "$marked" != "$blocks" ]; then
    echo "documents: expected a check for each of the $marked blocks that are marked \`\`\`sh install, found $blocks" >&2
    exit 1
  fi
  rm -rf --one-file-system "${roots:?}/$release"
done
echo "documents: blocks that work: $works, that fail: $failures, gaps: $gaps" >&2
[ "$failures" = 0 ] && [ $((works + gaps)) != 0 ]
