#include "vault/secret_forms.h"

#include <algorithm>

#include "util/digest.h"
#include "util/json.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kShortest = 3;
constexpr std::size_t kShortestPart = 4;   // of base64: three characters would match by chance too often
constexpr std::size_t kShortestLine = 8;   // characters

void Add(std::vector<std::string>& forms, std::string form, std::size_t at_least = kShortest) {
  if (form.size() >= at_least) forms.push_back(std::move(form));
}

void AddJsonForms(std::vector<std::string>& forms, std::string_view secret) {
  for (const bool ascii : {false, true}) {
    const std::string quoted = Json(secret).dump(-1, ' ', ascii, Json::error_handler_t::replace);
    const std::string text = quoted.substr(1, quoted.size() - 2);
    Add(forms, ReplaceAll(text, "/", "\\/"));
    // As Go and others do, for text inside HTML.
    Add(forms, ReplaceAll(ReplaceAll(ReplaceAll(text, "<", "\\u003c"), ">", "\\u003e"), "&", "\\u0026"));
    Add(forms, text);
  }
}

std::string Wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); i += width) {
    if (i != 0) lines += '\n';
    lines += text.substr(i, width);
  }
  return lines;
}

std::string UrlAlphabet(std::string text) { return ReplaceAll(ReplaceAll(std::move(text), "+", "-"), "/", "_"); }

// What stands in the base64 of any text that holds the secret: the characters of which every bit is the secret's.
void AddBase64Forms(std::vector<std::string>& forms, std::string_view secret) {
  const auto add = [&](const std::string& text) {
    Add(forms, text, kShortestPart);
    Add(forms, UrlAlphabet(text), kShortestPart);
  };
  const std::string whole = Base64Encode(secret);
  add(whole);
  for (const std::size_t width : {64U, 76U}) {
    if (whole.size() > width) add(Wrapped(whole, width));
  }
  constexpr std::size_t kMixed[] = {0, 2, 3};  // characters that hold bits of what stands before
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string text = Base64Encode(std::string(before, '\0') + std::string(secret));
    const std::size_t full = 8 * (before + secret.size()) / 6;
    if (full <= kMixed[before]) continue;
    const std::string part = text.substr(kMixed[before], full - kMixed[before]);
    add(part);
    if (before == 0) {
      for (const std::size_t width : {64U, 76U}) {
        if (part.size() > width) add(Wrapped(part, width));
      }
    }
  }
}

std::string LowerHex(std::string text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '%') continue;
    for (const std::size_t j : {i + 1, i + 2}) {
      if (text[j] >= 'A' && text[j] <= 'F') text[j] = static_cast<char>(text[j] - 'A' + 'a');
    }
  }
  return text;
}

void AddUrlForms(std::vector<std::string>& forms, std::string_view secret) {
  // RFC 3986; encodeURIComponent; a path; encodeURI.
  for (const std::string_view keep : {"", "!'()*", "/", ";,/?:@&=+$#!'()*"}) {
    const std::string text = PercentEncode(secret, keep);
    Add(forms, LowerHex(text));
    Add(forms, ReplaceAll(text, "%20", "+"));  // a form's
    Add(forms, text);
  }
}

std::string Backslashed(std::string_view secret, std::string_view special) {
  std::string text;
  for (const char c : secret) {
    if (special.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

void AddShellForms(std::vector<std::string>& forms, std::string_view secret) {
  const std::string text(secret);
  Add(forms, ReplaceAll(text, "'", R"('\'')"));
  Add(forms, ReplaceAll(text, "'", R"('"'"')"));
  Add(forms, Backslashed(secret, "\\\"$`"));                                  // inside double quotes
  Add(forms, Backslashed(secret, " \t!\"#$&'()*,;<>?[\\]^`{|}~"));           // printf %q
  Add(forms, Backslashed(secret, " \t!\"#$&'()*;<>?[\\]^`{|}~="));
  // $'...'
  Add(forms, ReplaceAll(ReplaceAll(ReplaceAll(Backslashed(secret, "\\'"), "\n", "\\n"), "\t", "\\t"), "\r", "\\r"));
}

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::vector<std::string> FormsOfSecret(std::string_view secret) {
  std::vector<std::string> forms;
  if (secret.size() < kShortest) return forms;
  forms.emplace_back(secret);
  AddJsonForms(forms, secret);
  AddBase64Forms(forms, secret);
  AddUrlForms(forms, secret);
  AddShellForms(forms, secret);
  // Shells drop the line ends at the end.
  std::string_view trimmed = secret;
  while (trimmed.ends_with('\n') || trimmed.ends_with('\r')) trimmed.remove_suffix(1);
  if (trimmed.size() != secret.size()) {
    for (std::string& form : FormsOfSecret(trimmed)) forms.push_back(std::move(form));
    return forms;
  }
  if (secret.find('\n') == std::string_view::npos) return forms;
  for (const std::string& one : Split(secret, '\n')) {
    std::string_view line = one;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (CountCharacters(line) < kShortestLine) continue;
    forms.emplace_back(line);
    AddJsonForms(forms, line);
  }
  return forms;
}

}  // namespace swamp
