#!/bin/sh
# Usage: docs.sh DOCS_PROGRAM [--check]
# Writes the generated parts of README.md, between <!-- name --> and <!-- /name -->, api/openapi.json and deploy/planetd.env;
# with --check only compares.
set -eu
docs=$1
new=$(mktemp)
trap 'rm -f "$new" "$new.part" "$new.env"' EXIT
cp README.md "$new"
for part in parameters settings bodies; do
    "$docs" "$part" > "$new.part"
    awk -v part="$part" -v file="$new.part" '
        $0 == "<!-- /" part " -->" { skip = 0 }
        !skip { print }
        $0 == "<!-- " part " -->" { while ((getline line < file) > 0) print line; skip = 1 }' "$new" > "$new.next"
    mv "$new.next" "$new"
done
"$docs" openapi > "$new.part"
"$docs" env > "$new.env"
if [ "${2:-}" = --check ]; then
    diff api/openapi.json "$new.part" || { echo "api/openapi.json is not what the tables say: make docs"; exit 1; }
    diff deploy/planetd.env "$new.env" || { echo "deploy/planetd.env is not what the tables say: make docs"; exit 1; }
    diff README.md "$new" || { echo "README.md is not what the tables say: make docs"; exit 1; }
else
    cat "$new.part" > api/openapi.json
    cat "$new.env" > deploy/planetd.env
    cat "$new" > README.md
fi
