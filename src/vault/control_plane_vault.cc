#include "vault/control_plane_vault.h"

#include <fmt/format.h>

#include <algorithm>

#include "objectstore/object_store.h"
#include "util/digest.h"
#include "util/random.h"
#include "util/text.h"
#include "vault/cipher.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr const char* kKeyName = "_control/token-secrets/encryption-key";
constexpr std::string_view kValues = "_control/token-secrets/values/";
constexpr std::uint64_t kLimit = 1 << 20;
constexpr int kMaxTries = 100;
constexpr int kVersion = 1;

// One segment of a key in a bucket, and a file's name.
std::string NameOfValue(const std::string& key) { return std::string(kValues) + PercentEncode(key); }

[[noreturn]] void RefuseNotes() {
  throw UserError("vault_unsupported", fmt::format("the vault {} keeps no notes", kControlPlaneVault));
}

}  // namespace

VaultConfig ControlPlaneVaultConfig() {
  return {.id = "00000000-0000-4000-8000-0000746f6b65", .name = kControlPlaneVault, .type = "control_plane", .audit_reads = true};
}

SealedValue SealedValue::Parse(std::string_view text, const std::string& what) {
  const auto damaged = [&](std::string_view why) {
    return UserError("vault_decrypt_failed", fmt::format("{} is damaged: {}", what, why),
                     "Give the token a new secret with `rotate`, or make it anew.");
  };
  const auto json = TryParseJson(text);
  if (!json || !json->is_object()) throw damaged("it is no JSON object");
  if (IntegerMember(*json, "version") != kVersion) throw damaged("it is of a version that this program does not know");
  const auto bytes = [&](const char* name) {
    const auto member = StringMember(*json, name);
    auto decoded = member ? Base64Decode(*member) : std::nullopt;
    if (!decoded) throw damaged(fmt::format("{} is no base64", name));
    return std::move(*decoded);
  };
  SealedValue value{.iv = bytes("iv"), .data = bytes("data")};
  if (value.iv.size() != kGcmIvBytes || value.data.size() < kGcmTagBytes) throw damaged("a part has a wrong length");
  return value;
}

std::string SealedValue::ToJson() const {
  return CompactJson({{"iv", Base64Encode(iv)}, {"data", Base64Encode(data)}, {"version", kVersion}});
}

bool ControlPlaneVault::Supports(VaultAbility ability) const {
  return ability == VaultAbility::kPut || ability == VaultAbility::kList || ability == VaultAbility::kDelete;
}

UserError ControlPlaneVault::KeyMissing() const {
  return {"vault_key_missing",
          fmt::format("the key of the vault {} is gone ({} in {}), though there are secrets under it", kControlPlaneVault, kKeyName,
                      datastore_.Describe()),
          "Bring it back from a backup of the bucket. Without it the secrets cannot be read: delete the folder "
          "_control/token-secrets by hand, then give each token a new secret with `rotate`."};
}

std::optional<AesKey> ControlPlaneVault::ReadKey(ObjectStore& store) {
  auto object = GetBytes(context_, store, kKeyName, kLimit);
  if (!object) return std::nullopt;
  const WipedString bytes(std::move(object->bytes));
  AesKey key;
  if (bytes.text().size() != key.bytes.size()) {
    throw UserError("vault_decrypt_failed",
                    fmt::format("the key of the vault {} ({} in {}) has {} bytes instead of {}", kControlPlaneVault, kKeyName,
                                datastore_.Describe(), bytes.text().size(), key.bytes.size()),
                    "Bring it back from a backup of the bucket.");
  }
  std::copy(bytes.text().begin(), bytes.text().end(), key.bytes.begin());
  return key;
}

AesKey ControlPlaneVault::RequireKey(ObjectStore& store) {
  if (auto key = ReadKey(store)) return *key;
  throw KeyMissing();
}

AesKey ControlPlaneVault::MakeOrReadKey() {
  ObjectStore& store = datastore_.WritableStore(context_);
  if (auto key = ReadKey(store)) return *key;
  // Values are written only under a key that is there.
  if (!ListAll(context_, store, std::string(kValues)).empty()) return RequireKey(store);
  AesKey fresh;
  context_.random().Fill(fresh.bytes);
  std::string bytes(fresh.bytes.begin(), fresh.bytes.end());
  const Body body = Body::FromBytes(std::move(bytes));
  if (store.Put(context_, kKeyName, body, Condition::Absent(), {}).stored()) return fresh;
  return RequireKey(store);
}

std::string ControlPlaneVault::Open(const std::string& key, const std::string& bytes) {
  const std::string what = fmt::format("the secret {} of the vault {}", key, kControlPlaneVault);
  const SealedValue sealed = SealedValue::Parse(bytes, what);
  auto value = AesGcmDecrypt(RequireKey(datastore_.store(context_)), sealed.iv, sealed.data);
  if (!value) {
    throw UserError("vault_decrypt_failed", what + " was written under another key, or has been changed",
                    "Give the token a new secret with `rotate`, or make it anew.");
  }
  return std::move(*value);
}

Body ControlPlaneVault::Seal(const std::string& value) {
  const AesKey aes = MakeOrReadKey();
  std::string iv(kGcmIvBytes, '\0');
  context_.random().Fill({reinterpret_cast<std::uint8_t*>(iv.data()), iv.size()});
  const SealedValue sealed{.iv = iv, .data = AesGcmEncrypt(aes, iv, value)};
  return Body::FromBytes(sealed.ToJson());
}

std::optional<std::string> ControlPlaneVault::Get(const std::string& key) {
  CheckSecretKey(key);
  const auto object = GetBytes(context_, datastore_.store(context_), NameOfValue(key), kLimit);
  if (!object) return std::nullopt;
  return Open(key, object->bytes);
}

void ControlPlaneVault::Put(const std::string& key, const std::string& value, const PutOptions&) {
  CheckSecretKey(key);
  const Body body = Seal(value);
  ObjectStore& store = datastore_.WritableStore(context_);
  for (int i = 0; i < kMaxTries; ++i) {
    const auto there = store.Head(context_, NameOfValue(key));
    const Condition condition = there ? Condition::Matches(there->info.etag) : Condition::Absent();
    if (store.Put(context_, NameOfValue(key), body, condition, {}).stored()) return;
  }
  throw UserError("store_busy", fmt::format("others kept writing the secret {}", key), "Run the command again.");
}

bool ControlPlaneVault::PutNew(const std::string& key, const std::string& value) {
  CheckSecretKey(key);
  ObjectStore& store = datastore_.WritableStore(context_);
  if (store.Head(context_, NameOfValue(key))) return false;
  return store.Put(context_, NameOfValue(key), Seal(value), Condition::Absent(), {}).stored();
}

std::vector<std::string> ControlPlaneVault::List() {
  std::vector<std::string> keys;
  for (const ObjectInfo& object : ListAll(context_, datastore_.store(context_), std::string(kValues))) {
    if (auto key = PercentDecode(std::string_view(object.key).substr(kValues.size()))) keys.push_back(std::move(*key));
  }
  return keys;
}

bool ControlPlaneVault::Delete(const std::string& key) {
  CheckSecretKey(key);
  ObjectStore& store = datastore_.WritableStore(context_);
  for (int i = 0; i < kMaxTries; ++i) {
    const auto there = store.Head(context_, NameOfValue(key));
    if (!there) return false;
    if (store.Delete(context_, NameOfValue(key), there->info.etag) != DeleteOutcome::kRefused) return true;
  }
  throw UserError("store_busy", fmt::format("others kept writing the secret {}", key), "Run the command again.");
}

bool ControlPlaneVault::DeleteIf(const std::string& key, const std::string& value) {
  CheckSecretKey(key);
  ObjectStore& store = datastore_.WritableStore(context_);
  const auto object = GetBytes(context_, store, NameOfValue(key), kLimit);
  if (!object) return false;
  const WipedString there(Open(key, object->bytes));
  return there.text() == value &&
         store.Delete(context_, NameOfValue(key), object->state.info.etag) != DeleteOutcome::kRefused;
}

std::optional<Json> ControlPlaneVault::GetNote(Note, const std::string&) { RefuseNotes(); }
void ControlPlaneVault::PutNote(Note, const std::string&, const Json&) { RefuseNotes(); }
void ControlPlaneVault::DeleteNote(Note, const std::string&) { RefuseNotes(); }

}  // namespace swamp
