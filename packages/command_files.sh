#!/usr/bin/env bash
# Puts the command, a man page for each of its commands, and completions below a prefix: packages/command_files.sh BINARY PREFIX [SPEAKER]
#
# Help and completions are asked of SPEAKER, which runs here; it is BINARY by default.
set -euo pipefail
usage="usage: packages/command_files.sh BINARY PREFIX [SPEAKER]"
binary=$(realpath "${1:?$usage}") speaker=$(realpath "${3:-$1}")
mkdir -p "${2:?$usage}"
tree=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

put() { # put PATH: standard input as a file of the tree
  install -D -m 644 /dev/stdin "$tree/$1"
}

# page [COMMAND]: its help as a page, with a section for each of its subcommands. The texts are the parser's own, so the page cannot
# disagree with it.
page() {
  local name=bytewright${1:+-$1} help
  help=$("$speaker" "$@" --help)
  printf '.TH %s 1 "" "bytewright %s"\n.SH NAME\n' "${name^^}" "$version"
  literal_text "$name - $(sed '/^$/,$d' <<<"$help" | paste -s -d ' ' | sed 's/\.$//')"
  printf '.SH DESCRIPTION\n'
  literally "$help"
  if [ $# -gt 0 ]; then
    commands_of "$@"
    printf '.SH SEE ALSO\nbytewright(1)\n'
  else
    printf '.SH SEE ALSO\n'
    names_of | sed 's/.*/bytewright-&(1),/; $s/,$//'
  fi
}
names_of() { # names_of [COMMAND]: those of its subcommands
  "$speaker" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' | sed '/^help$/d'
}
commands_of() { # commands_of [COMMAND]: a section for each of its subcommands, and theirs
  local command
  names_of "$@" | while read -r command; do
    printf '.SH "%s"\n' "$(tr a-z A-Z <<<"bytewright $* $command" | tr -s ' ')"
    literally "$("$speaker" "$@" "$command" --help)"
    commands_of "$@" "$command"
  done
}
literally() { # literally TEXT: lines as they are, for troff
  printf '.nf\n'
  literal_text "$1"
  printf '.fi\n'
}
literal_text() { # literal_text TEXT: none of it is a request or an escape of troff
  sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/' <<<"$1"
}

install -D -m 755 "$binary" "$tree/bin/bytewright"
page | gzip -9n | put share/man/man1/bytewright.1.gz
for command in $(names_of); do
  page "$command" | gzip -9n | put "share/man/man1/bytewright-$command.1.gz"
done
"$speaker" completions bash | put share/bash-completion/completions/bytewright
"$speaker" completions zsh | put share/zsh/vendor-completions/_bytewright
"$speaker" completions fish | put share/fish/vendor_completions.d/bytewright.fish
