#!/usr/bin/env bash
# Tests the wheel as a user has it: installed into a clean environment of the oldest and of the newest Python there is, or
# of those that PYTHONS names, the newest last; with `oldest` as the first argument, of the oldest alone. BYTEWRIGHT_WHEELS names
# another folder that has the wheel. Other arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/target/python
wheels=${BYTEWRIGHT_WHEELS:-$work/wheels}
tests=$PWD/python/tests

# interpreter VERSION: the command of that version, where there is one. Those of pyenv run only when they are chosen.
interpreter() {
  local chosen command
  chosen=$(pyenv versions --bare 2>/dev/null | grep "^$1\." | tail -1)
  for command in "python$1" "$(PYENV_VERSION=$chosen pyenv which "python$1" 2>/dev/null)"; do
    [ -n "$command" ] && "$command" -c '' 2>/dev/null && echo "$command" && return
  done
  return 0
}

interpreters() { # interpreters: the oldest and the newest that Bytewright supports
  local found=() version command
  for version in 3.{10..20}; do
    command=$(interpreter "$version")
    [ -z "$command" ] || found+=("$command")
  done
  case ${#found[@]} in
  0) echo "python: expected Python 3.10 or later, found none" >&2 && exit 1 ;;
  1) echo "${found[0]}" ;;
  *) echo "${found[0]} ${found[-1]}" ;;
  esac
}

test_with() { # test_with PYTHON LIST ARGUMENTS...: in an environment with the packages of the list
  local python=$1 list=$2
  shift 2
  environment=$work/$("$python" -c 'import sys; print("%d.%d%s" % (*sys.version_info[:2], getattr(sys, "abiflags", "")))')
  python/environment.sh "$python" "$environment" "$list"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl
  # From another folder, so that what is imported is what was installed.
  (cd "$work" && "$environment/bin/python" -m pytest -c "$tests/../pyproject.toml" -p no:cacheprovider --ignore="$tests/spark" "$tests" "$@")
}

# Those of Spark have an environment of their own (python/tests/spark/run.sh). These need packages that only the newest environment has.
with_peers=()
for name in peers polars polars_thrift thrift_generated thrift_parquet thrift_peers types; do with_peers+=(--ignore="$tests/test_$name.py"); done

read -ra pythons <<<"${PYTHONS:-$(interpreters)}"
newest=${pythons[-1]}
if [ "${1:-}" = threads ]; then
  shift
  test_with "$newest" "$tests/threads.txt" "${with_peers[@]}" "$@"
  exit
fi
if [ "${1:-}" = oldest ]; then
  shift
  test_with "${pythons[0]}" "$tests/requirements.txt" "${with_peers[@]}" "$@"
  exit
fi
unset 'pythons[-1]'
for python in "${pythons[@]}"; do
  test_with "$python" "$tests/requirements.txt" "${with_peers[@]}" "$@"
done
# Only the newest is tried with everything that reads our columns, and with the type checker.
test_with "$newest" "$tests/newest.txt" "$@"
cd "$work"
MYPY_CACHE_DIR=$work/mypy "$environment/bin/python" -m mypy --strict -p bytewright
MYPY_CACHE_DIR=$work/mypy "$environment/bin/python" -m mypy.stubtest --allowlist "$tests/without_spark.txt" bytewright
