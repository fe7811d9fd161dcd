#!/usr/bin/env bash
# Runs the packages that packages/cross.sh made: packages/cross_test.sh OUT
#
# Those for x86_64 run here, those for aarch64 in qemu-user, wheel and gems for glibc with Debian's Python and Rubies, whose files
# mmdebstrap unpacks into target/roots, wheel and gem for musl with those that packages/musl_root.sh compiles. RUBIES are interpreters of this
# machine for the libraries that the gems have besides, of RUBY_SOURCES. The command's files are read on the machine that did not write
# them, too. All is packed again, and must be the same bytes; with REBUILD=1 it is compiled again before, in another folder.
#
# Not tested: wheels and gems for musl on aarch64, and for the Rubies that musl_root.sh does not make, with an interpreter: the loader of
# musl has to find all that they need but the interpreter's own symbols. What a kernel for aarch64 does: qemu calls that of this machine,
# whose pages have 4 KiB. Live captures and filters, which the static command does not have.
set -euo pipefail
out=$(realpath "${1:?usage: packages/cross_test.sh OUT}")
cd "$(dirname "$0")/.."
project=$PWD
tools=$project/target/cross/tools/bin
root=$project/target/roots/arm64 musl_root=$project/target/roots/musl
# Bytes: of the command, of a wheel, and of a gem for each of its Rubies.
command_max=9000000 wheel_max=7000000 gem_max=8000000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
cp samples/web.pcap.gz samples/vlan.pcapng "$work"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

works() { # works WHAT: all before it has worked
  echo "cross: $1" >&2
}
fail() { # fail MESSAGE
  echo "cross: $1" >&2
  exit 1
}
expect() { # expect EXPECTED FOUND WHAT
  [ "$1" = "$2" ] || fail "expected $3 to be $1, found $2"
}
at_most() { # at_most BYTES FILE NAME: tells the size, too
  local size
  size=$(stat -c %s "$2")
  [ "$size" -le "$1" ] || fail "expected $3 to have $1 bytes at most, found $size"
  works "$3 has $size bytes"
}
# on MACHINE COMMAND...: runs a program of that machine; with become=exec, in the place of this shell; with of_root=yes, one of the root's,
# whose libraries it has, also if the machine is this one
on() {
  local machine=$1
  shift
  if [ "$machine" != "$(uname -m)" ]; then
    ${become:-} "qemu-$machine" -L "$root" "$@"
  elif [ -n "${of_root:-}" ]; then
    in_root "${@/#$root/}"
  else
    ${become:-} "$@"
  fi
}
in_root() { # in_root COMMAND...: the work folder is at its own path. Not by qemu, in which a Ruby of this machine crashes when it forks
  mkdir -p "$root$work" "$root/dev"
  # shellcheck disable=SC2016 # its own parameters
  unshare --mount --propagation private bash -euc '
    root=$1 work=$2 folder=$PWD
    mount --bind "$work" "$root$work"
    mount --bind /dev "$root/dev"
    exec unshare --root="$root" --wd="$folder" "${@:3}"' bash "$root" "$work" "$@"
}

has_papers() { # has_papers FOLDER FOLDER NAME...: the licences of what is linked in, and the bill of materials, with these among others
  for name in zstd clap zlib-rs rust-std llvm-libunwind "${@:3}"; do
    grep -q "^$name [^ ]*, " "$1/third-party-licenses.txt" || fail "expected the licence of $name in $1"
    grep -q "\"name\": \"$name\"" "$2/bytewright.cdx.json" || fail "expected $name in the bill in $2"
  done
}

(cd "$out" && sha256sum --quiet --check SHA256SUMS)
expect 16 "$(find "$out" -name "*$version*" | wc -l)" "the number of packages"

# Unpacked

for machine in x86_64 aarch64; do
  archive=$out/bytewright-$version-$machine-linux-static.tar.gz
  expect 0/0 "$(tar --numeric-owner -tvzf "$archive" | awk '{ print $2 }' | sort -u)" "the owner of all files of $archive"
  tar -tzf "$archive" | sort --check
  tar -C "$work" -xzf "$archive"
  mv "$work/bytewright-$version-$machine-linux-static" "$work/$machine"
  binary=$work/$machine/bin/bytewright
  at_most $command_max "$binary" "the command for $machine"
  ! readelf --program-headers --dynamic --wide "$binary" | grep -E 'INTERP|NEEDED' || fail "expected no library to be needed by $binary"
  for file in man/man1/bytewright.1.gz man/man1/bytewright-flows.1.gz bash-completion/completions/bytewright; do [ -s "$work/$machine/share/$file" ]; done
  [ -s "$work/$machine/LICENSE" ]
  has_papers "$work/$machine" "$work/$machine" musl zig-compiler-rt parquet
done

# The command

# killed MACHINE FILE: what was put is in a table whose next writer is killed, and nothing of what that one had begun
killed() {
  local machine=$1 file=$2 command=$work/$1/bin/bytewright pid
  on "$machine" "$command" table put "$file" kept 1
  mkfifo fifo
  become="exec" on "$machine" "$command" table load "$file" fifo &
  pid=$!
  exec 9>fifo
  {
    printf 'VERSION=3\nformat=print\ntype=btree\nHEADER=END\n'
    seq -f ' key%06.0f' 100000 | awk '{ print; print " " $1 "value" }'
  } >&9
  kill -9 $pid
  exec 9>&-
  ! wait $pid 2>/dev/null || fail "expected the writer of $file to be killed, found that it ended"
  rm fifo
  expect kept "$(on "$machine" "$command" table scan "$file" --keys)" "all keys of $file"
  on "$machine" "$command" table put "$file" next 2
  on "$machine" "$command" table check "$file" >/dev/null
  expect "kept next" "$(on "$machine" "$command" table scan "$file" --keys | sort | paste -s -d ' ')" "all keys of $file"
}

# job MACHINE: what the command is for; its files stay in a folder of the name
job() {
  local machine=$1 command=$work/$1/bin/bytewright
  mkdir "$work/job-$machine"
  cd "$work/job-$machine"
  on "$machine" "$command" flows ../web.pcap.gz ../vlan.pcapng --into flows.bwt
  expect 927 "$(on "$machine" "$command" flows ../web.pcap.gz --csv | wc -l)" "the lines of the flows"
  on "$machine" "$command" cut ../web.pcap.gz --where 'dst_port == 53' -o dns.pcapng.zst
  on "$machine" "$command" packets dns.pcapng.zst --csv >dns.csv
  on "$machine" "$command" packets ../web.pcap.gz --where 'dst_port == 53' --csv --jobs 2 >asked.csv
  expect "$(cut -d, -f3- asked.csv | md5sum)" "$(cut -d, -f3- dns.csv | md5sum)" "the packets that were cut"
  on "$machine" "$command" demo | cmp - ../web.pcap.gz
  on "$machine" "$command" report ../web.pcap.gz -o web.html
  tail -1 web.html | grep -q '</html>'
  on "$machine" "$command" packets ../web.pcap.gz --parquet web.parquet
  killed "$machine" killed.bwt
  killed "$machine" killed.bwh
  # The library that they need is not there, and the command says so.
  for args in "flows ../web.pcap.gz --filter tcp" "packets --interface lo" interfaces; do
    # shellcheck disable=SC2086 # words
    if on "$machine" "$command" $args >told 2>&1; then fail "expected $args to be refused"; fi
    grep -q 'expected libpcap, which .* need, found a program that is linked statically' told
  done
  for help in "packets --help" "interfaces --help" --help --version; do
    # shellcheck disable=SC2086 # words
    on "$machine" "$command" $help | tr -s ' \n' ' ' | grep -q 'linked statically and loads no libpcap' || fail "expected $help to say that there is no libpcap"
  done
  cd "$project"
}
for machine in x86_64 aarch64; do
  job $machine
  works "the static command works on $machine"
done
for pair in "x86_64 aarch64" "aarch64 x86_64"; do
  read -r writer reader <<<"$pair"
  cd "$work/job-$writer"
  for table in flows.bwt killed.bwt killed.bwh; do
    on "$writer" "$work/$writer/bin/bytewright" table scan $table --json | sort >"$work/written"
    on "$reader" "$work/$reader/bin/bytewright" table scan $table --json | sort | cmp - "$work/written"
    on "$reader" "$work/$reader/bin/bytewright" table put $table "from $reader" there
    expect there "$(on "$writer" "$work/$writer/bin/bytewright" table get $table "from $reader")" "what $reader put into $table"
    on "$writer" "$work/$writer/bin/bytewright" table check $table >/dev/null
  done
  on "$reader" "$work/$reader/bin/bytewright" packets dns.pcapng.zst --csv | cmp - dns.csv
  cmp web.parquet "$work/job-$reader/web.parquet"
  cd "$project"
  works "files that $writer wrote are read and changed on $reader"
done

# The package for Debian

for architecture in amd64 arm64; do
  package=$out/bytewright-static_${version}_$architecture.deb
  expect "bytewright-static $architecture bytewright" \
    "$(dpkg-deb --show --showformat '${Package} ${Architecture} ${Conflicts}' "$package")" "what $package is"
  expect "" "$(dpkg-deb --field "$package" Depends)" "what $package depends on"
  machine=x86_64
  [ $architecture = amd64 ] || machine=aarch64
  dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/bin/bytewright | cmp - "$work/$machine/bin/bytewright"
  for file in third-party-licenses.txt bytewright.cdx.json; do
    dpkg-deb --fsys-tarfile "$package" | tar -xO "./usr/share/doc/bytewright-static/$file" | cmp - "$work/$machine/$file"
  done
done
# Without DEBEMAIL the maintainer has no address.
lintian --no-cfg --allow-root --fail-on error --suppress-tags malformed-contact "$out"/*.deb
works "lintian finds no error in the .deb"
if packages/clean_root.sh answers bookworm; then
  mmdebstrap --quiet --variant=essential --format=null --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' --customize-hook="copy-in $out/bytewright-static_${version}_amd64.deb samples/web.pcap.gz /tmp" \
    --customize-hook="chroot \"\$1\" sh -euc 'dpkg -i /tmp/*.deb >/dev/null; [ \$(bytewright flows /tmp/web.pcap.gz --csv | wc -l) = 927 ]; dpkg -r bytewright-static >/dev/null'" \
    bookworm - >/dev/null
  works "the .deb installs and works on bookworm"
else
  works "gap: the .deb was not installed: no answer from Debian"
fi

# Wheels

cat >"$work/wheel.py" <<'END'
import os, signal, sys
import bytewright

assert len(list(bytewright.flows("web.pcap.gz"))) == 926
assert bytewright.count_by("web.pcap.gz", "dst_port")[80] == 1898
for kind, file in (bytewright.TreeTable, "users.bwt"), (bytewright.HashTable, "users.bwh"):
    with kind.open(file) as table:
        table["user:ada"] = "1815"
    child = os.fork()
    if child == 0:
        with kind.open(file) as table, table.transaction():
            table["user:bob"] = "1"
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with kind.open(file) as table:
        assert list(table.items()) == [("user:ada", "1815")], list(table.items())
print(sys.version.split()[0])
END

only() { # only FILE...: the one file that a pattern has found
  if [ $# != 1 ] || [ ! -e "$1" ]; then fail "expected one file, found $*"; fi
  echo "$1"
}
wheel_of() { # wheel_of MACHINE LIBC PYTHON: its wheel; PYTHON is cp310-abi3 or cp314-cp314t
  only "$out/bytewright-$version-$3"-*"$2"*"$1.whl"
}
library_of() { # library_of MACHINE LIBC PYTHON: its library, unpacked
  only "$work/$2-$1-$3"/bytewright/_bytewright.*.so
}
wheel_job() { # wheel_job MACHINE PYTHON FOLDER: the main job with what is installed in the folder
  mkdir -p "$3/job"
  cp "$work/web.pcap.gz" "$work/wheel.py" "$3/job"
  cd "$3/job"
  version_of_python=$(PYTHONPATH=$3 on "$1" "$2" wheel.py)
  expect 927 "$(PYTHONPATH=$3 on "$1" "$2" -m bytewright flows web.pcap.gz --csv | wc -l)" "the lines of the flows"
  cd "$project"
}
runs_with_glibc_2_17() { # runs_with_glibc_2_17 LIBRARY WHAT
  local newest
  newest=$(readelf --dyn-syms --wide "$1" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -1)
  expect GLIBC_2.17 "$(printf 'GLIBC_2.17\n%s\n' "$newest" | sort --version-sort | tail -1)" "the newest symbol of glibc that is needed by $2"
}
for machine in x86_64 aarch64; do
  for python in cp310-abi3 cp314-cp314t; do
    for libc in manylinux_2_17 musllinux_1_2; do
      wheel=$(wheel_of $machine $libc $python)
      at_most $wheel_max "$wheel" "the wheel $python ${wheel##*-}"
      mkdir -p "$work/$libc-$machine-$python"
      python3 -m zipfile -e "$wheel" "$work/$libc-$machine-$python"
      about=$work/$libc-$machine-$python/bytewright-$version.dist-info
      has_papers "$about/licenses" "$about/sboms" zig-compiler-rt pyo3
      ! grep -q '^musl ' "$about/licenses/third-party-licenses.txt" || fail "expected no musl in $wheel"
    done
    runs_with_glibc_2_17 "$(library_of $machine manylinux_2_17 $python)" "the wheel $python for $machine"
  done
  # The suffix by which a free-threaded CPython finds it.
  for libc in gnu:manylinux_2_17 musl:musllinux_1_2; do
    expect "_bytewright.cpython-314t-$machine-linux-${libc%:*}.so" "$(basename "$(library_of $machine "${libc#*:}" cp314-cp314t)")" "the library"
  done
done

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check --no-index --target "$work/here" "$(wheel_of "$(uname -m)" manylinux cp310-abi3)"
wheel_job "$(uname -m)" "$work/env/bin/python" "$work/here"
works "the wheel for glibc works on $(uname -m), with Python $version_of_python"
if [ -n "${PYTHON:-}" ]; then
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-index --target "$work/threads" "$(wheel_of "$(uname -m)" manylinux cp314-cp314t)"
  wheel_job "$(uname -m)" "$PYTHON" "$work/threads"
  works "the wheel for glibc works on $(uname -m), with the free-threaded Python $version_of_python"
else
  works "gap: the wheels for a free-threaded Python were not run: expected PYTHON=/path/to/python3.14t"
fi

if [ ! -e "$root/unpacked" ]; then
  rm -rf "$root"
  mkdir -p "${root%/*}"
  if mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3,python3-pip,musl --keyring=/usr/share/keyrings \
    --aptopt='Acquire::Check-Valid-Until "false"' bookworm "$root"; then touch "$root/unpacked"; fi
fi
# lacks_only SYMBOLS MACHINE LIBRARY WHAT: the loader of musl finds all that the library needs but the interpreter's symbols
lacks_only() {
  local loader=/lib/ld-musl-x86_64.so.1 said missing
  if [ "$2" != x86_64 ]; then
    [ -e "$root/unpacked" ] || return 0
    loader=$root/lib/ld-musl-$2.so.1
  fi
  said=$(on "$2" "$(realpath "$loader")" --list "$3" 2>&1 || true)
  grep -q 'symbol not found' <<<"$said" || fail "expected the loader of musl to miss the interpreter on $2, found: $said"
  missing=$(grep -v -E "^\s\S+ (=> \S+ )?\(0x|: $1[A-Za-z0-9_]*: symbol not found\$" <<<"$said" || true)
  expect "" "$missing" "what the loader of musl says of $4 on $2"
  works "the loader of musl finds all that $4 needs on $2 but the interpreter's symbols"
}
if [ -e "$root/unpacked" ]; then
  python=$(realpath "$root/usr/bin/python3")
  on aarch64 "$python" -m pip install --quiet --root-user-action=ignore --no-index --target "$work/there" "$(wheel_of aarch64 manylinux cp310-abi3)"
  wheel_job aarch64 "$python" "$work/there"
  works "the wheel for glibc works on aarch64, with Python $version_of_python"
else
  works "gap: nothing for aarch64 was run by Python: no answer from Debian"
fi
for machine in x86_64 aarch64; do
  for python in cp310-abi3 cp314-cp314t; do
    lacks_only '_?Py' $machine "$(library_of $machine musllinux_1_2 $python)" "the wheel $python"
  done
done

# with_musl COMMAND...: has `on` run the interpreters that are compiled with musl
with_musl() {
  root=$musl_root of_root=yes "$@"
}
if packages/clean_root.sh answers trixie; then
  packages/musl_root.sh "$musl_root"
  python=$musl_root/opt/musl/bin/python3.13
  cp "$(wheel_of "$(uname -m)" musllinux cp310-abi3)" "$work"
  cd "$work"
  with_musl on "$(uname -m)" "$python" -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-index \
    --target "$work/musl" "$work"/*musllinux*.whl
  cd "$project"
  with_musl wheel_job "$(uname -m)" "$python" "$work/musl"
  works "the wheel for musl works on $(uname -m), with Python $version_of_python"
else
  works "gap: nothing for musl was run by Python or Ruby: no answer from Debian"
fi

# Gems

cat >"$work/gem.rb" <<'END'
require "bytewright"
require "bytewright/pstore"

def expect(expected, found)
  abort "expected #{expected.inspect}, found #{found.inspect}" unless expected == found
end

expect 926, Bytewright::Capture.flows("web.pcap.gz").count
expect 1898, Bytewright::Capture.open("web.pcap.gz").count_by(:dst_port)[80]
{ Bytewright::TreeTable => "killed.bwt", Bytewright::HashTable => "killed.bwh" }.each do |kind, file|
  table = kind.open(file)
  rows = table.to_h
  abort "expected rows of the command, found none" if rows.empty?
  rows["user:ada"] = table["user:ada"] = "1815"
  table.close
  child = fork do
    table = kind.open(file)
    table.transaction do
      table["user:bob"] = "1"
      Process.kill(:KILL, Process.pid)
      sleep
    end
  end
  Process.wait(child)
  expect Signal.list["KILL"], $?.termsig
  table = kind.open(file)
  expect rows, table.to_h
  table.close
end
Bytewright::PStore.new("a.pstore").transaction { |store| store["a"] = 7 }
expect 7, Bytewright::PStore.new("a.pstore").transaction(true) { |store| store["a"] }
puts RUBY_VERSION
END

gem_of() { # gem_of PLATFORM: its gem
  only "$out/bytewright-$version-$1.gem"
}
# gem_job MACHINE LIBC RUBY FOLDER: the gem, installed in the folder, does its main job, with tables that the command wrote on this machine
gem_job() {
  local command=$work/$(uname -m)/bin/bytewright table
  mkdir "$4"
  cp "$work/web.pcap.gz" "$work/gem.rb" "$work/job-$(uname -m)"/killed.bw[th] "$4"
  cd "$4"
  export GEM_HOME=$4/gems GEM_PATH=$4/gems
  # Not into this folder: RubyGems before 3.3.22 would look for its own idea of the name.
  cp "$(gem_of "$1-linux-$2")" "$work"
  on "$1" "$3" -S gem install --local --no-document --silent "$work/bytewright-$version-$1-linux-$2.gem"
  version_of_ruby=$(on "$1" "$3" gem.rb)
  expect 927 "$(on "$1" "$3" gems/bin/bytewright flows web.pcap.gz --csv | wc -l)" "the lines of the flows"
  for table in killed.bw[th]; do
    expect 1815 "$("$command" table get "$table" user:ada)" "what Ruby $version_of_ruby on $1 put into $table"
    "$command" table check "$table" >/dev/null
  done
  unset GEM_HOME GEM_PATH
  cd "$project"
  works "the gem for $2 works on $1, with Ruby $version_of_ruby, and changes tables that the command wrote on $(uname -m)"
}
# ruby_of MACHINE MINOR: Debian's, unpacked. That of the release whose name comes last: experimental has also what sid has.
ruby_of() {
  local architecture=amd64
  [ "$1" = x86_64 ] || architecture=arm64
  printf '%s\n' "$project"/target/roots/ruby-*-$architecture/usr/bin/ruby"$2" | tail -1
}
of_debian="3.1 3.3 3.4" minors=$of_debian
for ruby in ${RUBIES:-}; do minors+=" $("$ruby" -e 'print RUBY_VERSION[/\A\d+\.\d+/]')"; done
for platform in {x86_64,aarch64}-linux-{gnu,musl}; do
  machine=${platform%%-*} libc=${platform##*-}
  gem=$(gem_of $platform)
  unpacked=$work/gem-$platform
  mkdir "$unpacked"
  tar -xOf "$gem" data.tar.gz | tar -C "$unpacked" -xz
  has_papers "$unpacked" "$unpacked" zig-compiler-rt magnus
  ! grep -q '^musl ' "$unpacked/third-party-licenses.txt" || fail "expected no musl in $gem"
  expect "$minors" "$(cd "$unpacked/ruby/lib/bytewright" && echo [0-9]*)" "the Rubies that $gem is for"
  at_most $(($(wc -w <<<"$minors") * gem_max)) "$gem" "the gem for $platform"
  for library in "$unpacked"/ruby/lib/bytewright/*/bytewright.so; do
    minor=$(basename "${library%/*}")
    if [ "$libc" = musl ]; then
      lacks_only '(rb|ruby)_' "$machine" "$library" "the gem for Ruby $minor"
    else
      runs_with_glibc_2_17 "$library" "the gem for $platform"
      # Others are those of RUBIES, which are of one machine.
      [[ " $of_debian " == *" $minor "* ]] || continue
      ruby=$(ruby_of "$machine" "$minor")
      root=${ruby%/usr/bin/*} of_root=yes gem_job "$machine" gnu "$ruby" "$work/ruby-$minor-$machine"
    fi
  done
done
for ruby in ${RUBIES:-}; do gem_job "$(uname -m)" gnu "$ruby" "$work/${ruby//\//_}"; done
if [ -e "$musl_root/made" ]; then
  with_musl gem_job "$(uname -m)" musl "$musl_root/opt/musl/bin/ruby" "$work/ruby-musl"
fi

# Again

again=$work/again
mkdir "$again"
# That of the commit when they were packed.
SOURCE_DATE_EPOCH=$(stat -c %Y "$work/x86_64/LICENSE")
export SOURCE_DATE_EPOCH
if [ -n "${REBUILD:-}" ]; then
  BUILD=$work/build packages/cross.sh "$again"
else
  for platform in {x86_64,aarch64}-linux-{gnu,musl}; do
    parts=$work/parts-$platform
    mkdir -p "$parts/libraries"
    cp -r "$work/gem-$platform"/ruby/lib/bytewright/[0-9]* "$parts/libraries"
    PATH=$tools:$PATH packages/licenses.py write bytewright-ruby "${platform/-linux/-unknown-linux}" "$parts/papers" zig
    ruby packages/platform_gem.rb "$again" "$parts/libraries" "$parts/papers" $platform
  done
  for machine in x86_64 aarch64; do
    PATH=$tools:$PATH packages/command.sh "$work/$machine/bin/bytewright" "$again" $machine "$work/$(uname -m)/bin/bytewright"
    for file in "$out"/*"$machine.whl"; do
      libc=gnu
      [[ $file != *musllinux* ]] || libc=musl
      cp "$file" "$again"
      PATH=$tools:$PATH packages/licenses.py wheel "$again/${file##*/}" $machine-unknown-linux-$libc zig
    done
  done
fi
for file in "$again"/*; do cmp "$file" "$out/${file##*/}"; done
works "what is ${REBUILD:+compiled and }packed again is the same bytes"
