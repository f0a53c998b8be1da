# Half of a file's time is what it includes: the standard's headers are read once, `target_precompile_headers(x PRIVATE ${precompiled})`.
# A file still includes what it uses; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows whether it does.
set(precompiled <fmt/core.h> <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional>
    <span> <sstream> <string> <string_view> <unordered_map> <utility> <vector>)

# A compiler cache takes them for what they hold, not for when they were made.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
