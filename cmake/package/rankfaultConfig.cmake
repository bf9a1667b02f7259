# rankfaultConfig.cmake: find_package(rankfault) gives
#   rankfault::rankfault          the tool, an executable
#   rankfault::mark               the header rankfault/mark.h: marks that a program makes
#   rankfault::gtest              the header rankfault/gtest.h, if nlohmann_json and GTest are found
#   rankfault_add_scenario(...)   scenario files as tests (rankfault_add_scenario.cmake)
get_filename_component(_rankfault_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
if(NOT TARGET rankfault::rankfault)
  add_executable(rankfault::rankfault IMPORTED)
  set_target_properties(rankfault::rankfault PROPERTIES IMPORTED_LOCATION ${_rankfault_prefix}/lib/rankfault/bin/rankfault)
  add_library(rankfault::mark INTERFACE IMPORTED)
  target_include_directories(rankfault::mark INTERFACE ${_rankfault_prefix}/include)
  find_package(nlohmann_json QUIET)
  find_package(GTest QUIET)
  if(nlohmann_json_FOUND AND GTest_FOUND)
    add_library(rankfault::gtest INTERFACE IMPORTED)
    target_include_directories(rankfault::gtest INTERFACE ${_rankfault_prefix}/include)
    target_link_libraries(rankfault::gtest INTERFACE nlohmann_json::nlohmann_json GTest::gmock)
    target_compile_definitions(rankfault::gtest INTERFACE RANKFAULT_TOOL="${_rankfault_prefix}/lib/rankfault/bin/rankfault")
  endif()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/rankfault_add_scenario.cmake)
unset(_rankfault_prefix)
