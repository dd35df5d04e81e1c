#include "extension/extension_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxVersionBytes = 64;

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsNameSegment(std::string_view segment) {
  return !segment.empty() && std::all_of(segment.begin(), segment.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string WithoutLeadingZeros(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

std::weak_ordering CompareNumbers(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

// One more, of a number of any size.
std::string Successor(std::string digits) {
  std::size_t at = digits.size();
  while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
  if (at == 0) return "1" + digits;
  ++digits[at - 1];
  return digits;
}

// Where the "@" before a version stands; the first character is the collective's.
std::size_t FindVersionMark(std::string_view text) { return text.find('@', 1); }

}  // namespace

std::optional<ExtensionName> ExtensionName::Parse(std::string_view text) {
  if (text.size() < 2 || text.size() > kMaxNameBytes || text.front() != '@') return std::nullopt;
  const std::vector<std::string> segments = Split(text.substr(1), '/');
  if (segments.size() < 2 || !std::all_of(segments.begin(), segments.end(), IsNameSegment)) {
    return std::nullopt;
  }
  return ExtensionName(std::string(text));
}

std::string_view ExtensionName::collective() const {
  return std::string_view(text_).substr(1, text_.find('/') - 1);
}

std::optional<Version> Version::Parse(std::string_view text) {
  if (text.size() > kMaxVersionBytes) return std::nullopt;
  const std::vector<std::string> parts = Split(text, '.');
  if (parts.size() != 4 || !std::all_of(parts.begin(), parts.end(), IsDigits)) return std::nullopt;
  Version version;
  version.text_ = text;
  std::transform(parts.begin(), parts.end(), version.numbers_.begin(), WithoutLeadingZeros);
  return version;
}

bool Version::IsCalendarVersion() const {
  const std::vector<std::string> parts = Split(text_, '.');
  if (parts.size() != 4 || parts[0].size() != 4 || parts[1].size() != 2 || parts[2].size() != 2)
    return false;
  return parts[1] >= "01" && parts[1] <= "12" && parts[2] >= "01" && parts[2] <= "31" &&
         parts[3] == WithoutLeadingZeros(parts[3]);
}

std::weak_ordering operator<=>(const Version& a, const Version& b) {
  for (std::size_t i = 0; i < a.numbers_.size(); ++i) {
    const std::weak_ordering order = CompareNumbers(a.numbers_[i], b.numbers_[i]);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

std::string_view ChannelName(Channel channel) {
  switch (channel) {
    case Channel::kRc:
      return "rc";
    case Channel::kBeta:
      return "beta";
    case Channel::kStable:
      break;
  }
  return "stable";
}

std::optional<Channel> ParseChannel(std::string_view text) {
  for (const Channel channel : kAllChannels) {
    if (text == ChannelName(channel)) return channel;
  }
  return std::nullopt;
}

std::optional<VersionConstraint> VersionConstraint::Parse(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Operator>, 7> kOperators = {{
      {">=", Operator::kAtLeast},
      {"<=", Operator::kAtMost},
      {">", Operator::kAbove},
      {"<", Operator::kBelow},
      {"=", Operator::kEqual},
      {"^", Operator::kSameYear},
      {"~", Operator::kSameMonth},
  }};
  VersionConstraint constraint;
  constraint.text_ = text;
  if (text.empty()) return constraint;
  constraint.operator_ = Operator::kEqual;
  std::string_view bound = text;
  for (const auto& [sign, op] : kOperators) {
    if (!bound.starts_with(sign)) continue;
    constraint.operator_ = op;
    bound = Trim(bound.substr(sign.size()));
    break;
  }
  std::string padded(bound);
  if (constraint.operator_ != Operator::kEqual) {
    for (auto dots = std::count(padded.begin(), padded.end(), '.'); dots < 3; ++dots)
      padded += ".0";
  }
  const auto version = Version::Parse(padded);
  if (!version) return std::nullopt;
  constraint.bound_ = *version;
  return constraint;
}

bool VersionConstraint::Allows(const Version& version) const {
  const auto same_up_to = [&](std::size_t count) {
    return std::equal(version.numbers_.begin(),
                      version.numbers_.begin() + static_cast<std::ptrdiff_t>(count),
                      bound_.numbers_.begin());
  };
  switch (operator_) {
    case Operator::kAny:
      return true;
    case Operator::kEqual:
      return version == bound_;
    case Operator::kAtLeast:
      return version >= bound_;
    case Operator::kAbove:
      return version > bound_;
    case Operator::kAtMost:
      return version <= bound_;
    case Operator::kBelow:
      return version < bound_;
    case Operator::kSameYear:
      return version >= bound_ && same_up_to(1);
    case Operator::kSameMonth:
      return version >= bound_ && same_up_to(2);
  }
  return false;
}

std::optional<Dependency> ParseDependency(std::string_view text) {
  const std::size_t mark = FindVersionMark(text);
  const auto name = ExtensionName::Parse(text.substr(0, mark));
  if (!name) return std::nullopt;
  if (mark == std::string_view::npos) return Dependency{*name, {}, std::string(text)};
  const std::string_view constraint_text = text.substr(mark + 1);
  const auto constraint = VersionConstraint::Parse(constraint_text);
  if (!constraint || constraint_text.empty()) return std::nullopt;
  return Dependency{*name, *constraint, std::string(text)};
}

ExtensionName RequireExtensionName(std::string_view text) {
  if (auto name = ExtensionName::Parse(text)) return *name;
  throw UserError("extension_reference_invalid",
                  fmt::format("\"{}\" is not the name of an extension", Printable(text)),
                  "A name has the form @collective/name, in lower-case letters, digits, - and _.");
}

ExtensionReference RequireExtensionReference(std::string_view text) {
  const std::size_t mark = text.empty() ? std::string_view::npos : FindVersionMark(text);
  ExtensionReference reference{RequireExtensionName(text.substr(0, mark)), std::nullopt};
  if (mark == std::string_view::npos) return reference;
  reference.version = Version::Parse(text.substr(mark + 1));
  if (!reference.version) {
    throw UserError("extension_reference_invalid",
                    fmt::format("\"{}\" is not a version of {}", Printable(text.substr(mark + 1)),
                                reference.name.text()),
                    "A version has the form YYYY.MM.DD.N, such as 2026.01.31.1.");
  }
  return reference;
}

Channel RequireChannel(std::string_view text) {
  if (const auto channel = ParseChannel(text)) return *channel;
  throw UserError("extension_reference_invalid",
                  fmt::format("\"{}\" is not a channel", Printable(text)),
                  "The channels are stable, rc and beta.");
}

Version NextVersion(std::string_view today, const std::vector<Version>& published) {
  const auto first = Version::Parse(fmt::format("{}.1", today));
  if (!first) throw std::invalid_argument("NextVersion: today is not a date");
  const auto highest = std::max_element(published.begin(), published.end());
  if (highest == published.end() || *highest < *first) return *first;
  const std::size_t dot = highest->text().rfind('.');
  const std::string next =
      highest->text().substr(0, dot + 1) + Successor(highest->text().substr(dot + 1));
  return *Version::Parse(next);
}

}  // namespace swamp
