# catalogue(VARIABLE TYPE FOLDER HEADER NAMESPACE [MORE …]): a folder is a catalogue, and so are others beside it. Each FOLDER/x.cpp defines one
# `extern const TYPE x` in NAMESPACE; this writes the source file that lists them all as `fovea::catalogue<TYPE>()` and puts its
# path into VARIABLE.
function(catalogue variable type folder header namespace)
  set(patterns ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(more ${ARGN})
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${more}/*.cpp)
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
  set(declarations "")
  set(entries "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    string(APPEND declarations "extern const ${type} ${name};\n")
    string(APPEND entries "      &${namespace}::${name},\n")
  endforeach()
  set(output ${PROJECT_BINARY_DIR}/catalogues/${variable}.cpp)
  file(CONFIGURE OUTPUT ${output} CONTENT
"#include \"${header}\"

namespace ${namespace} {
${declarations}}  // namespace ${namespace}

namespace fovea {

template <>
std::span<const ${type}* const> catalogue<${type}>() {
  static constexpr const ${type}* entries[] = {
${entries}  };
  return entries;
}

}  // namespace fovea
" @ONLY)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
