#!/bin/sh
# Runs each fuzz target for SECONDS (60 unless told), beginning with our samples, or the tests' files of
# IDL, and whatever earlier runs found. A finding ends the run and stays in core/fuzz/artifacts; it becomes a test.
#
#   core/fuzz/run.sh [SECONDS] [TARGET...]
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- capture capture_index condition marshal packet rpc stream table_dump thrift thrift_idl thrift_json

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz, once" >&2
    cargo install --quiet --locked cargo-fuzz
fi

# The sanitizer is a feature of nightly compilers; this lets the stable one use it too.
export RUSTC_BOOTSTRAP=1
for target; do
    echo "fuzz: $target for $seconds s" >&2
    mkdir -p "fuzz/corpus/$target"
    seeds=../samples
    dictionary=
    [ "$target" != condition ] || seeds=
    [ "$target" != thrift_json ] || { seeds= && dictionary=-dict=fuzz/thrift_json.dict; }
    [ "$target" != thrift_idl ] || seeds="tests/thrift_and_marshal/thrift_idl/corpus tests/thrift_and_marshal/thrift_idl/corpus/parts"
    # A zstd window may have 2 GB, which are reserved whole and touched as far as they are used.
    cargo fuzz run "$target" "fuzz/corpus/$target" $seeds -- \
        -max_total_time="$seconds" -max_len=4096 -timeout=10 \
        -rss_limit_mb=2048 -malloc_limit_mb=4096 -print_final_stats=1 $dictionary
done
