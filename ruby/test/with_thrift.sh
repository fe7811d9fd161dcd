#!/usr/bin/env bash
# Runs a command with another release of the gem thrift than the one that is installed:
#
#   ruby/test/with_thrift.sh FOLDER COMMAND...
#
# FOLDER is lib/rb of a checkout of Apache Thrift, or an unpacked gem. Its extension is built for the ruby that is
# first on the PATH, in target/thrift, and FOLDER stays as it is. Every ruby that COMMAND starts finds it first.
set -euo pipefail

if (($# < 2)); then
  echo "with_thrift: expected a folder of the gem thrift and a command, found $# arguments" >&2
  exit 2
fi
gem=$(realpath "$1")
shift
for wanted in lib/thrift.rb ext/extconf.rb; do
  if [[ ! -f $gem/$wanted ]]; then
    echo "with_thrift: expected $wanted in $gem, found none" >&2
    exit 2
  fi
done

root=$(realpath "$(dirname "$0")/../..")
ruby=$(ruby -e 'print RUBY_PLATFORM, "-", RUBY_VERSION')
contents=$(cd "$gem" && find lib ext -type f -name '*.[rch]*' -print0 | sort -z | xargs -0 cat | cksum | cut -d ' ' -f 1)
built="$root/target/thrift/$ruby-$contents"
if [[ ! -f $built/thrift_native.so ]]; then
  rm -rf "$built" "$built.new"
  mkdir -p "$built.new"
  cp "$gem"/ext/*.[ch] "$gem/ext/extconf.rb" "$built.new"
  # Old releases make errors of warnings that newer compilers have.
  if ! (cd "$built.new" && ruby extconf.rb && make CFLAGS="-O2 -fPIC -w") >"$built.log" 2>&1; then
    cat "$built.log" >&2
    exit 1
  fi
  mv "$built.new" "$built"
fi
export RUBYLIB="$gem/lib:$built${RUBYLIB:+:$RUBYLIB}"
exec "$@"
