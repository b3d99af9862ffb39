#!/bin/sh
# Usage: BUILD=build-fuzz [FUZZ_SECONDS=60] [FUZZ_MERGE=1] sh tests/fuzz/run.sh TARGET...
# Runs each fuzz target for a while, as many at a time as there are processors, and says what came of it. It starts from
# the committed corpus and keeps what it finds in the build folder. An input that crashes goes to
# tests/fuzz/crashes/TARGET/: commit it with the fix, and `make test` replays it for ever.
# FUZZ_MERGE=1 writes the committed corpus anew instead: the least inputs that reach what all inputs reach, and those that
# people wrote (seed-*), which stand for a property and not just for a line of code.
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build-fuzz}" "${FUZZ_SECONDS:=60}" "${FUZZ_MERGE:=}"
export BUILD FUZZ_SECONDS
# A target runs in a process of its own, which calls this script again.
if [ "${1:-}" = --one ]; then
    target=$2
    corpus=tests/fuzz/corpus/$target crashes=tests/fuzz/crashes/$target found=$BUILD/corpus/$target
    dict=tests/fuzz/dict/$target.dict log=$BUILD/fuzz-$target.log
    mkdir -p "$crashes" "$found" "$corpus"
    set -- -timeout=10 -rss_limit_mb=2048 -max_len=1024 -artifact_prefix="$crashes/"
    [ ! -e "$dict" ] || set -- "$@" -dict="$dict"
    if "$BUILD/fuzz_$target" "$@" -max_total_time="$FUZZ_SECONDS" -print_final_stats=1 "$found" "$corpus" \
        >"$log" 2>&1; then
        echo "ok   $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, coverage$(sed -n 's/.*\( cov: [0-9]*\).*/\1/p' "$log" | tail -n 1 | sed 's/ cov://')"
    else
        echo "FAIL $target: $(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)"
        tail -n 40 "$log" | sed 's/^/    /'
    fi
    rmdir "$crashes" 2>/dev/null || true
    exit 0
fi

if [ -n "$FUZZ_MERGE" ]; then
    for target in "$@"; do
        corpus=tests/fuzz/corpus/$target least=$BUILD/least/$target
        rm -rf "$least"
        mkdir -p "$least" "$corpus" "$BUILD/corpus/$target"
        "$BUILD/fuzz_$target" -merge=1 -max_len=512 "$least" "$corpus" "$BUILD/corpus/$target" 2>/dev/null
        find "$corpus" -type f ! -name 'seed-*' -delete
        mv "$least"/* "$corpus"
        echo "$target: $(find "$corpus" -type f | wc -l) inputs, $(du -sb "$corpus" | cut -f 1) bytes"
    done
    exit 0
fi

results=$BUILD/fuzz-results
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh "$0" --one | tee "$results"
failed=$(grep -c '^FAIL' "$results" || true)
echo "$(grep -c '^ok' "$results" || true) passed, $failed failed"
[ "$failed" = 0 ]
