# What an installation holds: bin/ and lib/ lie beside each other, as in a build. `./dev wheel` uses it:
# cmake --install build/release --component rankfault --prefix FOLDER
install(TARGETS rankfault rankfault-guardian RUNTIME DESTINATION bin COMPONENT rankfault)
install(TARGETS rankfault_agent rankfault_libc LIBRARY DESTINATION lib COMPONENT rankfault)
foreach(decoder gloo_2022 torch_gloo openmpi mpich mpi_standard nccl_decoder)
  if(TARGET ${decoder})
    install(TARGETS ${decoder} LIBRARY DESTINATION lib/decoders COMPONENT rankfault)
  endif()
endforeach()
# Schemas for editors and for programs that read the files.
install(FILES ${PROJECT_SOURCE_DIR}/scenarios/scenario.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/result.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/results.v1.schema.json
              ${PROJECT_SOURCE_DIR}/docs/reference/teeth.v1.schema.json
        DESTINATION share/rankfault/schemas COMPONENT rankfault)
