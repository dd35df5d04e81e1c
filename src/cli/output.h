#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/clock.h"
#include "util/json.h"
#include "util/log.h"

namespace swamp {

// What a command answers: one JSON document for machines, text for people.
struct Rendered {
  Json json;
  std::string text;  // with its final newline, or empty
};

struct OutputOptions {
  bool json = false;
  LogLevel level = LogLevel::kInfo;
  bool no_color = false;
};

// What of the options has to be known before the command line is parsed, so that even its errors have the right form.
OutputOptions OutputOptionsOf(const std::vector<std::string>& arguments);

// Whether the stream is a terminal whose colours may be used (NO_COLOR and TERM=dumb say no).
bool IsTerminal(int descriptor);
bool UsesColor(int descriptor, bool no_color);

// Writes results to standard output and everything else to standard error. With --json, log lines are off;
// warnings are collected and go into the document, or the error object, as `warnings`.
class Output final : public Log {
 public:
  Output(Clock& clock, const OutputOptions& options);

  void Write(LogLevel level, std::string_view category, std::string_view message) override;

  // Prints the result. Throws UserError output_failed when standard output can't take it; a reader that
  // has gone away ends the program quietly (exit 141, as SIGPIPE would).
  void Print(const Rendered& result);
  // One event of --json-stream, which stands for --json: a line of JSON.
  void PrintLine(const Json& event);
  // The document with the warnings that there have been, as Print would give it.
  Json WithWarnings(Json document) const;
  // Bytes as they are: scripts, values.
  void PrintRaw(std::string_view bytes);
  // Text for people beside the result: previews before a question. Not with --json.
  void PrintNote(std::string_view text);
  // The error that ends the command; `extra` keys go into the JSON object.
  void PrintError(std::string_view code, std::string_view message, std::string_view hint,
                  const Json& extra = Json::object());

  const OutputOptions& options() const { return options_; }
  void set_level(LogLevel level) { options_.level = level; }
  bool color_on_stdout() const { return color_out_; }

 private:
  Clock& clock_;
  OutputOptions options_;
  bool color_out_;
  bool color_err_;
  bool terminal_err_;
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace swamp
