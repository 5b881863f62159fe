#!/usr/bin/env bash
# usage: tools/install.sh BINARY MANDIR PREFIX
# Installs the binary, its man pages and the completions that it writes itself.
set -eu

binary=$1 man=$2 prefix=$3

completion() {
  local shell=$1 path=$prefix/share/$2
  mkdir -p "$(dirname "$path")"
  "$binary" completion "$shell" >"$path.new"
  mv "$path.new" "$path"
  chmod 644 "$path"
}

install -d "$prefix/bin" "$prefix/share/man/man1"
install -m 755 "$binary" "$prefix/bin/$(basename "$binary")"
install -m 644 "$man"/git-worklease*.1 "$prefix/share/man/man1/"
completion bash bash-completion/completions/git-worklease
completion zsh zsh/site-functions/_git-worklease
completion fish fish/vendor_completions.d/git-worklease.fish
echo "installed below $prefix"
