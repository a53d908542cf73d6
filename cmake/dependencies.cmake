# dependencies.cmake: third-party libraries, found once. A portable build takes their static archives: with that, a program
# needs nothing but the C library. NAME_shared is the shared library in any build. GLOBAL: a project that takes ours in links them
# through our libraries.
find_package(Threads REQUIRED GLOBAL)

function(kw_find_library target header name)
    if(KW_PORTABLE)
        find_library(${target}_FILE NAMES lib${name}.a REQUIRED)
    else()
        find_library(${target}_FILE NAMES ${name} REQUIRED)
    endif()
    find_path(${target}_INCLUDE NAMES ${header} PATH_SUFFIXES lua5.4 REQUIRED)
    find_library(${target}_SHARED_FILE NAMES ${name} REQUIRED)
    add_library(${target} INTERFACE)
    add_library(${target}_shared INTERFACE)
    target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE})
    target_link_libraries(${target} INTERFACE ${${target}_FILE})
    target_link_libraries(${target}_shared INTERFACE ${${target}_SHARED_FILE})
endfunction()

kw_find_library(kw_xxhash xxhash.h xxhash)
kw_find_library(kw_lua lua.h lua5.4)
kw_find_library(kw_jansson jansson.h jansson)
kw_find_library(kw_sqlite sqlite3.h sqlite3)
kw_find_library(kw_zlib zlib.h z)
