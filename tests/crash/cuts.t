#!/bin/sh
# SPDX-License-Identifier: MIT
# Power cuts and kills by chance. Environment: B build folder; CUTS, SEED.
cd "$(dirname "$0")/../.." || exit 1
case $B in
*tsan*) echo "the cuts have one thread: nothing for TSan to see"; exit 77 ;;
*asan* | *cov*) some=1000 ;;
*) some=20000 ;;
esac
exec "$B/crash-cuts" --cuts "${CUTS:-$some}" --seed "${SEED:-1}"
