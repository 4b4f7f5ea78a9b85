#include "python/user_functions.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "document/value.h"
#include "outcome/sanitizers.h"
#include "python/interpreter.h"

namespace orrery {
namespace {

// Sanitizers must be the first library of every namespace, which they are only of the first.
constexpr bool kNamespaces = !kSanitized;

class SharedInterpreters : public UserFunctions {
 public:
  SharedInterpreters(std::string source, std::string file, Interpreters where,
                     const PythonLimits& limits)
      : source_(std::move(source)), file_(std::move(file)), where_(where), limits_(limits) {}

  Result<void> begin(int count) {
    for (int i = 0; i < count; ++i) {
      ORRERY_TRY(auto made, loaded());
      free_.push_back(std::move(made));
    }
    return {};
  }

  [[nodiscard]] bool has(const std::string& function) const override {
    return std::ranges::find(functions_, function) != functions_.end();
  }

  Result<double> call(const std::string& function, const KeyText& record) override {
    std::unique_ptr<Interpreter> mine = take();
    Result<std::string> line = mine == nullptr ? bad_input("") : Result<std::string>(std::string());
    if (mine != nullptr) line = mine->call(function, file_, record, limits_);
    if (mine == nullptr || mine->lost()) {
      auto another = loaded();
      if (mine == nullptr) {
        if (!another) {
          give(nullptr);
          return fail(another.error());
        }
        line = (*another)->call(function, file_, record, limits_);
      }
      mine = another ? *std::move(another) : nullptr;
    }
    give(std::move(mine));
    if (!line) return fail(at(file_, line.error()));
    return value_of_line(*line, file_);
  }

 private:
  Result<std::unique_ptr<Interpreter>> loaded() {
    ORRERY_TRY(auto made, where_ == Interpreters::in_threads && kNamespaces
                              ? interpreter_in_namespace()
                              : interpreter_in_process());
    const auto line = made->load(source_, file_, limits_);
    if (!line) return fail(at(file_, line.error()));
    ORRERY_TRY(auto functions, functions_of_line(*line, file_));
    const std::lock_guard lock(mutex_);
    functions_ = std::move(functions);
    return made;
  }

  std::unique_ptr<Interpreter> take() {
    std::unique_lock lock(mutex_);
    some_free_.wait(lock, [&] { return !free_.empty(); });
    std::unique_ptr<Interpreter> out = std::move(free_.back());
    free_.pop_back();
    return out;
  }
  // Null stands for one that is to be made anew.
  void give(std::unique_ptr<Interpreter> one) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(one));
    }
    some_free_.notify_one();
  }

  std::string source_;
  std::string file_;
  Interpreters where_;
  PythonLimits limits_;
  std::mutex mutex_;
  std::condition_variable some_free_;
  std::vector<std::unique_ptr<Interpreter>> free_;
  std::vector<std::string> functions_;
};

}  // namespace

Result<std::unique_ptr<UserFunctions>> UserFunctions::load_file(const std::string& file, int count,
                                                                Interpreters where,
                                                                const PythonLimits& limits) {
  constexpr std::size_t kLongestSource = 1U << 20U;
  ORRERY_TRY(const std::string source, read_file(file, kLongestSource));
  return load(source, file, count, where, limits);
}

Result<std::unique_ptr<UserFunctions>> UserFunctions::load(const std::string& source,
                                                           const std::string& file, int count,
                                                           Interpreters where,
                                                           const PythonLimits& limits) {
  auto out = std::make_unique<SharedInterpreters>(source, file, where, limits);
  ORRERY_RETURN_IF_ERROR(out->begin(std::clamp(count, 1, kMostInterpreters)));
  return out;
}

}  // namespace orrery
