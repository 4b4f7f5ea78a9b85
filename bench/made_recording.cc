#include "made_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "trace/piece_writer.h"

namespace orrery {
namespace {

constexpr int kLayers = 48;
constexpr int kForwardThread = 4201;
constexpr int kBackwardThread = 4377;
constexpr int kKernelStream = 7;
constexpr int kCommunicationStream = 20;

// Microseconds.
constexpr double kBetweenOperators = 4;
constexpr double kLaunch = 5;
constexpr double kLaunchToStart = 3;
constexpr double kAllReduce = 1'100;

struct MadeOperator {
  std::string_view function;  // of Python
  std::string_view name;
  std::string_view shapes;
  std::string_view kernel;
  double time_us;
};

constexpr MadeOperator kOperators[] = {
    {"torch/nn/modules/normalization.py(201): forward", "aten::native_layer_norm",
     "[[4, 2048, 4096], [], [4096], [4096], []]",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
     "(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*)",
     30},
    {"torch/nn/modules/linear.py(125): forward", "aten::addmm",
     "[[12288], [8192, 4096], [4096, 12288], [], []]",
     "nvjet_tst_128x256_64x6_1x2_h_bz_coopA_bias_TNT", 900},
    {"model/attention.py(77): forward", "aten::_flash_attention_forward",
     "[[4, 2048, 32, 128], [4, 2048, 32, 128], [4, 2048, 32, 128], [], [], [], []]",
     "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, 4, "
     "false, false, cutlass::bfloat16_t>, false, true, false>(pytorch_flash::Flash_fwd_params)",
     420},
    {"torch/nn/modules/linear.py(125): forward", "aten::addmm",
     "[[4096], [8192, 4096], [4096, 4096], [], []]", "nvjet_tst_128x128_64x6_2x1_v_bz_bias_TNT",
     310},
    {"model/block.py(31): forward", "aten::add_", "[[4, 2048, 4096], [4, 2048, 4096], []]",
     "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>,"
     " at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
     60},
    {"torch/nn/modules/linear.py(125): forward", "aten::addmm",
     "[[16384], [8192, 4096], [4096, 16384], [], []]",
     "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_bias_TNT", 1180},
    {"torch/nn/modules/activation.py(734): forward", "aten::gelu", "[[4, 2048, 16384], []]",
     "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::"
     "TensorIteratorBase&, at::native::GeluType)::{lambda()#2}>(int)",
     170},
    {"torch/nn/modules/linear.py(125): forward", "aten::addmm",
     "[[4096], [8192, 16384], [16384, 4096], [], []]",
     "nvjet_tst_128x256_64x6_1x2_h_bz_coopA_bias_TNT", 1190},
};

// A type for every tensor of the list, none for the empty ones.
std::string types_of(std::string_view shapes) {
  std::string out;
  for (std::size_t at = 1; (at = shapes.find('[', at)) != std::string_view::npos; ++at) {
    out += out.empty() ? "" : ", ";
    out += shapes[at + 1] == ']' ? R"("")" : R"("c10::BFloat16")";
  }
  return out;
}

class Recording {
 public:
  explicit Recording(PieceWriter& file) : file_(file) {
    text_ =
        "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB "
        "HBM3\", \"numSms\": 132}],\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
        "\"world_size\": 64},\n\"traceEvents\": [";
  }

  [[nodiscard]] MadeRecording made() const { return {bytes_ + text_.size(), entries_, steps_}; }

  void step() {
    const double begin = host_;
    now_ = kForwardThread;
    for (int layer = 0; layer < kLayers; ++layer) {
      const double layer_begin = host_;
      for (const MadeOperator& op : kOperators) forward(op);
      python(fmt::format("nn.Module: Block_{}", layer), layer_begin);
    }
    now_ = kBackwardThread;
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const MadeOperator& op : kOperators) backward(op);
      all_reduce();
    }
    now_ = kForwardThread;
    const double optimizer = host_;
    for (int layer = 0; layer < kLayers; ++layer) {
      launch("aten::_fused_adamw_", "[[], [], [], [], [], []]", "multi_tensor_adamw", 650,
             kKernelStream);
    }
    entry("X", "user_annotation", "Optimizer.step#AdamW.step", optimizer, host_ - optimizer);
    const double wait = host_;
    host_ = std::max(host_, std::max(free_[0], free_[1])) + kLaunch;
    entry("X", "cuda_runtime", "cudaDeviceSynchronize", wait, host_ - wait,
          fmt::format(R"("cbid": 165, "correlation": {})", ++correlation_));
    entry("X", "user_annotation", fmt::format("ProfilerStep#{}", steps_), begin, host_ - begin);
    host_ += 50;
    ++steps_;
    flush();
  }

  void end() {
    text_ += "\n]\n}\n";
    flush();
  }

 private:
  // With more members of the event, and more arguments.
  void entry(std::string_view phase, std::string_view category, std::string_view name, double start,
             double duration, std::string_view arguments = "") {
    fmt::format_to(std::back_inserter(text_),
                   R"({}
  {{"ph": "{}", "cat": "{}", "name": "{}", "pid": 4201, "tid": {}, "ts": {:.3f}, "dur": {:.3f})",
                   entries_ == 0 ? "" : ",", phase, category, name, now_, start, duration);
    if (!arguments.empty())
      fmt::format_to(std::back_inserter(text_), ", \"args\": {{{}}}", arguments);
    text_ += '}';
    ++entries_;
  }

  void python(std::string_view name, double begin) {
    ++python_;
    entry("X", "python_function", name, begin, host_ - begin,
          fmt::format(R"("Python id": {}, "Python parent id": {})", python_, python_ - 1));
  }

  void arrow(std::string_view phase, int process, int thread, double time) {
    fmt::format_to(
        std::back_inserter(text_),
        ",\n  {{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, \"cat\": "
        "\"ac2g\", \"name\": \"ac2g\"{}}}",
        phase, correlation_, process, thread, time, phase == "f" ? ", \"bp\": \"e\"" : "");
    ++entries_;
  }

  // An operator, its call and its kernel.
  void launch(std::string_view op, std::string_view shapes, std::string_view kernel, double time_us,
              int stream, std::string_view communication = "") {
    const double begin = host_;
    host_ += kBetweenOperators;
    const double call = host_;
    host_ += kLaunch;
    ++correlation_;
    const std::string linked =
        fmt::format(R"("External id": {}, "correlation": {})", external_, correlation_);
    entry("X", "cuda_runtime", "cudaLaunchKernel", call, kLaunch, R"("cbid": 211, )" + linked);
    arrow("s", 4201, now_, call);
    host_ += 1;
    entry("X", "cpu_op", op, begin, host_ - begin,
          fmt::format(
              R"("External id": {}, "Record function id": 0, "Ev Idx": {}, "Input Dims": {}, )"
              R"("Input type": [{}])",
              external_, external_, shapes, types_of(shapes)));
    ++external_;
    double& free = free_[stream == kKernelStream ? 0 : 1];
    const double start = std::max(free, call + kLaunch + kLaunchToStart);
    free = start + time_us;
    fmt::format_to(std::back_inserter(text_),
                   ",\n  {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, "
                   "\"tid\": {}, \"ts\": {:.3f}, "
                   "\"dur\": {:.3f}, \"args\": {{\"queued\": 0, \"device\": 0, \"context\": 1, "
                   "\"stream\": {}, {}, "
                   "\"registers per thread\": 168, \"shared memory\": 98304, \"grid\": [64, 48, "
                   "1], \"block\": "
                   "[256, 1, 1], \"est. achieved occupancy %\": 19{}}}}}",
                   kernel, stream, start, time_us, stream, linked, communication);
    ++entries_;
    arrow("f", 0, stream, start);
    host_ += kBetweenOperators;
  }

  void forward(const MadeOperator& op) {
    const double begin = host_;
    launch(op.name, op.shapes, op.kernel, op.time_us, kKernelStream);
    python(op.function, begin);
  }

  void backward(const MadeOperator& op) {
    const double begin = host_;
    launch(op.name, op.shapes, op.kernel, op.time_us, kKernelStream);
    launch(op.name, op.shapes, op.kernel, op.time_us, kKernelStream);
    entry("X", "cpu_op",
          fmt::format("autograd::engine::evaluate_function: {}Backward0", op.name.substr(6)), begin,
          host_ - begin,
          fmt::format(R"("External id": {}, "Fwd thread id": 1, "Sequence number": {})", external_,
                      external_));
    ++external_;
  }

  void all_reduce() {
    const std::int64_t recorded = ++correlation_;
    entry("X", "cuda_runtime", "cudaEventRecord", host_, 1,
          fmt::format(R"("cbid": 135, "correlation": {})", recorded));
    entry("X", "cuda_runtime", "cudaStreamWaitEvent", host_ + 1, 1,
          fmt::format(R"("cbid": 147, "correlation": {})", ++correlation_));
    fmt::format_to(
        std::back_inserter(text_),
        ",\n  {{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": "
        "0, "
        "\"tid\": {}, \"ts\": {:.3f}, \"dur\": 0, \"args\": {{\"stream\": {}, \"correlation\": {}, "
        "\"device\": 0, \"wait_on_stream\": {}, \"wait_on_cuda_event_record_corr_id\": {}, "
        "\"wait_on_cuda_event_id\": 9}}}}",
        kCommunicationStream, host_ + 2, kCommunicationStream, correlation_, kKernelStream,
        recorded);
    ++entries_;
    host_ += 3;
    free_[1] = std::max(free_[1], free_[0]);
    launch("nccl:all_reduce", "[[100663296]]",
           "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", kAllReduce,
           kCommunicationStream,
           R"(, "Collective name": "allreduce", "In msg nelems": 100663296, )"
           R"("Out msg nelems": 100663296, "Group size": 64, "dtype": "BFloat16", )"
           R"("Process Group Name": "0", "Process Group Description": "default_pg")");
  }

  void flush() {
    file_.append(text_);
    bytes_ += text_.size();
    text_.clear();
  }

  PieceWriter& file_;
  std::string text_;
  std::uint64_t bytes_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t correlation_ = 0;
  std::int64_t external_ = 1;
  std::int64_t python_ = 0;
  int now_ = kForwardThread;
  double host_ = 1'000;
  double free_[2] = {0, 0};  // when the two streams are
};

}  // namespace

Result<MadeRecording> make_recording(const std::string& file, std::uint64_t bytes) {
  ORRERY_TRY(PieceWriter out, PieceWriter::create(file));
  Recording recording(out);
  do {
    recording.step();
  } while (recording.made().bytes < bytes);
  recording.end();
  ORRERY_RETURN_IF_ERROR(out.finish());
  return recording.made();
}

}  // namespace orrery
