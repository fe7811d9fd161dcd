#!/usr/bin/env bash
# Runs killed.py and killed_caches.py with writers in all languages, as `make test` builds them.
#
#   conformance/writers/run.sh GEMS WHEELS PERL LIBRARY
set -euo pipefail
gems=$1 wheels=$2 perl=$3 library=$4
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$(ls "$wheels"/*.whl | head -n 1)" "$work/python"
compiled() { # compiled NAME: the program of NAME.c
  cc -std=c99 -Wall -Wextra -Werror -I../../c/include "$1.c" "$library" -lutil -lrt -lpthread -lm -ldl -o "$work/$1"
}
compiled worker
compiled cacher
export LC_ALL=C GEM_HOME=$gems PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1 PERL5LIB=$perl/lib/perl5
python3 killed.py "Ruby=ruby -W worker.rb" "Python=python3 worker.py" "Perl=perl worker.pl" "C=$work/worker"
python3 killed_caches.py "Ruby=ruby -W cacher.rb" "Python=python3 cacher.py" "Perl=perl cacher.pl" "C=$work/cacher"
