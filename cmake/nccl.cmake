# nccl.cmake: finds the headers of NCCL and of CUDA's runtime: those of the toolkit or of pip's wheels
# (NCCL_HOME, CUDA_HOME), else those that ./dev nccl has fetched. Sets NCCL_INCLUDE_DIR,
# RANKFAULT_NCCL_VERSION, CUDA_RUNTIME_INCLUDE_DIR.
set(RANKFAULT_NCCL_FOLDER ${PROJECT_SOURCE_DIR}/.nccl CACHE PATH "What ./dev nccl has built")

# Returns the version in nccl.h, such as 2.29.7; "" without the header.
function(rankfault_nccl_version folder out)
  set(version "")
  if(EXISTS ${folder}/nccl.h)
    foreach(part MAJOR MINOR PATCH)
      file(STRINGS ${folder}/nccl.h line REGEX "^#define NCCL_${part} +[0-9]+" LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+$" number "${line}")
      list(APPEND version ${number})
    endforeach()
    list(JOIN version . version)
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# The newest version that ./dev nccl has built.
set(fetched "")
file(GLOB marks ${RANKFAULT_NCCL_FOLDER}/*/built-from)
foreach(mark ${marks})
  cmake_path(GET mark PARENT_PATH folder)
  cmake_path(GET folder FILENAME version)
  if(fetched STREQUAL "" OR version VERSION_GREATER fetched)
    set(fetched ${version})
  endif()
endforeach()

# These headers are the same for every processor, so a cross build takes them from outside its sysroot. It looks in
# none of this machine's own folders.
set(elsewhere "")
if(CMAKE_CROSSCOMPILING)
  set(elsewhere NO_CMAKE_FIND_ROOT_PATH NO_CMAKE_SYSTEM_PATH NO_SYSTEM_ENVIRONMENT_PATH)
endif()
find_path(CUDA_RUNTIME_INCLUDE_DIR cuda_runtime.h HINTS /usr/local/cuda/include ENV CUDA_HOME
          PATHS ${RANKFAULT_NCCL_FOLDER}/cuda12 PATH_SUFFIXES include ${elsewhere})
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ENV NCCL_HOME PATHS ${RANKFAULT_NCCL_FOLDER}/${fetched} PATH_SUFFIXES include
          ${elsewhere})
rankfault_nccl_version("${NCCL_INCLUDE_DIR}" RANKFAULT_NCCL_VERSION)
# A fetched version takes precedence over an old one of the system, such as Debian's.
if(fetched AND RANKFAULT_NCCL_VERSION VERSION_LESS 2.28)
  set(NCCL_INCLUDE_DIR ${RANKFAULT_NCCL_FOLDER}/${fetched}/include)
  set(RANKFAULT_NCCL_VERSION ${fetched})
endif()

# A C program over NCCL and the CUDA runtime, in FOLDER. LD_LIBRARY_PATH finds both: those of the double or of a GPU.
function(rankfault_nccl_program target source folder)
  if(NOT TARGET cuda_double_nccl_2.22.3)
    return()
  endif()
  add_executable(${target} ${source})
  target_include_directories(${target} SYSTEM PRIVATE
    ${RANKFAULT_NCCL_FOLDER}/2.22.3/include ${RANKFAULT_NCCL_FOLDER}/cuda12/include)
  target_link_libraries(${target} PRIVATE cuda_double_cudart12 cuda_double_nccl_2.22.3)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Werror)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON RUNTIME_OUTPUT_DIRECTORY ${folder})
endfunction()
