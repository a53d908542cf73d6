#!/bin/sh
# rule_set.sh: builds for the rule sets that come from lists of CK Builder. Without the lists' folder, or for a set that is not there, cmake
# says so at once; with it the catalogs that would be compiled in are what kwright lists.
#   rule_set.sh CMAKE SOURCE MAKE_CATALOGS KWRIGHT
set -eu
cmake=$1 source=$2 make_catalogs=$3 kwright=$4
lists=$source/tests/data/builder
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# refused WORDS OPTION...: to configure fails, and says so.
refused() {
    words=$1
    shift
    if "$cmake" -S "$source" -B "$folder/build" -DKW_BUILD_TESTS=OFF "$@" >"$folder/log" 2>&1; then
        echo "cmake $* passes"
        exit 1
    fi
    tr -s ' \n' '  ' <"$folder/log" | grep -q -e "$words" || { echo "cmake $* does not say $words:"; cat "$folder/log"; exit 1; }
}

refused '-DKW_BUILDER_CONF=DIR' -DKW_RULE_SET=tests
refused '-DKW_BUILDER_CONF=DIR' -DKW_RULE_SET=profiler -DKW_BUILDER_CONF="$folder/none"
refused 'no rules/sets/testz.lua' -DKW_RULE_SET=testz
for set in tests profiler; do
    for arch in gfx950 gfx90a sm_90; do
        "$make_catalogs" $set $arch "$folder/catalog.gz" "$lists"
        gzip -dc "$folder/catalog.gz" | grep -v '^#' >"$folder/made"
        "$kwright" list --set $set --arch $arch --builder-conf "$lists" >"$folder/listed"
        cmp "$folder/made" "$folder/listed"
        [ "$(wc -l <"$folder/made")" -ge 20 ] || { echo "$set $arch: too few configs"; exit 1; }
    done
done
