#!/bin/bash
# Llama 2 70B with Megatron-LM, as people write it: arrays, variables, a condition.
GPUS_PER_NODE=8
NNODES=${NNODES:-32}
PRECISION=bf16

MODEL_ARGS=(
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672
    --num-attention-heads 64 --group-query-attention --num-query-groups 8
    --seq-length 4096 --max-position-embeddings 4096
    --position-embedding-type rope --normalization RMSNorm --swiglu
    --untie-embeddings-and-output-weights --disable-bias-linear
    --attention-dropout 0.0 --hidden-dropout 0.0
    --tokenizer-type Llama2Tokenizer --tokenizer-model "$1"
)
TRAINING_ARGS=(
    --micro-batch-size 1 --global-batch-size 1024
    --lr 1.5e-4 --train-iters 250000
    --recompute-activations
)
if [[ "$PRECISION" == "bf16" ]]; then
    TRAINING_ARGS+=(--bf16)
fi
PARALLEL_ARGS=(
    --tensor-model-parallel-size 8 --sequence-parallel
    --pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4
    --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
    --moon-phase full  # not a flag of any release
)
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \
    "${MODEL_ARGS[@]}" "${TRAINING_ARGS[@]}" "${PARALLEL_ARGS[@]}" $EXTRA_ARGS
