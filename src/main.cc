#include "cli/program.h"

int main(int argc, char** argv) { return swamp::RunProgram({argv + 1, argv + argc}); }
