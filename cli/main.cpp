#include "cli/verb.h"

int main(int argc, char** argv) {
  if (argc < 2) return 0;
  return fovea::find<fovea::Verb>(argv[1]).run({argv + 2, argv + argc});
}
