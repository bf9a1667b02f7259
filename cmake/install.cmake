# What an installation holds. All that the tool itself needs is in lib/rankfault, with bin/ and lib/ beside each other as
# in a build; bin/rankfault is a link to it. `./dev wheel` takes that folder:
# cmake --install build/release --component rankfault --prefix FOLDER
set(tree ${RANKFAULT_TREE})
install(TARGETS rankfault rankfault-guardian rankfault-task RUNTIME DESTINATION ${tree}/bin COMPONENT rankfault)
install(TARGETS rankfault_agent rankfault_libc LIBRARY DESTINATION ${tree}/lib COMPONENT rankfault)
foreach(decoder gloo_2022 torch_gloo openmpi mpich mpi_standard nccl_decoder)
  if(TARGET ${decoder})
    install(TARGETS ${decoder} LIBRARY DESTINATION ${tree}/lib/decoders COMPONENT rankfault)
  endif()
endforeach()
# Schemas for editors and for programs that read the files.
install(FILES ${PROJECT_SOURCE_DIR}/scenarios/scenario.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/result.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/results.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/teeth.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/status.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/case.v1.schema.json
        DESTINATION share/rankfault/schemas COMPONENT rankfault)

# For people and for other CMake projects: the command on PATH, its manual page and completions, the headers, and
# find_package(rankfault).
install(CODE "
  set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(MAKE_DIRECTORY \"\${bin}\")
  file(CREATE_LINK ../${tree}/bin/rankfault \"\${bin}/rankfault\" SYMBOLIC)" COMPONENT system)
if(NOT CMAKE_CROSSCOMPILING)
  set(made ${CMAKE_BINARY_DIR}/installed)
  install(CODE "
    file(MAKE_DIRECTORY \"${made}\")
    foreach(words man \"completions;bash\" \"completions;fish\" \"completions;zsh\")
      list(JOIN words - name)
      execute_process(COMMAND \"$<TARGET_FILE:rankfault>\" list \${words} OUTPUT_FILE \"${made}/\${name}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT system)
  install(FILES ${made}/man DESTINATION share/man/man1 RENAME rankfault.1 COMPONENT system)
  install(FILES ${made}/completions-bash DESTINATION share/bash-completion/completions RENAME rankfault COMPONENT system)
  install(FILES ${made}/completions-fish DESTINATION share/fish/vendor_completions.d RENAME rankfault.fish COMPONENT system)
  install(FILES ${made}/completions-zsh DESTINATION share/zsh/vendor-completions RENAME _rankfault COMPONENT system)
endif()
install(FILES harness/mark/mark.h cmake/package/gtest.h DESTINATION include/rankfault COMPONENT system)
install(FILES harness/mark/rankfault_mark.py DESTINATION share/rankfault/python COMPONENT system)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rankfaultConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/package/rankfaultConfig.cmake cmake/package/rankfault_add_scenario.cmake
              ${CMAKE_BINARY_DIR}/rankfaultConfigVersion.cmake
        DESTINATION lib/cmake/rankfault COMPONENT system)
install(FILES LICENSE DESTINATION share/doc/rankfault RENAME copyright COMPONENT system)

# cpack -G DEB or -G TGZ, in the build folder.
set(CPACK_PACKAGE_NAME rankfault)
set(CPACK_PACKAGE_CONTACT "the rankfault authors <rankfault@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_COMPONENTS_ALL rankfault system)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The decoders are loaded beside the library that they decode: none of these is needed.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "mpi-default-bin, libgloo0, py-spy")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
