#!/usr/bin/env bash
# Tests the extension in the newest DuckDB and in an old one, each in an environment of its own: run.sh EXTENSION COMMAND; the
# command is the one whose rows are compared. Other arguments go to pytest. PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/../.."
BYTEWRIGHT_EXTENSION=$(realpath "$1") BYTEWRIGHT_COMMAND=$(realpath "$2")
export BYTEWRIGHT_EXTENSION BYTEWRIGHT_COMMAND
shift 2
for list in oldest newest; do
  environment=$PWD/target/duckdb/$list
  python/environment.sh "${PYTHON:-python3}" "$environment" "duckdb/tests/$list.txt"
  PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" -m pytest --quiet -p no:cacheprovider duckdb/tests "$@"
done
