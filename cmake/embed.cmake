# embed.cmake: files compiled into a library as they are. kw_embed(OUTPUT SYMBOL ROOT file ...) makes a C file that defines
#   const kw_embedded SYMBOL[] = {{"name relative to ROOT", text, end}, ..., {NULL, NULL, NULL}};
# (base/embedded.h). The files are named one by one; the assembler takes them in (embed_write.cmake), so their size costs no compile time.
function(kw_embed output symbol root)
    list(TRANSFORM ARGN PREPEND ${root}/ OUTPUT_VARIABLE paths)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DROOT=${root} "-DFILES=${ARGN}"
                -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_write.cmake
        DEPENDS ${paths} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_write.cmake
        VERBATIM)
    set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS "${paths}")
endfunction()
