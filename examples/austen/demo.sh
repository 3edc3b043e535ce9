#!/bin/sh
# Compiles this folder into one program and lets it write. usage: examples/austen/demo.sh, from anywhere
set -eu
cd "$(dirname "$0")/../.."
program=build/austen

say() { printf '\n$ %s\n' "$*"; }
start=$(date +%s.%N)
say burin build examples/austen -o $program
build/burin build examples/austen -o $program
echo "built in $(date +%s.%N | awk -v start="$start" '{ printf "%.1f", $1 - start }') s, $(wc -c < $program) bytes, nothing beside it"

say $program '"It was a truth"' -n 120 --seed 3
$program "It was a truth" -n 120 --seed 3 -v
say $program --bench
$program --bench
