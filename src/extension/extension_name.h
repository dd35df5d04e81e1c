#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// The name of an extension: "@collective/name" with further "/segments", each [a-z0-9_-]+, at most
// 200 bytes. Such a name is also a safe relative path and needs no escaping in messages.
class ExtensionName {
 public:
  // Nothing when `text` is no such name.
  static std::optional<ExtensionName> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view collective() const;  // without the "@"

  auto operator<=>(const ExtensionName&) const = default;

 private:
  explicit ExtensionName(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// A version "YYYY.MM.DD.N": four numbers of any size, compared number by number, so that 2026.5.9.1
// and 2026.05.09.1 are equal although their texts differ. Requests and files carry the text.
class Version {
 public:
  static std::optional<Version> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Whether the text is a date with two-digit month and day: what may be packed and published.
  bool IsCalendarVersion() const;

  friend std::weak_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }

 private:
  friend class VersionConstraint;
  Version() = default;
  std::string text_;
  std::array<std::string, 4> numbers_;  // decimal, without leading zeros
};

enum class Channel { kStable, kRc, kBeta };
// Most stable first.
inline constexpr std::array kAllChannels = {Channel::kStable, Channel::kRc, Channel::kBeta};
std::string_view ChannelName(Channel channel);
std::optional<Channel> ParseChannel(std::string_view text);

// What a dependency asks of a version. Missing numbers count as 0, except in an exact one:
//   ""  any;  "V" or "=V"  exactly V;  ">=V" ">V" "<=V" "<V";
//   "^V"  V or later in the same year;  "~V"  V or later in the same month.
class VersionConstraint {
 public:
  static std::optional<VersionConstraint> Parse(std::string_view text);

  bool Allows(const Version& version) const;
  const std::string& text() const { return text_; }

 private:
  enum class Operator { kAny, kEqual, kAtLeast, kAbove, kAtMost, kBelow, kSameYear, kSameMonth };
  Operator operator_ = Operator::kAny;
  Version bound_;
  std::string text_;
};

// "name" or "name@version", as typed on the command line.
struct ExtensionReference {
  ExtensionName name;
  std::optional<Version> version;
};

// "name" or "name@constraint", as in a manifest.
struct Dependency {
  ExtensionName name;
  VersionConstraint constraint;
  std::string text;
};
std::optional<Dependency> ParseDependency(std::string_view text);

// These check by grammar alone, before anything is looked up. Throw UserError
// extension_reference_invalid.
ExtensionName RequireExtensionName(std::string_view text);
ExtensionReference RequireExtensionReference(std::string_view text);
Channel RequireChannel(std::string_view text);

// The version to publish next: `today` ("2026.12.01") with number 1, or, when there is a published
// version of today or later, the highest one's date with one more.
Version NextVersion(std::string_view today, const std::vector<Version>& published);

}  // namespace swamp
