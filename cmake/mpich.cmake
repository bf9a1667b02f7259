# mpich.cmake: finds MPICH, which may be installed next to Open MPI. It is optional:
#   mpich4         in $RANKFAULT_MPICH4_PREFIX, else Debian's (mpicc.mpich)
#   mpich5         in $RANKFAULT_MPICH5_PREFIX
#   mpi_standard   the same prefix's mpicc_abi: MPI 5's own binary interface
# Sets RANKFAULT_MPICHS, and for each of them RANKFAULT_<NAME>_CC, _EXEC (mpiexec), _INCLUDE, _LIBRARY; for
# mpich4 also _FORT.
set(RANKFAULT_MPICHS "")

# Returns the first word with this flag (-I, -L) in a compiler wrapper's `-show`.
function(rankfault_shown cc flag out)
  execute_process(COMMAND ${cc} -show OUTPUT_VARIABLE shown ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH " ${flag}([^ ]+)" found "${shown}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

macro(rankfault_find_mpich name prefix cc library)
  string(TOUPPER ${name} NAME)
  find_program(RANKFAULT_${NAME}_CC NAMES ${cc} HINTS ENV ${prefix} PATH_SUFFIXES bin NO_DEFAULT_PATH)
  find_program(RANKFAULT_${NAME}_EXEC NAMES mpiexec HINTS ENV ${prefix} PATH_SUFFIXES bin NO_DEFAULT_PATH)
  if(${name} STREQUAL mpich4)
    find_program(RANKFAULT_${NAME}_CC NAMES mpicc.mpich)
    find_program(RANKFAULT_${NAME}_EXEC NAMES mpiexec.mpich)
    find_program(RANKFAULT_${NAME}_FORT NAMES mpifort HINTS ENV ${prefix} PATH_SUFFIXES bin NO_DEFAULT_PATH)
    find_program(RANKFAULT_${NAME}_FORT NAMES mpifort.mpich)
  endif()
  if(RANKFAULT_${NAME}_CC AND RANKFAULT_${NAME}_EXEC)
    list(APPEND RANKFAULT_MPICHS ${name})
    rankfault_shown(${RANKFAULT_${NAME}_CC} -I RANKFAULT_${NAME}_INCLUDE)
    rankfault_shown(${RANKFAULT_${NAME}_CC} -L RANKFAULT_${NAME}_LIBRARY)
    set(RANKFAULT_${NAME}_LIBRARY ${RANKFAULT_${NAME}_LIBRARY}/${library})
  endif()
endmacro()
rankfault_find_mpich(mpich4 RANKFAULT_MPICH4_PREFIX mpicc libmpich.so.12)
rankfault_find_mpich(mpich5 RANKFAULT_MPICH5_PREFIX mpicc libmpi.so.12)
rankfault_find_mpich(mpi_standard RANKFAULT_MPICH5_PREFIX mpicc_abi libmpi_abi.so.1)
if(NOT RANKFAULT_MPICHS)
  message(STATUS "no MPICH (RANKFAULT_MPICH4_PREFIX, RANKFAULT_MPICH5_PREFIX): its tests are skipped")
endif()

# Sets the list `out` to the environment with which a test finds them: RANKFAULT_MPICH4_EXEC=... and so on.
function(rankfault_mpich_environment out)
  set(words "")
  foreach(name ${RANKFAULT_MPICHS})
    string(TOUPPER ${name} NAME)
    list(APPEND words RANKFAULT_${NAME}_EXEC=${RANKFAULT_${NAME}_EXEC})
  endforeach()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# Builds the programs with each MPICH found: bin/ranks/<name>/<program>, by the target <target>_<name>.
# -Wno-stringop-overflow: its ignored statuses are the address 1, which looks too small to the compiler.
function(rankfault_mpich_programs target)
  foreach(name ${RANKFAULT_MPICHS})
    string(TOUPPER ${name} NAME)
    get_filename_component(folder ${RANKFAULT_${NAME}_LIBRARY} DIRECTORY)
    set(out ${CMAKE_BINARY_DIR}/bin/ranks/${name})
    file(MAKE_DIRECTORY ${out})
    set(programs "")
    foreach(program ${ARGN})
      add_custom_command(OUTPUT ${out}/${program}
        COMMAND ${RANKFAULT_${NAME}_CC} -O2 -g1 -Wall -Wextra -Werror -Wno-stringop-overflow -o ${out}/${program}
                ${CMAKE_CURRENT_SOURCE_DIR}/${program}.c -MD -MF ${CMAKE_CURRENT_BINARY_DIR}/${name}_${program}.d -Wl,-rpath,${folder}
        DEPENDS ${program}.c DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/${name}_${program}.d VERBATIM)
      list(APPEND programs ${out}/${program})
    endforeach()
    add_custom_target(${target}_${name} ALL DEPENDS ${programs})
  endforeach()
endfunction()
