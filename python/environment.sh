#!/usr/bin/env bash
# Makes a virtual environment with the packages of a list, unless it is there: environment.sh PYTHON FOLDER LIST.
set -euo pipefail
python=$1 folder=$2 list=$3
stamp=$folder/$(sha256sum "$list" | cut -c 1-16)
[ -e "$stamp" ] && exit 0
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
touch "$stamp"
