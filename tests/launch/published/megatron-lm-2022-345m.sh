#!/bin/bash
# Facts of NVIDIA/Megatron-LM examples/pretrain_gpt_distributed_with_mp.sh at commit 090e141cc47d,
# https://github.com/NVIDIA/Megatron-LM/blob/090e141cc47ddf3317464bf9af7561b932c131c1/examples/pretrain_gpt_distributed_with_mp.sh
GPUS_PER_NODE=${GPUS_PER_NODE:-8}
MASTER_ADDR=${MASTER_ADDR:-localhost}
NNODES=${NNODES:-1}
NODE_RANK=${NODE_RANK:-0}
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))
DATA_PATH=${DATA_PATH:-<Specify path and file prefix>_text_document}
CHECKPOINT_PATH=${CHECKPOINT_PATH:-<Specify path>}
DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --node_rank $NODE_RANK --master_addr $MASTER_ADDR"
python -m torch.distributed.launch $DISTRIBUTED_ARGS pretrain_gpt.py \
    --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 \
    --num-layers 24 --hidden-size 1024 --num-attention-heads 16 \
    --micro-batch-size 4 --global-batch-size 16 \
    --seq-length 1024 --max-position-embeddings 1024 \
    --train-iters 500000 --lr-decay-iters 320000 \
    --save $CHECKPOINT_PATH --load $CHECKPOINT_PATH --data-path $DATA_PATH \
    --vocab-file gpt2-vocab.json --merge-file gpt2-merges.txt \
    --data-impl mmap --split 949,50,1 --distributed-backend nccl \
    --lr 0.00015 --lr-decay-style cosine --min-lr 1.0e-5 --weight-decay 1e-2 --clip-grad 1.0 \
    --lr-warmup-fraction .01 --checkpoint-activations \
    --log-interval 100 --save-interval 10000 --eval-interval 1000 --eval-iters 10 --fp16
