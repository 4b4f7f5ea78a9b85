# What `make install` and `make package` put where: the command with its manual pages and completions,
# and, as the component `library`, the folders up to the forecast of a run as static libraries with
# headers, a CMake package and a pkg-config file.
include(GNUInstallDirs)

# ---- the command --------------------------------------------------------------------------------

# The catalog is in the binary, so that it needs no other file of this repository.
install(TARGETS orrery RUNTIME COMPONENT command)

# Made from the table of options, by the program that has it.
set(documents ${CMAKE_BINARY_DIR}/documents)
add_custom_command(
  OUTPUT ${documents}/orrery.bash
  COMMAND ${CMAKE_COMMAND} -E make_directory ${documents}
  COMMAND orrery --manual ${documents}/man
  COMMAND orrery --completion fish > ${documents}/orrery.fish
  COMMAND orrery --completion zsh > ${documents}/_orrery
  COMMAND orrery --completion bash > ${documents}/orrery.bash
  DEPENDS orrery
  COMMENT "Manual pages and completions"
  VERBATIM)
add_custom_target(orrery_documents DEPENDS ${documents}/orrery.bash)
install(DIRECTORY ${documents}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${documents}/orrery.bash RENAME orrery
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${documents}/_orrery
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
install(FILES ${documents}/orrery.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery COMPONENT command)

# ---- the library --------------------------------------------------------------------------------

# In the order in which static libraries are linked: users before what they use.
set(libraries forecast search estimate lower plan schedule network cost cluster model catalog trace timeline
  simulate graph document units parallel outcome)
set(exported ${libraries})
list(TRANSFORM exported PREPEND orrery_)
add_custom_target(orrery_library DEPENDS ${exported})
install(TARGETS ${exported} EXPORT orrery ARCHIVE COMPONENT library)
foreach(folder IN LISTS libraries)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/orrery COMPONENT library FILES_MATCHING PATTERN "*.h")
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/orrery)
install(EXPORT orrery FILE orrery-targets.cmake NAMESPACE orrery::
  DESTINATION ${package_folder} COMPONENT library)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/orrery-config-version.cmake
  COMPATIBILITY ExactVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/orrery-config.cmake
  ${CMAKE_BINARY_DIR}/orrery-config-version.cmake
  DESTINATION ${package_folder} COMPONENT library)
set(archives ${libraries})
list(REMOVE_ITEM archives parallel)  # headers alone
list(TRANSFORM archives PREPEND -lorrery_ OUTPUT_VARIABLE link_options)
list(JOIN link_options " " ORRERY_LINK_OPTIONS)
# From the folder of the pkg-config file up to the prefix, wherever that is.
file(RELATIVE_PATH ORRERY_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/orrery.pc.in ${CMAKE_BINARY_DIR}/orrery.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/orrery.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/liborrery-dev COMPONENT library)

# ---- Debian packages ----------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_CONTACT "Orrery maintainers <maintainers@users.noreply.orrery.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME orrery)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liborrery-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
  "libexpected-dev, libfmt-dev, libyaml-cpp-dev, libsimdjson-dev, zlib1g-dev, libexpat1-dev")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
  "Predicts distributed training\n Step time, memory, communication, failures and cost of training runs.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "Predicts distributed training, C++ library\n Static libraries, headers, a CMake package and a pkg-config file.")
include(CPack)
