#!/bin/sh
# Usage: sheets.sh SHEET_PROGRAM FOLDER
# Draws the pictures of the README: every body at 64 and 128 pixels, three seeds in steps and the same in ramp; what can be around
# a planet; and the steps of one planet.
set -eu
sheet=$1 folder=$2
mkdir -p "$folder"
# Words, not lines: names have no blanks.
# shellcheck disable=SC2013
for pixels in 64 128; do
    set --
    for body in $(sed -n 's/^BODY([A-Z_]*, *\([a-z_]*\),.*/\1/p' renderer/bodies.def); do
        for shading in steps ramp; do
            for seed in 1 2 3; do
                set -- "$@" "type=$body&seed=$seed&shading=$shading&pixels=$pixels"
            done
        done
    done
    "$sheet" -o "$folder/bodies-$pixels.png" -c 6 -z $((128 / pixels)) "$@"
done
around='pixels=128'
"$sheet" -o "$folder/around.png" -c 6 -z 1 \
    "type=gas&seed=3&rings=on&$around" "type=storm&seed=7&rings=on&moons=2&light_azimuth=-150&light_elevation=20&$around" \
    "type=terrestrial&seed=2&moons=1&background=stars&$around" "type=rock&seed=6&moons=3&background=nebula&$around" \
    "type=ice&seed=3&rings=on&ring_angle=-30&background=nebula&$around" "type=black_hole&seed=4&background=nebula&$around" \
    "type=terrestrial&seed=4&tilt=-40&$around" "type=ice&seed=3&tilt=70&ice_caps=0.5&$around" \
    "type=moon&seed=5&terminator=exact&light_elevation=-20&$around" "type=ocean&seed=8&palette=gameboy&$around" \
    "type=terrestrial&seed=9&palette=generate&outline=ffffff&$around" "type=gas&seed=12&shading=ramp&dither=bayer4&$around"

planet='type=terrestrial&seed=7&pixels=96'
"$sheet" -o "$folder/layers.png" -c 5 -z 2 \
    "$planet&layer=grid" "$planet&layer=depth" "$planet&layer=height" "$planet&layer=sea" "$planet&layer=light" \
    "$planet&layer=clouds" "$planet&layer=shadow" 'type=moon&seed=2&pixels=96&layer=craters' \
    'type=gas&seed=4&pixels=96&layer=bands' 'type=gas&seed=4&rings=on&layer=rings'

# The hero of the page: three loops, side by side there.
"$sheet" -f "$folder/world.gif" 'type=terrestrial&seed=7&pixels=96&zoom=2&format=gif&frames=60&fps=12'
"$sheet" -f "$folder/gas.gif" 'type=gas&seed=4&rings=on&pixels=128&zoom=2&format=gif&frames=60&fps=12'
"$sheet" -f "$folder/lava.gif" 'type=lava&seed=12&pixels=96&zoom=2&format=gif&frames=60&fps=12'
