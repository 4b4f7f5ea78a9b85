// What making an image or a video takes: every network that runs, each as often as it runs.
//
//   time = sum over text encoders E (forward of E)
//        + steps x evaluated x (forward of the denoiser and of what steers it + gather of its output)
//        + forward of the decoder
//
// A forward is one step of the workload `forward` (predicted_step.h) under the plan, of a batch of
//   images x (2 with classifier-free guidance, which evaluates with and without the prompt,
//             arXiv 2207.12598; else 1)
// so that dp divides the images and, where it is larger than their number, the two evaluations
// (guidance parallelism, xDiT). `evaluated` is the share of steps that a cache of features leaves to
// evaluate. Text encoders and the decoder run whole on one rank, on the prompts and the images of a
// replica at once. With several ranks the decoder works in as many strips of the image's height, one
// on each, and the strips are gathered (DistVAE, xdit-project); the rows that convolutions of
// neighbouring strips exchange are not counted, and the attention in the middle sees one strip. A
// decoder whose activations do not fit beside all weights works in tiles. Behind each step the
// latent is gathered from the ranks that share it. Not modelled: the sampler's update, loading,
// moving networks out of memory between uses, images saved.
// Displaced steps take what ranks need of each other from the step before, so that nothing waits for
// it: keys and values of the other patches (DistriFusion, arXiv 2402.19481), or patches that go
// through a pipeline of layers without a bubble (PipeFusion, arXiv 2405.14430):
//
//   displaced = max(step - exposed communication of cp and pp - bubble, that communication)
//
// after so many steps that are not. Each rank keeps keys and values of the whole image for its
// layers. Not counted: that products of a patch are smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/scenario.h"
#include "model/diffusion/image_model.h"

namespace orrery {

struct GenerationQuestion {
  std::int64_t images = 1;
  std::int64_t steps = 0;                       // 0: the model's own
  std::optional<bool> guidance = std::nullopt;  // absent: the model's own
  bool plan_stated = true;          // else it is chosen where data parallelism alone is refused
  bool micro_batch_stated = false;  // the plan's; else all of a replica's evaluations
  double evaluated = 1;             // share of the steps whose denoiser is evaluated
  std::int64_t decoder_ranks = 1;   // that decode a strip of an image each
  std::optional<std::int64_t> displaced_after = std::nullopt;  // steps; absent: none is displaced
};

struct GenerationPart {
  std::string role;  // "text encoder", "denoiser", "control network", "decoder"
  std::string model;
  double times = 1;  // it runs
  std::int64_t batch = 1;
  Seconds once;
  Seconds time;  // times x once
  Flops flops;   // of one run, all ranks
  double parameters = 0;
  ByteCount memory = 0;  // of the fullest rank while it runs alone
};

struct Generation {
  std::string model;
  ImageSize image;
  std::int64_t images = 1;
  std::int64_t steps = 0;
  bool guidance = false;
  Plan plan;  // completed, of the denoiser
  std::string software;
  int gpus = 0;
  std::string accelerator = "GPU";  // what one is called
  std::vector<GenerationPart> parts;
  Seconds time;
  // All weights on every rank that runs them, and what the fullest part needs beside its own.
  ByteCount memory = 0;
  ByteCount memory_capacity = 0;
  Verdict verdict = Verdict::fits;
  std::vector<std::string> assumed;
};

// Errors: a model that is no denoiser; degrees that leave ranks without an evaluation; those of
// predict() and of loading the other networks.
Result<Generation> generation(const Scenario& scenario, const GenerationQuestion& question,
                              const Catalog& catalog);

}  // namespace orrery
