#include "model/expressions_secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace swamp {

SecretTokens::~SecretTokens() {
  for (const auto& secret : secrets_) explicit_bzero(secret->value.data(), secret->value.size());
}

const SecretTokens::Secret* SecretTokens::Find(const std::string& vault, const std::string& key) const {
  for (const auto& secret : secrets_) {
    if (secret->vault == vault && secret->key == key) return secret.get();
  }
  return nullptr;
}

const SecretTokens::Secret& SecretTokens::Add(std::string vault, std::string key, std::string value) {
  if (const Secret* known = Find(vault, key)) return *known;
  std::string token = fmt::format("__SWAMP_VSEC_{}_{}__", mark_, secrets_.size());
  secrets_.push_back(
      std::make_unique<Secret>(Secret{std::move(token), std::move(vault), std::move(key), std::move(value)}));
  return *secrets_.back();
}

std::vector<const SecretTokens::Secret*> SecretTokens::All() const {
  std::vector<const Secret*> all;
  for (const auto& secret : secrets_) all.push_back(secret.get());
  return all;
}

std::vector<SecretTokens::Place> SecretTokens::FindIn(std::string_view text) const {
  std::vector<Place> places;
  for (const auto& secret : secrets_) {
    const std::string& token = secret->token;
    for (std::size_t at = text.find(token); at != std::string_view::npos; at = text.find(token, at + token.size())) {
      places.push_back({at, at + token.size(), secret.get()});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  return places;
}

bool SecretTokens::AnyIn(const Json& value) const {
  if (value.is_string()) return !FindIn(value.get_ref<const std::string&>()).empty();
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (!FindIn(key).empty() || AnyIn(member)) return true;
    }
    return false;
  }
  return value.is_array() && std::any_of(value.begin(), value.end(), [this](const Json& item) { return AnyIn(item); });
}

std::string SecretTokens::Reveal(std::string_view text) const {
  std::string revealed;
  std::size_t copied = 0;
  for (const Place& place : FindIn(text)) {
    revealed += text.substr(copied, place.begin - copied);
    revealed += place.secret->value;
    copied = place.end;
  }
  return revealed += text.substr(copied);
}

Json SecretTokens::Reveal(const Json& value) const {
  if (value.is_string()) return Reveal(std::string_view(value.get_ref<const std::string&>()));
  Json revealed = value;
  if (value.is_object()) {
    revealed = Json::object();
    for (const auto& [key, member] : value.items()) revealed[Reveal(std::string_view(key))] = Reveal(member);
  } else if (value.is_array()) {
    for (Json& item : revealed) item = Reveal(item);
  }
  return revealed;
}

}  // namespace swamp
