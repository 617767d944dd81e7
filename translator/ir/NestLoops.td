//===- NestLoops.td - loop programs: kernels with explicit loops --------------------------------------------*- td -*-===//
//
// What a loop program (scf, affine, memref, sparse rows) becomes: nest.kernel says the parallel loops and the policy, its
// block holds scf, memref, arith and math operations.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_NEST_LOOPS
#define ML2K_NEST_LOOPS

#endif
