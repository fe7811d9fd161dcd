#!/usr/bin/env bash
# Tests the Perl face as a user has it: the tests of the distribution, run from where it was unpacked against what was
# installed, and those of the repository's documents.
#
#   perl/test.sh FOLDER    where perl/install.sh installed it
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"
export PERL5LIB=$PWD/installed/lib/perl5 BYTEWRIGHT_ROOT=$root
cd unpacked
prove t/
prove "$root/perl/xt/"
