#include "model/shell_secrets.h"

#include <fmt/format.h>

#include <deque>
#include <vector>

#include "model/expressions_secrets.h"
#include "util/error.h"

namespace swamp {
namespace {

// Where in a shell text one is.
enum class Quoting {
  kNone,          // words
  kDouble,        // "..."
  kSingle,        // '...'
  kSubstitution,  // $(...): words again
  kBackquote,     // `...`
  kBraces,        // ${...} outside double quotes
  kQuotedBraces,  // ${...} within them
  kArithmetic,    // $((...))
  kComment,
  kDocument,         // a here-document that is expanded
  kLiteralDocument,  // one that is not
};

struct HereDocument {
  std::string delimiter;
  bool literal = false;
  bool strips_tabs = false;
};

// Walks through a shell text and knows at each place how it is quoted.
class ShellReader {
 public:
  explicit ShellReader(const std::string& text) : text_(text) {}

  // Goes on to `end`.
  void AdvanceTo(std::size_t end) {
    while (at_ < end) Step();
  }
  // Passes over something that is a part of a word.
  void Skip(std::size_t count) {
    at_ += count;
    word_begins_ = false;
    escaped_ = false;
  }
  Quoting quoting() const { return stack_.back(); }
  // Whether the next character has a backslash before it that takes its meaning away.
  bool escaped() const { return escaped_; }

 private:
  char Next(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool IsWords() const {
    return quoting() == Quoting::kNone || quoting() == Quoting::kSubstitution || quoting() == Quoting::kBackquote ||
           quoting() == Quoting::kBraces;
  }

  void Step() {
    if (at_ >= text_.size()) return void(++at_);
    const char c = text_[at_];
    if (escaped_) {
      escaped_ = false;
      word_begins_ = false;
      ++at_;
      return;
    }
    switch (quoting()) {
      case Quoting::kSingle:
        if (c == '\'') stack_.pop_back();
        ++at_;
        return;
      case Quoting::kComment:
        if (c == '\n') {
          stack_.pop_back();
          return;  // the line's end counts for what is around the comment
        }
        ++at_;
        return;
      case Quoting::kLiteralDocument:
      case Quoting::kDocument:
        if (AtLineStart() && EndsDocument()) return;
        break;
      default:
        break;
    }
    if (quoting() == Quoting::kLiteralDocument) return void(++at_);
    if (c == '\\') {
      escaped_ = true;
      ++at_;
      return;
    }
    if (c == '$' && Next() == '(' && Next(2) == '(') return Push(Quoting::kArithmetic, 3);
    if (c == '$' && Next() == '(') return Push(Quoting::kSubstitution, 2);
    if (c == '$' && Next() == '{') {
      const bool quoted = quoting() == Quoting::kDouble || quoting() == Quoting::kQuotedBraces ||
                          quoting() == Quoting::kDocument;
      return Push(quoted ? Quoting::kQuotedBraces : Quoting::kBraces, 2);
    }
    if (c == '`') {
      if (quoting() == Quoting::kBackquote) return Pop(1);
      return Push(Quoting::kBackquote, 1);
    }
    if (c == '"' && quoting() == Quoting::kDouble) return Pop(1);
    if (c == '"' && (IsWords() || quoting() == Quoting::kQuotedBraces)) return Push(Quoting::kDouble, 1);
    if (c == '\'' && IsWords()) return Push(Quoting::kSingle, 1);
    if (c == ')' && quoting() == Quoting::kArithmetic && Next() == ')') return Pop(2);
    if (c == ')' && quoting() == Quoting::kSubstitution) return Pop(1);
    if (c == '}' && (quoting() == Quoting::kBraces || quoting() == Quoting::kQuotedBraces)) return Pop(1);
    if (IsWords() && quoting() != Quoting::kBraces) {
      if (c == '#' && word_begins_) return Push(Quoting::kComment, 1);
      if (c == '<' && Next() == '<' && Next(2) != '<') return ReadRedirection();
      if (c == '\n') return EndLine();
      word_begins_ = c == ' ' || c == '\t' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')';
    }
    ++at_;
  }

  void Push(Quoting quoting, std::size_t length) {
    stack_.push_back(quoting);
    at_ += length;
    word_begins_ = quoting == Quoting::kSubstitution || quoting == Quoting::kBackquote;
  }
  void Pop(std::size_t length) {
    stack_.pop_back();
    at_ += length;
    word_begins_ = false;
  }

  // "<<WORD", "<<-'WORD'".
  void ReadRedirection() {
    at_ += 2;
    HereDocument document;
    if (at_ < text_.size() && text_[at_] == '-') {
      document.strips_tabs = true;
      ++at_;
    }
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    char quote = '\0';
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != '\0') {
        if (c == quote) {
          quote = '\0';
        } else {
          document.delimiter += c;
        }
      } else if (c == '\'' || c == '"') {
        quote = c;
        document.literal = true;
      } else if (c == '\\') {
        document.literal = true;
        if (at_ + 1 < text_.size()) document.delimiter += text_[++at_];
      } else if (c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
                 c == '(' || c == ')') {
        break;
      } else {
        document.delimiter += c;
      }
    }
    if (!document.delimiter.empty()) documents_.push_back(std::move(document));
    word_begins_ = false;
  }

  void EndLine() {
    ++at_;
    word_begins_ = true;
    if (!documents_.empty()) BeginDocument();
  }
  void BeginDocument() {
    stack_.push_back(documents_.front().literal ? Quoting::kLiteralDocument : Quoting::kDocument);
  }
  bool AtLineStart() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  // Passes over the delimiter's line, if this is it.
  bool EndsDocument() {
    const HereDocument& document = documents_.front();
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = std::string_view(text_).substr(at_, end - at_);
    if (document.strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line != document.delimiter) return false;
    documents_.pop_front();
    stack_.pop_back();
    at_ = std::min(end + 1, text_.size());
    word_begins_ = true;
    if (!documents_.empty()) BeginDocument();
    return true;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<Quoting> stack_ = {Quoting::kNone};
  std::deque<HereDocument> documents_;  // begun on this line or being read
  bool word_begins_ = true;
  bool escaped_ = false;
};

UserError CannotPlace(const SecretTokens::Secret& secret, const char* where) {
  return {"validation_failed",
          fmt::format("the secret {} of the vault {} stands {} in `run`, where the shell puts nothing in", secret.key,
                      secret.vault, where),
          "Use double quotes: the value reaches the shell as it is, whatever characters it has."};
}

}  // namespace

ShellCommand PlaceSecrets(const std::string& run, const SecretTokens& secrets) {
  ShellCommand command;
  std::map<const SecretTokens::Secret*, std::string> names;
  ShellReader reader(run);
  std::size_t copied = 0;
  for (const SecretTokens::Place& place : secrets.FindIn(run)) {
    reader.AdvanceTo(place.begin);
    command.text.append(run, copied, place.begin - copied);
    std::string& name = names[place.secret];
    if (name.empty()) {
      name = fmt::format("__SWAMP_VAULT_{}", names.size());
      command.variables[name] = place.secret->value;
    }
    // A backslash before it would take away the meaning of the quote.
    if (reader.escaped()) command.text.pop_back();
    switch (reader.quoting()) {
      case Quoting::kSingle:
        throw CannotPlace(*place.secret, "within single quotes");
      case Quoting::kLiteralDocument:
        throw CannotPlace(*place.secret, "in a here-document with a quoted delimiter");
      case Quoting::kNone:
      case Quoting::kSubstitution:
      case Quoting::kBackquote:
      case Quoting::kBraces:
        command.text += "\"${" + name + "}\"";
        break;
      default:
        command.text += "${" + name + "}";
    }
    reader.Skip(place.end - place.begin);
    copied = place.end;
  }
  command.text.append(run, copied);
  return command;
}

}  // namespace swamp
