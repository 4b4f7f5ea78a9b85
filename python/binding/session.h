// What calls share: the catalog, and the prices of the scenarios that were asked for last.
#pragma once

#include <pybind11/pybind11.h>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments.h"
#include "catalog/catalog.h"
#include "estimate/kept_prices.h"
#include "estimate/spec.h"
#include "estimate/uncertainty.h"
#include "report/plans/plan_text.h"

namespace orrery::python {

// A question that was understood: what a prediction needs of it.
struct Understood {
  std::shared_ptr<PricedScenario> priced;
  Plan plan;
  std::vector<std::string> defaults;
  Subject subject;
};

class Session {
 public:
  // `folder`: a catalog in place of the built-in one; empty: none. 0 threads: one a core.
  Session(const std::string& folder, int threads);

  pybind11::object estimate(pybind11::handle model, pybind11::dict arguments);
  pybind11::object compare(pybind11::handle models, pybind11::dict arguments);
  pybind11::object search(pybind11::handle model, pybind11::dict arguments);
  pybind11::object forecast(pybind11::handle model, pybind11::dict arguments);
  pybind11::object schedule(const std::string& name, pybind11::dict arguments);
  pybind11::object catalog(const std::optional<std::string>& kind,
                           const std::optional<std::string>& name);

  [[nodiscard]] const Catalog& entries() const { return catalog_; }
  [[nodiscard]] int threads() const { return threads_; }

 private:
  Result<Spec> specified(const Asked& asked) const;
  // Remembers the questions that were asked last, of files that have not changed since.
  std::shared_ptr<const Understood> understood(const Asked& asked);
  Result<const Uncertainty*> errors();

  Catalog catalog_;
  int threads_;
  KeptPrices prices_{catalog_};
  std::mutex mutex_;
  std::optional<Uncertainty> errors_;
  // What is remembered of a question, without the prices: those stay as long as prices_ keeps them.
  struct Remembered {
    Understood without_prices;
    std::weak_ptr<PricedScenario> priced;
  };
  std::list<std::pair<std::string, Remembered>> last_;  // latest first
  std::unordered_map<std::string_view, decltype(last_)::iterator> by_question_;
};

void define_session(pybind11::module_& module);
void define_recording(pybind11::module_& module);  // recording.cc

}  // namespace orrery::python
