#!/bin/sh
# Usage: [BUILD=build] sh image_test.sh [SOURCE_FOLDER]
# Builds deploy/Dockerfile without Docker and without a registry (buildah, on a base that debootstrap makes from this
# machine's own apt sources), then starts the image's program as the image's user on a read-only root and compares
# its pictures with those of $BUILD/planetd, or of a fresh build where there is none.
#
# Needs root, some 3 GiB under $TMPDIR and a Debian mirror; takes two to five minutes. Prints "ok ..." for each check
# and the sizes, ends with "N passed, N failed"; exits 77 after "SKIP image: <reason>" where it can't run. The base is
# what debian:*-slim holds as near as debootstrap makes it, and not the very image of the registry.
set -eu

skip() {
    echo "SKIP image: $1"
    exit 77
}

source=$(cd "${1:-.}" && pwd)
dockerfile=$source/deploy/Dockerfile
[ -e "$dockerfile" ] || { echo "no deploy/Dockerfile in $source" >&2; exit 2; }
[ "$(id -u)" = 0 ] || skip "not root"
for program in buildah debootstrap apt-get curl unshare; do
    command -v "$program" >/dev/null || skip "no $program here"
done
# `FROM debian:12-slim` is in the Dockerfile twice; all of them must be one image, and that of the machine's release,
# whose apt sources the base gets.
from=$(sed -n 's/^FROM  *\([^ ]*\).*/\1/p' "$dockerfile" | sort -u)
# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${ID:-}:${VERSION_ID:-}")
# shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
case $from in
"$release" | "$release"-slim) ;;
*) skip "the Dockerfile is built from $(echo "$from" | paste -sd ,), this machine is $release" ;;
esac

# Mounts are made in a namespace of our own: whatever happens to this script, none of them stays.
if [ -z "${IMAGE_TEST_INSIDE:-}" ]; then
    unshare --mount true 2>/dev/null || skip "no right to mount"
    IMAGE_TEST_INSIDE=1 exec unshare --mount --propagation private sh "$0" "$source"
fi
unset IMAGE_TEST_INSIDE

work=$(mktemp -d)
pid='' passed=0 failed=0
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
image=localhost/planetd-image-test

storage() {
    command=$1
    shift
    buildah --root "$work/storage" --runroot "$work/run" "$command" "$@"
}

mounts_below() {
    awk -v folder="$1/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo
}

# Removes a folder only when nothing is mounted in it: what is mounted there may be the machine's own /dev.
clean_up() {
    status=$?
    trap - EXIT INT TERM HUP
    [ -z "$pid" ] || kill -s KILL "$pid" || :
    if [ "$status" -ne 0 ] && [ "$failed" = 0 ] && [ -e "$work/log" ]; then
        tail -n 40 "$work/log"
    fi
    for _ in 1 2 3 4 5; do
        mounts_below "$work" | sort -r | while read -r at; do
            umount -l "$at" || :
        done
    done
    if [ -n "$(mounts_below "$work")" ]; then
        echo "$work has mounts that don't go away; it is left as it is" >&2
    else
        rm -rf --one-file-system "$work"
    fi
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# check WHAT COMMAND...: counts whether the command succeeds.
check() {
    what=$1
    shift
    if "$@" >"$work/why" 2>&1; then
        passed=$((passed + 1))
        echo "ok   $what"
    else
        failed=$((failed + 1))
        echo "FAIL $what"
        sed 's/^/     /' "$work/why"
    fi
}

began=$(date +%s)
step() {
    echo "== $1 ($(($(date +%s) - began)) s)"
}

# ---- The base image --------------------------------------------------------------------------------------------------

step "base $from"
targets="$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Component: main' "Release: $codename")"
mirror=$(echo "$targets" | head -n 1)
[ -n "$mirror" ] || skip "apt knows no mirror of $codename"
certificates=
case $mirror in https:*) certificates=--include=ca-certificates ;; esac
base=$work/base
# shellcheck disable=SC2086
debootstrap --variant=minbase $certificates "$codename" "$base" "$mirror" >"$work/log" 2>&1
# How this machine reaches the mirror: belongs into the base and not into the Dockerfile.
rm -f "$base/etc/apt/sources.list"
for part in sources.list sources.list.d trusted.gpg.d keyrings auth.conf.d; do
    [ ! -e "/etc/apt/$part" ] || cp -R "/etc/apt/$part" "$base/etc/apt/"
done
[ ! -d /usr/share/keyrings ] || cp -R /usr/share/keyrings "$base/usr/share/"
apt-config dump | grep -E '^Acquire::(Check-|http|https|Retries|ForceIPv)' >"$base/etc/apt/apt.conf.d/90machine" || :
# What makes a slim base: no documents, no translations, no packages kept after they are installed.
cat >"$base/etc/dpkg/dpkg.cfg.d/slim" <<'SLIM'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
SLIM
cat >"$base/etc/apt/apt.conf.d/docker-like" <<'APT'
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::GzipIndexes "true";
Acquire::Languages "none";
APT
find "$base/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$base"/usr/share/man/* "$base"/usr/share/info/* "$base"/usr/share/lintian "$base"/usr/share/locale/* \
    "$base"/var/cache/apt/* "$base"/var/lib/apt/lists/* "$base"/var/log/* "$base"/etc/resolv.conf "$base"/etc/hostname

base_container=$(storage from scratch)
storage add -q "$base_container" "$base" / >>"$work/log" 2>&1
storage commit -q --rm "$base_container" "docker.io/library/$from" >>"$work/log" 2>&1

# ---- The image -------------------------------------------------------------------------------------------------------

step "buildah bud -f deploy/Dockerfile"
# The ignore file is that of the folder, so a build folder there doesn't get in.
storage bud --pull-never --isolation chroot -f "$dockerfile" -t "$image" "$source" >>"$work/log" 2>&1
container=$(storage from --pull-never "$image")
root=$(storage mount "$container")

config() {
    storage inspect --type image --format "$1" "$image"
}
user=$(config '{{.OCIv1.Config.User}}')
signal=$(config '{{.OCIv1.Config.StopSignal}}')
entrypoint=$(config '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}')
arguments=$(config '{{range .OCIv1.Config.Cmd}}{{.}} {{end}}')
environment=$(config '{{range .OCIv1.Config.Env}}{{.}} {{end}}')

not_root() {
    case $user in "" | root | root:* | 0 | 0:*) return 1 ;; esac
}

nothing_to_build_with() {
    found=$(cd "$root/usr" && find bin include \( -name '*gcc*' -o -name make -o -name '*.h' \))
    echo "$found" | head -n 5
    [ -z "$found" ]
}

libraries_found() {
    chroot "$root" ldd "${entrypoint%% *}" >"$work/ldd" && ! grep 'not found' "$work/ldd"
}

check "the image's user is not root: $user" not_root
check "the image is stopped by SIGTERM" [ "$signal" = SIGTERM ]
check "no compiler and no headers in the image" nothing_to_build_with
check "every library of the program is in the image" libraries_found

# ---- The container ---------------------------------------------------------------------------------------------------

# What an engine gives to a container that runs with --read-only: /proc, a few devices, and no place to write.
container_root=$work/container
mkdir "$container_root"
mount --bind "$root" "$container_root"
mount -t proc -o nosuid,nodev,noexec proc "$container_root/proc"
mount -t tmpfs -o mode=755,nosuid tmpfs "$container_root/dev"
for device in null zero full random urandom; do
    : >"$container_root/dev/$device"
    mount --bind "/dev/$device" "$container_root/dev/$device"
done
mount -o remount,ro "$container_root/dev"
mount -o remount,bind,ro "$container_root"

# Replaces the shell; exits as the program does, which is process 1 of the container as under an engine.
in_container() {
    # What the image says are lists of words.
    # shellcheck disable=SC2086
    exec unshare --pid --fork --kill-child chroot "$container_root" /usr/bin/env -i $environment \
        /usr/bin/setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups \
        --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
}

# start NAME COMMAND...: starts a daemon; sets $pid, $log and, when it listens, $url and $program, the process
# to look at and to signal: $pid or its child.
start() {
    log=$work/$1.log
    shift
    ("$@") >"$log" 2>&1 </dev/null &
    pid=$!
    url='' tries=0
    while [ -z "$url" ] && [ "$tries" -lt 600 ] && kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
        tries=$((tries + 1))
        url=$(sed -n 's/.*listening on \(http:[^"]*\)".*/\1/p' "$log")
    done
    if [ -z "$url" ]; then
        kill -s KILL "$pid" 2>/dev/null || :
        pid=
        return 1
    fi
    program=$(cat "/proc/$pid/task/$pid/children")
    program=${program%% *}
    program=${program:-$pid}
}

# Ends the daemon of the last start; returns its exit status.
stop() {
    kill -s TERM "$program" || :
    set -- "$pid"
    pid=
    wait "$1"
}

# fetch FOLDER: /readyz and two pictures, as FOLDER/ready, 1 and 2.
fetch() {
    mkdir -p "$1"
    for part in 'ready /readyz' '1 /planet?type=gas&seed=3' '2 /planet.gif?type=terrestrial&seed=7&rings=on'; do
        curl -sS --fail --max-time 60 -o "$1/${part%% *}" "$url${part#* }" || echo "no answer: $part" >>"$1/errors"
    done
}

confined() {
    cp "/proc/$program/status" "$work/status"
    grep -E '^(NSpid|Uid|Gid|Groups|CapPrm|CapBnd|NoNewPrivs)' "$work/status"
    awk '$1 == "Uid:" || $1 == "Gid:" { if ($2 == 0 || $2 != $3 || $2 != $4) bad = 1 }
         $1 ~ /^Cap(Inh|Prm|Eff|Bnd|Amb):/ && $2 !~ /^0+$/ { bad = 1 }
         $1 == "NoNewPrivs:" && $2 != 1 { bad = 1 }
         $1 == "NSpid:" && $NF != 1 { bad = 1 }
         END { exit bad }' "$work/status"
}

read_only() {
    awk '$5 == "/" { seen = 1; print; if ($6 !~ /^ro(,|$)/) bad = 1 }
         END { exit bad || !seen }' "/proc/$program/mountinfo" && ! touch "$container_root/tmp/written"
}

plain() {
    exec "$@"
}

step "reference"
binary=$source/${BUILD:-build}/planetd
if [ ! -x "$binary" ]; then
    binary=$work/build/planetd
    cp -R "$source" "$work/source"
    (cd "$work/source" && sh deploy/install-packages.sh build run && make BUILD="$work/build" all) >>"$work/log" 2>&1
fi
start reference plain "$binary" --listen 127.0.0.1:0 --backend cpu || { cat "$log"; exit 1; }
fetch "$work/reference"
stop

tells_failure() {
    cat "$1"
    return 1
}

# shellcheck disable=SC2086
image_arguments() {
    (in_container $entrypoint $arguments --print-config)
}
check "the program takes the image's arguments: ${arguments% }" image_arguments

for backend in auto gl-software; do
    step "container, --backend $backend"
    got=$work/$backend
    # shellcheck disable=SC2086
    if ! start "$backend" in_container $entrypoint --listen 127.0.0.1:0 --backend "$backend"; then
        check "$backend: starts" tells_failure "$log"
        continue
    fi
    sed -n 's/.*event=renderer_ready \(backend=[^ ]* device="[^"]*"\).*/     \1/p' "$log"
    check "$backend: process 1, the image's user, no privileges" confined
    check "$backend: its root is read-only" read_only
    fetch "$got"
    check "$backend: /readyz answers 200" grep '"ready": true' "$got/ready"
    check "$backend: the PNG is that of the reference" cmp "$work/reference/1" "$got/1"
    check "$backend: the GIF is that of the reference" cmp "$work/reference/2" "$got/2"
    check "$backend: SIGTERM ends it with 0" stop
done

# ---- Sizes -----------------------------------------------------------------------------------------------------------

kib() {
    du -skcx "$@" 2>/dev/null | tail -n 1 | cut -f 1
}

step "sizes"
all=$(kib "$root") below=$(kib "$base") ours=$(kib "$root/usr/bin/planetd")
llvm=$(kib "$root"/usr/lib/*/libLLVM*)
mesa=$(kib "$root"/usr/lib/*/dri "$root"/usr/lib/*/lib*_mesa.so* "$root"/usr/lib/*/libglapi.so*)
awk -v all="$all" -v base="$below" -v llvm="$llvm" -v mesa="$mesa" -v ours="$ours" 'BEGIN {
    printf "image %.1f MiB: base %.1f, LLVM %.1f, Mesa %.1f, planetd %.2f, other libraries %.1f\n", all / 1024,
        base / 1024, llvm / 1024, mesa / 1024, ours / 1024, (all - base - llvm - mesa - ours) / 1024 }'
echo "image built and checked in $(($(date +%s) - began)) s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
