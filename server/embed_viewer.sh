#!/bin/sh
# Usage: sh server/embed_viewer.sh FILE... > page_files.def
# A row for each file that the page is made of: PAGE_FILE(number, address, media type, file). server/page.c has the
# assembler put the bytes into the program, so that it needs no files at run time. Rows are sorted by address.
set -eu

# Shaders keep their place below shaders/; all other files, built or not, are in /viewer/.
address_of() {
    case $1 in
    shaders/*) echo "/$1" ;;
    *) echo "/viewer/$(basename "$1")" ;;
    esac
}

type_of() {
    case $1 in
    *.html) echo "text/html; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.glsl) echo "text/plain; charset=utf-8" ;;
    *.wasm) echo "application/wasm" ;;
    *.json) echo "application/json" ;;
    *.webmanifest) echo "application/manifest+json" ;;
    *.svg) echo "image/svg+xml" ;;
    *.png) echo "image/png" ;;
    *.ico) echo "image/vnd.microsoft.icon" ;;
    *)
        echo "server/embed_viewer.sh: no media type is known for $1" >&2
        exit 1
        ;;
    esac
}

rows=$(
    for file in "$@"; do
        case $file in
        *[!A-Za-z0-9/._-]*)
            echo "server/embed_viewer.sh: a name with other characters than A-Z a-z 0-9 . _ -: $file" >&2
            exit 1
            ;;
        esac
        type=$(type_of "$file")
        printf '%s\t%s\t%s\n' "$(address_of "$file")" "$type" "$file"
    done
)
rows=$(printf '%s\n' "$rows" | LC_ALL=C sort)
twice=$(printf '%s\n' "$rows" | cut -f 1 | uniq -d)
if [ -n "$twice" ]; then
    echo "server/embed_viewer.sh: two files have the address $twice" >&2
    exit 1
fi

echo "/* Made by server/embed_viewer.sh. Do not edit. */"
printf '%s\n' "$rows" | awk -F '\t' '{ printf "PAGE_FILE(%d, \"%s\", \"%s\", \"%s\")\n", NR - 1, $1, $2, $3 }'
