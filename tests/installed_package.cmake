# Installs the build, builds examples/attend against the installed package alone, and runs it.
#   cmake -DBUILD=… -DSOURCE=… -DWORK=… -P installed_package.cmake
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
step(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/attend -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/installed)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/attend)
if(NOT output STREQUAL "0.0159 0.1173 0.8668 -> 5.70187\n")
  message(FATAL_ERROR "found ${output}")
endif()
step(${WORK}/installed/bin/fovea --version)
