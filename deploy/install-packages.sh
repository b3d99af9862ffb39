#!/bin/sh
# Usage: sh deploy/install-packages.sh LIST...
# Installs what is missing from deploy/packages/LIST.txt. dpkg decides what is missing, each time anew: that takes
# a tenth of a second, and a record of our own would be wrong as soon as a package is removed or the
# folder is copied to another machine. apt is called only when something is missing.
set -eu
cd "$(dirname "$0")/packages"

# "npm/npm" stands for the package npm, unless there is a command npm already: it also comes with other packages, which
# Debian's would contradict.
wanted=
for list in "$@"; do
    # Words, not lines: names have no blanks.
    # shellcheck disable=SC2013
    for line in $(sed 's/#.*//' "$list.txt"); do
        case $line in
        */*) command -v "${line#*/}" >/dev/null || wanted="$wanted ${line%/*}" ;;
        *) wanted="$wanted $line" ;;
        esac
    done
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This machine has no dpkg and apt. Trusting that it has what these Debian packages hold:$wanted" >&2
    exit 0
fi

# Names are split on purpose. A package that is there for several architectures is listed several times.
# shellcheck disable=SC2086
present=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | tr '\n' ' ') "
missing=
for package in $wanted; do
    case $present in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "Not root, and no sudo here. Please have these packages installed, then try again:" >&2
        echo "    apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# Words are split on purpose: $as_root may be nothing, $missing is a list.
# shellcheck disable=SC2086
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $missing </dev/null
