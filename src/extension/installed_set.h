#pragma once

#include <functional>

#include "extension/lockfile.h"

namespace swamp {

class Context;

// Which extensions the repository uses: the lockfile, wherever it lives and whoever shares it.
class InstalledSet {
 public:
  virtual ~InstalledSet() = default;

  // What this checkout knows now: its copy of the lockfile with its own unpublished changes. No
  // network.
  virtual Lockfile Read(const Context& context) = 0;

  using Decide = std::function<LockfileDelta(const Lockfile& current)>;
  using ApplyLocally = std::function<void(const LockfileDelta&)>;
  // The lockfile transaction: no entry of another checkout is lost. `decide` is given the lockfile
  // fresh from where it is shared and says what to change, or throws to refuse; it is called again
  // when a peer published meanwhile, also after `apply_locally`. `apply_locally` is called once,
  // when the change is on record but not published yet; what it throws ends the transaction with
  // nothing changed. Returns the lockfile as published. Throws managed_lockfile_unavailable
  // (nothing changed) and managed_config_unpublished (changed here, on record, to be published
  // later).
  virtual Lockfile Change(const Context& context, const Decide& decide,
                          const ApplyLocally& apply_locally) = 0;

  // Publishes a change that is on record, if there is one.
  virtual void Republish(const Context& context) = 0;

  // The lockfile fresh from where it is shared, once a change that is on record is published. Throws
  // as Change does.
  Lockfile Refresh(const Context& context) {
    return Change(context, [](const Lockfile&) { return LockfileDelta{}; }, [](const LockfileDelta&) {});
  }
};

}  // namespace swamp
