# openmpi5.cmake: finds a second Open MPI besides the one that CMake finds. Its compiler is RANKFAULT_MPICC5,
# or bin/mpicc under $RANKFAULT_OPENMPI5_PREFIX.
find_program(RANKFAULT_MPICC5 NAMES mpicc HINTS $ENV{RANKFAULT_MPICC5} ENV RANKFAULT_OPENMPI5_PREFIX
             PATH_SUFFIXES bin NO_DEFAULT_PATH)
if(DEFINED ENV{RANKFAULT_MPICC5} AND NOT RANKFAULT_MPICC5)
  set(RANKFAULT_MPICC5 $ENV{RANKFAULT_MPICC5})
endif()

# Builds C programs of this folder with it into `folder`, by the target `target`; nothing if it is not
# installed.
function(rankfault_openmpi5_programs target folder)
  if(NOT RANKFAULT_MPICC5)
    return()
  endif()
  file(MAKE_DIRECTORY ${folder})
  get_filename_component(bin5 ${RANKFAULT_MPICC5} DIRECTORY)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h ${CMAKE_CURRENT_SOURCE_DIR}/../*.h)
  foreach(program ${ARGN})
    add_custom_command(OUTPUT ${folder}/${program}
      COMMAND ${RANKFAULT_MPICC5} -O2 -g1 -Wall -Wextra -Werror -o ${folder}/${program}
              ${CMAKE_CURRENT_SOURCE_DIR}/${program}.c -Wl,-rpath,${bin5}/../lib
      DEPENDS ${program}.c ${headers} VERBATIM)
    list(APPEND programs ${folder}/${program})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${programs})
endfunction()
