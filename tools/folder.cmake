# folder.cmake: how a folder of src/ is compiled. Each folder is an object library kw_<folder>; a test links the folders it needs.
add_library(kw_flags INTERFACE)
target_compile_definitions(kw_flags INTERFACE _GNU_SOURCE)
target_compile_options(kw_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes)
target_include_directories(kw_flags INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/kernels/prelude)
if(KW_WERROR)
    target_compile_options(kw_flags INTERFACE -Werror)
endif()
if(KW_SANITIZE)
    target_compile_options(kw_flags INTERFACE -fsanitize=${KW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(kw_flags INTERFACE -fsanitize=${KW_SANITIZE})
endif()
target_link_libraries(kw_flags INTERFACE m ${CMAKE_DL_LIBS} Threads::Threads)

# kw_folder(NAME file.c ...): the folder's object library.
function(kw_folder name)
    add_library(kw_${name} OBJECT ${ARGN})
    target_link_libraries(kw_${name} PRIVATE kw_flags)
endfunction()
