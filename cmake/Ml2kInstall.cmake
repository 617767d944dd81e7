# What `cmake --install` and `cpack` put where: the tools, the package for find_package(ml2kokkos), the man page and the
# completion of bash, both printed by the tool from its table of options, and the documentation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ml2k_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ml2kokkos)
install(TARGETS ml2kokkos EXPORT ml2kokkosTargets RUNTIME COMPONENT ml2kokkos)
install(TARGETS ml2kokkos-opt RUNTIME COMPONENT opt)
install(EXPORT ml2kokkosTargets NAMESPACE ml2kokkos:: DESTINATION ${ml2k_package_dir} COMPONENT ml2kokkos)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ml2kokkosConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkosConfig.cmake INSTALL_DESTINATION ${ml2k_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkosConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkosConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkosConfigVersion.cmake ${CMAKE_CURRENT_LIST_DIR}/ml2kokkosAddModel.cmake
  DESTINATION ${ml2k_package_dir} COMPONENT ml2kokkos)

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkos.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ml2kokkos)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/ml2kokkos.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ml2kokkos
  COMPONENT ml2kokkos)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/options.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ml2kokkos)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT ml2kokkos)

# ml2kokkos-opt shares LLVM's libraries and is for work on ml2kokkos: it is not in the package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ml2kokkos)
set(CPACK_PACKAGE_VENDOR "the founders of ml2kokkos")
set(CPACK_PACKAGE_CONTACT "ml2kokkos <ml2kokkos@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "translates trained models and tensor programs into Kokkos C++")
set(CPACK_PACKAGE_DESCRIPTION "Reads ONNX models and MLIR programs and prints readable, fast Kokkos C++ that users review and commit.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL ml2kokkos)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ML2KOKKOS_PACKAGE_NAME ml2kokkos)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ML2KOKKOS_PACKAGE_RECOMMENDS "libclang-common-19-dev") # clang's own headers, for --verify
set(CPACK_STRIP_FILES ON)
include(CPack)
