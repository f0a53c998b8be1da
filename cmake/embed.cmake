# embed(VARIABLE FOLDER NAME): the files of a folder become one source file that defines `std::span<const EmbeddedFile> NAME()`
# (fovea/serve/page_files.h), made again when one of them changes; its path goes into VARIABLE.
function(embed variable folder name)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.html ${PROJECT_SOURCE_DIR}/${folder}/*.css
       ${PROJECT_SOURCE_DIR}/${folder}/*.js)
  set(output ${PROJECT_BINARY_DIR}/embedded/${variable}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAME=${name} "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
