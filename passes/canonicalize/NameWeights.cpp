//===- NameWeights.cpp - constants of the model become nest.weight ------------------------------------------*- C++ -*-===//
