#include "forecast/variability.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "forecast/share.h"
#include "outcome/parsed_number.h"

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
  std::optional<TimeLaw>* law = nullptr;  // the form of a spread
};

std::array<NamedNumber, 9> numbers_of(Variability& v) {
  const auto spatial = [](std::string_view key, KernelSpread& s) {
    return NamedNumber{key, &s.spatial, kMostSpread, &s.spatial_law};
  };
  const auto temporal = [](std::string_view key, KernelSpread& s) {
    return NamedNumber{key, &s.temporal, kMostTemporal, &s.temporal_law};
  };
  CommunicationSpread& c = v.communication;
  return {{spatial("products.spatial", v.products),
           temporal("products.temporal", v.products),
           spatial("attention.spatial", v.attention),
           temporal("attention.temporal", v.attention),
           spatial("memory_bound.spatial", v.memory_bound),
           temporal("memory_bound.temporal", v.memory_bound),
           {"communication.within_node", &c.within_node, kMostSpread, &c.within_node_law},
           {"communication.between_nodes", &c.between_nodes, kMostSpread, &c.between_nodes_law},
           {"communication.correlation", &c.correlation, 1}}};
}

}  // namespace

Fields<KernelSpread> fields_of(const KernelSpread*) {
  return Fields<KernelSpread>("spread of kernels")
      .required<&KernelSpread::spatial>("coefficient of variation from one accelerator to another")
      .required<&KernelSpread::temporal>(
          "coefficient of variation of one accelerator, from pass to pass")
      .optional<&KernelSpread::spatial_law>("form of the spatial spread (default: log-normal)")
      .optional<&KernelSpread::temporal_law>("form of the temporal spread (default: normal)");
}

Fields<CommunicationSpread> fields_of(const CommunicationSpread*) {
  return Fields<CommunicationSpread>("spread of communication")
      .required<&CommunicationSpread::within_node>(
          "coefficient of variation in groups that stay within a node")
      .required<&CommunicationSpread::between_nodes>(
          "coefficient of variation in groups that do not")
      .required<&CommunicationSpread::correlation>(
          "share of the variance that all communication of a step has in common")
      .optional<&CommunicationSpread::within_node_law>(
          "form of the spread within a node (default: log-normal)")
      .optional<&CommunicationSpread::between_nodes_law>(
          "form of the spread between nodes (default: log-normal)");
}

Fields<Variability> fields_of(const Variability*) {
  return Fields<Variability>("variability")
      .required<&Variability::name>("identifier")
      .required<&Variability::title>("which machines")
      .required<&Variability::products>("matrix products")
      .required<&Variability::attention>("attention kernels")
      .required<&Variability::memory_bound>("all other kernels")
      .required<&Variability::communication>("collectives and transfers")
      .required<&Variability::provenance>("where the figures come from");
}

const KernelSpread& Variability::of(VaryingWork kind) const {
  if (kind == VaryingWork::products) return products;
  return kind == VaryingWork::attention ? attention : memory_bound;
}

Result<void> check(const Variability& variability) {
  Variability copy = variability;
  for (const NamedNumber& n : numbers_of(copy)) {
    if (n.law != nullptr && *n.law) {
      const TimeLaw& law = **n.law;
      const std::string key = std::string(n.key) + "_law";
      ORRERY_RETURN_IF_ERROR(at(key, check_form(law)));
      if (!(time_at(law, 0.999) > time_at(law, 0.001))) {
        return bad_input("all of its times are alike", key,
                         "leave it out, and write a spread of 0 for what does not vary");
      }
    }
    if (n.most == 1) {
      ORRERY_RETURN_IF_ERROR(check_share(*n.value, std::string(n.key), "correlation"));
      continue;
    }
    if (*n.value >= 0 && *n.value <= n.most) continue;
    return bad_input(fmt::format("a spread of {}", *n.value), std::string(n.key),
                     fmt::format("write a coefficient of variation between 0 and {:g}", n.most));
  }
  return {};
}

Result<Variability> load_variability(const Catalog& catalog, std::string_view name) {
  const bool file = name == "-" || name.find('/') != std::string_view::npos ||
                    name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
  ORRERY_TRY(const Document document,
             file ? read_document(std::string(name)) : catalog.find("variability", name));
  ORRERY_TRY(Variability variability, read<Variability>(document));
  ORRERY_RETURN_IF_ERROR(at(document.name, check(variability)));
  return variability;
}

std::optional<TimeLaw>* law_named(Variability& variability, std::string_view key) {
  const auto numbers = numbers_of(variability);
  const auto* const known = std::ranges::find(numbers, key, &NamedNumber::key);
  return known == numbers.end() ? nullptr : known->law;
}

Result<Variability> with_settings(Variability variability, std::string_view settings) {
  const auto numbers = numbers_of(variability);
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(setting.size() + 1, settings.size()));
    const std::string_view key = setting.substr(0, setting.find('='));
    const auto* const known = std::ranges::find(numbers, key, &NamedNumber::key);
    if (known == numbers.end() || key.size() == setting.size()) {
      return bad_input(
          fmt::format("'{}' sets no spread", setting), "",
          fmt::format("write KEY=NUMBER,... with {}",
                      fmt::join(numbers | std::views::transform(&NamedNumber::key), ", ")));
    }
    const std::string_view digits = setting.substr(key.size() + 1);
    const auto number = parsed_number<double>(digits);
    if (!number) return bad_input(fmt::format("'{}' is not a number", digits), std::string(key));
    *known->value = *number;
  }
  ORRERY_RETURN_IF_ERROR(check(variability));
  return variability;
}

}  // namespace orrery
