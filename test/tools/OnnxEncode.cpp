//===- OnnxEncode.cpp - an ONNX model from its text form ----------------------------------------------------------===//
//
// Tests are text: onnx-encode FILE|- [-o FILE] writes the model that a .onnxtxt file (the syntax of onnx's own parser)
// or a .textproto file (protobuf's text format, which can also name nodes and break rules) describes. Lines that start
// with # are comments in both. Nothing is checked.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include <google/protobuf/text_format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

static std::string readAll(std::istream &in) {
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

static bool parse(std::string const &text, bool isProto, onnx::ModelProto &model) {
  if (isProto)
    return google::protobuf::TextFormat::ParseFromString(text, &model);
  auto const status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK())
    std::cerr << "onnx-encode: " << status.ErrorMessage() << "\n";
  return status.IsOK();
}

static bool endsWith(std::string const &text, std::string const &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

int main(int argc, char **argv) {
  std::string input, output;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "-o" && i + 1 < argc)
      output = argv[++i];
    else
      input = argv[i];
  std::ifstream file(input);
  if (input.empty() || (input != "-" && !file)) {
    std::cerr << "usage: onnx-encode FILE|- [-o FILE]\n";
    return 2;
  }
  std::string const text = readAll(input == "-" ? std::cin : file);
  onnx::ModelProto model;
  if (!parse(text, endsWith(input, ".textproto"), model))
    return 1;
  std::ofstream out(output);
  return model.SerializeToOstream(output.empty() ? &std::cout : &out) ? 0 : 1;
}
