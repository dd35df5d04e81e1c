#include "cel/operations.h"

namespace swamp::cel {

Value Run(const Op& op, Frame& frame) {
  switch (op.kind) {
    case OpKind::kConstant:
      return As<ConstantOp>(op).value;
    case OpKind::kLocal:
      return frame.locals[As<LocalOp>(op).slot];
    case OpKind::kVariable:
      return RunVariable(As<VariableOp>(op), frame);
    case OpKind::kFailure:
      return Value::Error(&As<FailureOp>(op).failure);
    case OpKind::kSelect:
      return RunSelect(As<SelectOp>(op), frame);
    case OpKind::kIndex:
      return RunIndex(As<IndexOp>(op), frame);
    case OpKind::kNot:
      return RunNot(As<UnaryOp>(op), frame);
    case OpKind::kNegate:
      return RunNegate(As<UnaryOp>(op), frame);
    case OpKind::kArithmetic:
      return RunArithmetic(As<ChainOp>(op), frame);
    case OpKind::kArithmeticChain:
      return RunArithmeticChain(As<ChainOp>(op), frame);
    case OpKind::kRelationChain:
      return RunRelationChain(As<ChainOp>(op), frame);
    case OpKind::kRelation:
      return RunRelation(As<ChainOp>(op), frame);
    case OpKind::kLogic:
      return RunLogic(As<LogicOp>(op), frame);
    case OpKind::kConditional:
      return RunConditional(As<ConditionalOp>(op), frame);
    case OpKind::kList:
      return RunList(As<ListOp>(op), frame);
    case OpKind::kMap:
      return RunMap(As<MapOp>(op), frame);
    case OpKind::kCall:
      return RunCall(As<CallOp>(op), frame);
    case OpKind::kHostCall:
      return RunHostCall(As<HostCallOp>(op), frame);
    case OpKind::kMatches:
      return RunMatches(As<MatchesOp>(op), frame);
    case OpKind::kOptionalOr:
      return RunOptionalOr(As<OptionalOrOp>(op), frame);
    case OpKind::kOptionalMap:
      return RunOptionalMap(As<OptionalMapOp>(op), frame);
    case OpKind::kComprehension:
      return RunComprehension(As<ComprehensionOp>(op), frame);
    case OpKind::kScope:
      return RunScope(As<ScopeOp>(op), frame);
  }
  return Value::Null();
}

}  // namespace swamp::cel
