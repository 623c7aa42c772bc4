#!/bin/sh
# SPDX-License-Identifier: MIT
# All power cuts of short sessions. Environment: B build folder; MIXES of each point at most.
cd "$(dirname "$0")/../.." || exit 1
case $B in
*tsan*) echo "the cuts have one thread: nothing for TSan to see"; exit 77 ;;
*asan* | *cov*) some=2 ;;
*) some=64 ;;
esac
exec "$B/crash-cuts" --exhaust "${MIXES:-$some}"
