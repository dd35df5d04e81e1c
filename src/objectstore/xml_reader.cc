#include "objectstore/xml_reader.h"

#include <expat.h>
#include <fmt/format.h>

#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace swamp {
namespace {

constexpr std::size_t kMaxDepth = 16;

class Reader {
 public:
  Reader(XML_Parser parser,
         const std::function<void(std::string_view path, std::string_view text)>& element)
      : parser_(parser), element_(element) {}

  std::string Read(std::string_view xml) {
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, OnStart, OnEnd);
    XML_SetCharacterDataHandler(parser_, OnText);
    XML_SetStartDoctypeDeclHandler(parser_, OnDoctype);
    if (xml.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return "it is too long";
    const XML_Status status =
        XML_Parse(parser_, xml.data(), static_cast<int>(xml.size()), XML_TRUE);
    if (failure_) std::rethrow_exception(failure_);
    if (!problem_.empty()) return problem_;
    if (status == XML_STATUS_OK) return {};
    return fmt::format("{} in line {}", XML_ErrorString(XML_GetErrorCode(parser_)),
                       XML_GetCurrentLineNumber(parser_));
  }

 private:
  static void XMLCALL OnStart(void* self, const XML_Char* name, const XML_Char**) {
    static_cast<Reader*>(self)->Guarded([&](Reader& reader) { reader.Start(name); });
  }
  static void XMLCALL OnEnd(void* self, const XML_Char*) {
    static_cast<Reader*>(self)->Guarded([](Reader& reader) { reader.End(); });
  }
  static void XMLCALL OnText(void* self, const XML_Char* text, int size) {
    static_cast<Reader*>(self)->Guarded(
        [&](Reader& reader) { reader.text_.append(text, static_cast<std::size_t>(size)); });
  }
  static void XMLCALL OnDoctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*,
                                int) {
    static_cast<Reader*>(self)->Stop("it has a document type");
  }

  // An exception must not pass through the C library.
  template <typename Work>
  void Guarded(const Work& work) {
    try {
      work(*this);
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_, XML_FALSE);
    }
  }

  void Stop(std::string problem) {
    problem_ = std::move(problem);
    XML_StopParser(parser_, XML_FALSE);
  }

  void Start(const char* name) {
    if (starts_.size() == kMaxDepth) return Stop("it is nested too deeply");
    starts_.push_back(path_.size());
    if (!path_.empty()) path_ += '/';
    path_ += name;
    text_.clear();
    is_leaf_ = true;
  }

  void End() {
    element_(path_, is_leaf_ ? std::string_view(text_) : std::string_view());
    path_.resize(starts_.back());
    starts_.pop_back();
    is_leaf_ = false;
  }

  XML_Parser parser_;
  const std::function<void(std::string_view, std::string_view)>& element_;
  std::string path_;
  std::vector<std::size_t> starts_;  // where the name of each open element begins in path_
  std::string text_;
  bool is_leaf_ = false;
  std::string problem_;
  std::exception_ptr failure_;
};

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

}  // namespace

std::string ReadXml(
    std::string_view xml,
    const std::function<void(std::string_view path, std::string_view text)>& element) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser(
      XML_ParserCreate(nullptr));
  if (!parser) throw std::bad_alloc();
  return Reader(parser.get(), element).Read(xml);
}

std::map<std::string, std::string> XmlTexts(std::string_view xml) {
  std::map<std::string, std::string> texts;
  const std::string problem = ReadXml(
      xml, [&](std::string_view path, std::string_view text) { texts.emplace(path, text); });
  if (!problem.empty()) texts.clear();
  return texts;
}

}  // namespace swamp
