# headers.cmake: the public headers. kernelwright.h and kernelwright_tune.h include one header a subject, of the folder of the same name, and
# that is the list.
function(kw_headers output name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/${name}.h)
    file(STRINGS include/${name}.h lines REGEX "^#include \"${name}/")
    list(TRANSFORM lines REPLACE "^#include \"(.*)\"" "${CMAKE_CURRENT_SOURCE_DIR}/include/\\1")
    set(${output} ${lines} PARENT_SCOPE)
endfunction()
kw_headers(KW_HEADERS kernelwright)
kw_headers(KW_TUNE_HEADERS kernelwright_tune)
