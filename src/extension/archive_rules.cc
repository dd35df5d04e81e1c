#include "extension/archive_rules.h"

#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

#include "extension/characters.h"
#include "extension/extension_kind.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLongLine = 500;  // characters
constexpr std::size_t kLongBase64 = 100;

std::string_view FileNameOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool HasSourceEnding(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kEndings = {".ts",   ".json", ".md",
                                                               ".yaml", ".yml",  ".txt"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return AsciiLower(name).ends_with(ending); });
}

// "LICENSE", "COPYING.LESSER", "NOTICE-3rd-party": the usual word, alone or followed by something.
bool IsLegalFile(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "license", "licence", "copying", "copyright", "notice", "patents", "unlicense", "authors"};
  const std::string lower = AsciiLower(name);
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return lower.starts_with(word) &&
           (lower.size() == word.size() || lower[word.size()] == '.' || lower[word.size()] == '-');
  });
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

bool IsBase64Character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

std::size_t LineOf(std::string_view content, std::size_t at) {
  return static_cast<std::size_t>(
             std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         1;
}

// Where the words stand, as whole words with blanks between them and a "(" behind; npos: nowhere.
std::size_t FindCall(std::string_view content, std::string_view first,
                     std::string_view second = {}) {
  const auto skip_blanks = [&](std::size_t at) {
    return std::min(content.find_first_not_of(" \t\r\n", at), content.size());
  };
  for (std::size_t at = content.find(first); at != std::string_view::npos;
       at = content.find(first, at + 1)) {
    if (at > 0 && IsWordCharacter(content[at - 1])) continue;
    std::size_t end = at + first.size();
    if (!second.empty()) {
      const std::size_t next = skip_blanks(end);
      if (next == end || !content.substr(next).starts_with(second)) continue;
      end = next + second.size();
    }
    end = skip_blanks(end);
    if (end < content.size() && content[end] == '(') return at;
  }
  return std::string_view::npos;
}

// The first line with more than kLongLine visible characters; 0: none.
std::size_t FirstLongLine(std::string_view content) {
  std::size_t number = 1;
  for (const std::string& line : Split(content, '\n')) {
    if (line.size() > kLongLine && CountCharacters(Trim(line)) > kLongLine) return number;
    ++number;
  }
  return 0;
}

std::size_t FindLongBase64(std::string_view content) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    run = IsBase64Character(content[i]) ? run + 1 : 0;
    if (run == kLongBase64) return i + 1 - run;
  }
  return std::string_view::npos;
}

void AppendUtf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kLead = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLead[static_cast<std::size_t>(more)] | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

}  // namespace

void RequireArchiveSize(std::uint64_t bytes) {
  constexpr std::uint64_t kLimit = ArchiveLimits{}.archive_bytes;
  if (bytes <= kLimit) return;
  throw UserError("archive_invalid", fmt::format("the archive has more than {} bytes", kLimit));
}

std::optional<std::string> WhyForbiddenFile(std::string_view path) {
  for (const std::string& segment : Split(path, '/')) {
    if (segment.starts_with('.')) return "hidden files are not allowed";
  }
  const ExtensionKindInfo* kind = KindOfFolder(path.substr(0, path.find('/')));
  if (kind == nullptr || !kind->has_sources) return std::nullopt;
  const std::string_view name = FileNameOf(path);
  if (HasSourceEnding(name) || IsLegalFile(name)) return std::nullopt;
  return fmt::format("in {}/ only .ts, .json, .md, .yaml, .yml, .txt and legal files are allowed",
                     kind->folder);
}

bool IsSystemClutter(std::string_view path) {
  const std::vector<std::string> segments = Split(path, '/');
  const std::string name = AsciiLower(segments.back());
  return name == ".ds_store" || name == "thumbs.db" || name == "desktop.ini" ||
         name.starts_with("._") ||
         std::find(segments.begin(), segments.end(), "__MACOSX") != segments.end();
}

std::string FoldCase(std::string_view path) {
  if (std::all_of(path.begin(), path.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return AsciiLower(path);
  }
  // Not the process's locale, which may know ASCII only. One per call: rare enough, and no global
  // state.
  const std::unique_ptr<std::remove_pointer_t<locale_t>, void (*)(locale_t)> locale(
      ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr), ::freelocale);
  if (!locale || !IsValidUtf8(path)) return AsciiLower(path);
  std::string folded;
  for (std::size_t i = 0; i < path.size();) {
    const auto lead = static_cast<unsigned char>(path[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k)
      c = (c << 6) | (static_cast<unsigned char>(path[i + k]) & 0x3fU);
    // Up and down again, so that letters with several lower-case forms meet.
    AppendUtf8(folded, static_cast<std::uint32_t>(::towlower_l(
                           ::towupper_l(static_cast<wint_t>(c), locale.get()), locale.get())));
    i += length;
  }
  return folded;
}

std::optional<std::string> PathSet::AddFile(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != std::string_view::npos) {
    if (auto why = AddFolder(path.substr(0, slash))) return why;
  }
  const auto [found, added] = folded_.emplace(FoldCase(path), Kind::kFile);
  if (added) return std::nullopt;
  return found->second == Kind::kFile ? "there is another file of that name, case ignored"
                                      : "there is a folder of that name";
}

std::optional<std::string> PathSet::AddFolder(std::string_view path) {
  const std::string folded = FoldCase(path);
  for (std::size_t end = folded.find('/');; end = folded.find('/', end + 1)) {
    const auto [found, added] = folded_.emplace(folded.substr(0, end), Kind::kFolder);
    if (!added && found->second == Kind::kFile) return "there is a file where its folder would be";
    if (end == std::string::npos) return std::nullopt;
  }
}

SourceFindings InspectTypeScript(std::string_view path, std::string_view content) {
  SourceFindings findings;
  for (const auto& [first, second] :
       {std::pair<std::string_view, std::string_view>{"eval", ""}, {"new", "Function"}}) {
    const std::size_t at = FindCall(content, first, second);
    if (at == std::string_view::npos) continue;
    findings.refusal = fmt::format("line {} calls {}{}{}(", LineOf(content, at), first,
                                   second.empty() ? "" : " ", second);
    return findings;
  }
  const auto warn = [&](std::size_t line, std::string_view what) {
    findings.warnings.push_back(fmt::format("{}, line {}: {}", Printable(path), line, what));
  };
  if (const std::size_t line = FirstLongLine(content); line != 0) {
    warn(line, fmt::format("more than {} characters", kLongLine));
  }
  if (const std::size_t at = FindLongBase64(content); at != std::string_view::npos) {
    warn(LineOf(content, at), "a long run of base64");
  }
  if (const std::size_t at = FindCall(content, "Deno.Command"); at != std::string_view::npos) {
    warn(LineOf(content, at), "starts other programs (Deno.Command)");
  }
  return findings;
}

}  // namespace swamp
