#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/digest.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

struct NamedScope {
  std::string_view name;
  ReportScope scope;
};
constexpr std::array<NamedScope, 3> kScopes = {
    {{"method", ReportScope::kMethod}, {"model", ReportScope::kModel}, {"workflow", ReportScope::kWorkflow}}};

constexpr std::size_t kLongestName = 150;  // leaves room for what stands around it in a data name

std::string_view WithoutAt(std::string_view name) { return name.starts_with('@') ? name.substr(1) : name; }

}  // namespace

std::string NameOf(ReportScope scope) {
  for (const NamedScope& one : kScopes) {
    if (one.scope == scope) return std::string(one.name);
  }
  return {};
}

std::optional<ReportScope> FindReportScope(std::string_view name) {
  for (const NamedScope& one : kScopes) {
    if (one.name == name) return one.scope;
  }
  return std::nullopt;
}

bool IsSameReport(std::string_view a, std::string_view b) { return WithoutAt(a) == WithoutAt(b); }

std::string ReportDataName(std::string_view report) {
  std::string name(report);
  std::erase(name, '@');
  for (char& c : name) {
    if (c == '/' || c == '\\') c = '-';
  }
  const bool fits = name.size() <= kLongestName && name.find("..") == std::string::npos &&
                    std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!fits) {
    for (char& c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '-';
    }
    name = name.substr(0, kLongestName - 17) + "-" + Sha256Hex(report).substr(0, 16);
  }
  return "report-" + name;
}

void Reports::Add(Report report) {
  if (Find(report.name) != nullptr) {
    throw UserError("report_invalid", fmt::format("there is a report {} already", report.name));
  }
  reports_.push_back(std::make_unique<Report>(std::move(report)));
}

const Report* Reports::Find(std::string_view name) const {
  for (const auto& report : reports_) {
    if (IsSameReport(report->name, name)) return report.get();
  }
  return nullptr;
}

const Report& Reports::Require(std::string_view name) const {
  if (const Report* report = Find(name)) return *report;
  std::vector<std::string> names;
  for (const Report* one : All()) names.push_back(one->name);
  const auto near = NearestWords(name, names);
  throw UserError("report_not_found", fmt::format("there is no report \"{}\" here", Printable(name, 80)),
                  fmt::format("{}`swamp report list` lists those that there are.",
                              near.empty() ? std::string() : "Did you mean " + near.front() + "? "));
}

std::vector<const Report*> Reports::All() const {
  std::vector<const Report*> all;
  for (const auto& report : reports_) all.push_back(report.get());
  std::sort(all.begin(), all.end(), [](const Report* a, const Report* b) { return a->name < b->name; });
  return all;
}

}  // namespace swamp
