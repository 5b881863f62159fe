#!/usr/bin/env bash
# usage: tools/test-deps.sh [PROGRAM:PACKAGE]...
# Installs the programs that the tests run, and any that are named, where they are missing and Debian's apt-get or npm is there; otherwise names them.
set -eu

# What is needed, and the Debian package that has it.
needs=(git:git gcc:gcc sshd:openssh-server ssh:openssh-client man:man-db bash:bash zsh:zsh fish:fish script:bsdutils tmux:tmux
  git-lfs:git-lfs pre-commit:pre-commit gitolite:gitolite3 node:nodejs npm:npm python3:python3 awk:mawk "$@")

# sshd is not on everybody's PATH.
PATH="$PATH:/usr/sbin:/usr/local/sbin"

missing() {
  local need
  for need in "${needs[@]}"; do
    command -v "${need%%:*}" >/dev/null || echo "$1${need#*:}"
  done
}

install() {
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    sudo=(sudo -n)
  fi
  command -v apt-get >/dev/null || return 1
  "${sudo[@]}" apt-get update -qq
  # shellcheck disable=SC2046 # one word a package
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(missing '') >/dev/null
}

if [ -n "$(missing '')" ]; then
  echo "installing: $(missing '' | tr '\n' ' ')"
  install || true
fi
if [ -n "$(missing '')" ]; then
  echo "the tests need programs that are not installed; as Debian packages:" >&2
  missing '  ' >&2
  exit 1
fi

# The managers of hooks that come from npm, in the versions of their lock file.
cd "$(dirname "$0")/.."
managers=.tools/hook-managers
if ! cmp -s tools/hook-managers/package-lock.json "$managers/package-lock.json" || [ ! -x "$managers/node_modules/.bin/husky" ]; then
  echo "installing: husky, lefthook, simple-git-hooks into $managers"
  mkdir -p "$managers"
  rm -f "$managers/package-lock.json"
  cp tools/hook-managers/package.json "$managers/"
  cp tools/hook-managers/package-lock.json "$managers/npm-shrinkwrap.json"
  npm ci --prefix "$managers" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  mv "$managers/npm-shrinkwrap.json" "$managers/package-lock.json"
fi
