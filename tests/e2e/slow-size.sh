#!/bin/sh
# tests/e2e/size.sh over every file of data/gguf.
files=$(cd "${SHARED:-../shared}/data/gguf" 2> /dev/null && ls -d */ | tr -d / | grep -v '^blocks$')
# shellcheck disable=SC2086 # a list of words
exec sh tests/e2e/size.sh $files
