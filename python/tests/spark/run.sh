#!/usr/bin/env bash
# Tests the wheel with Spark, in an environment of its own with PySpark. HEAVY=1 kills an executor 20 times, and reads 2 GB. Arguments go to
# pytest.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$PWD/target/spark
tests=$PWD/python/tests/spark
mkdir -p "$work"
python/environment.sh python3 "$work/environment" "$tests/requirements.txt"
"$work/environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$PWD"/target/python/wheels/*.whl
# From another folder, so that what is imported is what was installed.
cd "$work"
exec "$work/environment/bin/python" -m pytest -c "$tests/pytest.ini" -p no:cacheprovider "$tests" "$@"
