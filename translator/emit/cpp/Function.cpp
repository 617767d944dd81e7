//===- Function.cpp - functions of the generated C++ --------------------------------------------------------------===//

#include "translator/emit/cpp/File.h"

#include "llvm/ADT/STLExtras.h"

namespace ml2k::cpp {

Names usesOf(Call const &call) {
  Names names;
  for (Expression const &argument : call.arguments)
    addUses(names, argument);
  for (Lambda const &lambda : call.lambdas)
    names.merge(usesOf(lambda));
  return names;
}

Names usesOf(Function const &function) {
  Names names = usesOf(function.call);
  for (Closing const &closing : function.closings)
    addUses(names, closing.image);
  for (Statement const &local : llvm::reverse(function.locals)) {
    if (Identifier const *name = declared(local))
      names.erase(*name);
    names.merge(usesOf(local));
  }
  return names;
}

//===--- Blocks in use --------------------------------------------------------------------------------------------===//

namespace {
struct Collector {
  std::set<BlockName> blocks;
  std::set<Raw> headers;

  void add(BlockName block) {
    if (!block.empty())
      blocks.insert(block);
  }
  void add(Expression const &expression) {
    walk(expression, [&](Node const &node) {
      add(node.block);
      if (!node.header.empty())
        headers.insert(node.header);
    });
  }
  void add(Body const &body) {
    walk(body, [&](Statement const &statement) {
      for (Expression const *expression : expressionsOf(statement))
        add(*expression);
      statement.visit([&](auto const &kind) {
        if constexpr (requires { kind.type; })
          add(kind.type.block);
      });
      if (auto const *fold = statement.as<Fold>())
        add(fold->combiner), add(fold->initial ? BlockName("fold_in_order")
                                 : fold->span  ? BlockName("fold_span")
                                               : BlockName());
      if (auto const *columns = statement.as<Columns>())
        add(columns->combiner);
      if (auto const *pattern = statement.as<Pattern>())
        add(pattern->block);
      if (auto const *joined = statement.as<Joined>())
        add(joined->block), add(joined->combiner);
      if (statement.as<Refuse>())
        headers.insert("stdexcept");
    });
  }
  void add(Call const &call) {
    for (BlockName block : call.blocks)
      add(block);
    for (Expression const &argument : call.arguments)
      add(argument);
    for (Lambda const &lambda : call.lambdas)
      add(lambda.body);
  }
};
} // namespace

std::set<BlockName> blocksOf(Expression const &expression) {
  Collector collector;
  collector.add(expression);
  return collector.blocks;
}

std::set<BlockName> blocksOf(Body const &body) {
  Collector collector;
  collector.add(body);
  return collector.blocks;
}

std::set<BlockName> blocksOf(Function const &function) {
  Collector collector;
  collector.add(function.locals);
  collector.add(function.call);
  for (Closing const &closing : function.closings)
    collector.add(closing.image);
  return collector.blocks;
}

std::set<BlockName> blocksOf(Workspace const &workspace) {
  Collector collector;
  for (Buffer const &buffer : workspace.buffers)
    for (Expression const &extent : buffer.extents)
      collector.add(extent);
  if (workspace.hasArena)
    collector.add(Raw("arena"));
  return collector.blocks;
}

std::set<BlockName> blocksOf(llvm::ArrayRef<Load> loads) {
  Collector collector;
  for (Load const &load : loads) {
    collector.add(load.block);
    collector.add(load.source);
  }
  return collector.blocks;
}

std::set<Raw> headersOf(Body const &body) {
  Collector collector;
  collector.add(body);
  return collector.headers;
}

//===--- Questions ------------------------------------------------------------------------------------------------===//

Expression invocation(Function const &function) {
  std::vector<Expression> arguments;
  for (Parameter const &parameter : function.fixed)
    arguments.push_back(name(*parameter.name));
  for (Binding const &binding : function.bindings)
    arguments.push_back(name(binding.name));
  return call(Code(function.name), arguments);
}

bool namesType(Lambda const &lambda, Identifier const &type) {
  bool found = usesOf(lambda).contains(type) || lambda.result == Code(type);
  for (Parameter const &parameter : lambda.parameters)
    found |= parameter.type == Code(type);
  walk(lambda.body, [&](Statement const &statement) {
    for (Expression const *expression : expressionsOf(statement))
      walk(*expression, [&](Node const &node) { found |= node.kind == Kind::Global && node.code == Code(type); });
    statement.visit([&](auto const &kind) {
      if constexpr (requires { kind.type; })
        found |= kind.type.code == Code(type);
    });
  });
  return found;
}

size_t hashOf(llvm::ArrayRef<Lambda> lambdas) {
  size_t hash = lambdas.size();
  auto const add = [&](size_t value) { hash = hash * 31 + value; };
  for (Lambda const &lambda : lambdas) {
    add(lambda.parameters.size());
    walk(lambda.body, [&](Statement const &statement) {
      add(statement.node.index());
      for (Expression const *expression : expressionsOf(statement))
        walk(*expression, [&](Node const &node) { add(size_t(node.kind) + node.code.hash()); });
    });
  }
  return hash;
}

} // namespace ml2k::cpp
