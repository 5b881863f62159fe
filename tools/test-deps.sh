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

cd "$(dirname "$0")/.."

# npm_tools installs what comes from npm, in the versions of the lock file in tools/NAME, into .tools/NAME, unless that was done: then PROGRAM is there.
npm_tools() {
  local name=$1 program=$2 what=$3 to=.tools/$1
  if cmp -s "tools/$name/package-lock.json" "$to/package-lock.json" && [ -x "$to/node_modules/.bin/$program" ]; then return; fi
  echo "installing: $what into $to"
  mkdir -p "$to"
  rm -f "$to/package-lock.json"
  cp "tools/$name/package.json" "$to/"
  cp "tools/$name/package-lock.json" "$to/npm-shrinkwrap.json"
  npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  mv "$to/npm-shrinkwrap.json" "$to/package-lock.json"
}

npm_tools hook-managers husky "husky, lefthook, simple-git-hooks"
npm_tools trackers backlog "backlog.md"
