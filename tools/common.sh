# common.sh: what scripts of this folder share. They source it with the repository as their working folder.
# shellcheck shell=bash
JOBS=${JOBS:-$(nproc)}
export JOBS

# configure PRESET [OPTION ...]: through ccache where there is one.
configure() {
    local preset=$1
    shift
    if command -v ccache >/dev/null; then
        set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache "$@"
    fi
    cmake --preset "$preset" "$@"
}

# build PRESET [TARGET ...]: configures and builds.
build() {
    local preset=$1
    shift
    configure "$preset" && cmake --build --preset "$preset" -j "$JOBS" ${1:+--target "$@"}
}
