#!/bin/sh
# Usage: sh shaders/embed.sh FILE.glsl... > shaders_embedded.h
# Turns each shader into `static const char shader_<stem>[]`, so that the program needs no files at run time. Text
# stays text (no hex dump), so that the header can be read and a compiler's message about a shader has its lines.
set -eu

twice=$(for file in "$@"; do basename "$file" .glsl; done | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "shaders/embed.sh: two shaders have the name $twice" >&2
    exit 1
fi

echo "/* Made by shaders/embed.sh. Do not edit. */"
echo "#pragma once"
for file in "$@"; do
    printf '\n/* %s */\nstatic const char shader_%s[] =\n' "$file" \
        "$(basename "$file" .glsl | tr -c 'A-Za-z0-9\n' _)"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/^/    "/' -e 's/$/\\n"/' "$file"
    printf '\n    "";\n' # the last line of a file may lack its newline; and a file may be empty
done
