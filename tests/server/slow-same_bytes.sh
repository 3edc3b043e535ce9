#!/bin/sh
# same_bytes.sh with 209 requests in place of 55.
ROUNDS=19 exec sh tests/server/same_bytes.sh
