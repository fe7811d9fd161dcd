#!/usr/bin/env bash
# Tests the C interface as a user has it: the tests and examples compiled as C99 and as C++17 without a warning, linked
# with the shared and with the static library and under the address sanitizer, and the library called from Python and PyPy.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$PWD/target/c
c/build.sh "$out"

strict=(-Wall -Wextra -Werror -Ic/include -Ic/tests)
system=(-lutil -lrt -lpthread -lm -ldl)
passed=0
passes() { # passes COMMAND...: one more test
  "$@" || { echo "c: failed: $*" >&2 && exit 1; }
  passed=$((passed + 1))
}
in_folder() { # in_folder PROGRAM: with a new folder for its files
  rm -rf "$work/files" && mkdir "$work/files" && "$1" "$work/files"
}

# A test is a file, or the files of a folder with a main.c.
for test in c/tests/*.c c/tests/*/main.c; do
  sources=("$test")
  [[ $test != */main.c ]] || sources=("${test%main.c}"*.c)
  cc -std=c99 "${strict[@]}" "${sources[@]}" -L"$out" -Wl,-rpath,"$out" -lbytewright -o "$work/shared"
  passes in_folder "$work/shared"
  cc -std=c99 -g -fsanitize=address "${strict[@]}" "${sources[@]}" "$out/libbytewright.a" "${system[@]}" -o "$work/checked"
  passes in_folder "$work/checked"
  c++ -std=c++17 "${strict[@]}" -x c++ "${sources[@]}" -x none "$out/libbytewright.a" "${system[@]}" -o "$work/static"
  passes in_folder "$work/static"
done

# example NAME PROGRAM: builds c/examples/NAME.c in all ways; the last of them stays as $work/PROGRAM.
example() {
  cc -std=c99 "${strict[@]}" "c/examples/$1.c" -L"$out" -Wl,-rpath,"$out" -lbytewright -o "$work/$2"
  c++ -std=c++17 "${strict[@]}" -x c++ "c/examples/$1.c" -x none "$out/libbytewright.a" "${system[@]}" -o "$work/$2"
  cc -std=c99 -g -fsanitize=address "${strict[@]}" "c/examples/$1.c" "$out/libbytewright.a" "${system[@]}" -o "$work/$2"
}
example table words
counts() { # counts EXPECTED TEXT: what the example prints
  [ "$(printf '%s' "$2" | "$work/words" "$work/words.bwt")" = "$1" ]
}
passes counts $'2 be\n1 not\n1 or\n2 to' "to be or not to be"
passes counts $'3 be\n1 not\n1 or\n2 to' "be"
example capture ports
prints() { # prints EXPECTED COMMAND...
  [ "$("${@:2}")" = "$1" ]
}
passes prints "   80     1898 packets     235007 bytes" "$work/ports" samples/web.pcap.gz "tcp dst port 80"
example calls calls
first_calls() { "$work/calls" samples/warehouse.pcap.zst samples/warehouse.thrift Catalog >"$work/calls.txt" && sed -n 1p "$work/calls.txt"; }
gasket='{"name":"gasket","price_cents":63900,"unit":"PIECE","tags":["heavy","grey"],"stock":{"north":6,"süd":40}}'
passes prints $'find\t{"name":"gasket"}\t{"success":'"$gasket}" first_calls
example thrift pluck
printf '\n\0\001\0\0\0\0\0\0\0\007\013\0\002\0\0\0\001a\0' >"$work/entry.bin"
passes prints $'7\ta\t' "$work/pluck" samples/log.thrift Entry "$work/entry.bin" time host place.city
example reader records
printf '\0\0\0\001\377\373\0\0\001\0\0\024' >"$work/measured.bin"
passes prints $'1 -5\n256 20' "$work/records" "$work/measured.bin"
example writer writer
passes prints "12 bytes" "$work/writer" "$work/record.bin"
bytes_of() { od -An -v -tx1 "$1" | tr -d ' \n'; }
passes prints "00000002000000000000f83f" bytes_of "$work/record.bin"
example users users
passes prints $'user:bob 2\nuser:ada 1' "$work/users" "$work/users.bwt"
example flow_log flow_log
logs() { (cd "$work" && ./flow_log "$1"); }
passes prints "926 flows" logs "$PWD/samples/web.pcap.gz"

# The examples of the guide, with what it says that they print.
awk '/^```c$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > ("'"$work"'/guide" n ".c") }' docs/c.md
guide() { # guide NUMBER EXPECTED ARGUMENT: the example with that number
  cc -std=c99 "${strict[@]}" "$work/guide$1.c" -L"$out" -Wl,-rpath,"$out" -lbytewright -o "$work/guide" &&
    [ "$("$work/guide" "$3")" = "$2" ]
}
passes guide 1 "green" ""
passes guide 2 "1008 packets, 94544 bytes" samples/web.pcap.gz
[ ! -e "$work/guide3.c" ] || { echo "c: an example in docs/c.md has no test" >&2 && exit 1; }

exported() { # exported: only what the map names leaves the library
  [ -z "$(nm -D --defined-only "$out/libbytewright.so" | awk '{ print $3 }' | grep -v '^bw_\|^BYTEWRIGHT_')" ]
}
passes exported
exported_by_archive() { # exported_by_archive: only functions of the header leave the static one, and all of them do
  nm -g --defined-only "$out/libbytewright.a" | awk 'NF == 3 { print $3 }' | sort >"$work/archive.txt"
  sed -n 's/^    \(bw_[a-z0-9_]*\);$/\1/p' c/bytewright.map | sort | diff - "$work/archive.txt"
}
passes exported_by_archive
# A program with functions of the names that the library's zstd has: they are the program's own, and called by nobody else.
cat >"$work/own.c" <<'C'
#include <bytewright.h>
#include <stdlib.h>
size_t ZSTD_decompressStream(void *a, void *b, void *c) { (void)a, (void)b, (void)c; abort(); }
unsigned ZSTD_versionNumber(void) { abort(); }
void *ZSTD_createDCtx(void) { abort(); }
int main(int count, char **arguments) {
  bw_error error = BW_ERROR_INIT;
  bw_capture *capture = NULL;
  bw_batch *batch = NULL;
  if (count < 2 || bw_capture_open(arguments[1], NULL, &capture, &error) || bw_capture_info(capture, &batch, &error)) return 1;
  bw_batch_free(batch);
  return bw_capture_close(capture, NULL);
}
C
cc -std=c99 "${strict[@]}" "$work/own.c" "$out/libbytewright.a" "${system[@]}" -o "$work/own"
passes "$work/own" samples/warehouse.pcap.zst
if command -v pkg-config >/dev/null; then
  # A warning of glibc about dlopen in static programs is no concern of the link.
  cc -static -std=c99 "${strict[@]}" c/tests/tables.c $(PKG_CONFIG_PATH=$out pkg-config --static --cflags --libs bytewright) \
    -o "$work/static" 2>"$work/static.txt" || { cat "$work/static.txt" >&2 && exit 1; }
  passes in_folder "$work/static"
else
  echo "c: gap: no static program is linked, because pkg-config is not here" >&2
fi
passes python3 c/tests/ctypes_table.py "$out/libbytewright.so" "$work/ctypes.bwt"
passes python3 c/tests/ctypes_capture.py "$out/libbytewright.so" samples/web.pcap.gz
if command -v pypy3 >/dev/null; then
  passes pypy3 c/tests/cffi_header.py c/include/bytewright.h "$out/libbytewright.so" "$work/cffi.bwt" samples/web.pcap.gz
else
  echo "c: gap: not called from PyPy, which is not here" >&2
fi
if command -v luajit >/dev/null; then
  passes luajit c/tests/luajit_header.lua c/include/bytewright.h "$out/libbytewright.so" "$work/luajit.bwt" samples/web.pcap.gz
else
  echo "c: gap: not called from LuaJIT, which is not here" >&2
fi
installed() { # installed: what `make install-c` puts in a prefix is found by pkg-config's file
  make --silent install-c PREFIX="$work/prefix"
  (cd "$work/prefix" && ls include/bytewright.h lib/libbytewright.{a,so} lib/pkgconfig/bytewright.pc >/dev/null) &&
    grep -q "^prefix=$work/prefix$" "$work/prefix/lib/pkgconfig/bytewright.pc"
}
passes installed
staged() { # staged: what is packed stands below DESTDIR, which no file names
  make --silent install-c DESTDIR="$work/stage" PREFIX=/usr LIBDIR=/usr/lib/machine
  (cd "$work/stage/usr" && ls include/bytewright.h lib/machine/libbytewright.{a,so} lib/machine/pkgconfig/bytewright.pc >/dev/null) &&
    grep -qxF 'libdir=${prefix}/lib/machine' "$work/stage/usr/lib/machine/pkgconfig/bytewright.pc" &&
    ! grep -q stage "$work/stage/usr/lib/machine/pkgconfig/bytewright.pc"
}
passes staged
echo "$passed passed, 0 failed"
