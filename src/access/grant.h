#pragma once

#include <optional>
#include <string>
#include <vector>

#include "access/principal.h"
#include "model/records.h"

namespace swamp {

enum class Effect { kAllow, kDeny };
std::string NameOf(Effect effect);

// What somebody wants a grant to say.
struct GrantTerms {
  Subject subject;
  Effect effect = Effect::kAllow;
  std::vector<std::string> actions;  // sorted, each once
  Resource resource;
  std::optional<std::string> condition;  // CEL: see decide.h
  bool operator==(const GrantTerms&) const = default;

  // What a set of terms is known by.
  std::string Fingerprint() const;
};

// "read, write" -> its actions. Throws UserError validation_failed.
std::vector<std::string> ParseActions(const std::string& list);
// Sorted, each once.
std::vector<std::string> NormalizeActions(std::vector<std::string> actions);

// A rule: the record of a model of type swamp/grant.
struct Grant {
  std::string id;  // uuid
  GrantTerms terms;
  bool active = true;  // else revoked
  std::string source;  // "method"; "file:<name>"; "config"
  Principal created_by;
  std::string created_at;

  Json ToJson() const;
  // Throws UserError record_invalid naming `what`.
  static Grant Parse(const Json& json, const std::string& what);
};

struct StoredGrant {
  Grant grant;
  std::string model_name;  // "grant-1a2b3c4d"
};

// The grants of a repository. Changes are made as Records::Change makes them, and throw what it does.
class Grants {
 public:
  Grants(const Context& context, const RecordServices& services);

  // By time. Those that can't be read are left out with a warning, or throw record_invalid.
  std::vector<StoredGrant> All(Records::Broken broken = Records::Broken::kAreLeftOut);
  // By its id, a beginning of it of at least 4 characters, or its model's name. Throws grant_not_found, ambiguous_id.
  StoredGrant Require(const std::string& reference);

  // Throws validation_failed (the condition).
  RecordChange Create(const GrantTerms& terms);
  // One of a file: of several who create the same at once, all get one.
  RecordChange CreateFromFile(const GrantTerms& terms, const std::string& source);
  // One that is revoked already stays as it is.
  RecordChange Revoke(const StoredGrant& grant);

 private:
  Json NewGrant(const GrantTerms& terms, const std::string& source) const;

  const Context& context_;
  Records records_;
};

}  // namespace swamp
