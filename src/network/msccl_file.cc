#include "network/msccl_file.h"

#include <expat.h>
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "network/program.h"
#include "outcome/parsed_number.h"
#include "outcome/printable.h"

namespace orrery {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& where)
      : text_(text), where_(where), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {}

  Result<MscclFile> read() {
    if (parser_ == nullptr) throw std::bad_alloc();
    if (text_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      return unsupported("is larger than 2 GiB", where_);
    }
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<Reader*>(self)->begin(name, attributes);
        },
        [](void* self, const XML_Char*) { --static_cast<Reader*>(self)->depth_; });
    // A document type could define entities, which no algorithm needs.
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<Reader*>(self)->refuse("a document type", "leave <!DOCTYPE> out of the file");
        });
    const XML_Status status =
        XML_Parse(parser_.get(), text_.data(), static_cast<int>(text_.size()), XML_TRUE);
    if (failure_) return fail(std::move(*failure_));
    if (status != XML_STATUS_OK) {
      return bad_input(
          fmt::format("is no XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))), place());
    }
    return check();
  }

 private:
  [[nodiscard]] std::string place() const {
    return fmt::format("{}:{}", where_, XML_GetCurrentLineNumber(parser_.get()));
  }
  void refuse(std::string message, std::string hint = "") {
    if (failure_) return;
    failure_ = Error{ErrorCode::bad_input, std::move(message), place(), std::move(hint)};
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  // The value of an attribute; empty and refused if it is missing and needed.
  std::string_view attribute(const XML_Char** all, std::string_view name, bool needed = true) {
    for (; *all != nullptr; all += 2) {
      if (name == *all) return all[1];
    }
    if (needed) refuse(fmt::format("an element without '{}'", name));
    return {};
  }
  std::int64_t number(const XML_Char** all, std::string_view name, std::int64_t least,
                      std::int64_t most, std::optional<std::int64_t> absent = {}) {
    const std::string_view value = attribute(all, name, !absent);
    if (value.empty() && absent) return *absent;
    const auto parsed = parsed_number<std::int64_t>(value);
    if (parsed && *parsed >= least && *parsed <= most) return *parsed;
    refuse(fmt::format("{}=\"{}\"", name, printable(value.substr(0, 40))),
           fmt::format("a whole number from {} to {}", least, most));
    return least;
  }
  template <class Enum>
  Enum word(const XML_Char** all, std::string_view name) {
    auto parsed = parse_enum<Enum>(attribute(all, name));
    if (!parsed) refuse(fmt::format("{}: {}", name, parsed.error().message), parsed.error().hint);
    return parsed.value_or(Enum{});
  }

  void begin(std::string_view element, const XML_Char** attributes) {
    static constexpr std::string_view kElements[] = {"algo", "gpu", "tb", "step"};
    if (failure_) return;
    if (depth_ >= std::size(kElements) || element != kElements[depth_]) {
      return refuse(
          fmt::format("an element <{}> at depth {}", printable(element.substr(0, 40)), depth_),
          "an algorithm has <algo>, in it <gpu>, in it <tb>, in it <step>");
    }
    switch (depth_++) {
      case 0:
        return algorithm(attributes);
      case 1:
        return gpu(attributes);
      case 2:
        return block(attributes);
      default:
        return step(attributes);
    }
  }

  void algorithm(const XML_Char** a) {
    static constexpr std::pair<std::string_view, CollectiveKind> kKinds[] = {
        {"allreduce", CollectiveKind::all_reduce},
        {"allgather", CollectiveKind::all_gather},
        {"reduce_scatter", CollectiveKind::reduce_scatter},
        {"alltoall", CollectiveKind::all_to_all}};
    const std::string_view name = attribute(a, "coll");
    const auto* const kind = std::ranges::find(kKinds, name, [](const auto& k) { return k.first; });
    if (kind == std::end(kKinds)) {
      return refuse(fmt::format("the collective '{}'", printable(name.substr(0, 40))),
                    "allreduce, allgather, reduce_scatter or alltoall");
    }
    file_.kind = kind->second;
    gpus_ = static_cast<std::size_t>(number(a, "ngpus", 2, kMostVerifiedRanks));
    file_.chunks = number(a, "nchunksperloop", 1, kMostMscclChunks);
    file_.in_place = number(a, "inplace", 0, 1, 0) == 1;
    if (file_.kind != CollectiveKind::all_reduce &&
        file_.chunks % static_cast<std::int64_t>(gpus_) != 0) {
      refuse(fmt::format("nchunksperloop {} is no multiple of ngpus {}", file_.chunks, gpus_));
    }
  }
  void gpu(const XML_Char** a) {
    const auto id = static_cast<std::size_t>(number(a, "id", 0, kMostVerifiedRanks - 1));
    if (id != file_.gpus.size() || id >= gpus_) {
      return refuse(fmt::format("GPU {} behind {} others of {}", id, file_.gpus.size(), gpus_),
                    "GPUs stand in the order of their numbers, from 0");
    }
    MscclGpu& gpu = file_.gpus.emplace_back();
    static constexpr std::string_view kNames[] = {"i_chunks", "o_chunks", "s_chunks"};
    for (std::size_t b = 0; b < std::size(kNames); ++b) {
      gpu.chunks[b] = number(a, kNames[b], 0, kMostMscclChunks);
    }
  }
  void block(const XML_Char** a) {
    std::vector<MscclBlock>& blocks = file_.gpus.back().blocks;
    if (number(a, "id", 0, kMostMscclChunks) != std::ssize(blocks)) {
      return refuse("a thread block out of order", "blocks stand in the order of their numbers");
    }
    if (++blocks_ > kMostMscclBlocks) {
      return refuse(fmt::format("more than {} thread blocks", kMostMscclBlocks),
                    "fewer blocks in each <gpu>");
    }
    MscclBlock& block = blocks.emplace_back();
    const auto most = static_cast<std::int64_t>(gpus_) - 1;
    block.send = number(a, "send", -1, most);
    block.receive = number(a, "recv", -1, most);
    block.channel = number(a, "chan", -1, kMostMscclChunks);
  }
  void step(const XML_Char** a) {
    if (++steps_ > kMostMscclSteps) {
      return refuse(fmt::format("more than {} steps", kMostMscclSteps));
    }
    MscclBlock& block = file_.gpus.back().blocks.back();
    if (number(a, "s", 0, kMostMscclSteps) != std::ssize(block.steps)) {
      return refuse("a step out of order", "steps stand in the order of their numbers");
    }
    MscclStep& step = block.steps.emplace_back();
    step.line = XML_GetCurrentLineNumber(parser_.get());
    step.type = word<MscclStepType>(a, "type");
    step.source = word<MscclBuffer>(a, "srcbuf");
    step.target = word<MscclBuffer>(a, "dstbuf");
    step.source_chunk = number(a, "srcoff", -1, kMostMscclChunks);
    step.target_chunk = number(a, "dstoff", -1, kMostMscclChunks);
    step.chunks = number(a, "cnt", 0, kMostMscclChunks);
    step.waits_block = number(a, "depid", -1, kMostMscclChunks, -1);
    step.waits_step = number(a, "deps", -1, kMostMscclSteps, -1);
  }

  // What can be said once all is read.
  Result<MscclFile> check() {
    if (file_.gpus.size() != gpus_) {
      return bad_input(fmt::format("has {} of {} GPUs", file_.gpus.size(), gpus_), where_);
    }
    for (const MscclGpu& gpu : file_.gpus) {
      for (const MscclBlock& block : gpu.blocks) {
        for (const MscclStep& step : block.steps) {
          if (step.waits_block < 0) continue;
          const auto blocks = std::ssize(gpu.blocks);
          if (step.waits_block < blocks && step.waits_step >= 0 &&
              step.waits_step <
                  std::ssize(gpu.blocks[static_cast<std::size_t>(step.waits_block)].steps)) {
            continue;
          }
          return bad_input(fmt::format("waits for step {} of block {}, which its GPU does not have",
                                       step.waits_step, step.waits_block),
                           fmt::format("{}:{}", where_, step.line));
        }
      }
    }
    return std::move(file_);
  }

  std::string_view text_;
  const std::string& where_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::optional<Error> failure_;
  MscclFile file_;
  std::size_t gpus_ = 0;
  std::size_t blocks_ = 0;
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<MscclFile> parse_msccl(std::string_view text, const std::string& where) {
  return Reader(text, where).read();
}

}  // namespace orrery
