# embed.cmake: files compiled into a library as text. kw_embed(OUTPUT SYMBOL ROOT file ...) writes a C file with
#   const kw_embedded SYMBOL[] = {{"name relative to ROOT", "text", size}, ..., {NULL, NULL, 0}};
# (base/embedded.h). The files are named one by one; a change of any of them remakes the output.
function(kw_embed output symbol root)
    set(paths "")
    foreach(file ${ARGN})
        list(APPEND paths ${root}/${file})
    endforeach()
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DROOT=${root} "-DFILES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/tools/embed_text.cmake
        DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/tools/embed_text.cmake
        VERBATIM)
endfunction()
