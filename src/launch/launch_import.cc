#include "launch/launch_import.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "outcome/parsed_number.h"

namespace orrery {
namespace {

// One '*' anywhere stands for any characters; so do two, at both ends.
bool fits_name(std::string_view pattern, std::string_view key) {
  if (pattern.ends_with('*') && pattern.starts_with('*') && pattern.size() > 1) {
    return key.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  }
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == key;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  return key.size() >= before.size() + after.size() && key.starts_with(before) &&
         key.ends_with(after);
}

std::string without_directory(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return std::string(dot == std::string_view::npos ? key : key.substr(dot + 1));
}

}  // namespace

std::string key_in(const LaunchTable& table, const std::string& key) {
  std::string out = table.last_key ? without_directory(key) : key;
  for (const auto& [before, now] : table.renamed.all) {
    if (out == before) return now;
    if (out.starts_with(before + ".")) return now + out.substr(before.size());
  }
  return out;
}

LaunchSettings known_keys(const LaunchTable& table) {
  LaunchSettings out;
  for (const LaunchRule& rule : table.rules) {
    for (const LaunchForm& form : rule.forms) {
      for (const auto& [key, pattern] : form.flags.all) out.emplace(key, "");
    }
  }
  return out;
}

const IrrelevantFlags* irrelevant_in(const LaunchTable& table, const std::string& key,
                                     IrrelevantNames names) {
  for (const IrrelevantFlags& group : table.irrelevant) {
    for (const std::string& pattern : group.flags) {
      const bool usable = names == IrrelevantNames::all || pattern.find('*') == std::string::npos;
      if (usable && fits_name(pattern, key)) return &group;
    }
  }
  return nullptr;
}

LaunchImport::LaunchImport(const LaunchTable& table, LaunchFlags flags) : table_(table) {
  for (LaunchFlag& flag : flags) {
    keys_.push_back(key_in(table, flag.key));
    flags_.push_back({std::move(flag), FlagUse::not_understood, ""});
  }
  const auto stands_in = [&](std::size_t i) {
    return !table.placeholder.empty() && flags_[i].flag.value == table.placeholder;
  };
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const auto [at, fresh] = last_.emplace(keys_[i], i);
    if (fresh) continue;
    if (stands_in(i) && !stands_in(at->second) && flags_[at->second].flag.given) {
      replaced_[i] = at->second;
    } else {
      replaced_[at->second] = i;
      at->second = i;
    }
  }
}

void LaunchImport::pin(const std::string& field, const std::string& value) {
  settings[field] = value;
  pinned_.emplace(field, "");
}

void LaunchImport::apply() {
  for (const LaunchRule& rule : table_.rules) apply(rule);
  const LaunchSettings known = known_keys(table_);
  for (std::size_t i = 0; i < flags_.size(); ++i) account(i, known);
}

std::vector<std::string> LaunchImport::unsaid() const {
  std::vector<std::string> out;
  const LaunchSettings known = known_keys(table_);
  for (const auto& [key, i] : last_) {
    const LaunchFlag& flag = flags_[i].flag;
    if (!flag.unresolved.empty() && known.contains(key)) {
      out.push_back(flag.key + ": " + flag.unresolved);
    }
  }
  out.insert(out.end(), unsaid_.begin(), unsaid_.end());
  return out;
}

Result<void> LaunchImport::check_counts(bool several) const {
  for (const char* field : {"plan.tp", "plan.pp", "plan.cp", "plan.dp", "plan.ep", "plan.chunks",
                            "plan.micro_batch", "training.global_batch", "training.sequence_length",
                            "cluster.gpus", "cluster.nodes", "cluster.gpus_per_node"}) {
    const auto value = settings.find(field);
    const auto flag = from_.find(field);
    if (value == settings.end() || flag == from_.end() || pinned_.contains(field)) continue;
    const auto number = parsed_number<std::int64_t>(value->second);
    if (!number || *number >= 1) continue;
    const LaunchFlag& given = flags_[flag->second].flag;
    const std::string line =
        given.line > 0 ? "line " + std::to_string(given.line) + ": " : std::string();
    return bad_input("must be at least 1, not " + given.value,
                     (several ? given.file + ": " : "") + line + given.key);
  }
  return {};
}

const std::string* LaunchImport::text_of(const std::string& key) const {
  const auto found = last_.find(key);
  if (found == last_.end()) return nullptr;
  const LaunchFlag& flag = flags_[found->second].flag;
  return flag.given ? &flag.value : nullptr;
}

bool LaunchImport::is_unresolved(const std::string& key) const {
  const auto found = last_.find(key);
  return found != last_.end() && !flags_[found->second].flag.unresolved.empty();
}

bool LaunchImport::fits(const LaunchForm& form, LaunchSettings& variables) const {
  const auto has_field = [&](const auto& p) {
    const auto found = settings.find(p.first);
    return matches(p.second, found == settings.end() ? nullptr : &found->second, variables,
                   settings);
  };
  const auto has_flag = [&](const auto& p) {
    return !is_unresolved(p.first) && matches(p.second, text_of(p.first), variables, settings);
  };
  return form.refused.empty() && std::ranges::all_of(form.flags.all, has_flag) &&
         std::ranges::all_of(form.when.all, has_field);
}

void LaunchImport::apply(const LaunchRule& rule) {
  std::string missing;
  for (const LaunchForm& form : rule.forms) {
    LaunchSettings variables;
    if (!fits(form, variables)) continue;
    LaunchSettings fields;
    std::string unknown;
    for (const auto& [field, pattern] : form.means.all) {
      const auto value = filled(pattern, variables, settings, &unknown);
      if (!unknown.empty()) break;
      if (value) fields[field] = *value;
    }
    if (!unknown.empty()) {
      missing = unknown;
      break;  // a later form would mean something else
    }
    if (!form.unsaid.empty()) leave_unsaid(form);
    if (form.unsaid.empty() || !fields.empty()) set(form, fields);
    return;
  }
  if (missing.empty()) return;
  const std::string why = missing.starts_with("cluster.") || missing == "plan.dp"
                              ? "depends on the number of GPUs: give --on"
                              : "depends on " + missing + ", which is not known";
  for (const LaunchForm& form : rule.forms) {
    for (const auto& [key, pattern] : form.flags.all) {
      if (text_of(key) != nullptr) why_not_.emplace(key, why);
    }
  }
}

void LaunchImport::set(const LaunchForm& form, const LaunchSettings& fields) {
  std::string text;
  for (const auto& [field, value] : fields) {
    if (!pinned_.contains(field)) settings[field] = value;
    text += (text.empty() ? "" : ", ") + field + " = " + value;
  }
  for (const auto& [key, pattern] : form.flags.all) {
    use(key, text);
    if (text_of(key) == nullptr) continue;
    for (const auto& [field, value] : fields) from_.emplace(field, last_.find(key)->second);
  }
}

// The sentence stands beside the flags of the form, or, if none of them is given or they set
// something nevertheless, with what the files do not say.
void LaunchImport::leave_unsaid(const LaunchForm& form) {
  bool listed = false;
  for (const auto& [key, pattern] : form.flags.all) {
    if (!form.means.all.empty() || text_of(key) == nullptr) continue;
    why_not_.emplace(key, form.unsaid);
    listed = true;
  }
  if (!listed) unsaid_.push_back(form.unsaid);
}

void LaunchImport::use(const std::string& key, const std::string& fields) {
  if (text_of(key) == nullptr) return;
  AccountedFlag& flag = flags_[last_.find(key)->second];
  flag.use = FlagUse::used;
  if (!fields.empty() && flag.what.find(fields) == std::string::npos) {
    flag.what += (flag.what.empty() ? "" : ", ") + fields;
  }
}

void LaunchImport::account(std::size_t i, const LaunchSettings& known) {
  AccountedFlag& flag = flags_[i];
  const auto say = [&](FlagUse use, std::string why) {
    flag.use = use;
    flag.what = std::move(why);
  };
  if (flag.use == FlagUse::used) {
    if (flag.what.empty()) flag.what = "nothing to set";
    return;
  }
  if (!flag.flag.given) return say(FlagUse::irrelevant, "not set");
  if (const auto by = replaced_.find(i); by != replaced_.end()) {
    const LaunchFlag& other = flags_[by->second].flag;
    return say(FlagUse::irrelevant, "given again on line " + std::to_string(other.line) +
                                        (other.file == flag.flag.file ? "" : " of " + other.file) +
                                        ", which overrides this");
  }
  const bool is_known = known.contains(keys_[i]);
  const auto why = why_not_.find(keys_[i]);
  if (why == why_not_.end()) {
    const IrrelevantFlags* irrelevant = irrelevant_in(
        table_, keys_[i], is_known ? IrrelevantNames::without_patterns : IrrelevantNames::all);
    if (irrelevant != nullptr) return say(FlagUse::irrelevant, irrelevant->why);
  }
  for (const auto& [key, value] : table_.defaults.all) {
    LaunchSettings variables;
    if (key == keys_[i] && matches(value, &flag.flag.value, variables, {})) {
      return say(FlagUse::irrelevant, "the framework's default");
    }
  }
  if (flag.flag.value == "false" && is_known) return say(FlagUse::irrelevant, "off, as without it");
  if (!flag.flag.unresolved.empty()) return say(FlagUse::not_understood, flag.flag.unresolved);
  if (why != why_not_.end()) return say(FlagUse::not_understood, why->second);
  say(FlagUse::not_understood, is_known ? "a value, or a combination, that has no counterpart"
                                        : "not a flag that " + table_.title + "'s table has");
}

}  // namespace orrery
