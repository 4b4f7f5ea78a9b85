#include "forecast/variability.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace orrery {
namespace {

// Above, a factor that is normal would often be below 0.
constexpr double kMostTemporal = 0.5;
// Far above any measured one: with it a collective in a thousand takes 37 times the mean.
constexpr double kMostSpread = 5;

struct NamedNumber {
  std::string_view key;
  double* value;
  double most;
};

std::array<NamedNumber, 9> numbers_of(Variability& v) {
  return {{{"products.spatial", &v.products.spatial, kMostSpread},
           {"products.temporal", &v.products.temporal, kMostTemporal},
           {"attention.spatial", &v.attention.spatial, kMostSpread},
           {"attention.temporal", &v.attention.temporal, kMostTemporal},
           {"memory_bound.spatial", &v.memory_bound.spatial, kMostSpread},
           {"memory_bound.temporal", &v.memory_bound.temporal, kMostTemporal},
           {"communication.within_node", &v.communication.within_node, kMostSpread},
           {"communication.between_nodes", &v.communication.between_nodes, kMostSpread},
           {"communication.correlation", &v.communication.correlation, 1}}};
}

}  // namespace

const Fields<KernelSpread>& fields_of(const KernelSpread*) {
  static const Fields<KernelSpread> table =
      Fields<KernelSpread>("spread of kernels")
          .required<&KernelSpread::spatial>(
              "coefficient of variation from one accelerator to another")
          .required<&KernelSpread::temporal>(
              "coefficient of variation of one accelerator, from pass to pass");
  return table;
}

const Fields<CommunicationSpread>& fields_of(const CommunicationSpread*) {
  static const Fields<CommunicationSpread> table =
      Fields<CommunicationSpread>("spread of communication")
          .required<&CommunicationSpread::within_node>(
              "coefficient of variation in groups that stay within a node")
          .required<&CommunicationSpread::between_nodes>(
              "coefficient of variation in groups that do not")
          .required<&CommunicationSpread::correlation>(
              "share of the variance that all communication of a step has in common");
  return table;
}

const Fields<Variability>& fields_of(const Variability*) {
  static const Fields<Variability> table =
      Fields<Variability>("variability")
          .required<&Variability::name>("identifier")
          .required<&Variability::title>("which machines")
          .required<&Variability::products>("matrix products")
          .required<&Variability::attention>("attention kernels")
          .required<&Variability::memory_bound>("all other kernels")
          .required<&Variability::communication>("collectives and transfers")
          .required<&Variability::provenance>("where the figures come from");
  return table;
}

const KernelSpread& Variability::of(VaryingWork kind) const {
  if (kind == VaryingWork::products) return products;
  return kind == VaryingWork::attention ? attention : memory_bound;
}

Result<void> check(const Variability& variability) {
  Variability copy = variability;
  for (const NamedNumber& n : numbers_of(copy)) {
    if (*n.value >= 0 && *n.value <= n.most) continue;
    const bool share = n.most == 1;
    return fail(ErrorCode::bad_input,
                fmt::format("a {} of {}", share ? "correlation" : "spread", *n.value),
                std::string(n.key),
                share ? std::string("write a share between 0 and 1")
                      : fmt::format("write a coefficient of variation between 0 and {:g}", n.most));
  }
  return {};
}

Result<Variability> load_variability(const Catalog& catalog, std::string_view name) {
  const bool file = name == "-" || name.find('/') != std::string_view::npos ||
                    name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
  ORRERY_TRY(const Document document,
             file ? read_document(std::string(name)) : catalog.find("variability", name));
  ORRERY_TRY(Variability variability, read<Variability>(document));
  if (auto sound = check(variability); !sound) return fail(at(document.name, sound.error()));
  return variability;
}

Result<Variability> with_settings(Variability variability, std::string_view settings) {
  const auto numbers = numbers_of(variability);
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(setting.size() + 1, settings.size()));
    const std::string_view key = setting.substr(0, setting.find('='));
    const auto* const known = std::ranges::find(numbers, key, &NamedNumber::key);
    if (known == numbers.end() || key.size() == setting.size()) {
      std::string keys;
      for (const NamedNumber& n : numbers) keys += (keys.empty() ? "" : ", ") + std::string(n.key);
      return fail(ErrorCode::bad_input, fmt::format("'{}' sets no spread", setting), "",
                  "write KEY=NUMBER,... with " + keys);
    }
    const std::string_view digits = setting.substr(key.size() + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *known->value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return fail(ErrorCode::bad_input, fmt::format("'{}' is not a number", digits),
                  std::string(key));
    }
  }
  ORRERY_RETURN_IF_ERROR(check(variability));
  return variability;
}

}  // namespace orrery
