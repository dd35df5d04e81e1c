#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cel/checker.h"
#include "cel/collections.h"
#include "cel/evaluator.h"
#include "cel/parser.h"
#include "cel/tagged_json.h"
#include "cel/time_zone.h"
#include "cel/utf8.h"
#include "util/digest.h"
#include "util/files.h"
#include "util/json.h"
#include "util/random.h"

// The public conformance cases of the language (google/cel-spec, tests/simple), as JSON.
namespace swamp::cel {
namespace {

std::filesystem::path CasesFolder() {
  const char* const given = std::getenv("SWAMP_CEL_CONFORMANCE");
  return given != nullptr ? given : SWAMP_CEL_CONFORMANCE;
}

// --- which cases need protobuf messages, which this program has no use for ---

bool IsOurMessage(std::string_view type) {
  return type.ends_with(type_names::kTimestamp) || type.ends_with(type_names::kDuration);
}

// Whether a value or a type, anywhere in it, is a message, a wrapper or an enum.
bool HoldsMessage(const Json& json) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key == "enum_value" || key == "wrapper") return true;
      if (key == "object_value" && !IsOurMessage(value["@type"].get<std::string>())) return true;
      if (key == "message_type" && !IsOurMessage(value.get<std::string>())) return true;
    }
  }
  if (!json.is_structured()) return false;
  return std::any_of(json.begin(), json.end(), HoldsMessage);
}

bool MakesMessage(const Node& node) {
  if (node.kind == NodeKind::kMessage) return true;
  for (const Node* child = node.first; child != nullptr; child = child->next) {
    if (MakesMessage(*child)) return true;
  }
  return false;
}

// Whether the text names a message or an enum: within a package of protobuf messages those are the names that
// begin with a capital.
bool NamesMessage(const Node& node, std::string_view container) {
  const bool in_package = container.starts_with("cel.expr.conformance");
  const bool is_name = node.kind == NodeKind::kIdentifier || node.kind == NodeKind::kCall;
  if (in_package && is_name && node.name()[0] >= 'A' && node.name()[0] <= 'Z') return true;
  for (const Node* child = node.first; child != nullptr; child = child->next) {
    if (NamesMessage(*child, container)) return true;
  }
  return false;
}

// Why a case needs protobuf messages; empty when it doesn't.
std::string_view NeedOf(const Json& test) {
  try {
    const SyntaxTree tree = Parse(test["expr"].get<std::string>());
    if (MakesMessage(tree.root())) return "makes a message";
    if (NamesMessage(tree.root(), test.value("container", ""))) return "names a message type or an enum";
  } catch (const ExpressionError&) {
    // Perhaps that is what the case is about.
  }
  for (const char* part : {"bindings", "type_env"}) {
    if (test.contains(part) && HoldsMessage(test[part])) return "has a message or a wrapper for a variable";
  }
  for (const char* part : {"value", "typed_result"}) {
    if (test.contains(part) && HoldsMessage(test[part])) return "wants a message, a wrapper or an enum";
  }
  return {};
}

// --- running a case ---

const Type* DecodeType(const Json& json, Arena& arena) {
  const std::string& tag = json.begin().key();
  const Json& content = json.begin().value();
  if (tag == "primitive") {
    static const std::map<std::string, const Type*> kPrimitives = {
        {"BOOL", types::Bool()},     {"INT64", types::Int()},     {"UINT64", types::Uint()},
        {"DOUBLE", types::Double()}, {"STRING", types::String()}, {"BYTES", types::Bytes()}};
    return kPrimitives.at(content.get<std::string>());
  }
  if (tag == "null") return types::Null();
  if (tag == "list_type") return types::List(arena, DecodeType(content["elem_type"], arena));
  if (tag == "map_type") {
    return types::Map(arena, DecodeType(content["key_type"], arena), DecodeType(content["value_type"], arena));
  }
  if (tag == "type_param") return types::Parameter(arena, content.get<std::string>());
  if (tag == "well_known" || tag == "message_type") {
    const auto name = content.get<std::string>();
    return name == "TIMESTAMP" || name == type_names::kTimestamp ? types::Timestamp() : types::Duration();
  }
  if (tag == "abstract_type") {
    std::vector<const Type*> parameters;
    for (const Json& parameter : content.value("parameter_types", Json::array())) {
      parameters.push_back(DecodeType(parameter, arena));
    }
    return types::Opaque(arena, content["name"].get<std::string>(), parameters);
  }
  if (tag != "dyn") throw std::runtime_error("unknown type " + json.dump());
  return types::Dyn();
}

void Declare(const Json& test, Environment& environment) {
  for (const Json& declared : test.value("type_env", Json::array())) {
    const auto name = declared["name"].get<std::string>();
    if (declared.contains("ident")) {
      environment.AddVariable(name, DecodeType(declared["ident"]["type"], environment.arena()));
      continue;
    }
    for (const Json& overload : declared["function"]["overloads"]) {
      HostFunction function{.name = name, .parameters = {}, .result = types::Dyn(), .call = nullptr};
      for (const Json& parameter : overload["params"]) {
        function.parameters.push_back(DecodeType(parameter, environment.arena()));
      }
      function.result = DecodeType(overload["result_type"], environment.arena());
      environment.AddFunction(std::move(function));
    }
  }
  const Json bindings = test.value("bindings", Json::object());
  for (const auto& [name, value] : bindings.items()) environment.AddVariable(name);
}

bool Same(const Value& a, const Value& b) {
  Arena arena;
  if (a.kind() != b.kind()) return false;
  if (a.is(Kind::kDouble)) {
    if (std::isnan(a.as_double())) return std::isnan(b.as_double());
    return std::bit_cast<std::uint64_t>(a.as_double()) == std::bit_cast<std::uint64_t>(b.as_double());
  }
  if (a.is(Kind::kList)) {
    if (a.as_list().size() != b.as_list().size()) return false;
    for (std::size_t i = 0; i < a.as_list().size(); ++i) {
      if (!Same(a.as_list().At(i, arena), b.as_list().At(i, arena))) return false;
    }
    return true;
  }
  if (a.is(Kind::kMap)) {
    if (a.as_map().size() != b.as_map().size()) return false;
    for (std::size_t i = 0; i < a.as_map().size(); ++i) {
      const Value other = b.as_map().Find(a.as_map().KeyAt(i, arena), arena);
      if (other.is_missing() || !Same(a.as_map().ValueAt(i, arena), other)) return false;
    }
    return true;
  }
  return EncodeTagged(a) == EncodeTagged(b);
}

// The data has a fault: where the cases were turned from protobuf's text format into JSON, the escapes \u, \U
// and \? of the text format were left as they are in what is wanted, though not everywhere. Expressions with
// a raw literal really want the backslash. literal_test.cc holds escapes to one reading.
Json Mended(const Json& wanted, std::string_view expression) {
  const std::size_t prefix = expression.find_first_not_of("bB");
  if (prefix == std::string_view::npos || (expression[prefix] | 0x20) == 'r') return wanted;
  const bool is_string = wanted.contains("string_value");
  if (!is_string && !wanted.contains("bytes_value")) return wanted;
  const auto text = wanted.begin().value().get<std::string>();
  const std::string escaped = is_string ? text : *Base64Decode(text);
  std::string mended;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const char next = escaped[i] == '\\' && i + 1 < escaped.size() ? escaped[i + 1] : '\0';
    if (next == '?') {
      mended += escaped[++i];
    } else if (next == 'u' || next == 'U') {
      const std::size_t digits = next == 'u' ? 4 : 8;
      AppendCodePoint(static_cast<char32_t>(std::stoul(escaped.substr(i + 2, digits), nullptr, 16)), mended);
      i += 1 + digits;
    } else {
      mended += escaped[i];
    }
  }
  return is_string ? Json{{"string_value", mended}} : Json{{"bytes_value", Base64Encode(mended)}};
}

// Empty when the case passes, else what is wrong.
std::string ProblemWith(const Json& test, const TimeZones& zones) {
  const bool wants_error = test.contains("eval_error") || test.contains("any_eval_errors");
  Environment environment(Mode::kStrict, test.value("container", ""), &zones);
  Declare(test, environment);
  Arena arena;
  try {
    const auto text = test["expr"].get<std::string>();
    const Expression expression(text, environment);
    if (!test.value("disable_check", false)) {
      const Checked checked = Check(expression);
      if (!checked.errors.empty()) {
        return wants_error ? "" : "type error: " + RenderIssue(text, checked.errors.front());
      }
      if (test.contains("typed_result")) {
        const Type* const wanted = DecodeType(test["typed_result"]["deduced_type"], arena);
        if (!SameType(*wanted, *checked.result)) {
          return fmt::format("type {}, wanted {}", ToString(*checked.result), ToString(*wanted));
        }
      }
    }
    if (test.value("check_only", false)) return "";

    const Json bindings = test.value("bindings", Json::object());
    MapBuilder variables(arena, bindings.size());
    for (const auto& [name, binding] : bindings.items()) {
      variables.Add(Value::String(name), DecodeTagged(binding["value"], arena));
    }
    const MapActivation activation(*variables.Build());
    Evaluator evaluator(expression);
    const Value value = evaluator.Evaluate(activation);
    if (value.is_error()) {
      if (wants_error) return "";
      return "error: " + RenderIssue(text, expression.Explain(value.as_error(), activation));
    }
    if (wants_error) return "a value where an error was wanted: " + EncodeTagged(value).dump();
    const Json wanted = test.contains("typed_result") ? test["typed_result"]["result"]
                                                      : test.value("value", Json{{"bool_value", true}});
    if (Same(value, DecodeTagged(wanted, arena)) || Same(value, DecodeTagged(Mended(wanted, text), arena))) return "";
    return fmt::format("{}, wanted {}", EncodeTagged(value).dump(), wanted.dump());
  } catch (const UserError& error) {
    return wants_error ? "" : "not evaluated: " + error.message();
  }
}

// What stands behind the heading of the list in docs/cel.md: lines that begin with a dash.
std::string ListInTheDocumentation() {
  std::ifstream file(SWAMP_CEL_DOCUMENTATION);
  std::string list;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) found = line == "### Cases that need protobuf";
    if (found && line.starts_with("- ")) list += line + "\n";
  }
  return list;
}

struct Tally {
  int pass = 0;
  int fail = 0;
  int unsupported = 0;
};

// The cases that need protobuf, as docs/cel.md lists them: a line for each section and reason, names in the order of
// the data.
class NeedList {
 public:
  void Add(const std::string& section, std::string_view reason, const std::string& name) {
    std::string& names = names_[fmt::format("{}, {}", section, reason)];
    names += (names.empty() ? "" : ", ") + name;
  }
  std::string Render() const {
    std::string text;
    for (const auto& [title, names] : names_) text += fmt::format("- {}: {}\n", title, names);
    return text;
  }

 private:
  std::map<std::string, std::string> names_;
};

// SWAMP_CEL_LIST=1 in the environment prints the list for docs/cel.md.
TEST(Conformance, EveryPublicCaseThatNeedsNoProtobufMessagePasses) {
  const std::filesystem::path folder = CasesFolder();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no conformance cases at " << folder << "; set SWAMP_CEL_CONFORMANCE to their folder";
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());

  SystemRandom random;
  SystemFiles system_files(random);
  const TimeZones zones(system_files);
  Tally total;
  NeedList needs;
  std::cout << fmt::format("{:<18}{:>6}{:>6}{:>13}\n", "group", "pass", "fail", "unsupported");
  for (const std::filesystem::path& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    Tally tally;
    const std::string group = file.stem();
    for (const Json& test : ParseJson(text.str(), group)) {
      const std::string section = group + "/" + test["section"].get<std::string>();
      const auto name = test["name"].get<std::string>();
      if (const std::string_view need = NeedOf(test); !need.empty()) {
        ++tally.unsupported;
        needs.Add(section, need, name);
        continue;
      }
      const std::string problem = ProblemWith(test, zones);
      ++(problem.empty() ? tally.pass : tally.fail);
      EXPECT_EQ(problem, "") << section << "/" << name << ": " << test["expr"].get<std::string>();
    }
    std::cout << fmt::format("{:<18}{:>6}{:>6}{:>13}\n", group, tally.pass, tally.fail, tally.unsupported);
    total.pass += tally.pass;
    total.fail += tally.fail;
    total.unsupported += tally.unsupported;
  }
  std::cout << fmt::format("{:<18}{:>6}{:>6}{:>13}\n", "all", total.pass, total.fail, total.unsupported);
  EXPECT_GT(total.pass, 0);
  if (std::getenv("SWAMP_CEL_LIST") != nullptr) std::cout << needs.Render();
  EXPECT_EQ(ListInTheDocumentation(), needs.Render()) << "docs/cel.md lists other cases than those that need protobuf";
}

}  // namespace
}  // namespace swamp::cel
