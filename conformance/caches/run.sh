#!/usr/bin/env bash
# Writes entries.json to a cache in each language, and reads it in each, as `make test` builds them.
#
#   conformance/caches/run.sh GEMS WHEELS
set -euo pipefail
gems=$1 wheels=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$(ls "$wheels"/*.whl | head -n 1)" "$work/python"
export LC_ALL=C GEM_HOME=$gems PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1
for writer in "ruby -W cache.rb" "python3 cache.py"; do
  for reader in "ruby -W cache.rb" "python3 cache.py"; do
    rm -f "$work/cache.bwc"
    $writer write "$work/cache.bwc"
    $reader read "$work/cache.bwc"
  done
done
