#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/interpreter.h"

namespace orrery {
namespace {

constexpr const char* kLibpython = "libpython3.11.so.1.0";

// The parts of CPython's interface that are used, as its headers declare them; a program that
// includes those would need one version of Python to be built.
// The head of every object.
struct PyObject {
  std::ptrdiff_t references;
  void* type;
};
struct PyMethodDef {
  const char* name;
  PyObject* (*function)(PyObject*, PyObject*);
  int flags;
  const char* documentation;
};
struct PyMemAllocatorEx {
  void* context;
  void* (*malloc)(void*, std::size_t);
  void* (*calloc)(void*, std::size_t, std::size_t);
  void* (*realloc)(void*, void*, std::size_t);
  void (*free)(void*, void*);
};
struct PyObjectArenaAllocator {
  void* context;
  void* (*alloc)(void*, std::size_t);
  void (*free)(void*, void*, std::size_t);
};
constexpr int kRawDomain = 0;
constexpr int kOneArgument = 0x0008;  // METH_O
constexpr int kFileInput = 257;       // Py_file_input

struct Api {
  void (*PyMem_SetAllocator)(int, PyMemAllocatorEx*);
  void (*PyObject_SetArenaAllocator)(PyObjectArenaAllocator*);
  void (*Py_InitializeEx)(int);
  PyObject* (*PyImport_AddModule)(const char*);
  PyObject* (*PyModule_GetDict)(PyObject*);
  PyObject* (*PyRun_StringFlags)(const char*, int, PyObject*, PyObject*, void*);
  PyObject* (*PyDict_GetItemString)(PyObject*, const char*);
  int (*PyDict_SetItemString)(PyObject*, const char*, PyObject*);
  PyObject* (*PyCFunction_NewEx)(PyMethodDef*, PyObject*, PyObject*);
  PyObject* (*PyUnicode_FromStringAndSize)(const char*, std::ptrdiff_t);
  const char* (*PyUnicode_AsUTF8)(PyObject*);
  PyObject* (*PyTuple_New)(std::ptrdiff_t);
  int (*PyTuple_SetItem)(PyObject*, std::ptrdiff_t, PyObject*);
  PyObject* (*PyObject_CallObject)(PyObject*, PyObject*);
  PyObject* (*PyErr_NoMemory)();
  void (*PyErr_Clear)();
  unsigned long (*PyLong_AsUnsignedLong)(PyObject*);
  int (*PyThreadState_SetAsyncExc)(unsigned long, PyObject*);
  unsigned long (*PyThread_get_thread_ident)();
  void (*Py_IncRef)(PyObject*);
  void (*Py_DecRef)(PyObject*);
  PyObject* none;
  void* plain_type;  // of object()
};

Result<Api> loaded_api() {
  void* const library = dlmopen(LM_ID_NEWLM, kLibpython, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return fail(ErrorCode::not_found,
                fmt::format("no copy of {} can be loaded: {}", kLibpython,
                            reason != nullptr ? reason : "unknown reason"),
                "", "install libpython3.11, or evaluate in processes (--isolate)");
  }
  Api out{};
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) missing = name;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym() is for
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
#define ORRERY_PYTHON_SYMBOL(name) find(out.name, #name)
  ORRERY_PYTHON_SYMBOL(PyMem_SetAllocator);
  ORRERY_PYTHON_SYMBOL(PyObject_SetArenaAllocator);
  ORRERY_PYTHON_SYMBOL(Py_InitializeEx);
  ORRERY_PYTHON_SYMBOL(PyImport_AddModule);
  ORRERY_PYTHON_SYMBOL(PyModule_GetDict);
  ORRERY_PYTHON_SYMBOL(PyRun_StringFlags);
  ORRERY_PYTHON_SYMBOL(PyDict_GetItemString);
  ORRERY_PYTHON_SYMBOL(PyDict_SetItemString);
  ORRERY_PYTHON_SYMBOL(PyCFunction_NewEx);
  ORRERY_PYTHON_SYMBOL(PyUnicode_FromStringAndSize);
  ORRERY_PYTHON_SYMBOL(PyUnicode_AsUTF8);
  ORRERY_PYTHON_SYMBOL(PyTuple_New);
  ORRERY_PYTHON_SYMBOL(PyTuple_SetItem);
  ORRERY_PYTHON_SYMBOL(PyObject_CallObject);
  ORRERY_PYTHON_SYMBOL(PyErr_NoMemory);
  ORRERY_PYTHON_SYMBOL(PyErr_Clear);
  ORRERY_PYTHON_SYMBOL(PyLong_AsUnsignedLong);
  ORRERY_PYTHON_SYMBOL(PyThreadState_SetAsyncExc);
  ORRERY_PYTHON_SYMBOL(PyThread_get_thread_ident);
  ORRERY_PYTHON_SYMBOL(Py_IncRef);
  ORRERY_PYTHON_SYMBOL(Py_DecRef);
  find(out.none, "_Py_NoneStruct");
  find(out.plain_type, "PyBaseObject_Type");
#undef ORRERY_PYTHON_SYMBOL
  if (missing != nullptr) return unsupported(fmt::format("{} has no {}", kLibpython, missing));
  return out;
}

// The memory of one interpreter: counted, and refused beyond a limit. Whoever handles the
// MemoryError needs some too, and gets it once an evaluation.
class CountedMemory {
 public:
  void begin(std::size_t more) {
    limit_ = used_ + more;
    refused_ = false;
  }
  void end() { limit_ = SIZE_MAX; }

  PyMemAllocatorEx raw() {
    return {this, [](void* self, std::size_t n) { return of(self).allocate(n, false); },
            [](void* self, std::size_t n, std::size_t size) -> void* {
              if (size != 0 && n > SIZE_MAX / size) return nullptr;
              return of(self).allocate(n * size, true);
            },
            [](void* self, void* p, std::size_t n) { return of(self).reallocate(p, n); },
            [](void* self, void* p) { of(self).release(p); }};
  }
  PyObjectArenaAllocator arenas() {
    return {this,
            [](void* self, std::size_t n) -> void* {
              if (!of(self).grant(n)) return nullptr;
              void* const p = ::operator new(n, std::align_val_t(kPage), std::nothrow);
              if (p == nullptr) of(self).used_ -= n;
              return p;
            },
            [](void* self, void* p, std::size_t n) {
              of(self).used_ -= n;
              ::operator delete(p, std::align_val_t(kPage));
            }};
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kHeader = 16;  // keeps what follows aligned; holds the size
  static constexpr std::size_t kForHandlers = 16UL << 20U;

  static CountedMemory& of(void* self) { return *static_cast<CountedMemory*>(self); }

  bool grant(std::size_t n) {
    if (n > SIZE_MAX / 2) return false;
    if (used_ + n > limit_) {
      if (!refused_) limit_ = used_ + kForHandlers;
      refused_ = true;
      return false;
    }
    used_ += n;
    return true;
  }
  void* allocate(std::size_t n, bool zero) {
    const std::size_t whole = n + kHeader;
    if (!grant(whole)) return nullptr;
    void* const p = ::operator new(whole, std::nothrow);
    if (p != nullptr && zero) std::memset(p, 0, whole);
    return described(p, whole);
  }
  void* reallocate(void* p, std::size_t n) {
    if (p == nullptr) return allocate(n, false);
    char* const begin = static_cast<char*>(p) - kHeader;
    std::size_t before = 0;
    std::memcpy(&before, begin, sizeof before);
    const std::size_t whole = n + kHeader;
    if (whole > before && !grant(whole - before)) return nullptr;
    void* const moved = ::operator new(whole, std::nothrow);
    if (moved == nullptr) {
      if (whole > before) used_ -= whole - before;
      return nullptr;
    }
    std::memcpy(moved, begin, std::min(before, whole));
    ::operator delete(begin);
    if (whole < before) used_ -= before - whole;
    std::memcpy(moved, &whole, sizeof whole);
    return static_cast<char*>(moved) + kHeader;
  }
  void release(void* p) {
    if (p == nullptr) return;
    char* const begin = static_cast<char*>(p) - kHeader;
    std::size_t whole = 0;
    std::memcpy(&whole, begin, sizeof whole);
    used_ -= whole;
    ::operator delete(begin);
  }
  void* described(void* p, std::size_t whole) {
    if (p == nullptr) {
      used_ -= whole;
      return nullptr;
    }
    std::memcpy(p, &whole, sizeof whole);
    return static_cast<char*>(p) + kHeader;
  }

  // The functions of users may start threads.
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> limit_{SIZE_MAX};
  std::atomic<bool> refused_{false};
};

struct Job {
  const char* function;  // of the bootstrap
  std::string first, second;
  const KeyText* record = nullptr;  // the caller's; null from when run() returns
  PythonLimits limits;
};

// A copy of Python and the thread that it belongs to. It outlives whoever gives up on it.
class Copy {
 public:
  Result<std::string> run(Job job, const std::shared_ptr<Copy>& self) {
    std::unique_lock lock(mutex_);
    if (!thread_begun_) {
      try {
        std::thread([self] { self->serve(); }).detach();
      } catch (const std::system_error& e) {
        return fail(ErrorCode::io, std::string("no thread can be started: ") + e.what());
      }
      thread_begun_ = true;
    }
    const std::chrono::duration<double> most(job.limits.time.value());
    job_ = std::move(job);
    has_job_ = true;
    done_ = false;
    changed_.notify_all();
    // Starting an interpreter is not part of an evaluation: the limit begins after it.
    changed_.wait(lock, [&] { return begun_ || done_; });
    // The interpreter ends what takes too long (expire); what catches that goes on.
    const bool done = changed_.wait_for(lock, most + kGrace, [&] { return done_; });
    // What goes on, or a thread that the function has started, must not find the caller's record.
    job_.record = nullptr;
    if (!done) {
      lost_ = true;
      return fail(ErrorCode::bad_input, "does not end, and catches what should end it", "",
                  "--isolate ends such functions with their process");
    }
    if (failed_) return fail(*failed_);
    return std::move(answer_);
  }

  [[nodiscard]] bool lost() const { return lost_; }

 private:
  static constexpr std::chrono::seconds kGrace{5};

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return has_job_; });
      has_job_ = false;
      lock.unlock();
      if (main_ == nullptr && !failed_) start();
      lock.lock();
      if (!failed_) {
        begun_ = true;
        changed_.notify_all();
        lock.unlock();
        std::string line = evaluated();
        lock.lock();
        answer_ = std::move(line);
      }
      begun_ = false;
      done_ = true;
      changed_.notify_all();
    }
  }

  void start() {
    auto api = loaded_api();
    if (!api) {
      failed_ = std::move(api.error());
      return;
    }
    api_ = *api;
    PyMemAllocatorEx raw = memory_.raw();
    PyObjectArenaAllocator arenas = memory_.arenas();
    api_.PyMem_SetAllocator(kRawDomain, &raw);
    api_.PyObject_SetArenaAllocator(&arenas);
    api_.Py_InitializeEx(0);  // no handlers of signals
    main_ = api_.PyModule_GetDict(api_.PyImport_AddModule("__main__"));
    self_.head.type = api_.plain_type;
    for (PyMethodDef& method : methods_) {
      PyObject* const function = api_.PyCFunction_NewEx(&method, &self_.head, nullptr);
      api_.PyDict_SetItemString(main_, method.name, function);
    }
    if (api_.PyRun_StringFlags(kBootstrap, kFileInput, main_, main_, nullptr) == nullptr) {
      api_.PyErr_Clear();
      failed_ = Error{ErrorCode::unsupported, "Python starts without its standard library", "",
                      "install libpython3.11-stdlib, or evaluate in processes (--isolate)"};
      return;
    }
    time_limit_ = api_.PyDict_GetItemString(main_, "_TimeLimit");
    if (api_.PyRun_StringFlags(kWatch, kFileInput, main_, main_, nullptr) == nullptr) {
      api_.PyErr_Clear();
    }
  }

  std::string evaluated() {
    PyObject* const function = api_.PyDict_GetItemString(main_, job_.function);
    PyObject* const seconds = text(fmt::format("{}", job_.limits.time.value()));
    api_.PyDict_SetItemString(main_, "_seconds", seconds);
    api_.Py_DecRef(seconds);
    PyObject* const arguments = api_.PyTuple_New(2);
    api_.PyTuple_SetItem(arguments, 0, text(job_.first));
    api_.PyTuple_SetItem(arguments, 1, text(job_.second));
    memory_.begin(job_.limits.memory);
    ends_by_ = now() + static_cast<std::int64_t>(job_.limits.time.value() * 1e9);
    PyObject* const result = api_.PyObject_CallObject(function, arguments);
    // No other thread of this Python runs here: a limit that came too late to end this evaluation
    // would end the next one.
    ends_by_ = INT64_MAX;
    api_.PyThreadState_SetAsyncExc(api_.PyThread_get_thread_ident(), nullptr);
    memory_.end();
    api_.Py_DecRef(arguments);
    const char* const words = result != nullptr ? api_.PyUnicode_AsUTF8(result) : nullptr;
    std::string out = words != nullptr
                          ? words
                          : "error [\"ended without an answer: out of memory or time\", \"\"]";
    if (result != nullptr) {
      api_.Py_DecRef(result);
    } else {
      api_.PyErr_Clear();
    }
    return out;
  }

  PyObject* text(const std::string& of) {
    return api_.PyUnicode_FromStringAndSize(of.data(), static_cast<std::ptrdiff_t>(of.size()));
  }

  // _key(name), called by Python; None as well when no call waits for the evaluation any more.
  static PyObject* key(PyObject* self, PyObject* name);

  // _expire(thread), called by the thread of Python that watches: ends an evaluation of the other
  // thread that takes too long, again and again while it goes on.
  static PyObject* expire(PyObject* of_python, PyObject* thread) {
    Copy& self = of(of_python);
    if (now() > self.ends_by_) {
      self.api_.PyThreadState_SetAsyncExc(self.api_.PyLong_AsUnsignedLong(thread),
                                          self.time_limit_);
    }
    self.api_.Py_IncRef(self.api_.none);
    return self.api_.none;
  }

  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // What functions called by Python are given to find their copy: a plain object that never dies,
  // and behind it the copy.
  struct Self {
    PyObject head;
    Copy* copy;
  };
  static Copy& of(PyObject* self) { return *reinterpret_cast<Self*>(self)->copy; }

  Self self_{{1 << 20, nullptr}, this};
  std::array<PyMethodDef, 2> methods_{PyMethodDef{"_key", &Copy::key, kOneArgument, nullptr},
                                      PyMethodDef{"_expire", &Copy::expire, kOneArgument, nullptr}};
  Api api_{};
  CountedMemory memory_;
  PyObject* main_ = nullptr;
  PyObject* time_limit_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool thread_begun_ = false;
  bool has_job_ = false;
  bool begun_ = false;
  bool done_ = false;
  bool lost_ = false;
  Job job_{};  // its record is read under the mutex
  std::optional<Error> failed_;
  std::string answer_;
  std::atomic<std::int64_t> ends_by_{INT64_MAX};  // nanoseconds
};

PyObject* Copy::key(PyObject* of_python, PyObject* name) {
  Copy& self = of(of_python);
  try {
    const char* const words = self.api_.PyUnicode_AsUTF8(name);
    if (words == nullptr) return nullptr;
    std::optional<std::string> found;
    {
      const std::lock_guard lock(self.mutex_);
      if (self.job_.record != nullptr) found = (*self.job_.record)(words);
    }
    if (found) return self.text(*found);
  } catch (const std::bad_alloc&) {
    return self.api_.PyErr_NoMemory();
  }
  self.api_.Py_IncRef(self.api_.none);
  return self.api_.none;
}

// Copies that serve nobody. Never destroyed: their threads wait until the program ends.
struct Idle {
  std::mutex mutex;
  std::vector<std::shared_ptr<Copy>> copies;
};
Idle& idle() {
  static auto* const kIdle = new Idle;
  return *kIdle;
}

class InNamespace : public Interpreter {
 public:
  explicit InNamespace(std::shared_ptr<Copy> copy) : copy_(std::move(copy)) {}
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;
  ~InNamespace() override {
    if (copy_->lost()) return;
    const std::lock_guard lock(idle().mutex);
    idle().copies.push_back(std::move(copy_));
  }

  Result<std::string> load(const std::string& source, const std::string& file,
                           const PythonLimits& limits) override {
    return copy_->run({"_load", source, file, nullptr, limits}, copy_);
  }
  Result<std::string> call(const std::string& function, const std::string& file,
                           const KeyText& record, const PythonLimits& limits) override {
    return copy_->run({"_call", function, file, &record, limits}, copy_);
  }
  [[nodiscard]] bool lost() const override { return copy_->lost(); }

 private:
  std::shared_ptr<Copy> copy_;
};

}  // namespace

Result<std::unique_ptr<Interpreter>> interpreter_in_namespace() {
  std::shared_ptr<Copy> copy;
  {
    const std::lock_guard lock(idle().mutex);
    if (!idle().copies.empty()) {
      copy = std::move(idle().copies.back());
      idle().copies.pop_back();
    }
  }
  if (copy == nullptr) copy = std::make_shared<Copy>();
  return std::make_unique<InNamespace>(std::move(copy));
}

}  // namespace orrery
