#!/bin/sh
# Usage: BUILD=build sh tests/bench/run.sh
# All figures in one run, on this machine as it is: close other programs first.
set -eu
: "${BUILD:=build}"
echo "# $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort | uniq -c | sed 's/^ *//'), $(uname -r), $(date -u +%Y-%m-%d)"
echo "# load before: $(cut -d' ' -f1-3 /proc/loadavg)"
echo
echo "## Kernels"
"$BUILD/tests/bench_kernels" 64 1
"$BUILD/tests/bench_kernels" 256 1
"$BUILD/tests/bench_kernels" 96 120
echo
echo "## Files"
"$BUILD/tests/bench_encode"
echo
echo "## Cache"
"$BUILD/tests/bench_cache"
"$BUILD/tests/bench_store"
echo
echo "## Service"
/usr/bin/python3 tests/bench/serve.py "$BUILD/planetd"
