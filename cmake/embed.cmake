# embed.cmake: files compiled into a library as they are. kw_embed(OUTPUT SYMBOL ROOT file ...) writes a C file that defines
#   const kw_embedded SYMBOL[] = {{"name relative to ROOT", text, end}, ..., {NULL, NULL, NULL}};
# (base/embedded.h). The files are named one by one; the assembler takes them in, so their size costs no compile time.
function(kw_embed output symbol root)
    set(assembly "")
    set(declarations "")
    set(table "")
    set(paths "")
    set(index 0)
    foreach(file ${ARGN})
        set(bytes ${symbol}_${index})
        string(APPEND assembly "    EMBED(\"${bytes}\", \"${root}/${file}\")\n")
        string(APPEND declarations "extern const char ${bytes}[], ${bytes}_end[];\n")
        string(APPEND table "    {\"${file}\", ${bytes}, ${bytes}_end},\n")
        list(APPEND paths ${root}/${file})
        math(EXPR index "${index} + 1")
    endforeach()
    file(GENERATE OUTPUT ${output} CONTENT "/* made by cmake/embed.cmake */
#include \"base/embedded.h\"

#define EMBED(name, file) \\
    \".globl \" name \"\\n.hidden \" name \"\\n\" name \":\\n.incbin \\\"\" file \"\\\"\\n\" \\
    \".globl \" name \"_end\\n.hidden \" name \"_end\\n\" name \"_end:\\n.byte 0\\n\"
__asm__(\".section .rodata\\n.balign 16\\n\"
${assembly}    \".previous\\n\");

${declarations}
extern const kw_embedded ${symbol}[];
const kw_embedded ${symbol}[] = {
${table}    {0, 0, 0}};
")
    set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS "${paths}")
endfunction()
