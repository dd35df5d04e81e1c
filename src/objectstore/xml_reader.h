#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace swamp {

// Reads an XML document of a server's answer and calls `element` at the end of each element that
// holds no others, with its path ("Error/Code") and its text; elements that hold others are told
// likewise at their end, with an empty text. Namespaces and attributes are passed over. A document
// type, and with it every entity but the five that XML has, is refused, as is nesting deeper
// than 16.
//
// Answers why it is no such document; empty: it is one, and all of it was read.
std::string ReadXml(
    std::string_view xml,
    const std::function<void(std::string_view path, std::string_view text)>& element);

// The texts by path, the first of each; empty when it is no XML document.
std::map<std::string, std::string> XmlTexts(std::string_view xml);

}  // namespace swamp
