# install.cmake: what `make install` puts where. The CMake package and the pkg-config files name the same libraries.
if(NOT TARGET kernelwright_tune)
    return()
endif()
include(CMakePackageConfigHelpers)

install(FILES include/kernelwright.h include/kernelwright_tune.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${KW_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernelwright)
install(FILES ${KW_TUNE_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernelwright_tune)
install(TARGETS kwright DESTINATION ${CMAKE_INSTALL_BINDIR})
set(libraries kernelwright kernelwright_tune)
if(NOT KW_PORTABLE)
    list(APPEND libraries kernelwright_shared kernelwright_tune_shared)
endif()
install(TARGETS ${libraries} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY rules problems DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelwright)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The manual page and the completion come from the program's own option table.
install(CODE "
    set(kwright \"${PROJECT_BINARY_DIR}/kwright\")
    set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    file(MAKE_DIRECTORY \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\" \"\${root}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\")
    execute_process(COMMAND \${kwright} help --man OUTPUT_FILE \"\${root}/${CMAKE_INSTALL_MANDIR}/man1/kwright.1\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \${kwright} completion OUTPUT_FILE \"\${root}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/kwright\"
        COMMAND_ERROR_IS_FATAL ANY)
")

# What the static libraries need besides, for both kinds of package.
set(KW_STATIC_LIBRARIES xxhash z dl m)
set(KW_TUNE_STATIC_LIBRARIES lua5.4 jansson sqlite3)
list(TRANSFORM KW_STATIC_LIBRARIES PREPEND -l OUTPUT_VARIABLE KW_PC_LIBRARIES)
list(TRANSFORM KW_TUNE_STATIC_LIBRARIES PREPEND -l OUTPUT_VARIABLE KW_PC_TUNE_LIBRARIES)
list(JOIN KW_PC_LIBRARIES " " KW_PC_LIBRARIES)
list(JOIN KW_PC_TUNE_LIBRARIES " " KW_PC_TUNE_LIBRARIES)
list(JOIN KW_STATIC_LIBRARIES " " KW_STATIC_LIBRARIES)
list(JOIN KW_TUNE_STATIC_LIBRARIES " " KW_TUNE_STATIC_LIBRARIES)

# From <libdir>/pkgconfig back to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH KW_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/kernelwright.pc.in ${PROJECT_BINARY_DIR}/kernelwright.pc @ONLY)
configure_file(cmake/kernelwright_tune.pc.in ${PROJECT_BINARY_DIR}/kernelwright_tune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kernelwright.pc ${PROJECT_BINARY_DIR}/kernelwright_tune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The CMake package offers shared and static libraries; a portable build has static ones alone.
if(KW_PORTABLE)
    return()
endif()
configure_package_config_file(cmake/KernelwrightConfig.cmake.in ${PROJECT_BINARY_DIR}/KernelwrightConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Kernelwright PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KernelwrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KernelwrightConfig.cmake ${PROJECT_BINARY_DIR}/KernelwrightConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Kernelwright)
