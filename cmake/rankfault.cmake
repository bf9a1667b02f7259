# rankfault.cmake: warnings, stages, tests and dependencies for the CMakeLists.txt of every folder.

set(RANKFAULT_TREE lib/rankfault) # the folder of an installation that holds what the tool itself needs
find_package(Threads REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
find_library(RANKFAULT_TINFO NAMES tinfo ncursesw ncurses REQUIRED)
foreach(header elfutils/libdwfl.h gelf.h)
  find_path(RANKFAULT_HAVE_${header} ${header})
  if(NOT RANKFAULT_HAVE_${header})
    message(FATAL_ERROR "${header} was not found: install libdw-dev (elfutils)")
  endif()
endforeach()

# Optional parts. Each sets RANKFAULT_WITH_X for the configure line.
find_path(GLOO_INCLUDE_DIR gloo/allreduce.h)
find_library(GLOO_LIBRARY gloo)
set(RANKFAULT_WITH_GLOO OFF)
if(GLOO_INCLUDE_DIR AND GLOO_LIBRARY)
  set(RANKFAULT_WITH_GLOO ON)
endif()

find_package(MPI COMPONENTS C)
set(RANKFAULT_WITH_MPI ${MPI_C_FOUND})

include(cmake/nccl.cmake)
set(RANKFAULT_WITH_NCCL OFF)
if(RANKFAULT_NCCL_VERSION VERSION_GREATER_EQUAL 2.28 AND CUDA_RUNTIME_INCLUDE_DIR)
  set(RANKFAULT_WITH_NCCL ON)
elseif(RANKFAULT_REQUIRE_NCCL)
  message(FATAL_ERROR "RANKFAULT_REQUIRE_NCCL is on, and nccl.h of NCCL 2.28 or later (${NCCL_INCLUDE_DIR}: "
                      "${RANKFAULT_NCCL_VERSION}) or cuda_runtime.h (${CUDA_RUNTIME_INCLUDE_DIR}) was not found. "
                      "Set NCCL_HOME and CUDA_HOME, or run ./dev nccl.")
else()
  message(STATUS "no nccl.h of NCCL 2.28 or later: the NCCL decoder is left out. To add it: ./dev nccl")
endif()

add_library(rankfault_flags INTERFACE)
target_compile_options(rankfault_flags INTERFACE -Wall -Wextra -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release)
  # Inlined moves of std::string raise these warnings without cause (g++ 12, GCC bugs 105329 and 105651). The
  # dev preset keeps them on.
  target_compile_options(rankfault_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                         -Wno-stringop-overread)
endif()
target_include_directories(rankfault_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(RANKFAULT_ASAN)
  target_compile_options(rankfault_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(rankfault_flags INTERFACE -fsanitize=address,undefined)
endif()

# Two precompiled headers, one for the stages and one for the tests, hold the libraries whose parsing takes
# most of a build. Files still include the headers that they use, and build without these two.
function(rankfault_precompile name)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cc "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PUBLIC rankfault_flags fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
  target_precompile_headers(${name} PRIVATE <algorithm> <functional> <map> <memory> <optional> <string>
                            <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> ${ARGN})
endfunction()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(rankfault_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
rankfault_precompile(rankfault_pch)
rankfault_precompile(rankfault_test_pch <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(rankfault_test_pch PUBLIC GTest::gmock GTest::gtest)

set_property(GLOBAL PROPERTY RANKFAULT_STAGES "")

# Adds a stage: all .cc files of the calling folder, as objects (a static library would drop the
# self-registered ones). Usage: rankfault_stage(diagnose [LIBRARIES ...])
function(rankfault_stage name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_library(rankfault_${name} OBJECT ${sources})
  target_link_libraries(rankfault_${name} PUBLIC rankfault_flags fmt::fmt
                        nlohmann_json::nlohmann_json Threads::Threads ${ARG_LIBRARIES})
  target_precompile_headers(rankfault_${name} REUSE_FROM rankfault_pch)
  set_property(GLOBAL APPEND PROPERTY RANKFAULT_STAGES rankfault_${name})
endfunction()

# Links all stages added so far into `target`.
function(rankfault_link_stages target)
  get_property(stages GLOBAL PROPERTY RANKFAULT_STAGES)
  target_link_libraries(${target} PRIVATE ${stages} rankfault_flags)
endfunction()

function(rankfault_add_tool)
  add_executable(rankfault ${PROJECT_SOURCE_DIR}/harness/main.cc)
  rankfault_link_stages(rankfault)
endfunction()

# Keeps the line numbers of a program that reads its own, in every build type. It has no precompiled header
# then.
function(rankfault_keep_lines name)
  target_compile_options(${name} PRIVATE -g1)
  set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

# Tests put paths into shell lines and into LD_PRELOAD, which a space or a colon splits. A folder with such a
# character has a link in /tmp, which the tests use.
function(rankfault_path_for_tests folder out)
  set(path "${folder}")
  if(folder MATCHES "[ :]")
    string(MD5 hash "${folder}")
    set(path /tmp/rankfault-${hash})
    file(CREATE_LINK "${folder}" ${path} SYMBOLIC)
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
rankfault_path_for_tests("${CMAKE_BINARY_DIR}" RANKFAULT_TESTS_BUILD_DIR)
rankfault_path_for_tests("${CMAKE_SOURCE_DIR}" RANKFAULT_TESTS_SOURCE_DIR)

# Adds a GoogleTest program. Usage:
#   rankfault_test(name SOURCES a.cc ... [STAGES base scenario ...] [LIBRARIES ...] [LABELS l ...]
#                  [TIMEOUT seconds] [ENV A=b ...] [SERIAL])
# Without STAGES it links the whole harness. Each case is a ctest test. Cases of a suite that is instantiated
# as "Soak" get the label soak.
function(rankfault_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT" "SOURCES;STAGES;LIBRARIES;LABELS;ENV" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE rankfault_flags fmt::fmt nlohmann_json::nlohmann_json Threads::Threads
                        GTest::gmock GTest::gtest_main ${ARG_LIBRARIES})
  target_precompile_headers(${name} REUSE_FROM rankfault_test_pch)
  if(ARG_STAGES)
    foreach(stage ${ARG_STAGES})
      target_link_libraries(${name} PRIVATE rankfault_${stage})
    endforeach()
  else()
    rankfault_link_stages(${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit) # an empty value would shift all later properties
  endif()
  set(serial OFF)
  if(ARG_SERIAL)
    set(serial ON)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 30 PROPERTIES TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${serial})
  # A separate file passes the lists: gtest_discover_tests flattens lists into name-value pairs.
  # The tests find the built tool and the agent through the first two variables.
  set(environment RANKFAULT_BUILD_DIR=${RANKFAULT_TESTS_BUILD_DIR} RANKFAULT_SOURCE_DIR=${RANKFAULT_TESTS_SOURCE_DIR} ${ARG_ENV})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_lists.cmake
       "foreach(test IN LISTS ${name}_TESTS)\n"
       "  set(labels \"${ARG_LABELS}\")\n"
       "  if(test MATCHES \"^Soak/\")\n    list(APPEND labels soak)\n  endif()\n"
       "  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"\${labels}\" ENVIRONMENT \"${environment}\")\n"
       "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_lists.cmake)
endfunction()

function(rankfault_say_what_was_built)
  message(STATUS "rankfault ${PROJECT_VERSION}: gloo ${RANKFAULT_WITH_GLOO}, mpi "
                 "${RANKFAULT_WITH_MPI}, nccl ${RANKFAULT_WITH_NCCL} ${RANKFAULT_NCCL_VERSION}, bench ${RANKFAULT_BENCH}")
endfunction()
