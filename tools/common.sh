# common.sh: what scripts of this folder share. They source it with the repository as their working folder.
# shellcheck shell=bash
JOBS=${JOBS:-$(nproc)}
export JOBS
# What make and cmake ask of the processor beside the compilers is a tenth of theirs; a folder that make began stays with make.
! command -v ninja >/dev/null || export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"

# ccache takes what a file depends on from the compiler, which tells it anyway, and does not preprocess by itself.
export CCACHE_DEPEND=1

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
