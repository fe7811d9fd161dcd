#!/usr/bin/env bash
# Has programs that read columns check ours: Arrow's C interface, and Parquet files against the printed rows.
# Usage: run.sh, after `make test-columns` built the command and the example arrow_stream.
# PYTHON names the interpreter; the readers are installed into target/columns once.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
venv=$root/target/columns

if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
  "${PYTHON:-python3}" -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed"
fi

"$venv/bin/python" "$here/check_arrow.py" "$target/debug/examples/libarrow_stream.so"

# The samples, and every 60th of the captures that other projects collected, where they are there.
captures=("$root"/samples/*.pcap*)
others=${BYTEWRIGHT_CAPTURES:-$root/../shared/captures}
if [ -d "$others" ]; then
  mapfile -t -O "${#captures[@]}" captures < <(find "$others" -name '*cap*' -type f -size -200k | sort | awk 'NR % 60 == 1')
fi
"$venv/bin/python" "$here/check_parquet.py" "$target/debug/bytewright" "${captures[@]}"
