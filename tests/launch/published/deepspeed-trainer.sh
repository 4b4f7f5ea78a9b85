#!/bin/bash
# Arguments of the Hugging Face Trainer, as in docs/source/en/deepspeed.md of huggingface/transformers.
deepspeed --num_gpus=8 run_clm.py --deepspeed ds.json \
  --model_name_or_path meta-llama/Llama-2-7b-hf \
  --per_device_train_batch_size 2 --gradient_accumulation_steps 4 \
  --bf16 True --gradient_checkpointing True --block_size 4096 \
  --learning_rate 2e-5 --num_train_epochs 1 --output_dir out
