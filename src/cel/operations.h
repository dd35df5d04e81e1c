#pragma once

#include "cel/collections.h"
#include "cel/frame.h"
#include "cel/program.h"
#include "cel/value.h"

namespace swamp::cel {

// The value of an operation. Errors are values; exceptions come only from the host.
Value Run(const Op& op, Frame& frame);

// calls.cc
Value ResolveVariable(const VariableOp& op, Frame& frame);
Value RunCall(const CallOp& op, Frame& frame);
Value RunHostCall(const HostCallOp& op, Frame& frame);
Value RunMatches(const MatchesOp& op, Frame& frame);

// logic.cc
Value RunNot(const UnaryOp& op, Frame& frame);
Value RunLogic(const LogicOp& op, Frame& frame);
Value RunConditional(const ConditionalOp& op, Frame& frame);

// operators.cc
Value RunArithmetic(const ChainOp& op, Frame& frame);
Value RunArithmeticChain(const ChainOp& op, Frame& frame);
Value RunRelation(const ChainOp& op, Frame& frame);
Value RunRelationChain(const ChainOp& op, Frame& frame);
Value RunNegate(const UnaryOp& op, Frame& frame);

// access.cc
Value RunSelect(const SelectOp& op, Frame& frame);
Value RunIndex(const IndexOp& op, Frame& frame);
Value RunOptionalOr(const OptionalOrOp& op, Frame& frame);
Value RunOptionalMap(const OptionalMapOp& op, Frame& frame);

// construction.cc
Value RunList(const ListOp& op, Frame& frame);
Value RunMap(const MapOp& op, Frame& frame);
Value RunScope(const ScopeOp& op, Frame& frame);

// comprehension.cc
Value RunComprehension(const ComprehensionOp& op, Frame& frame);

inline Value RunVariable(const VariableOp& op, Frame& frame) {
  const Value& known = frame.values[op.index];
  return known.is_missing() ? ResolveVariable(op, frame) : known;
}

// As Run, with a short way for what needs no work.
inline Value RunOperand(const Op& op, Frame& frame) {
  switch (op.kind) {
    case OpKind::kConstant:
      return As<ConstantOp>(op).value;
    case OpKind::kLocal:
      return frame.locals[As<LocalOp>(op).slot];
    case OpKind::kVariable:
      return RunVariable(As<VariableOp>(op), frame);
    default:
      return Run(op, frame);
  }
}

// An error for a value that isn't the bool it should be, or itself when it is one. `wanted`: "x is a bool".
Value NoBool(const Op& op, std::string_view wanted, const Value& value, Frame& frame);
// Adds an entry to a map in the making: missing, or the error that points at `op`. In the dialect a whole
// number from data becomes an int key.
Value AddEntry(const Op& op, Frame& frame, MapBuilder& builder, const MapEntry& entry);
// A list or map that was just built, or an error when it is too deep or too large.
Value WithinLimits(const Op& op, Frame& frame, const List* list);
Value WithinLimits(const Op& op, Frame& frame, const Map* map);
// An optional with this content.
Value Some(Frame& frame, const Value& content);

}  // namespace swamp::cel
