#!/bin/sh
# Includes go one way, server -> api -> renderer -> renderer/base, and are paths from the root; only
# server/http_mhd.c knows the HTTP library. Prints each line that breaks a rule, and fails if there is one.
set -eu
cd "${1:-$(dirname "$0")/../..}"

find server api renderer -type f \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' \) -print | sort |
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null | awk '
    function rank(path) {
        if (path ~ /^renderer\/base\//) return 1
        if (path ~ /^(renderer|shaders)\//) return 2
        if (path ~ /^api\//) return 3
        return path ~ /^server\// ? 4 : 9
    }
    function refuse(why) {
        print $0 "   <- " why
        broken = 1
    }
    {
        file = $0; sub(/:.*/, "", file)
        name = $0; sub(/^[^:]*:[^:]*:[^<"]*[<"]?/, "", name); sub(/[>"].*/, "", name)
    }
    name == "microhttpd.h" && file != "server/http_mhd.c" { refuse("only server/http_mhd.c includes microhttpd.h") }
    !/include[ \t]*"/ { next }
    # Only generated headers, which lie in build/gen, have no folder.
    name !~ /\// {
        beside = file; sub(/[^\/]*$/, name, beside)
        if ((getline line < beside) >= 0) refuse("includes are paths from the root")
        close(beside)
        next
    }
    rank(name) > rank(file) { refuse("includes go server -> api -> renderer -> renderer/base") }
    END { exit broken }'
