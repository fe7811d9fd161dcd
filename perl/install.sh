#!/usr/bin/env bash
# Unpacks the distribution in a folder beside it, and installs it in another, as a user does.
#
#   perl/install.sh FOLDER    FOLDER/Bytewright-VERSION.tar.gz, unpacked in FOLDER/unpacked, installed in FOLDER/installed
set -euo pipefail
cd "$1"
rm -rf unpacked installed
mkdir unpacked
tar -xzf Bytewright-*.tar.gz -C unpacked --strip-components=1
installed=$PWD/installed
cd unpacked
perl Makefile.PL INSTALL_BASE="$installed" >/dev/null
make --silent >/dev/null
make --silent install >/dev/null
