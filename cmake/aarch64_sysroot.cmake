# aarch64_sysroot.cmake: toolchain file for a cross build of the whole project, with the Debian packages that
# cmake/dev/aarch64.sh has unpacked for aarch64.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
