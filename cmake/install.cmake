# What an installation holds: bin/ and lib/ lie beside each other, as in a build. `./dev wheel` uses it:
# cmake --install build/release --component rankfault --prefix FOLDER
install(TARGETS rankfault rankfault-guardian RUNTIME DESTINATION bin COMPONENT rankfault)
install(TARGETS rankfault_agent rankfault_libc LIBRARY DESTINATION lib COMPONENT rankfault)
foreach(decoder gloo_2022 torch_gloo openmpi mpich mpi_standard nccl_decoder)
  if(TARGET ${decoder})
    install(TARGETS ${decoder} LIBRARY DESTINATION lib/decoders COMPONENT rankfault)
  endif()
endforeach()
