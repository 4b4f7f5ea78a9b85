// A folder as transformers saves it: its model, and whether its weights hold as many parameters.
#include "model/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) / ("checkpoint " + name)) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
  }
  void config(const std::string& more) const {
    write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 1000)" +
                             more + "}");
  }
  void index(double bytes) const {
    write("model.safetensors.index.json",
          "{\"metadata\": {\"total_size\": " + std::to_string(static_cast<long>(bytes)) +
              "}, \"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\"}}");
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Checkpoint, IsNamedAfterItsFolderAndNeedsNoIndex) {
  const Folder folder("plain");
  folder.config("");
  const auto model = read_checkpoint(folder.path());
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->name, "checkpoint plain");
  EXPECT_THAT(model->assumed, IsEmpty());
}

TEST(Checkpoint, WeightsOfTheSameSizeNeedNoWord) {
  const Folder folder("equal");
  folder.config(R"(, "torch_dtype": "bfloat16")");
  const double count = parameters(*read_checkpoint(folder.path()));
  folder.index(2 * count * 1.005);
  EXPECT_THAT(read_checkpoint(folder.path())->assumed, IsEmpty());
  folder.config(R"(, "dtype": "float32")");
  folder.index(4 * count);
  EXPECT_THAT(read_checkpoint(folder.path())->assumed, IsEmpty());
}

TEST(Checkpoint, WeightsOfAnotherSizeAreSaid) {
  const Folder folder("other");
  folder.config(R"(, "torch_dtype": "bfloat16")");
  const double count = parameters(*read_checkpoint(folder.path()));
  folder.index(2 * count * 1.5);
  EXPECT_THAT(read_checkpoint(folder.path())->assumed,
              ElementsAre(HasSubstr("50.0 % more than the model's")));
  folder.index(2 * count * 0.5);
  EXPECT_THAT(read_checkpoint(folder.path())->assumed,
              ElementsAre(HasSubstr("50.0 % fewer than the model's")));
}

TEST(Checkpoint, WhatCannotBeComparedIsSaid) {
  const Folder folder("quantized");
  folder.config(R"(, "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"})");
  folder.index(1000);
  EXPECT_THAT(read_checkpoint(folder.path())->assumed,
              ElementsAre(HasSubstr("the weights are quantized")));
  folder.config("");
  EXPECT_THAT(read_checkpoint(folder.path())->assumed, ElementsAre(HasSubstr("names no type")));
  folder.write("model.safetensors.index.json", R"({"metadata": {}})");
  EXPECT_THAT(read_checkpoint(folder.path())->assumed, ElementsAre(HasSubstr("has no total_size")));
}

TEST(Checkpoint, FilesThatCannotBeReadAreErrors) {
  const Folder folder("broken");
  const auto none = read_checkpoint(folder.path());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("config.json: cannot be read"));
  folder.config("");
  folder.write("model.safetensors.index.json", "{");
  const auto broken = read_checkpoint(folder.path());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text(), HasSubstr("not valid JSON"));
}

}  // namespace
}  // namespace orrery
