#!/usr/bin/env bash
# check_install.sh: installs a build into a prefix of its own and uses it from there as a stranger would: examples by pkg-config (shared,
# static) and by the CMake package, and the first C program of README.md. The places that are compiled in must lie below the prefix. And a
# foreign CMake project takes the sources in by add_subdirectory: nothing of ours leaks into it.
# (tests/unit/space checks what the libraries export.)
set -eu
cd "$(dirname "$0")/../.."
. tools/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
# The prefix is known when it is built, as `make install` does it.
configure release -B "$work/build" -DCMAKE_INSTALL_PREFIX="$prefix" -DKW_BUILD_TESTS=OFF >/dev/null
cmake --build "$work/build" -j "$JOBS" >/dev/null
cmake --install "$work/build" >/dev/null

libdir=$(dirname "$(dirname "$(find "$prefix" -name kernelwright.pc)")")
export PKG_CONFIG_PATH=$libdir/pkgconfig KW_CACHE_DIR=$work/cache KW_DATA_DIR=$work/data
# run PROGRAM: with the installed shared libraries; says which program failed.
run() { LD_LIBRARY_PATH=$libdir "$@" >"$work/out" 2>&1 || { echo "fails: $*"; cat "$work/out"; exit 1; }; }

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md >"$work/readme.c"
grep -q kw_plan_run "$work/readme.c" || { echo "README.md has no C program"; exit 1; }
cat >"$work/workshop.c" <<'C'
#include <kernelwright_tune.h>
int main(void) {
    kw_error err = {0};
    char *names = NULL;
    kw_status status = kw_space_names(&names, "set", NULL, &err);
    kw_free(names);
    return status != KW_OK;
}
C
# pkg-config, shared: every program compiles; those that are quick run.
for source in examples/*.c "$work/readme.c"; do
    # shellcheck disable=SC2046
    gcc -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs kernelwright) -o "$work/$(basename "$source" .c)"
done
run "$work/readme"
run "$work/six_calls"
# pkg-config, static.
for source in examples/six_calls.c "$work/workshop.c"; do
    program=$work/static_$(basename "$source" .c)
    # shellcheck disable=SC2046
    gcc "$source" $(pkg-config --static --cflags --libs kernelwright_tune | sed -E 's/-l(kernelwright\w*)/-l:lib\1.a/g') -o "$program"
    if ldd "$program" | grep kernelwright; then
        echo "$program takes a shared library of ours"
        exit 1
    fi
    run "$program"
done
# Whole: whatever a program takes of them, the package names what that needs.
# shellcheck disable=SC2046
gcc "$work/workshop.c" -Wl,--whole-archive $(pkg-config --static --cflags --libs kernelwright_tune |
    sed -E 's/-l(kernelwright\w*)/-l:lib\1.a/g; s/(-l:libkernelwright.a)/\1 -Wl,--no-whole-archive/') -o "$work/whole"
run "$work/whole"
# The CMake package.
mkdir "$work/consumer"
cat >"$work/consumer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(Kernelwright 0.1 REQUIRED)
add_executable(consumer $PWD/examples/six_calls.c)
target_link_libraries(consumer PRIVATE Kernelwright::kernelwright)
add_executable(workshop workshop.c)
target_link_libraries(workshop PRIVATE Kernelwright::kernelwright_tune)
add_executable(alone workshop.c)
target_link_libraries(alone PRIVATE Kernelwright::kernelwright_tune_static)
CMAKE
cp "$work/workshop.c" "$work/consumer/"
cmake -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/consumer/build" >/dev/null
run "$work/consumer/build/consumer"
run "$work/consumer/build/workshop"
run "$work/consumer/build/alone"
if ldd "$work/consumer/build/alone" | grep kernelwright; then
    echo "Kernelwright::kernelwright_tune_static takes a shared library of ours"
    exit 1
fi

# The sources inside another project, whose own settings and targets stay as they are.
mkdir "$work/parent"
cp "$work/workshop.c" "$work/parent/"
cat >"$work/parent/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C)
add_subdirectory($PWD kernelwright EXCLUDE_FROM_ALL)
foreach(variable CMAKE_C_STANDARD CMAKE_C_EXTENSIONS CMAKE_BUILD_TYPE CMAKE_POSITION_INDEPENDENT_CODE CMAKE_EXPORT_COMPILE_COMMANDS)
    if(DEFINED \${variable} AND NOT "\${\${variable}}" STREQUAL "")
        message(FATAL_ERROR "add_subdirectory sets \${variable} in the parent")
    endif()
endforeach()
get_directory_property(options COMPILE_OPTIONS)
if(options OR KW_BUILD_TESTS OR KW_INSTALL OR TARGET test_base OR TARGET benches OR TARGET six_calls)
    message(FATAL_ERROR "add_subdirectory brings options (\${options}), tests, examples or benchmarks")
endif()
enable_testing()
add_executable(consumer $PWD/examples/six_calls.c)
target_link_libraries(consumer PRIVATE Kernelwright::kernelwright_shared)
add_executable(workshop workshop.c)
target_link_libraries(workshop PRIVATE Kernelwright::kernelwright_tune)
CMAKE
# The flags are those of the other builds, whose compiles ccache knows.
cmake -S "$work/parent" -B "$work/parent/build" "-DCMAKE_C_COMPILER_LAUNCHER=$(command -v ccache || true)" -DKW_WERROR=ON -DCMAKE_C_FLAGS="-O3 -DNDEBUG" >/dev/null
cmake --build "$work/parent/build" -j "$JOBS" >/dev/null
run "$work/parent/build/consumer"
run "$work/parent/build/workshop"
tests=$(ctest --test-dir "$work/parent/build" -N | sed -n 's/^Total Tests: //p')
[ "$tests" = 0 ] || { echo "add_subdirectory brings $tests tests"; exit 1; }

# The program, its manual page and completion, and the places.
[ -s "$prefix/share/man/man1/kwright.1" ] || { echo "no manual page"; exit 1; }
bash -n "$prefix/share/bash-completion/completions/kwright"
compiled_in=$("$prefix/bin/kwright" count --set tiny --json)
installed=$("$prefix/bin/kwright" count --set tiny --json --rules "$prefix/share/kernelwright/rules")
[ "$compiled_in" = "$installed" ] || { echo "the installed rules are not those compiled in"; exit 1; }
[ -f "$prefix/share/kernelwright/problems/demo.txt" ] || { echo "no problem sets"; exit 1; }
"$prefix/bin/kwright" doctor | grep -qF "$prefix/share/kernelwright/wisdom.txt" ||
    { echo "the system's wisdom is looked for outside the prefix:"; "$prefix/bin/kwright" doctor | grep '^system'; exit 1; }
