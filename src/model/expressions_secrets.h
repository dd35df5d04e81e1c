#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/random.h"

namespace swamp {

// The secrets of one run. Evaluated values hold a token in the place of each, `__SWAMP_VSEC_<8 hex>_<n>__`, which nobody
// who doesn't have this table can make or guess; whoever starts the method puts the values in at the last moment.
// Used by one thread. The values are wiped at the end.
class SecretTokens {
 public:
  struct Secret {
    std::string token;
    std::string vault;
    std::string key;
    std::string value;
  };

  explicit SecretTokens(Random& random) : mark_(random.Hex(4)) {}
  ~SecretTokens();
  SecretTokens(const SecretTokens&) = delete;

  // The one for this vault and key; null: not read yet.
  const Secret* Find(const std::string& vault, const std::string& key) const;
  const Secret& Add(std::string vault, std::string key, std::string value);
  std::vector<const Secret*> All() const;

  // The tokens in a text, in its order.
  struct Place {
    std::size_t begin;
    std::size_t end;
    const Secret* secret;
  };
  std::vector<Place> FindIn(std::string_view text) const;
  bool AnyIn(const Json& value) const;

  // With the values instead of the tokens, anywhere in it, keys of maps too.
  std::string Reveal(std::string_view text) const;
  Json Reveal(const Json& value) const;

 private:
  std::string mark_;
  std::vector<std::unique_ptr<Secret>> secrets_;
};

}  // namespace swamp
