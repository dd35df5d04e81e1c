#include "cel/library.h"

#include <algorithm>

#include "cel/collections.h"
#include "cel/functions.h"

namespace swamp::cel {
namespace {

using enum Sig;
using enum Style;

enum class In : std::uint8_t { kBoth, kStrict, kDialect };

constexpr Builtin Make(In in, std::string_view name, Style style, std::initializer_list<Sig> parameters, Sig result,
                       Value (*call)(Call&)) {
  Builtin builtin;
  builtin.name = name;
  builtin.style = style;
  builtin.result = result;
  builtin.arity = static_cast<std::uint8_t>(parameters.size());
  std::copy(parameters.begin(), parameters.end(), builtin.parameters.begin());
  builtin.call = call;
  builtin.in_strict = in != In::kDialect;
  builtin.in_dialect = in != In::kStrict;
  return builtin;
}

constexpr Builtin Both(std::string_view name, Style style, std::initializer_list<Sig> parameters, Sig result,
                       Value (*call)(Call&)) {
  return Make(In::kBoth, name, style, parameters, result, call);
}

constexpr Builtin Strict(std::string_view name, Style style, std::initializer_list<Sig> parameters, Sig result,
                         Value (*call)(Call&)) {
  return Make(In::kStrict, name, style, parameters, result, call);
}

constexpr Builtin Dialect(std::string_view name, Style style, std::initializer_list<Sig> parameters, Sig result,
                          Value (*call)(Call&)) {
  return Make(In::kDialect, name, style, parameters, result, call);
}

constexpr Builtin Variadic(std::string_view name, Sig result, Value (*call)(Call&)) {
  Builtin builtin = Strict(name, kGlobal, {kDyn}, result, call);
  builtin.arity = Builtin::kVariadic;
  return builtin;
}

constexpr auto kLibrary = [] {
  namespace f = functions;
  std::array builtins{
      // The language definition.
      Both("size", kGlobal, {kString}, kInt, f::Size),
      Both("size", kGlobal, {kBytes}, kInt, f::Size),
      Both("size", kGlobal, {kListA}, kInt, f::Size),
      Both("size", kGlobal, {kMapAB}, kInt, f::Size),
      Both("size", kMember, {kString}, kInt, f::Size),
      Both("size", kMember, {kBytes}, kInt, f::Size),
      Both("size", kMember, {kListA}, kInt, f::Size),
      Both("size", kMember, {kMapAB}, kInt, f::Size),
      Both("bool", kGlobal, {kBool}, kBool, f::ToBool),
      Both("bool", kGlobal, {kString}, kBool, f::ToBool),
      Both("bytes", kGlobal, {kBytes}, kBytes, f::ToBytes),
      Both("bytes", kGlobal, {kString}, kBytes, f::ToBytes),
      Both("double", kGlobal, {kDouble}, kDouble, f::ToDouble),
      Both("double", kGlobal, {kInt}, kDouble, f::ToDouble),
      Both("double", kGlobal, {kUint}, kDouble, f::ToDouble),
      Both("double", kGlobal, {kString}, kDouble, f::ToDouble),
      Both("dyn", kGlobal, {kA}, kDyn, f::ToDyn),
      Both("int", kGlobal, {kInt}, kInt, f::ToInt),
      Both("int", kGlobal, {kUint}, kInt, f::ToInt),
      Both("int", kGlobal, {kDouble}, kInt, f::ToInt),
      Both("int", kGlobal, {kString}, kInt, f::ToInt),
      Both("int", kGlobal, {kTimestamp}, kInt, f::ToInt),
      Both("string", kGlobal, {kString}, kString, f::ToString),
      Both("string", kGlobal, {kBool}, kString, f::ToString),
      Both("string", kGlobal, {kInt}, kString, f::ToString),
      Both("string", kGlobal, {kUint}, kString, f::ToString),
      Both("string", kGlobal, {kDouble}, kString, f::ToString),
      Both("string", kGlobal, {kBytes}, kString, f::ToString),
      Both("string", kGlobal, {kTimestamp}, kString, f::ToString),
      Both("string", kGlobal, {kDuration}, kString, f::ToString),
      Both("type", kGlobal, {kA}, kTypeA, f::TypeOf),
      Both("uint", kGlobal, {kUint}, kUint, f::ToUint),
      Both("uint", kGlobal, {kInt}, kUint, f::ToUint),
      Both("uint", kGlobal, {kDouble}, kUint, f::ToUint),
      Both("uint", kGlobal, {kString}, kUint, f::ToUint),
      Both("contains", kMember, {kString, kString}, kBool, f::Contains),
      Both("endsWith", kMember, {kString, kString}, kBool, f::EndsWith),
      Both("startsWith", kMember, {kString, kString}, kBool, f::StartsWith),
      Both("matches", kMember, {kString, kString}, kBool, f::Matches),
      Both("matches", kGlobal, {kString, kString}, kBool, f::Matches),

      // Times and durations.
      Both("timestamp", kGlobal, {kTimestamp}, kTimestamp, f::ToTimestamp),
      Both("timestamp", kGlobal, {kString}, kTimestamp, f::ToTimestamp),
      Both("timestamp", kGlobal, {kInt}, kTimestamp, f::ToTimestamp),
      Both("duration", kGlobal, {kDuration}, kDuration, f::ToDuration),
      Both("duration", kGlobal, {kString}, kDuration, f::ToDuration),
      Both("getDate", kMember, {kTimestamp}, kInt, f::GetDate),
      Both("getDate", kMember, {kTimestamp, kString}, kInt, f::GetDate),
      Both("getDayOfMonth", kMember, {kTimestamp}, kInt, f::GetDayOfMonth),
      Both("getDayOfMonth", kMember, {kTimestamp, kString}, kInt, f::GetDayOfMonth),
      Both("getDayOfWeek", kMember, {kTimestamp}, kInt, f::GetDayOfWeek),
      Both("getDayOfWeek", kMember, {kTimestamp, kString}, kInt, f::GetDayOfWeek),
      Both("getDayOfYear", kMember, {kTimestamp}, kInt, f::GetDayOfYear),
      Both("getDayOfYear", kMember, {kTimestamp, kString}, kInt, f::GetDayOfYear),
      Both("getFullYear", kMember, {kTimestamp}, kInt, f::GetFullYear),
      Both("getFullYear", kMember, {kTimestamp, kString}, kInt, f::GetFullYear),
      Both("getMonth", kMember, {kTimestamp}, kInt, f::GetMonth),
      Both("getMonth", kMember, {kTimestamp, kString}, kInt, f::GetMonth),
      Both("getHours", kMember, {kTimestamp}, kInt, f::GetHours),
      Both("getHours", kMember, {kTimestamp, kString}, kInt, f::GetHours),
      Both("getHours", kMember, {kDuration}, kInt, f::GetHours),
      Both("getMinutes", kMember, {kTimestamp}, kInt, f::GetMinutes),
      Both("getMinutes", kMember, {kTimestamp, kString}, kInt, f::GetMinutes),
      Both("getMinutes", kMember, {kDuration}, kInt, f::GetMinutes),
      Both("getSeconds", kMember, {kTimestamp}, kInt, f::GetSeconds),
      Both("getSeconds", kMember, {kTimestamp, kString}, kInt, f::GetSeconds),
      Both("getSeconds", kMember, {kDuration}, kInt, f::GetSeconds),
      Both("getMilliseconds", kMember, {kTimestamp}, kInt, f::GetMilliseconds),
      Both("getMilliseconds", kMember, {kTimestamp, kString}, kInt, f::GetMilliseconds),
      Both("getMilliseconds", kMember, {kDuration}, kInt, f::GetMilliseconds),

      // Strings.
      Strict("charAt", kMember, {kString, kInt}, kString, f::CharAt),
      Both("indexOf", kMember, {kString, kString}, kInt, f::IndexOf),
      Both("indexOf", kMember, {kString, kString, kInt}, kInt, f::IndexOf),
      Both("join", kMember, {kListString}, kString, f::Join),
      Both("join", kMember, {kListString, kString}, kString, f::Join),
      Both("lastIndexOf", kMember, {kString, kString}, kInt, f::LastIndexOf),
      Both("lastIndexOf", kMember, {kString, kString, kInt}, kInt, f::LastIndexOf),
      Both("lowerAscii", kMember, {kString}, kString, f::LowerAscii),
      Strict("replace", kMember, {kString, kString, kString}, kString, f::Replace),
      Strict("replace", kMember, {kString, kString, kString, kInt}, kString, f::Replace),
      Strict("reverse", kMember, {kString}, kString, f::ReverseText),
      Both("split", kMember, {kString, kString}, kListString, f::Split),
      Both("split", kMember, {kString, kString, kInt}, kListString, f::Split),
      Both("substring", kMember, {kString, kInt}, kString, f::Substring),
      Both("substring", kMember, {kString, kInt, kInt}, kString, f::Substring),
      Both("trim", kMember, {kString}, kString, f::Trim),
      Both("upperAscii", kMember, {kString}, kString, f::UpperAscii),
      Strict("format", kMember, {kString, kListDyn}, kString, f::Format),
      Strict("strings.quote", kGlobal, {kString}, kString, f::Quote),

      // Bytes.
      Strict("base64.encode", kGlobal, {kBytes}, kString, f::Base64EncodeBytes),
      Strict("base64.decode", kGlobal, {kString}, kBytes, f::Base64DecodeText),
      Dialect("at", kMember, {kBytes, kInt}, kInt, f::ByteAt),
      Dialect("base64", kMember, {kBytes}, kString, f::Base64EncodeBytes),
      Dialect("hex", kMember, {kBytes}, kString, f::BytesHex),
      Dialect("json", kMember, {kBytes}, kDyn, f::BytesJson),
      Dialect("string", kMember, {kBytes}, kString, f::ToString),

      // Math.
      Variadic("math.greatest", kDyn, f::Greatest),
      Variadic("math.least", kDyn, f::Least),
      Strict("math.abs", kGlobal, {kInt}, kInt, f::Abs),
      Strict("math.abs", kGlobal, {kUint}, kUint, f::Abs),
      Strict("math.abs", kGlobal, {kDouble}, kDouble, f::Abs),
      Strict("math.sign", kGlobal, {kInt}, kInt, f::Sign),
      Strict("math.sign", kGlobal, {kUint}, kUint, f::Sign),
      Strict("math.sign", kGlobal, {kDouble}, kDouble, f::Sign),
      Strict("math.sqrt", kGlobal, {kInt}, kDouble, f::Sqrt),
      Strict("math.sqrt", kGlobal, {kUint}, kDouble, f::Sqrt),
      Strict("math.sqrt", kGlobal, {kDouble}, kDouble, f::Sqrt),
      Strict("math.ceil", kGlobal, {kDouble}, kDouble, f::Ceil),
      Strict("math.floor", kGlobal, {kDouble}, kDouble, f::Floor),
      Strict("math.round", kGlobal, {kDouble}, kDouble, f::Round),
      Strict("math.trunc", kGlobal, {kDouble}, kDouble, f::Trunc),
      Strict("math.isNaN", kGlobal, {kDouble}, kBool, f::IsNaN),
      Strict("math.isInf", kGlobal, {kDouble}, kBool, f::IsInf),
      Strict("math.isFinite", kGlobal, {kDouble}, kBool, f::IsFinite),
      Strict("math.bitAnd", kGlobal, {kInt, kInt}, kInt, f::BitAnd),
      Strict("math.bitAnd", kGlobal, {kUint, kUint}, kUint, f::BitAnd),
      Strict("math.bitOr", kGlobal, {kInt, kInt}, kInt, f::BitOr),
      Strict("math.bitOr", kGlobal, {kUint, kUint}, kUint, f::BitOr),
      Strict("math.bitXor", kGlobal, {kInt, kInt}, kInt, f::BitXor),
      Strict("math.bitXor", kGlobal, {kUint, kUint}, kUint, f::BitXor),
      Strict("math.bitNot", kGlobal, {kInt}, kInt, f::BitNot),
      Strict("math.bitNot", kGlobal, {kUint}, kUint, f::BitNot),
      Strict("math.bitShiftLeft", kGlobal, {kInt, kInt}, kInt, f::BitShiftLeft),
      Strict("math.bitShiftLeft", kGlobal, {kUint, kInt}, kUint, f::BitShiftLeft),
      Strict("math.bitShiftRight", kGlobal, {kInt, kInt}, kInt, f::BitShiftRight),
      Strict("math.bitShiftRight", kGlobal, {kUint, kInt}, kUint, f::BitShiftRight),

      // Lists.
      Strict("distinct", kMember, {kListA}, kListA, f::Distinct),
      Strict("flatten", kMember, {kListDyn}, kListDyn, f::Flatten),
      Strict("flatten", kMember, {kListDyn, kInt}, kListDyn, f::Flatten),
      Strict("lists.range", kGlobal, {kInt}, kListInt, f::Range),
      Strict("reverse", kMember, {kListA}, kListA, f::ReverseList),
      Strict("slice", kMember, {kListA, kInt, kInt}, kListA, f::Slice),
      Strict("sort", kMember, {kListA}, kListA, f::Sort),

      // Optionals.
      Both("optional.none", kGlobal, {}, kOptionalA, f::OptionalNone),
      Both("optional.of", kGlobal, {kA}, kOptionalA, f::OptionalOf),
      Both("optional.ofNonZeroValue", kGlobal, {kA}, kOptionalA, f::OptionalOfNonZero),
      Both("hasValue", kMember, {kOptionalA}, kBool, f::HasValue),
      Both("value", kMember, {kOptionalA}, kA, f::OptionalValue),
      Strict("first", kMember, {kListA}, kOptionalA, f::First),
      Strict("last", kMember, {kListA}, kOptionalA, f::Last),
      Strict("optional.unwrap", kGlobal, {kListOptionalA}, kListA, f::Unwrap),
      Strict("unwrapOpt", kMember, {kListOptionalA}, kListA, f::Unwrap),

      // Network addresses.
      Strict("cidr", kGlobal, {kString}, kCidr, f::ToCidr),
      Strict("ip", kGlobal, {kString}, kIp, f::ToIp),
      Strict("isCIDR", kGlobal, {kString}, kBool, f::IsCidr),
      Strict("isIP", kGlobal, {kString}, kBool, f::IsIp),
      Strict("ip.isCanonical", kGlobal, {kString}, kBool, f::IsCanonicalIp),
      Strict("string", kGlobal, {kIp}, kString, f::ToString),
      Strict("string", kGlobal, {kCidr}, kString, f::ToString),
      Strict("family", kMember, {kIp}, kInt, f::IpFamily),
      Strict("isGlobalUnicast", kMember, {kIp}, kBool, f::IsGlobalUnicast),
      Strict("isLinkLocalMulticast", kMember, {kIp}, kBool, f::IsLinkLocalMulticast),
      Strict("isLinkLocalUnicast", kMember, {kIp}, kBool, f::IsLinkLocalUnicast),
      Strict("isLoopback", kMember, {kIp}, kBool, f::IsLoopback),
      Strict("isUnspecified", kMember, {kIp}, kBool, f::IsUnspecified),
      Strict("containsCIDR", kMember, {kCidr, kCidr}, kBool, f::CidrContainsCidr),
      Strict("containsCIDR", kMember, {kCidr, kString}, kBool, f::CidrContainsCidr),
      Strict("containsIP", kMember, {kCidr, kIp}, kBool, f::CidrContainsIp),
      Strict("containsIP", kMember, {kCidr, kString}, kBool, f::CidrContainsIp),
      Strict("ip", kMember, {kCidr}, kIp, f::CidrIp),
      Strict("masked", kMember, {kCidr}, kCidr, f::CidrMasked),
      Strict("prefixLength", kMember, {kCidr}, kInt, f::CidrPrefixLength),
  };
  // By name, and the overloads of each mode together: strict only, both, dialect only.
  std::sort(builtins.begin(), builtins.end(), [](const Builtin& a, const Builtin& b) {
    if (a.name != b.name) return a.name < b.name;
    const auto rank = [](const Builtin& builtin) {
      return !builtin.in_dialect ? 0 : builtin.in_strict ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return builtins;
}();

// The kinds of values that a parameter takes.
constexpr std::uint32_t Bit(Kind kind) { return std::uint32_t{1} << static_cast<unsigned>(kind); }

constexpr std::uint32_t KindsOf(Sig sig) {
  switch (sig) {
    case kBool:
      return Bit(Kind::kBool);
    case kInt:
      return Bit(Kind::kInt);
    case kUint:
      return Bit(Kind::kUint);
    case kDouble:
      return Bit(Kind::kDouble);
    case kString:
      return Bit(Kind::kString);
    case kBytes:
      return Bit(Kind::kBytes);
    case kTimestamp:
      return Bit(Kind::kTimestamp);
    case kDuration:
      return Bit(Kind::kDuration);
    case kTypeA:
      return Bit(Kind::kType);
    case kListA:
    case kListDyn:
    case kListInt:
    case kListString:
    case kListOptionalA:
      return Bit(Kind::kList);
    case kMapAB:
      return Bit(Kind::kMap);
    case kOptionalA:
      return Bit(Kind::kOptional);
    case kIp:
    case kCidr:
      return Bit(Kind::kOpaque);
    case kDyn:
    case kA:
      return ~std::uint32_t{0};
  }
  return 0;
}

}  // namespace

std::span<const Builtin> FindBuiltins(std::string_view name, Mode mode) {
  const auto named = std::ranges::equal_range(kLibrary, name, {}, &Builtin::name);
  const auto first = std::ranges::find_if(named, [mode](const Builtin& b) { return b.IsIn(mode); });
  const auto last = std::find_if_not(first, named.end(), [mode](const Builtin& b) { return b.IsIn(mode); });
  return {first, last};
}

bool IsBuiltinNamespace(std::string_view name, Mode mode) {
  for (auto builtin = std::ranges::lower_bound(kLibrary, name, {}, &Builtin::name); builtin != kLibrary.end(); ++builtin) {
    if (!builtin->name.starts_with(name)) return false;
    if (builtin->name.size() > name.size() && builtin->name[name.size()] == '.' && builtin->IsIn(mode)) return true;
  }
  return false;
}

std::vector<std::string> BuiltinNames(Mode mode) {
  std::vector<std::string> names;
  for (const Builtin& builtin : kLibrary) {
    if (builtin.IsIn(mode) && (names.empty() || names.back() != builtin.name)) names.emplace_back(builtin.name);
  }
  return names;
}

std::span<const Candidate> FindCandidates(std::span<const Builtin> overloads, Style style, std::size_t arguments,
                                          Arena& arena) {
  const auto candidates = arena.NewArray<Candidate>(overloads.size());
  std::size_t count = 0;
  for (const Builtin& builtin : overloads) {
    const bool variadic = builtin.arity == Builtin::kVariadic && arguments > 0;
    if (builtin.style != style || (builtin.arity != arguments && !variadic)) continue;
    Candidate candidate{.kinds = {}, .builtin = &builtin, .opaque = false};
    for (std::size_t i = 0; i < candidate.kinds.size(); ++i) {
      const Sig sig = builtin.parameters[variadic ? 0 : i];
      candidate.kinds[i] = KindsOf(sig);
      candidate.opaque = candidate.opaque || sig == kIp || sig == kCidr;
    }
    candidates[count++] = candidate;
  }
  return candidates.first(count);
}

bool Candidate::TakesOpaque(std::span<const Value> arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Sig sig = builtin->parameters[i];
    if (sig == kIp && arguments[i].as_opaque().type_name() != "net.IP") return false;
    if (sig == kCidr && arguments[i].as_opaque().type_name() != "net.CIDR") return false;
  }
  return true;
}

const Type* FindTypeName(std::string_view name) {
  struct Named {
    std::string_view name;
    const Type* type;
  };
  static constexpr Type kList{.kind = TypeKind::kList};
  static constexpr Type kMap{.kind = TypeKind::kMap};
  static constexpr Type kTypeType{.kind = TypeKind::kType};
  static constexpr Type kOptional{.kind = TypeKind::kOpaque, .name = type_names::kOptional};
  static constexpr Type kIpType{.kind = TypeKind::kOpaque, .name = "net.IP"};
  static constexpr Type kCidrType{.kind = TypeKind::kOpaque, .name = "net.CIDR"};
  static const std::array<Named, 15> kNamed = {{
      {"bool", types::Bool()},
      {"bytes", types::Bytes()},
      {"double", types::Double()},
      {"google.protobuf.Duration", types::Duration()},
      {"google.protobuf.Timestamp", types::Timestamp()},
      {"int", types::Int()},
      {"list", &kList},
      {"map", &kMap},
      {"net.CIDR", &kCidrType},
      {"net.IP", &kIpType},
      {"null_type", types::Null()},
      {"optional_type", &kOptional},
      {"string", types::String()},
      {"type", &kTypeType},
      {"uint", types::Uint()},
  }};
  const auto found = std::ranges::find(kNamed, name, &Named::name);
  return found == kNamed.end() ? nullptr : found->type;
}

}  // namespace swamp::cel
