#!/bin/sh
# Usage: sign.sh KEY TARGET [BODY]
# Signs a target with openssl alone: the example of the README, kept here so that a test can run it. KEY is hex. TARGET is a
# path, or path?query with its pairs in sorted order and nothing escaped that need not be (api/sign.h has the whole rule).
set -eu
key=$1 target=$2 body=${3:-}

signature=$({ printf %s "$target"; [ -z "$body" ] || printf '\n%s' "$body"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary |
    openssl base64 -A | tr '+/' '-_' | tr -d =)

case $target in
*\?*) echo "$target&signature=$signature" ;;
*) echo "$target?signature=$signature" ;;
esac
