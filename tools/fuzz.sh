#!/usr/bin/env bash
# usage: tools/fuzz.sh FUZZTIME [WORD...]
# Fuzzes every target for FUZZTIME, one after another, with a line for each; with words, those whose package and name have one of them. It stops at the first
# that fails, and says where the input is that made it fail.
set -euo pipefail

time=$1
shift

# targets prints "PACKAGE NAME" for each.
targets() {
  local line names=()
  go test -list '^Fuzz' ./... | while read -r line; do
    case $line in
      Fuzz*) names+=("$line") ;;
      ok*)
        set -- $line
        for line in ${names[@]+"${names[@]}"}; do echo "$2 $line"; done
        names=()
        ;;
    esac
  done
}

wanted() {
  local target=$1 word
  shift
  for word in "$@"; do
    if [[ $target == *"$word"* ]]; then return 0; fi
  done
  return $(($# > 0))
}

# ended says whether a run that go calls failed has only come to the end of its time: on a slow machine that meets a worker in the middle of something.
ended() {
  grep -q '^ *context deadline exceeded$' "$log" && ! grep -q -e 'Failing input' -e 'panic' "$log"
}

module=$(go list -m)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
all=$(targets)
n=0
while read -r package name; do
  if ! wanted "$package $name" "$@"; then continue; fi
  if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 2s ${FUZZFLAGS-} "$package" >"$log" 2>&1 && ! ended; then
    echo "FAIL  .${package#"$module"} $name" >&2
    cat "$log" >&2
    exit 1
  fi
  execs=$(grep -o 'execs: [0-9]*' "$log" | tail -n 1 || true)
  printf 'ok    %-40s %-20s %s %s\n' ".${package#"$module"}" "$name" "$time" "${execs:-execs: 0}"
  n=$((n + 1))
done <<<"$all"
if [ "$n" -eq 0 ]; then
  echo "no fuzz target was run" >&2
  exit 1
fi
echo "$n targets, nothing found"
