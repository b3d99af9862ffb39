#!/bin/sh
# Usage: docs.sh DOCS_PROGRAM [--check]
# Writes the generated parts of README.md and deploy/README.md, between <!-- name --> and <!-- /name -->, api/openapi.json and
# deploy/planetd.env; with --check only compares.
set -eu
docs=$1
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

# fill FILE PART...: FILE with its parts made anew, on standard output.
fill() {
    cat "$1" > "$new/filled"
    shift
    for part in "$@"; do
        "$docs" "$part" > "$new/part"
        awk -v part="$part" -v file="$new/part" '
            $0 == "<!-- /" part " -->" { skip = 0 }
            !skip { print }
            $0 == "<!-- " part " -->" { while ((getline line < file) > 0) print line; skip = 1 }' "$new/filled" > "$new/next"
        mv "$new/next" "$new/filled"
    done
    cat "$new/filled"
}

mkdir "$new/api" "$new/deploy"
fill README.md parameters settings bodies > "$new/README.md"
fill deploy/README.md problems > "$new/deploy/README.md"
"$docs" openapi > "$new/api/openapi.json"
"$docs" env > "$new/deploy/planetd.env"
for file in README.md deploy/README.md api/openapi.json deploy/planetd.env; do
    if [ "${2:-}" != --check ]; then
        cat "$new/$file" > "$file"
    elif ! diff "$file" "$new/$file"; then
        echo "$file is not what the tables say: make docs"
        exit 1
    fi
done
