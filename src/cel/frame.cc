#include "cel/frame.h"

#include "cel/call.h"
#include "cel/program.h"

namespace swamp::cel {

Value Frame::Fail(std::uint32_t begin, std::uint32_t end, FailureKind kind, std::string_view text,
                  std::span<const Value> operands) {
  // So that failures which are absorbed, one after another, come to an end too.
  constexpr std::uint64_t kFailureSteps = 8;
  Charge(kFailureSteps);
  return Value::Error(arena.New<Failure>(Failure{kind, begin, end, text, arena.CopyArray(operands)}));
}

Value Frame::Fail(const Op& op, FailureKind kind, std::string_view text, std::initializer_list<Value> operands) {
  return Fail(op.begin, op.end, kind, text, {operands.begin(), operands.size()});
}

Mode Call::mode() const { return frame_.mode; }
Arena& Call::arena() const { return frame_.arena; }
bool Call::Charge(std::uint64_t weight) { return frame_.Charge(weight); }
Value Call::StepLimit() const { return frame_.StepLimit(*frame_.current); }

Value Call::Error(std::string_view message) const {
  return frame_.Fail(*frame_.current, FailureKind::kMessage, arena().Copy(message));
}

Value Call::NoSuchOverload() const {
  return frame_.Fail(frame_.current->begin, frame_.current->end, FailureKind::kNoSuchOverload, name_, arguments_);
}

}  // namespace swamp::cel
