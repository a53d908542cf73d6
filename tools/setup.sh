#!/usr/bin/env bash
# setup.sh build|test|bench|numbers|memcheck|mutate|python|gfx950: makes sure that the Debian packages a target needs are there. As root it
# installs what is missing; otherwise it prints the command that does and exits with 3.
set -eu
packages="gcc libc6-dev make cmake libxxhash-dev liblua5.4-dev libjansson-dev libsqlite3-dev zlib1g-dev"
case "${1:-build}" in
build) ;;
test) packages="$packages g++ ccache ninja-build shellcheck clang clang-format libclang-rt-dev cppcheck libcmocka-dev pkg-config git openmpi-bin chromium fonts-dejavu-core libjs-chart.js libdnnl-dev clang-19 lld lld-19 llvm-19 python3-numpy" ;;
bench) packages="$packages libcmocka-dev libdnnl-dev libopenblas0-serial libblis4-serial" ;;
numbers) packages="$packages ccache python3-numpy" ;;
memcheck) packages="$packages libcmocka-dev valgrind" ;;
mutate) packages="$packages libcmocka-dev ninja-build bubblewrap python3 clang clang-19 lld-19" ;;
python) # a Python that can make environments and compile extensions counts, wherever it is from
    python3 -c 'import ensurepip, os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null ||
        packages="$packages python3-dev python3-venv"
    ;;
gfx950) packages="$packages clang-22 lld-22 llvm-22" ;;
*) echo "setup.sh: $1 is not known; use build, test, bench, numbers, memcheck, mutate, python or gfx950" >&2; exit 2 ;;
esac
if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "not a Debian system; what is not there is what cmake complains about. Debian's names: $packages" >&2
    exit 0
fi
missing=""
for package in $packages; do
    # A compiler or tool that is there by other means counts as well.
    command -v "$package" >/dev/null 2>&1 && continue
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
    echo "missing packages; run:  sudo apt-get install -y$missing" >&2
    exit 3
fi
echo "installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
    echo "could not install$missing; run:  apt-get install -y$missing" >&2
    exit 3
}
