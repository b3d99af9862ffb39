#!/bin/sh
# Usage: BUILD=build [SANITIZE=...] [ONLY=unit|fuzz|golden|neon|scripts] sh tests/run.sh UNIT_PROGRAM...
# The one runner behind `make test`. Runs the programs one after the other, each with a time limit, and ends with the
# line "N passed, N failed" or "N passed, N failed, N skipped". What it runs besides the given unit programs:
# all inputs of the fuzz targets, the golden pictures for each CPU build, the software GL and NEON, tests/http/run.py, tests/roundtrip/*.py.
#
# What a program has to do: exit 0 when all is well, 77 when it can't run here (its last line says why), anything else
# on failure. It may tell its own count, as cmocka does or as a line "N passed, N failed[, N skipped]", and each skip
# as "SKIP <test>: <reason>"; else it counts as one test. A program that fails without a failed test (a crash, a leak,
# the time limit) is one more failure. One that exits 0 and ran no test has failed.
set -u
cd "$(dirname "$0")/.." || exit 2
: "${BUILD:=build}" "${SANITIZE:=}" "${ONLY:=}"
export BUILD SANITIZE
logs=$BUILD/test-logs
rm -rf "$logs"
mkdir -p "$logs"

slower=1 wrap=
case $SANITIZE in
*thread*)
    slower=10
    # ThreadSanitizer of gcc 12 can't live with the address randomisation of newer kernels.
    setarch "$(uname -m)" -R true 2>/dev/null && wrap="setarch $(uname -m) -R"
    ;;
?*) slower=5 ;;
esac
# Drivers keep memory until the process ends, and synchronise in ways the sanitizers can't see.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$PWD/tests/sanitize/lsan.txt:print_suppressions=0}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$PWD/tests/sanitize/tsan.txt:halt_on_error=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

passed=0 failed=0 skipped=0 failures="" running=""
trap '[ -z "$running" ] || kill -s TERM -- "-$running"; exit 130' INT TERM

wanted() {
    [ -z "$ONLY" ] || [ "$ONLY" = "$1" ]
}

# Prints "passed failed skipped" as told by the output files; nothing if they tell no count.
told_count() {
    awk '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4; told = 1 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4; told = 1 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4; told = 1 }
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
        passed += $1; failed += $3; skipped += $5; told = 1
    }
    END { if (told) print passed + 0, failed + 0, skipped + 0 }' "$@"
}

# Prints "<test>: <reason>" for each skip: cmocka prints the reason as the line before.
told_skips() {
    awk '
    /^SKIP / { print substr($0, 6) }
    /^\[  SKIPPED \] [^0-9]/ && !seen[$4]++ { print $4 ": " (before ~ /^\[/ ? "no reason given" : before) }
    { before = $0 }' "$1"
}

# Prints the name of each failed test, once.
told_failures() {
    awk '
    /^FAIL / || /^\[  FAILED  \] [^0-9]/ { sub(/^(FAIL|\[  FAILED  \]) /, ""); if (!seen[$0]++) print }' "$@"
}

# check NAME SECONDS COMMAND...
check() {
    name=$1 limit=$(($2 * slower))
    shift 2
    out=$logs/$name.out err=$logs/$name.err
    # $wrap is nothing or a command with its options.
    # shellcheck disable=SC2086
    timeout -k 5 "$limit" $wrap "$@" >"$out" 2>"$err" </dev/null &
    running=$!
    wait "$running"
    status=$?
    # timeout leads a process group of its own: whatever the program left behind ends here.
    kill -s KILL -- "-$running" 2>/dev/null && echo "     $name left processes behind; they were ended"
    running=""

    # shellcheck disable=SC2046
    set -- $(told_count "$out" "$err")
    p=${1:-0} f=${2:-0} s=${3:-0}
    why=
    if [ "$status" = 77 ] && [ $((p + f + s)) = 0 ]; then
        s=1
        echo "SKIP $name: $(cat "$out" "$err" | grep . | tail -n 1 | sed 's/^SKIP //')"
    elif [ $# = 0 ] && [ "$status" = 0 ]; then
        p=1
    elif [ "$status" = 0 ] && [ $((p + f + s)) = 0 ]; then
        f=1 why="ran no test"
    elif [ "$status" != 0 ] && [ "$f" = 0 ]; then
        f=1 why="exit status $status"
        case $status in
        124 | 137) why="took longer than $limit s" ;;
        13[0-9] | 14[0-9]) why="ended by signal $((status - 128))" ;;
        esac
    fi
    [ "$status" = 77 ] || told_skips "$out" | sed "s/^/SKIP $name: /"

    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" != 0 ]; then
        echo "FAIL $name${why:+: $why}"
        names=$(told_failures "$out" "$err" | head -n 20 | sed 's/^/        /')
        failures="$failures
    $name${why:+: $why}${names:+
$names}"
        for part in "$out" "$err"; do
            tail -n 60 "$part" | sed 's/^/    /'
        done
    elif [ "$p" != 0 ]; then
        echo "ok   $name ($p)"
    fi
}

# skip NAME REASON
skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

if wanted unit; then
    for program in "$@"; do
        check "$(basename "$program")" 120 "$program"
    done
fi

if wanted fuzz; then
    for source in tests/fuzz/fuzz_*.c; do
        target=$(basename "$source" .c)
        target=${target#fuzz_}
        check "replay-$target" 120 "$BUILD/tests/replay_$target" "tests/fuzz/corpus/$target" "tests/fuzz/crashes/$target"
    done
fi

if wanted golden && [ -x "$BUILD/golden" ]; then
    for mask in sse2 avx2 avx512 neon; do
        [ -e "$BUILD/obj/renderer/cpu/kernels_$mask.o" ] && check "golden-$mask" 120 "$BUILD/golden" -b cpu -m $mask tests/golden/golden.tsv
    done
    check files 60 "$BUILD/files" tests/golden/files.tsv
    # A device that is lost every 40th draw must change no pixel.
    check golden-fault 120 "$BUILD/golden" -b fault tests/golden/golden.tsv
    check golden-gl-software 300 "$BUILD/golden" -b gl-software tests/golden/golden.tsv
fi

if { wanted golden || wanted neon; } && [ -z "$SANITIZE" ]; then
    emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    if [ "$(uname -m)" = aarch64 ]; then
        skip golden-neon-emulated "this machine has NEON itself"
    elif [ ! -x "$BUILD/aarch64/golden" ]; then
        skip golden-neon-emulated "no cross-compiler for aarch64 (deploy/packages/test.txt names it)"
    elif [ -z "$emulator" ]; then
        skip golden-neon-emulated "no qemu-aarch64 (deploy/packages/test.txt names it)"
    else
        check golden-neon-emulated 300 "$emulator" "$BUILD/aarch64/golden" -b cpu -m neon \
            tests/golden/golden.tsv
    fi
fi

if wanted scripts; then
    check readme 60 sh tests/docs/docs.sh "$BUILD/docs" --check
    [ -e tests/http/run.py ] && check http 300 /usr/bin/python3 tests/http/run.py --binary "$BUILD/planetd"
    for script in tests/roundtrip/*.py; do
        [ -e "$script" ] && check "$(basename "$script" .py)" 300 /usr/bin/python3 "$script"
    done
fi

[ -z "$failures" ] || echo "Failed (whole output in $logs):$failures"
count="$passed passed, $failed failed"
[ "$skipped" = 0 ] || count="$count, $skipped skipped"
echo "$count"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
