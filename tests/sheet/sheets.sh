#!/bin/sh
# Usage: sheets.sh SHEET_PROGRAM FOLDER
# Draws the pictures of the README: every body x six seeds, a row of rings, tilt and caps, and the steps of one planet.
set -eu
sheet=$1 folder=$2
mkdir -p "$folder"
set --
# Words, not lines: names have no blanks.
# shellcheck disable=SC2013
for body in $(sed -n 's/^BODY([A-Z_]*, *\([a-z_]*\),.*/\1/p' renderer/bodies.def); do
    for seed in 1 2 3 4 5 6; do
        set -- "$@" "type=$body&seed=$seed"
    done
done
"$sheet" -o "$folder/bodies.png" -c 6 -z 2 "$@" \
    'type=gas&seed=3&rings=on' 'type=terrestrial&seed=7&rings=on' 'type=ice&seed=2&rings=on&ring_angle=-30' \
    'type=terrestrial&seed=4&tilt=-40&pixels=96' 'type=desert&seed=2&tilt=40&pixels=96' 'type=ice&seed=3&tilt=70&ice_caps=0.5&pixels=96'

planet='type=terrestrial&seed=7&pixels=96'
"$sheet" -o "$folder/layers.png" -c 5 -z 2 \
    "$planet&layer=grid" "$planet&layer=depth" "$planet&layer=height" "$planet&layer=sea" "$planet&layer=light" \
    "$planet&layer=clouds" "$planet&layer=shadow" 'type=moon&seed=2&pixels=96&layer=craters' \
    'type=gas&seed=4&pixels=96&layer=bands' 'type=gas&seed=4&rings=on&layer=rings'

# The hero of the page: three loops, side by side there.
"$sheet" -f "$folder/world.gif" 'type=terrestrial&seed=7&pixels=96&zoom=2&format=gif&frames=60&fps=12'
"$sheet" -f "$folder/gas.gif" 'type=gas&seed=4&rings=on&pixels=128&zoom=2&format=gif&frames=60&fps=12'
"$sheet" -f "$folder/lava.gif" 'type=lava&seed=12&pixels=96&zoom=2&format=gif&frames=60&fps=12'
