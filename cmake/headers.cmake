# headers.cmake: the public headers. kernelwright_tune.h includes one header a subject, and that is the list.
set(KW_HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/include/kernelwright.h)
set(KW_TUNE_HEADERS "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/kernelwright_tune.h)
file(STRINGS include/kernelwright_tune.h lines REGEX "^#include \"kernelwright/")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"(.*)\"" "include/\\1" header "${line}")
    list(APPEND KW_TUNE_HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
endforeach()
