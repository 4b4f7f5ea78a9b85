# Written by `make schema` from the tables of keys that also write the JSON documents.
from typing import Any, Literal

from orrery import Record, Records

class Error(Record):
    """Why there is no answer."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """of document"""
    message: str
    """what is wrong, with the value that is"""
    where: str
    """the file, line, key or option; empty: nowhere in particular"""
    hint: str
    """what to write instead; may be empty"""

class LowRankAdapter(Record):
    rank: int
    """inner width of an adapter"""
    products: Literal["attention", "all"] | None
    """products that are adapted"""

class Interval(Record):
    """An interval of step times."""
    low: float
    """its lower end, seconds"""
    high: float
    """its upper end, seconds"""

class Computing(Record):
    """Time of computing by class of operator."""
    attention_projection: float
    """query, key, value and output products"""
    attention_core: float
    """softmax(q k) v"""
    feed_forward: float
    """dense feed-forward products"""
    experts: float
    """products of experts"""
    router: float
    """choice of experts"""
    normalization: float
    """norms"""
    elementwise: float
    """activations, residuals, rotary embedding, permutation"""
    embedding: float
    """embedding look-up and its gradient"""
    logits: float
    """product with the vocabulary"""
    loss: float
    """cross-entropy"""
    convolution: float
    """convolutions"""
    contention: float
    """what computing loses to communication that runs beside it"""

class Exposed(Record):
    """Communication that nothing computes beside, by mesh axis."""
    tp: float
    """tensor parallel"""
    cp: float
    """context parallel"""
    ep: float
    """expert parallel"""
    pp: float
    """pipeline parallel"""
    dp: float
    """data parallel"""

class Breakdown(Record):
    """Where the time of the critical stage goes, in seconds. Where two things overlap, the time belongs to computing. The numbers add up to step_time_s exactly (whole picoseconds as decimals)."""
    compute: Computing
    """computing, by class of operator"""
    recompute: float
    """activations computed again"""
    exposed_communication: Exposed
    """communication that nothing computes beside, by mesh axis"""
    bubble: float
    """waiting for other stages to compute"""
    optimizer: float
    """optimizer step"""
    host: float
    """waiting for the host processor"""

class QuadraticRule(Record):
    alpha: float | None
    """local steps = (alpha / learning rate)^2"""
    learning_rate: float | None
    """peak learning rate, which a cosine lowers to 0"""
    steps: int | None
    """steps of the whole run; 0: no rule"""

class Overlap(Record):
    gradient_reduction: bool | None
    """reduce gradient buckets beside the backward pass"""
    parameter_gather: bool | None
    """gather parameters beside the forward pass"""
    tensor_parallel: bool | None
    """cut products in tp pieces and pipeline them with their collective"""
    tensor_tiles: bool | None
    """reduce-scatters tile by tile beside the product that makes their input (T3)"""
    pipeline: bool | None
    """sends and receives do not block computing"""
    expert: bool | None
    """all-to-alls beside the shared expert"""
    expert_batches: bool | None
    """all-to-alls beside the other pass of another microbatch"""
    optimizer: bool | None
    """the optimizer step is validated afterwards and waits for no gradient norm"""
    outer: bool | None
    """copies that take local steps average beside them"""
    host_update: bool | None
    """the host updates a block as its gradients arrive"""

class Plan(Record):
    tp: int
    """tensor-parallel degree"""
    cp: int
    """context-parallel degree"""
    pp: int
    """pipeline-parallel degree"""
    dp: int
    """data-parallel degree; 0: what the GPUs leave"""
    ep: int
    """expert-parallel degree, taken from tp*cp*dp; ranks that share tables"""
    etp: int
    """tensor-parallel degree inside an expert; 0: default"""
    dispatch: Literal["all-to-all", "deduplicated", "two-level"]
    """how tokens travel to their experts"""
    dispatch_format: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"]
    """in which tokens are sent to their experts"""
    expert_placement: Literal["numbered", "balanced"]
    """which experts a rank holds"""
    expert_products: Literal["grouped", "scattered"]
    """how products of experts read the rows of their tokens"""
    redundant_experts: int
    """copies of popular experts beside all experts"""
    sequence_parallel: bool
    """shard the sequence over tp between products"""
    context_parallel: Literal["all-gather", "ring", "all-to-all", "token-ring", "dimension-switch"]
    """how attention gets the whole sequence"""
    ulysses: int
    """of cp, the ranks that exchange heads; 0: all if all-to-all, else 1"""
    context_balance: Literal["zigzag", "striped", "contiguous"]
    """which tokens of a row a context-parallel rank has"""
    context_placement: Literal["head-first", "context-first"]
    """which context-parallel group is on neighbouring ranks"""
    inner_ring: int
    """ranks of an inner ring, where the ring is divided; 0: it is not"""
    context_groups: Literal["fixed", "by-length"]
    """how many context-parallel ranks share a row"""
    loss_tiles: int
    """pieces of a rank's tokens that the loss works through"""
    mlp_tiles: int
    """pieces of a rank's tokens that the feed-forward part works through"""
    schedule: str
    """pipeline schedule"""
    chunks: int
    """virtual stages a microbatch crosses, over devices"""
    group: int
    """microbatches that pass a chunk together; 0: the schedule's default"""
    layers: Records[int]
    """layers of each virtual stage, in order"""
    site_microbatches: Records[int]
    """microbatches of a replica in each site, where sites differ"""
    site_micro_batch: Records[int]
    """sequences of a microbatch in each site, where sites differ"""
    state_division: Literal["even", "by-memory"]
    """how ranks of sites that differ share what ZeRO divides"""
    micro_batch: int
    """sequences of a microbatch"""
    zero: int
    """ZeRO stage: 0, 1, 2 or 3 (FSDP)"""
    shard_group: int
    """ranks that share one sharded copy (HSDP); 0: all"""
    prefetch: int
    """blocks whose weights are gathered ahead of the one that runs (ZeRO 3)"""
    gradient_shard: int
    """ranks that share gradients (ZeRO 2, 3); 0: those that share the optimizer's states"""
    weight_shard: int
    """ranks that share weights (ZeRO 3); 0: those that share the optimizer's states"""
    offload_optimizer: Literal["none", "cpu", "nvme"]
    """where optimizer states lie and are updated"""
    offload_parameters: Literal["none", "cpu", "nvme"]
    """where shards of weights lie between their uses"""
    offload_activations: Literal["none", "cpu", "nvme"]
    """where activations wait for their backward"""
    offload_share: float
    """share of the optimizer's states that lies in host memory or on storage"""
    update_stride: int
    """the device updates one of every so many parts of the offloaded states; 0: none"""
    gradients_in_place: bool
    """gradients take the place of the 16-bit weights they belong to"""
    quantized_weights: bool
    """gather weights in 8 bits (ZeRO++)"""
    quantized_gradients: bool
    """reduce gradients in 4 bits (ZeRO++)"""
    secondary_shard: int
    """ranks that share a second copy of weights for the backward (ZeRO++); 0: none"""
    local_steps: int
    """steps after which copies of the model average (DiLoCo)"""
    quadratic: QuadraticRule
    """rule by which local steps increase as the learning rate falls"""
    averaging: Literal["all", "ring", "one-peer", "by-bandwidth"]
    """the copies of the model that a copy averages with"""
    gradient_code: Literal["none", "eight-bit", "ternary"]
    """how gradients are coded when replicas exchange them"""
    gradient_bucket_mib: int
    """size of a gradient bucket in MiB; 0: one bucket per layer"""
    halves: Literal["none", "batch", "sequence"]
    """how a microbatch is cut into two halves, of which one computes while the other communicates"""
    recompute: Literal["none", "selective", "alternate", "full", "optimal"]
    """activations computed again in the backward"""
    recompute_modules: Records[str]
    """with selective: parts of a layer; none stated: core_attn"""
    recompute_layers: int
    """layers of each virtual stage that are recomputed; 0: all"""
    attention: Literal["unfused", "flash-1", "flash-2", "flash-3", "library"]
    """attention kernel"""
    table_sharding: Literal["automatic", "table", "column", "row", "table-row", "data", "torchrec"]
    """how embedding tables are divided, where the model leaves the choice"""
    towers: int
    """groups of ranks that hold whole tables; 0: as the model has, or none"""
    codec: Literal["none", "bf16", "int8", "lossy", "best"]
    """what vectors of tables are sent as between nodes"""
    overlap: Overlap
    """what runs beside computing"""
    placement: Records[Literal["tp", "cp", "ep", "pp", "dp"]]
    """mesh axes from the fastest network outwards"""

class DocumentLength(Record):
    tokens: int
    """tokens of a document"""
    count: float | None
    """documents of that length, or their share"""

class Documents(Record):
    lengths: Records[DocumentLength] | None
    """how many documents have which length"""
    file: str | None
    """CSV with the columns tokens and, if it has one, count"""
    packing: Literal["concatenated", "packed", "padded"] | None
    """how rows are filled with documents"""

class ExpertLoad(Record):
    tokens: Records[float] | None
    """tokens of each expert; only their ratios matter"""
    file: str | None
    """CSV with the columns expert and tokens"""
    power_law: float | None
    """exponent by which the popularity of experts falls"""
    max_violation: float | None
    """excess of the most popular expert over the mean, as a share of the mean"""
    capacity_factor: float | None
    """most tokens that an expert takes, as a multiple of the mean; 0: no limit"""
    padded: bool | None
    """experts compute their whole capacity"""

class Training(Record):
    sequence_length: int
    """tokens of a sequence"""
    source_length: int
    """tokens of an encoder sequence"""
    global_batch: int
    """sequences of a step"""
    precision: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"]
    """number format of matrix products"""
    optimizer: Literal["adamw", "sgd"]
    """optimizer"""
    gradients: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"]
    """number format gradients are accumulated and reduced in"""
    moments: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"]
    """number format of the optimizer's moments"""
    dropout: bool
    """dropout on the residual branches and on attention probabilities"""
    documents: Documents
    """the documents that rows are made of"""
    expert_load: ExpertLoad
    """how tokens choose their experts"""

class Memory(Record):
    """Memory of one GPU at its fullest moment; the first seven add up to peak."""
    parameters: int
    """parameters, bytes"""
    gradients: int
    """gradients, bytes"""
    optimizer_states: int
    """master weights and moments, bytes"""
    activations: int
    """kept by microbatches in flight, bytes"""
    transient: int
    """what exists only at the fullest moment: gradients of activations, activations computed again, the loss, gathered weights; bytes"""
    buffers: int
    """buffers of the framework and the communication library, context, bytes"""
    fragmentation: int
    """rounding of the allocator, bytes"""
    peak: int
    """expected peak, bytes"""
    pessimistic: int
    """peak if the allocator gives no cached memory back, bytes"""
    outside_allocator: int
    """of buffers: context and communication library, which no statistic of the allocator shows, bytes"""

class Stage(Record):
    """One pipeline device."""
    stage: int
    """number, from 0"""
    layers: Records[int]
    """layers of each chunk"""
    forward_s: float
    """forward of one microbatch through all chunks"""
    backward_s: float
    """backward of one microbatch through all chunks"""
    busy_s: float
    """time that its passes take in a step, with the communication that they expose; without bubbles, waiting for other stages, reductions and the optimizer"""
    end_s: float
    """when its last gradient is ready"""
    memory_bytes: Memory
    """its memory by what takes it"""
    memory_moment: str
    """when its memory is fullest"""
    memory_rank_class: str
    """which ranks this is the memory of"""
    site: str | None
    """of the cluster, where its sites differ and stages divide them"""
    memory_capacity_bytes: int | None
    """of its accelerators, where those of sites differ"""

class Derivation(Record):
    """One figure with its derivation."""
    figure: str
    """which figure"""
    formula: str
    """in symbols"""
    inputs: str
    """with numbers"""
    value: str
    """with its unit"""
    source: str
    """paper, section, catalog entry"""

class Sensitivity(Record):
    """The step with 10 % more of one resource."""
    resource: str
    """which: compute, hbm, scale-up, network, latency"""
    step_time_s: float
    """time of one step with more of it"""
    saved: float | None
    """share of the step time"""

class AxisTraffic(Record):
    """What one mesh axis sends in a step."""
    axis: str
    """the group of ranks: tensor, context, replicas, pipeline, ..."""
    bytes: Records[float]
    """of one GPU on average, by fabric level from the inside out"""

class LevelTraffic(Record):
    """What all axes send over one fabric level in a step."""
    level: str
    """name of the level"""
    bytes: float | None
    """of one GPU on average, that leave a unit below the level"""
    use: float | None
    """share of the step in which they would fill the level"""

class Traffic(Record):
    """What a step sends over the network, counted at the sender."""
    axes: Records[AxisTraffic]
    """by mesh axis"""
    levels: Records[LevelTraffic]
    """by fabric level"""

class AxisFlows(Record):
    """Communications of one kind of one mesh axis, summed over pipeline devices."""
    axis: str
    """the group of ranks: tensor, context, replicas, pipeline, ..."""
    collective: str
    """the collective, or message"""
    times: int
    """how often it runs in a step"""
    closed_form_s: float
    """by the closed form"""
    alone_s: float
    """by flows that have the links to themselves"""
    shared_s: float
    """by flows beside what runs at the same time"""
    busiest_level: str
    """whose links it fills most"""

class NetworkFlows(Record):
    """The step with its communications as flows."""
    closed_form_s: float
    """the step by closed forms"""
    step_time_s: float
    """the step by flows"""
    resources: int
    """links that are used differently"""
    axes: Records[AxisFlows]
    """by mesh axis and collective"""

class NumericChange(Record):
    """What a plan computes in other formats than training in bf16."""
    what: str
    """in words"""
    relative_rms: float
    """of a small experiment, from golden values"""
    times_bf16: float
    """the same over that of bf16"""

class FormatChoice(Record):
    """The plan with its products in one format."""
    format: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"]
    """of the products"""
    chosen: bool
    """by the plan"""
    step_time_s: float
    """time of one step"""
    saved: float | None
    """share of the step time in bf16"""
    relative_rms: float
    """of a product with K = 4,096"""
    times_bf16: float
    """the same over that of bf16"""
    on_front: bool
    """no other format is faster and deviates less"""

class Numerics(Record):
    """What a plan changes against training in bf16, and a front of time and deviation."""
    changes: Records[NumericChange]
    """that the plan makes"""
    formats: Records[FormatChoice]
    """that the accelerator has, the fastest first"""

class HealthyRun(Record):
    """A run in which nothing fails; `orrery forecast` adds failures, checkpoints and restarts."""
    tokens: float | None
    """as asked; the last step may pass more"""
    steps: int
    """that pass these tokens"""
    wall_s: float
    """wall-clock time: steps x step_time_s"""
    gpu_hours: float
    """accelerators x wall-clock time"""
    price: str | None
    """name in the catalog, or as given; where there is one"""
    cost_dollars: float | None
    """where there is a price"""
    energy_joules: float | None
    """at the design power, where it is known"""
    carbon_kg: float | None
    """of CO2, where an intensity is given"""

class OperatorShare(Record):
    """Kernels of one name in all layers of one microbatch."""
    name: str
    """of the operator"""
    category: Literal["attention_projection", "attention_core", "feed_forward", "experts", "router", "normalization", "elementwise", "embedding", "logits", "loss", "convolution", "contention", "recompute", "optimizer", "tp", "cp", "ep", "pp", "dp", "bubble", "host"]
    """the line of the breakdown that it is part of"""
    count: int
    """kernels, or chains of them"""
    time_s: float
    """of all of them"""
    time_share: float
    """of the time of all operators"""
    flops_share: float
    """of the model's FLOPs; 0: it has none that count"""

class LayerAttention(Record):
    """What one attention of a layer sees."""
    layer: int
    """its number"""
    block: str
    """kind of layer"""
    name: str
    """which one"""
    queries: float
    """tokens of one sequence"""
    keys: float
    """tokens that each of them sees"""

class OperatorShares(Record):
    """A step's computing by operator."""
    operators: Records[OperatorShare]
    """the longest first"""
    attention: Records[LayerAttention]
    """of every layer, in the order of execution"""

class EstimateDocument(Record):
    """One predicted training step."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    model: str
    """name of the model"""
    adapters: LowRankAdapter | None
    """low-rank adapters, if the model is frozen beside them"""
    cluster: str
    """name of the cluster"""
    parameters: float
    """of the model, adapters included"""
    active_parameters: float
    """those that a token meets: of experts the chosen ones"""
    flops_per_token: float
    """model FLOPs of a token, by which mfu is counted"""
    workload: Literal["training", "forward"] | None
    """what is run, if it is not training"""
    gpus: int
    """GPUs used"""
    microbatches: int
    """microbatches of a step per data-parallel rank"""
    step_time_s: float
    """time of one training step"""
    step_time_interval_s: Interval
    """the step time lies within it with the probability interval_level, or with an unknown one where that is null"""
    interval_level: float | None
    """share of measured steps that lie within such intervals; null: not calibrated for such models, see interval_basis"""
    interval_basis: str
    """what the interval is made of: the errors on sources left out of calibration, by parts of the step, and how many sources measured such steps"""
    extrapolates: bool
    """no step like this was measured"""
    extrapolation: str
    """why it extrapolates, if it does; the nearest measured step, and how far this is from it"""
    mfu: float | None
    """model FLOPs utilisation, share of peak: forward and backward of every matrix product and of full attention, with logits, without embedding look-up and recomputation"""
    causal_mfu: float | None
    """the same without the pairs of tokens that causal attention leaves out; equal to mfu where no attention is causal"""
    hfu: float | None
    """mfu with recomputation"""
    tflops_per_gpu: float | None
    """model TFLOP/s per GPU"""
    tokens_per_s: float | None
    """tokens a second of all GPUs together"""
    peak_memory_bytes: int
    """expected peak of the fullest stage"""
    peak_memory_stage: int
    """that stage"""
    pessimistic_memory_bytes: int
    """peak if the allocator gives no cached memory back, of the stage where that is most"""
    memory_capacity_bytes: int
    """memory of a GPU"""
    fits: bool
    """false only if the verdict is does-not-fit"""
    verdict: Literal["fits", "tight", "does-not-fit"]
    """whether it fits"""
    bottleneck: str
    """what limits the step, in one sentence"""
    critical_stage: int
    """the stage that ends last"""
    breakdown_s: Breakdown
    """where the time of the critical stage goes"""
    plan: Plan
    """the plan with every default filled in"""
    training: Training
    """what is trained, with every default filled in"""
    numeric_changes: Records[str]
    """what the plan computes in other formats than training in bf16"""
    software: str
    """software profile, an entry of `orrery catalog software`"""
    stages: Records[Stage]
    """every pipeline device"""
    assumed: Records[str]
    """every default that was filled in, in words"""
    explain: Records[Derivation] | None
    """with --explain: the derivation of every figure"""
    sensitivity: Records[Sensitivity] | None
    """with --sensitivity: what 10 % more of a resource would gain"""
    traffic: Traffic | None
    """with --traffic: what crosses the network"""
    network: NetworkFlows | None
    """with --network flows: communications as flows"""
    numerics: Numerics | None
    """with --numerics: what the plan changes against training in bf16"""
    run: HealthyRun | None
    """with --tokens: the run if nothing fails"""
    by_operator: OperatorShares | None
    """with --by operator: where computing goes"""

class ImageSize(Record):
    height: int
    """pixels"""
    width: int
    """pixels"""
    frames: int
    """of a video"""

class GenerationPart(Record):
    """A network that runs while an image is made."""
    role: str
    """text encoder, denoiser, control network or decoder"""
    model: str
    """its name"""
    parameters: float
    """of the network"""
    batch: int
    """samples of one run; with guidance two an image"""
    flops: float
    """of one run, all GPUs"""
    times: float
    """how often it runs"""
    once_s: float
    """one run"""
    time_s: float
    """all runs"""
    memory_bytes: int
    """of the fullest GPU while it runs alone"""

class Generation(Record):
    """An image or video that is made, network by network."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    model: str
    """the denoiser"""
    image: ImageSize
    """pixels and frames"""
    images: int
    """made at once"""
    steps: int
    """evaluations of the denoiser, without those of guidance"""
    guidance: bool
    """each step is evaluated with and without the prompt"""
    gpus: int
    """accelerators"""
    plan: Plan
    """of the denoiser"""
    software: str
    """the profile of the framework"""
    time_s: float
    """of all parts, one after the other"""
    memory_bytes: int
    """all weights, and what the fullest part needs"""
    memory_capacity_bytes: int
    """of a GPU"""
    verdict: Literal["fits", "tight", "does-not-fit"]
    """whether it fits"""
    parts: Records[GenerationPart]
    """in the order in which they run"""
    assumed: Records[str]
    """what was filled in"""

class GenerationRow(Record):
    """A measured time beside its prediction."""
    where: str
    """file and line"""
    what: str
    """in words"""
    plan: str
    """in its text form"""
    measured_s: float
    """of the image, video or step"""
    predicted_s: float | None
    """absent: left out"""
    left_out: str
    """why there is no prediction; empty: there is one"""

class GenerationErrors(Record):
    """Measured times of images and videos beside their predictions."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    rows: Records[GenerationRow]
    """in the order of the files"""
    predicted: int
    """rows with a prediction"""
    median_error: float
    """of absolute relative errors"""
    p90_error: float
    """their ninth decile"""

class Judged(Record):
    """Plans judged by a function of Python."""
    plans: int
    """plans that it was asked about"""
    not_allowed: int
    """of these: its constraint does not hold"""
    failed: int
    """of these: set aside by an error, a time limit or too much memory"""
    failure: str
    """the first of these errors; empty: none"""
    values: Records[float]
    """what the objective makes of each of `plans`"""

class Estimate(Record):
    """One predicted plan: a document of estimate without its heading."""
    workload: Literal["training", "forward"] | None
    """what is run, if it is not training"""
    gpus: int
    """GPUs used"""
    microbatches: int
    """microbatches of a step per data-parallel rank"""
    step_time_s: float
    """time of one training step"""
    step_time_interval_s: Interval
    """the step time lies within it with the probability interval_level, or with an unknown one where that is null"""
    interval_level: float | None
    """share of measured steps that lie within such intervals; null: not calibrated for such models, see interval_basis"""
    interval_basis: str
    """what the interval is made of: the errors on sources left out of calibration, by parts of the step, and how many sources measured such steps"""
    extrapolates: bool
    """no step like this was measured"""
    extrapolation: str
    """why it extrapolates, if it does; the nearest measured step, and how far this is from it"""
    mfu: float | None
    """model FLOPs utilisation, share of peak: forward and backward of every matrix product and of full attention, with logits, without embedding look-up and recomputation"""
    causal_mfu: float | None
    """the same without the pairs of tokens that causal attention leaves out; equal to mfu where no attention is causal"""
    hfu: float | None
    """mfu with recomputation"""
    tflops_per_gpu: float | None
    """model TFLOP/s per GPU"""
    tokens_per_s: float | None
    """tokens a second of all GPUs together"""
    peak_memory_bytes: int
    """expected peak of the fullest stage"""
    peak_memory_stage: int
    """that stage"""
    pessimistic_memory_bytes: int
    """peak if the allocator gives no cached memory back, of the stage where that is most"""
    memory_capacity_bytes: int
    """memory of a GPU"""
    fits: bool
    """false only if the verdict is does-not-fit"""
    verdict: Literal["fits", "tight", "does-not-fit"]
    """whether it fits"""
    bottleneck: str
    """what limits the step, in one sentence"""
    critical_stage: int
    """the stage that ends last"""
    breakdown_s: Breakdown
    """where the time of the critical stage goes"""
    plan: Plan
    """the plan with every default filled in"""
    training: Training
    """what is trained, with every default filled in"""
    numeric_changes: Records[str]
    """what the plan computes in other formats than training in bf16"""
    software: str
    """software profile, an entry of `orrery catalog software`"""
    stages: Records[Stage]
    """every pipeline device"""
    assumed: Records[str]
    """every default that was filled in, in words"""

class Point(Record):
    """A plan that no other plan beats in both step time and memory."""
    step_time_s: float
    """time of one step"""
    peak_memory_bytes: int
    """expected peak"""
    mfu: float | None
    """model FLOPs utilisation"""
    plan: Plan
    """the plan; `orrery estimate` gives its stages"""

class RunnerUp(Record):
    """The best plan with another value on one axis."""
    axis: str
    """field of the plan"""
    winner: str
    """its value in the best plan"""
    other: str
    """its value here"""
    step_time_s: float
    """time of one step"""
    slowdown: float
    """step time over that of the best plan, minus 1"""
    peak_memory_bytes: int
    """expected peak"""
    breakdown_s: Breakdown
    """where the time of its critical stage goes"""
    plan: Plan
    """the plan"""

class NearMiss(Record):
    """A plan that does not fit."""
    step_time_lower_bound_s: float
    """no step of this plan is shorter"""
    peak_memory_bytes: int
    """what it needs"""
    shortfall_bytes: int
    """what it lacks"""
    stage: int
    """its fullest stage"""
    plan: Plan
    """the plan"""

class PlanAcrossSites(Record):
    """A plan, and what it sends between sites."""
    name: str
    """what was chosen for the sites, or which axis lies outermost"""
    step_time_s: float
    """time of one step"""
    bytes_across: float | None
    """that leave a site in one step, of one GPU on average"""
    peak_memory_bytes: int
    """expected peak of the fullest stage"""
    mfu: float | None
    """model FLOPs utilisation"""
    plan: Plan
    """the plan"""

class LinkChange(Record):
    """The best plan where the link between the sites is another."""
    change: str
    """what is changed"""
    step_time_s: float
    """time of one step"""

class LinkNeeds(Record):
    """What an accelerator keeps under way to fill its part of the link."""
    round_trip_s: float
    """of the link"""
    rate_bytes_per_s: float | None
    """of one accelerator of the best plan while it crosses"""
    in_flight_bytes: float | None
    """rate times round trip"""

class LinkVariation(Record):
    """A field of the link between the sites that takes several values."""
    field: str
    """its name"""
    values: Records[str]
    """its values"""

class VariedLink(Record):
    """The search over another link between the sites."""
    values: Records[str]
    """of each variation"""
    production_s: float
    """step time of the best plan for one site"""
    best_alone_s: float
    """of the best single choice"""
    best_s: float
    """of the joint choice"""

class AcrossSites(Record):
    """What crosses between the sites of a cluster."""
    level: str
    """the outermost level of the network"""
    sites: int
    """units below it"""
    production: PlanAcrossSites
    """the best plan for one site, run across them"""
    production_in_one_site_s: float
    """its step time in one site"""
    one_axis: Records[PlanAcrossSites]
    """that plan with one thing chosen for the sites, fastest first"""
    together: PlanAcrossSites | None
    """these choices combined, where they are a plan that fits"""
    outermost: Records[PlanAcrossSites]
    """the best plan for each axis across the sites, fastest first"""
    best: PlanAcrossSites
    """the best plan of all"""
    changes: Records[LinkChange]
    """the best plan over other links"""
    needs: LinkNeeds
    """what the link asks of the transport"""
    variations: Records[LinkVariation]
    """with --vary: what of the link takes other values"""
    varied: Records[VariedLink]
    """with --vary: their combinations, the last varying fastest"""
    cut_short: bool
    """whether a limit of time ended some of the searches early"""

class SearchDocument(Record):
    """The best plans of a space."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    model: str
    """name of the model"""
    adapters: LowRankAdapter | None
    """low-rank adapters, if the model is frozen beside them"""
    cluster: str
    """name of the cluster"""
    parameters: float
    """of the model, adapters included"""
    active_parameters: float
    """those that a token meets: of experts the chosen ones"""
    flops_per_token: float
    """model FLOPs of a token, by which mfu is counted"""
    considered: int
    """shape-valid plans, each with its own memory and lower bound computed"""
    too_large: int
    """of these: do not fit in memory"""
    bounded: int
    """of these: rejected by the lower bound"""
    evaluated: int
    """of these: simulated"""
    improved: int
    """simulated beyond these because of --all-axes"""
    judged: Judged | None
    """with --python: what its function made of the plans"""
    not_searched: Records[str]
    """fields of a plan that were neither stated nor searched"""
    schedules: Records[str]
    """pipeline schedules that were searched"""
    schedules_line: str | None
    """where nobody stated schedules: why these were searched"""
    never_tried: Records[str] | None
    """values of --axis that no valid plan has, each with the reason"""
    interrupted: bool
    """the search was stopped early: these are the best so far"""
    elapsed_s: float
    """wall-clock time; the one value that may differ between runs"""
    plans: Records[Estimate]
    """the best plans, best first; of those that are equal in time and memory one"""
    equal_plans: Records[int]
    """for each of plans, how many others have its time and memory"""
    runs: Records[HealthyRun] | None
    """with --tokens: of each of plans, the run if nothing fails"""
    pareto: Records[Point]
    """step time against memory, fastest first"""
    runners_up: Records[RunnerUp]
    """why the best plan won: the best plan with another value of each axis"""
    surely_fitting: Estimate | None
    """where the best plan is tight in memory: the best whose verdict is fits"""
    near_misses: Records[NearMiss]
    """plans that might be faster but do not fit"""
    least_memory: Records[NearMiss]
    """when nothing fits: the plan that needs least memory"""
    across_sites: AcrossSites | None
    """with --sites: what crosses between the sites"""
    numerics: Numerics | None
    """with --numerics: what the best plan changes against bf16"""

class RankedRun(Record):
    """A plan at a size of the run, with what the run gives."""
    gpus: int
    """accelerators of the run"""
    spares: int | None
    """nodes that stand ready, where their number is stated"""
    plan: Plan
    """the plan"""
    settings: str
    """what `orrery estimate --plan` takes for it"""
    step_time_s: float
    """as orrery estimate predicts it; the median of the distribution"""
    step_p95_s: float
    """of the distribution of the step, which every step of the run takes"""
    step_p95_low_s: float
    """lower end of its 95 % interval"""
    step_p95_high_s: float
    """upper end of its 95 % interval"""
    peak_memory_bytes: int
    """of the worst stage"""
    ettr: float
    """mean"""
    tokens_per_second: float
    """goodput: tokens of a step / step_p95_s x ettr"""
    steps: int
    """of the run"""
    wall_p50_s: float
    """wall-clock time of the median run"""
    wall_p95_s: float
    """95 % of the runs take less"""
    cost_dollars: float | None
    """mean, where there is a price"""
    change: float
    """of the objective over that of the best run, minus 1"""

class SearchedSize(Record):
    """A number of accelerators of the run."""
    gpus: int
    """accelerators of the run"""
    considered: int
    """shape-valid plans"""
    simulated: int
    """of these: predicted"""
    sampled: int
    """of these: their distribution was drawn"""
    proven: bool
    """no plan that was not sampled can be better"""
    no_run: str
    """why there is none; empty: there is"""

class RunSearchDocument(Record):
    """The best plans and sizes of a whole run."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    model: str
    """name of the model"""
    cluster: str
    """name of the cluster"""
    objective: Literal["goodput", "time-to-train", "cost"]
    """what is best: goodput, time-to-train or cost"""
    length_given: bool
    """false: of a run of 30 days, which is the matter of goodput alone"""
    runs: Records[RankedRun]
    """best first, the best ones of every size"""
    shortest_step: RankedRun | None
    """the run of the plan and size with the shortest step_time_s"""
    as_good: int
    """sampled plans of the winner's size within the interval of its step_p95_s"""
    sizes: Records[SearchedSize]
    """largest first"""
    interrupted: bool
    """the best so far"""
    assumed: Records[str]
    """sentences about the best run"""
    elapsed_s: float
    """that the search took"""

class ComparisonAxis(Record):
    """What was stated of every cell."""
    name: str
    """the option, without --; model"""
    values: int
    """how many; more than 1: it is compared"""

class BestCells(Record):
    """Numbers of the best cells that fit; of equal ones the first."""
    step_time_s: int | None
    """shortest"""
    mfu: int | None
    """highest"""
    tokens_per_s: int | None
    """most"""
    tokens_per_s_per_gpu: int | None
    """most"""
    peak_memory_bytes: int | None
    """least"""
    wall_s: int | None
    """shortest run"""
    gpu_hours: int | None
    """fewest"""
    cost_dollars: int | None
    """least"""
    energy_joules: int | None
    """least"""

class ComparedCell(Record):
    """One combination of what is compared."""
    cell: int
    """its number, from 1"""
    model: str | None
    """as asked"""
    on: str | None
    """the cluster, as asked"""
    workload: str | None
    """as asked; absent: of the specification, or training"""
    software: str | None
    """as asked"""
    set: str | None
    """settings that are changed, as asked, with ; between them"""
    plan: str | None
    """what `orrery estimate --plan` takes for the plan; of a cell that is refused, as asked"""
    sequence_length: int | None
    """tokens of a sequence"""
    global_batch: int | None
    """sequences of a step"""
    precision: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"] | None
    """of the matrix products"""
    gpus: int | None
    """GPUs used"""
    step_time_s: float | None
    """time of one step"""
    step_time_low_s: float | None
    """lower end of its interval, as of orrery estimate"""
    step_time_high_s: float | None
    """upper end of its interval"""
    extrapolates: bool | None
    """no step like this was measured"""
    mfu: float | None
    """model FLOPs utilisation, share of peak"""
    hfu: float | None
    """the same with recomputation"""
    tokens_per_s: float | None
    """tokens a second of all GPUs together"""
    tokens_per_s_per_gpu: float | None
    """tokens a second of one GPU"""
    peak_memory_bytes: int | None
    """expected peak of the fullest stage"""
    memory_capacity_bytes: int | None
    """memory of a GPU"""
    verdict: Literal["fits", "tight", "does-not-fit"] | None
    """whether it fits"""
    bottleneck: str | None
    """what limits the step"""
    run: HealthyRun | None
    """with --tokens: the run if nothing fails"""
    reason: str | None
    """why it is refused or does not fit"""

class ComparisonDocument(Record):
    """Predicted steps side by side."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    axes: Records[ComparisonAxis]
    """what is compared, the last one varying fastest"""
    best: BestCells
    """the best cell of each figure"""
    cells: Records[ComparedCell]
    """every combination"""

class Phase(Record):
    """A stretch of steps that are alike."""
    name: str
    """as it was called"""
    steps: int
    """of the phase"""
    tokens: float
    """of the phase"""
    global_batch: int
    """sequences of a step"""
    sequence_length: int
    """tokens of a sequence"""
    step_time_s: float
    """of one step"""

class Checkpoint(Record):
    """A kind of checkpoint."""
    every: int
    """steps between two"""
    blocked_s: float
    """training stands still"""
    durable_s: float
    """from the start of a save until it is of use"""
    restore_s: float
    """to load it"""
    survives: float
    """probability that a failure leaves it intact"""

class Quantile(Record):
    """A quantile of the simulated runs."""
    value: float
    """of the simulated runs"""
    low: float
    """lower end of its 95 % interval"""
    high: float
    """upper end of its 95 % interval"""

class Spread(Record):
    """A figure over the simulated runs."""
    p5: Quantile
    """5 % of the runs have less"""
    p50: Quantile
    """the median"""
    p95: Quantile
    """95 % of the runs have less"""
    mean: float
    """of the runs"""

class Badput(Record):
    """Time of a run that is not training, mean of the runs, by the types of goodput libraries."""
    tpu_initialization: float
    """initialization of accelerators and communicators"""
    program_startup: float
    """program start, compilation, slow first steps"""
    unproductive_checkpoint_save_time: float
    """training stands still for a save"""
    unproductive_checkpoint_restore_time: float
    """a checkpoint is loaded"""
    wasted_progress_from_disruption: float
    """steps since the last checkpoint, done again"""
    infrastructure_recovery_from_disruption: float
    """from a failure until the accelerators can start again"""
    planned_interruptions: float
    """stops for maintenance"""
    fewer_replicas: float
    """steps that take longer until a node is repaired"""
    custom_badput_events: float
    """evaluation pauses"""

class Probability(Record):
    """How likely the run ends in time."""
    within_s: float
    """the time that was asked for"""
    probability: float
    """share of the simulated runs"""
    low: float
    """lower end of its 95 % interval"""
    high: float
    """upper end of its 95 % interval"""

class Affordable(Record):
    """How likely the run costs no more."""
    budget_dollars: float
    """the amount that was asked for"""
    probability: float
    """share of the simulated runs"""
    low: float
    """lower end of its 95 % interval"""
    high: float
    """upper end of its 95 % interval"""

class Loss(Record):
    """What a scaling law says of the run."""
    law: str
    """name in the catalog"""
    loss: float
    """nats a token"""
    parameters: float
    """that the law counts"""
    dense_parameters: float
    """what they are worth with their experts"""
    tokens: float
    """that the law says"""
    cheapest_parameters: float
    """of that loss for the least compute"""
    cheapest_tokens: float
    """of that loss for the least compute"""
    compute_over_cheapest: float
    """6 x parameters x tokens over that of the least compute"""
    batch_tokens: float
    """of a step"""
    critical_batch_tokens: float
    """beyond which a batch costs tokens"""
    extra_share: float
    """tokens beyond the law's, for the batch"""

class Figure(Record):
    """A figure that is proportional to the wall-clock time."""
    p5: float
    """in the run of the 5 % quantile"""
    p50: float
    """in the median run"""
    p95: float
    """in the run of the 95 % quantile"""
    mean: float
    """of the runs"""

class Change(Record):
    """A cause made better by a half, on the same random numbers."""
    change: str
    """what is better"""
    ettr: float
    """mean with it"""
    saved_s: float
    """of the mean wall-clock time; below 0: it costs"""
    doubled_s: float | None
    """what the cause doubled would add to it; null: the run would not end, or nothing is doubled"""

class ForecastDocument(Record):
    """A whole training run, forecast."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    model: str
    """name of the model"""
    cluster: str
    """name of the cluster"""
    tokens: float | None
    """of the run; null: steps were given"""
    steps: int
    """of the run"""
    step_at: Literal["predicted", "mean", "p95"]
    """as orrery estimate predicts it, or the mean or p95 of its distribution"""
    step_time_s: float
    """of every step of the run; the mean of phases"""
    phases: Records[Phase]
    """one or more"""
    step_time_low_s: float
    """lower end of the interval of the step time"""
    step_time_high_s: float
    """upper end of the interval of the step time"""
    healthy_s: float
    """all steps, without a failure or a save"""
    gpus: int
    """accelerators of the job"""
    nodes: int
    """of the job"""
    failures: str
    """name of the failure rates"""
    failures_per_1000_node_days: float
    """of the nodes that were counted"""
    mean_time_to_failure_s: float | None
    """of the job; null: it never fails"""
    restart: str
    """name of the restart times"""
    mean_restart_s: float
    """from a failure to the next step, loading included"""
    checkpoint_bytes: float
    """of the training state"""
    checkpoints: Records[Checkpoint]
    """copies in memory first, the storage last"""
    runs: int
    """simulated"""
    seed: int
    """of the random numbers"""
    wall_s: Spread
    """wall-clock time of the run"""
    wall_cdf_s: Records[float]
    """41 wall-clock times, shortest to longest: from one to the next, 2.5 % of the runs end"""
    ettr: Spread
    """effective training time ratio: productive over wall-clock time"""
    interruptions: Spread
    """failures of a run, those during restarts included"""
    planned_interruptions: float
    """mean of the runs"""
    badput_s: Badput
    """where the rest of the mean wall-clock time goes"""
    closed_form_ettr: float | None
    """from the exact equation of independent failures and blocking saves; null: the run has others, copies in memory, spares, or evaluations"""
    start: str | None
    """with --start: the date"""
    by: str | None
    """with --by: the date"""
    in_time: Probability | None
    """with --within or --by"""
    affordable: Affordable | None
    """with --budget"""
    loss: Loss | None
    """with --loss or --law"""
    gpu_hours: Figure
    """accelerators x wall-clock time"""
    price: str | None
    """name in the catalog, or as given; where there is one"""
    cost_dollars: Figure | None
    """where there is a price"""
    energy_joules: Figure | None
    """where the design power is known"""
    carbon_kg: Figure | None
    """of CO2, where an intensity is given"""
    changes: Records[Change]
    """what would help, most first"""
    assumed: Records[str]
    """sentences"""

class TimeQuantile(Record):
    """A quantile of the samples."""
    value: float
    """of the samples"""
    low: float
    """lower end of its 95 % interval"""
    high: float
    """upper end of its 95 % interval"""

class StepTimes(Record):
    """Quantiles of the time of a step."""
    p5: TimeQuantile
    """5 % of the steps are shorter"""
    p50: TimeQuantile
    """the median"""
    p95: TimeQuantile
    """95 % of the steps are shorter"""
    p99: TimeQuantile
    """99 % of the steps are shorter"""
    p99_9: TimeQuantile
    """99.9 % of the steps are shorter"""
    mean: float
    """of the steps"""

class LongerStep(Record):
    """How likely a step takes longer than was asked."""
    than_s: float
    """the time that was asked for"""
    probability: float
    """share of the samples"""
    low: float
    """lower end of its 95 % interval"""
    high: float
    """upper end of its 95 % interval"""

class PartOfTheTail(Record):
    """A kind of work that takes the same time always."""
    kind: Literal["products", "attention", "memory_bound", "tp", "cp", "ep", "pp", "dp"]
    """of work"""
    share_of_p95: float
    """by which p95 falls without its spread"""

class SlowStage(Record):
    """One slow node in a stage."""
    stage: int
    """from 0"""
    over_p95: float
    """p95 with it over p95 without"""

class FewerReplicas(Record):
    """A step that does not wait for the slowest replicas."""
    dropped: int
    """replicas that are not waited for"""
    p50_s: float
    """the median"""
    p95_s: float
    """95 % of the steps are shorter"""

class CodedStep(Record):
    """A step with gradient coding, each replica with as many parts more of the batch."""
    tolerated: int
    """slow replicas whose gradients are not needed"""
    p50_s: float
    """the median"""
    p95_s: float
    """95 % of the steps are shorter"""

class ForecastStepDocument(Record):
    """The distribution of the time of a step."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    model: str
    """name of the model"""
    cluster: str
    """name of the cluster"""
    step_time_s: float
    """as orrery estimate predicts it"""
    scale: float
    """by which all times are multiplied, so that the median without slow nodes is step_time_s"""
    times_s: StepTimes
    """of the samples"""
    cdf_s: Records[float]
    """41 of them, shortest to longest: 2.5 % of the samples lie between two"""
    step_time_low_s: float
    """lower end of the interval of the prediction"""
    step_time_high_s: float
    """upper end of the interval of the prediction"""
    times_with_prediction_error_s: StepTimes
    """of the samples, each off as predictions are"""
    longer: LongerStep | None
    """with --exceeds"""
    tail: Records[PartOfTheTail]
    """what makes it, most first"""
    slow_node: float
    """time of the slow node over that of the others"""
    slow_stages: Records[SlowStage]
    """with one slow node, by stage; empty if slow nodes are stated"""
    fewer_replicas: Records[FewerReplicas]
    """empty if there is one replica"""
    gradient_coding: Records[CodedStep]
    """empty where it cannot be predicted"""
    moments_p50_s: float | None
    """the median by moments and Clark's maximum, without samples"""
    moments_p95_s: float | None
    """p95 in the same way"""
    gpus: int
    """accelerators of the job"""
    lock_step: int
    """accelerators of a stage that meet in every layer"""
    replicas: int
    """that meet only at the end of a step"""
    samples: int
    """drawn"""
    seed: int
    """of the random numbers"""
    variability: str
    """name in the catalog"""
    assumed: Records[str]
    """sentences"""

class FaultFitDocument(Record):
    """What a log of faults says of its cluster."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    log: str
    """its file"""
    days: float
    """of the log"""
    nodes: int
    """of the cluster"""
    faults: int
    """that began"""
    failures_per_1000_node_days: float
    """faults over nodes x days"""
    faults_a_day: float
    """mean"""
    days_without: float
    """share of the days on which none began"""
    dispersion_by_day: float
    """variance / mean of the faults of a day"""
    nodes_that_failed: int
    """at least once"""
    most_of_a_node: int
    """faults of the node that failed most often"""
    worst_tenth: float
    """share of the faults on the tenth of the nodes that fails most"""
    dispersion_by_node: float
    """variance / mean of the faults of a node"""
    lemon_share: float
    """share of the nodes that fail more often than the others; 0: none found"""
    lemon_factor: float
    """their rate over that of the others"""
    nodes_down: float
    """mean over time"""
    open: int
    """faults that had not ended"""
    repair_p10_s: float | None
    """10 % of the repairs took less; null: none had ended"""
    repair_p50_s: float | None
    """median; null: none had ended"""
    repair_p90_s: float | None
    """90 % of the repairs took less; null: none had ended"""
    repair_mean_s: float | None
    """too low by the faults that had not ended; null: none had"""

class ImportPlan(Record):
    tp: int | None
    """tensor-parallel degree"""
    cp: int | None
    """context-parallel degree"""
    pp: int | None
    """pipeline-parallel degree"""
    dp: int | None
    """data-parallel degree; 0: what the GPUs leave"""
    ep: int | None
    """expert-parallel degree, taken from tp*cp*dp; ranks that share tables"""
    etp: int | None
    """tensor-parallel degree inside an expert; 0: default"""
    dispatch: Literal["all-to-all", "deduplicated", "two-level"] | None
    """how tokens travel to their experts"""
    dispatch_format: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"] | None
    """in which tokens are sent to their experts"""
    expert_placement: Literal["numbered", "balanced"] | None
    """which experts a rank holds"""
    expert_products: Literal["grouped", "scattered"] | None
    """how products of experts read the rows of their tokens"""
    redundant_experts: int | None
    """copies of popular experts beside all experts"""
    sequence_parallel: bool | None
    """shard the sequence over tp between products"""
    context_parallel: Literal["all-gather", "ring", "all-to-all", "token-ring", "dimension-switch"] | None
    """how attention gets the whole sequence"""
    ulysses: int | None
    """of cp, the ranks that exchange heads; 0: all if all-to-all, else 1"""
    context_balance: Literal["zigzag", "striped", "contiguous"] | None
    """which tokens of a row a context-parallel rank has"""
    context_placement: Literal["head-first", "context-first"] | None
    """which context-parallel group is on neighbouring ranks"""
    inner_ring: int | None
    """ranks of an inner ring, where the ring is divided; 0: it is not"""
    context_groups: Literal["fixed", "by-length"] | None
    """how many context-parallel ranks share a row"""
    loss_tiles: int | None
    """pieces of a rank's tokens that the loss works through"""
    mlp_tiles: int | None
    """pieces of a rank's tokens that the feed-forward part works through"""
    schedule: str | None
    """pipeline schedule"""
    chunks: int | None
    """virtual stages a microbatch crosses, over devices"""
    group: int | None
    """microbatches that pass a chunk together; 0: the schedule's default"""
    layers: Records[int] | None
    """layers of each virtual stage, in order"""
    site_microbatches: Records[int] | None
    """microbatches of a replica in each site, where sites differ"""
    site_micro_batch: Records[int] | None
    """sequences of a microbatch in each site, where sites differ"""
    state_division: Literal["even", "by-memory"] | None
    """how ranks of sites that differ share what ZeRO divides"""
    micro_batch: int | None
    """sequences of a microbatch"""
    zero: int | None
    """ZeRO stage: 0, 1, 2 or 3 (FSDP)"""
    shard_group: int | None
    """ranks that share one sharded copy (HSDP); 0: all"""
    prefetch: int | None
    """blocks whose weights are gathered ahead of the one that runs (ZeRO 3)"""
    gradient_shard: int | None
    """ranks that share gradients (ZeRO 2, 3); 0: those that share the optimizer's states"""
    weight_shard: int | None
    """ranks that share weights (ZeRO 3); 0: those that share the optimizer's states"""
    offload_optimizer: Literal["none", "cpu", "nvme"] | None
    """where optimizer states lie and are updated"""
    offload_parameters: Literal["none", "cpu", "nvme"] | None
    """where shards of weights lie between their uses"""
    offload_activations: Literal["none", "cpu", "nvme"] | None
    """where activations wait for their backward"""
    offload_share: float | None
    """share of the optimizer's states that lies in host memory or on storage"""
    update_stride: int | None
    """the device updates one of every so many parts of the offloaded states; 0: none"""
    gradients_in_place: bool | None
    """gradients take the place of the 16-bit weights they belong to"""
    quantized_weights: bool | None
    """gather weights in 8 bits (ZeRO++)"""
    quantized_gradients: bool | None
    """reduce gradients in 4 bits (ZeRO++)"""
    secondary_shard: int | None
    """ranks that share a second copy of weights for the backward (ZeRO++); 0: none"""
    local_steps: int | None
    """steps after which copies of the model average (DiLoCo)"""
    quadratic: QuadraticRule | None
    """rule by which local steps increase as the learning rate falls"""
    averaging: Literal["all", "ring", "one-peer", "by-bandwidth"] | None
    """the copies of the model that a copy averages with"""
    gradient_code: Literal["none", "eight-bit", "ternary"] | None
    """how gradients are coded when replicas exchange them"""
    gradient_bucket_mib: int | None
    """size of a gradient bucket in MiB; 0: one bucket per layer"""
    halves: Literal["none", "batch", "sequence"] | None
    """how a microbatch is cut into two halves, of which one computes while the other communicates"""
    recompute: Literal["none", "selective", "alternate", "full", "optimal"] | None
    """activations computed again in the backward"""
    recompute_modules: Records[str] | None
    """with selective: parts of a layer; none stated: core_attn"""
    recompute_layers: int | None
    """layers of each virtual stage that are recomputed; 0: all"""
    attention: Literal["unfused", "flash-1", "flash-2", "flash-3", "library"] | None
    """attention kernel"""
    table_sharding: Literal["automatic", "table", "column", "row", "table-row", "data", "torchrec"] | None
    """how embedding tables are divided, where the model leaves the choice"""
    towers: int | None
    """groups of ranks that hold whole tables; 0: as the model has, or none"""
    codec: Literal["none", "bf16", "int8", "lossy", "best"] | None
    """what vectors of tables are sent as between nodes"""
    overlap: Overlap | None
    """what runs beside computing"""
    placement: Records[Literal["tp", "cp", "ep", "pp", "dp"]] | None
    """mesh axes from the fastest network outwards"""

class ImportTraining(Record):
    sequence_length: int | None
    """tokens of a sequence"""
    source_length: int | None
    """tokens of an encoder sequence"""
    global_batch: int | None
    """sequences of a step"""
    precision: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"] | None
    """number format of matrix products"""
    optimizer: Literal["adamw", "sgd"] | None
    """optimizer"""
    gradients: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"] | None
    """number format gradients are accumulated and reduced in"""
    moments: Literal["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32", "fp64"] | None
    """number format of the optimizer's moments"""
    dropout: bool | None
    """dropout on the residual branches and on attention probabilities"""
    documents: Documents | None
    """the documents that rows are made of"""
    expert_load: ExpertLoad | None
    """how tokens choose their experts"""

class AccountedFlag(Record):
    """One flag of the files."""
    flag: str
    """its name, or the path of its key"""
    value: str
    """as given; of a list, joined by blanks"""
    file: str
    """that gives it"""
    line: int
    """of the file"""
    use: Literal["used", "irrelevant", "not_understood"]
    """used, irrelevant to time and memory, or not understood"""
    what: str
    """the fields that it sets, or why it sets none"""

class ImportedLaunch(Record):
    """A launch of a framework as a specification."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """of document"""
    framework: str
    """whose files they are, of orrery catalog launch"""
    software: str
    """profile of orrery catalog software"""
    model: str
    """name of the model; imported: described in the specification"""
    plan: ImportPlan
    """what the files say of it, without defaults"""
    training: ImportTraining
    """what the files say of it, without defaults"""
    unsaid: Records[str]
    """what the files do not say"""
    flags: Records[AccountedFlag]
    """every flag, in the order of the files"""
    specification: str
    """for orrery estimate, in YAML"""

class PlacedTables(Record):
    """Embedding tables behind each other that are alike."""
    first: int
    """table, from 0"""
    last: int
    """table"""
    rows: float
    """of one"""
    columns: float
    """of one"""
    pooling: float
    """look-ups of a sample"""
    size_bytes: float
    """of one, without its optimizer's state"""
    sharding: Literal["automatic", "table", "column", "row", "table-row", "data", "torchrec"]
    """how it is divided"""
    shards: int
    """pieces"""
    memory: Literal["device", "automatic", "cached", "host", "storage"]
    """where its rows lie"""
    codec: Literal["none", "bf16", "int8", "lossy", "best"]
    """what its vectors are sent as between nodes"""
    reason: str
    """why it is not whole on one rank, in its memory; may be empty"""
    torchrec_ms: float
    """of one piece by the cost model of TorchRec's planner, forward and backward"""

class Tables(Record):
    """Where the embedding tables of a model lie."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    model: str
    """whose tables they are"""
    cluster: str
    """that holds them"""
    ranks: int
    """that share them"""
    imbalance: float
    """seconds of the busiest rank over the mean of this placement"""
    busiest_memory_bytes: float
    """tables and optimizer states of the fullest rank"""
    mean_memory_bytes: float
    """the mean over ranks"""
    host_memory_bytes: float
    """of a rank, the mean"""
    storage_bytes: float
    """on disks, of a rank, the mean"""
    time_s: float
    """of the work on tables, by the planner's count"""
    bound_s: float
    """below which no division of its kinds comes"""
    step_memory_bytes: float
    """of the fullest rank, all in all"""
    memory_capacity_bytes: float
    """of a rank"""
    fits: bool
    """whether the step does"""
    tables: Records[PlacedTables]
    """in the order of the model"""

class Tower(Record):
    """Features that share a tower."""
    tables: Records[int]
    """of the model, from 0"""
    features: Records[str]
    """their names in the file of similarities"""
    columns: float
    """elements per sample that enter the tower's module"""
    pooling: float
    """look-ups of a sample"""
    size_bytes: float
    """of the tables, without optimizer states"""

class Towers(Record):
    """Which features share a tower."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    model: str
    """whose tables they are"""
    strategy: Literal["coherent", "diverse"]
    """whether features that are alike share a tower, or others"""
    similarity_inside: float | None
    """mean absolute similarity of two features of a tower; null: no tower has two"""
    similarity_across: float | None
    """of two features of different towers"""
    imbalance: float
    """look-ups of the busiest tower over the mean"""
    towers: Records[Tower]
    """in the order of the partition"""

class CheckedSize(Record):
    """A payload of a measured collective beside what is expected."""
    line: int
    """of the file"""
    payload_bytes: float
    """as nccl-tests print it"""
    measured_s: float
    """out of place"""
    in_place_s: float | None
    """the same in place; null: not measured"""
    wrong_values: int
    """elements with wrong values"""
    expected_s: float
    """by the model"""
    low_s: float
    """healthy systems take less in one of twenty sizes"""
    high_s: float
    """healthy systems take more in one of twenty sizes"""
    algorithm: Literal["ring", "tree", "hierarchical", "in_switch", "parallel_trees", "pairwise"]
    """that the library is expected to choose"""
    protocol: Literal["low_latency", "low_latency_128", "simple"]
    """the same"""
    verdict: Literal["as_expected", "slow", "fast", "wrong_values"]
    """against the interval"""

class LikelyCause(Record):
    """One thing that may be wrong with the system."""
    what: str
    """a sentence"""
    look: str
    """where to look"""
    error: float
    """median |ln(measured / expected)| if it is so"""

class CollectiveCheck(Record):
    """A measured collective beside what is expected."""
    collective: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
    """that was measured"""
    ranks: int
    """that took part"""
    nodes: int
    """hosts"""
    bus_factor: float
    """bus bandwidth = factor x payload / time"""
    sick: bool
    """a size is slow or has wrong values"""
    error: float
    """median |ln(measured / expected)|"""
    sizes: Records[CheckedSize]
    """in the order of the file"""
    causes: Records[LikelyCause]
    """the most likely first"""

class Collectives(Record):
    """Measured collectives of a cluster beside what is expected."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    cluster: str
    """that they are compared with"""
    tests: Records[CollectiveCheck]
    """in the order of the file"""

class NetworkLevel(Record):
    """A level of a network, from the inside out."""
    site: str | None
    """whose accelerators see the level, where sites differ"""
    level: str
    """its name"""
    wiring: Literal["switched", "mesh", "torus"]
    """how the units below are joined"""
    rails: bool
    """its switches join accelerators of equal place alone"""
    unit_accelerators: int
    """below one unit of the level"""
    units: int
    """of the level"""
    switches: int
    """of all units"""
    links: int
    """in one direction"""
    link_bytes_per_s: float
    """of the narrowest link"""
    unit_below_bytes_per_s: float
    """that one unit below sends over it"""
    oversubscription: float
    """1: full bisection"""
    latency_s: float
    """of a message between two units below"""

class Network(Record):
    """The network of a cluster as a graph."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    cluster: str
    """its name"""
    accelerators: int
    """vertices that compute"""
    switches: int
    """all other vertices"""
    links: int
    """in one direction"""
    bisection_bytes_per_s: float
    """from one half of the accelerators, as near as whole units or sites come to it, to the others"""
    bisection_share: float
    """of what the ports of one half send"""
    diameter: int
    """links of the longest shortest path"""
    longest_latency_s: float
    """of a message over it"""
    levels: Records[NetworkLevel]
    """from the inside out"""

class AlgorithmTimes(Record):
    """One algorithm at every fidelity."""
    algorithm: Literal["ring", "bidirectional_ring", "tree", "double_tree", "recursive_doubling", "halving_doubling", "bruck", "parallel_trees", "chain", "binomial", "hierarchical", "in_switch", "direct", "pairwise", "pxn", "synthesized", "imported"]
    """its name"""
    closed_form_s: float | None
    """null: the cost model does not have it"""
    flows_s: float
    """flows spread over all paths"""
    hashed_s: float
    """one path a flow, by a hash (ECMP)"""
    planned_s: float
    """one path a flow, planned"""
    busiest_level: str
    """whose link has most to carry"""
    busiest_share: float
    """of the time in which that link is busy"""
    agree: bool
    """the closed form and the flows are within 10 %; true where there is none"""

class Collective(Record):
    """A collective by every algorithm that offers it."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    cluster: str
    """its name"""
    collective: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
    """that is compared"""
    ranks: int
    """the first of the cluster"""
    payload_bytes: float
    """as nccl-tests count it"""
    bus_factor: float
    """bus bandwidth = factor x payload / time"""
    library_s: float
    """what the communication library takes, by the cost model"""
    library_algorithm: Literal["ring", "bidirectional_ring", "tree", "double_tree", "recursive_doubling", "halving_doubling", "bruck", "parallel_trees", "chain", "binomial", "hierarchical", "in_switch", "direct", "pairwise", "pxn", "synthesized", "imported"]
    """that it chooses; of an all-to-all, how its messages travel: direct or pxn"""
    library_protocol: Literal["low_latency", "low_latency_128", "simple"]
    """that it chooses"""
    algorithms: Records[AlgorithmTimes]
    """the fastest by flows first"""

class SharedJob(Record):
    """A job beside others."""
    name: str
    """of the job"""
    model: str
    """that it trains"""
    accelerators: int
    """that it has"""
    first: int
    """its first accelerator"""
    every: int
    """it has every n-th node"""
    closed_form_s: float
    """a step by closed forms, on its part of the fabric"""
    alone_s: float
    """a step by flows, alone on the fabric"""
    shared_s: float
    """a step beside all others, on average"""
    slow_down: float
    """shared_s / alone_s"""
    assumed: Records[str]
    """sentences about its step; empty: its plan was stated"""

class PairOfJobs(Record):
    """Two jobs beside each other and no other."""
    a: str
    """one"""
    b: str
    """the other"""
    slow_down_a: float
    """of the one beside the other"""
    slow_down_b: float
    """of the other beside the one"""
    level: str
    """whose links they share most; empty: none"""

class SharedFabric(Record):
    """Several jobs on one fabric."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    fabric: str
    """its name"""
    jobs: Records[SharedJob]
    """in the order of the file"""
    pairs: Records[PairOfJobs]
    """those that slow each other most first"""

class Range(Record):
    """A figure over the seeds."""
    mean: float
    """of the seeds"""
    least: float
    """of the seeds"""
    most: float
    """of the seeds"""

class FleetDocumentEnds(Record):
    completed: float
    """completed"""
    failed: float
    """failed"""
    cancelled: float
    """cancelled"""
    out_of_memory: float
    """out of memory"""
    timeout: float
    """timeout"""
    preempted: float
    """preempted"""
    requeued: float
    """requeued"""

class Size(Record):
    """Jobs of one size; counts are of all seeds together."""
    least_gpus: int
    """of a job"""
    most_gpus: int
    """of a job"""
    jobs: int
    """submitted"""
    started: int
    """of these"""
    ended: int
    """of these"""
    gpu_time: float
    """share of the GPU time that is allocated"""
    queue_p50_s: float
    """from submission to the first start, median"""
    queue_p95_s: float
    """95 % of the jobs start sooner"""
    completion_p50_s: float
    """from submission to the end, median"""
    completion_mean_s: float
    """of the jobs that ended"""
    ettr: float
    """work over time since submission, of the jobs that ended"""
    failures: int
    """attempts that the hardware killed"""
    preempted: int
    """attempts"""
    second_order_preemptions: int
    """by its jobs, to start again after a failure"""
    productive_gpu_hours: float
    """work"""
    rework_gpu_hours: float
    """work since the last checkpoint that was lost"""
    restart_gpu_hours: float
    """starts and restarts"""
    lost_by_rule_gpu_hours: float
    """to failures of its jobs: min(run time, 30 min) x GPUs"""
    lost_second_order_by_rule_gpu_hours: float
    """the same of the jobs that these preempted"""
    lost_gpu_hours: float
    """to failures of its jobs: rework and restarts"""
    lost_second_order_gpu_hours: float
    """the same of the jobs that these preempted"""

class Scheduler(Record):
    """A scheduler on the same jobs and failures."""
    scheduler: Literal["fifo", "priority", "shortest", "srtf", "deadline"]
    """name"""
    estimates: Literal["mean", "p95"]
    """what it is told of run times"""
    utilisation: Range
    """allocated share of the GPU time"""
    queue_s: Range
    """mean from submission to the first start"""
    completion_s: Range
    """mean from submission to the end"""
    completion_ratio: Range
    """of that to the same with mean estimates, seed by seed"""
    ended: Range
    """share of the jobs that ended"""

class FleetDocument(Record):
    """What a shared cluster yields."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    mix: str
    """name in the catalog"""
    list: str
    """file of the jobs; empty: drawn from the mix"""
    nodes: int
    """of the cluster"""
    gpus_per_node: int
    """of the cluster"""
    days: float
    """simulated, mean of the seeds"""
    seeds: int
    """simulations"""
    seed: int
    """of the random numbers"""
    scheduler: Literal["fifo", "priority", "shortest", "srtf", "deadline"]
    """which order jobs start in"""
    estimates: Literal["mean", "p95"]
    """what it is told of run times"""
    failures: str
    """name of the failure rates; empty: none"""
    restart: str
    """name of the restart times"""
    checkpoint_s: float
    """work between two"""
    jobs: float
    """submitted, mean of the seeds"""
    utilisation: Range
    """allocated share of the GPU time"""
    published_utilisation: float | None
    """null: none"""
    goodput: Range
    """productive share of the GPU time"""
    ettr: Range
    """work over time since submission, of the jobs that ended"""
    queue_s: Range
    """mean from submission to the first start"""
    completion_s: Range
    """mean from submission to the end"""
    lost_by_rule_gpu_hours_a_day: Range
    """goodput lost to hardware: min(run time, 30 min) x GPUs, of killed and preempted jobs"""
    second_order_by_rule: Range
    """of it lost by preemptions of requeued jobs"""
    lost_gpu_hours_a_day: Range
    """rework and restarts of the same attempts"""
    second_order: Range
    """of it lost by preemptions of requeued jobs"""
    published_second_order: float | None
    """by the rule; null: none"""
    gpu_hours: float
    """of the cluster, of all seeds"""
    productive: float
    """share of the GPU time: work"""
    rework: float
    """share: work that was lost"""
    restart_share: float
    """share: starts and restarts"""
    idle: float
    """share: free"""
    down: float
    """share: nodes in repair"""
    ends: FleetDocumentEnds
    """how attempts end, shares"""
    published_ends: FleetDocumentEnds
    """of the mix"""
    sizes: Records[Size]
    """by size of job"""
    comparison: Records[Scheduler]
    """with --compare"""
    assumed: Records[str]
    """sentences"""

class Setting(Record):
    """A setting of the experiment."""
    name: str
    """of the setting"""
    value: str
    """in words"""

class MeasuredDeviation(Record):
    """One way to compute, at one value of what is swept."""
    variant: str
    """way to compute"""
    at: str
    """swept value; empty: nothing is swept"""
    largest: float
    """absolute difference"""
    mean: float
    """absolute difference"""
    spread: float
    """standard deviation of the absolute difference"""
    relative_rms: float
    """root of the squared differences over the squared golden elements"""
    largest_relative: float
    """largest difference over the largest golden magnitude"""
    ulps_median: float
    """in units in the last place of the format `ulp_of`"""
    ulps_p99: float
    """the same"""
    ulps_largest: float
    """the same"""
    not_finite: int
    """elements that are infinite or NaN; in no other figure"""
    expected_relative_rms: float | None
    """by theory; null: none"""
    bits_an_element: float | None
    """of what is stored, scales included; null: nothing is"""

class Deviations(Record):
    """Deviations of an experiment in narrow formats from golden values."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    experiment: str
    """attention, gemm, allreduce or quantize"""
    settings: Records[Setting]
    """what was computed"""
    swept: str
    """setting that takes several values; empty: none"""
    ulp_of: str
    """format whose units in the last place are counted"""
    rows: Records[MeasuredDeviation]
    """in the order of the text"""
    remarks: Records[str]
    """sentences"""

class TensorDifference(Record):
    """How far two tensors of one name are from each other."""
    name: str
    """of the tensor; empty: all of them"""
    type: str
    """as safetensors call it"""
    elements: int
    """that each has"""
    largest: float
    """absolute difference of an element"""
    mean: float
    """absolute difference"""
    wasserstein: float
    """distance of the distributions of values: at least"""
    wasserstein_at_most: float
    """the same: at most; equal for 8 and 16 bits"""
    rms: float
    """of the first tensor"""
    not_finite_first: int
    """elements that are infinite or NaN"""
    not_finite_second: int
    """the same"""

class CheckpointDifference(Record):
    """How far two checkpoints are from each other."""
    first: str
    """file"""
    second: str
    """file"""
    all: TensorDifference
    """of all tensors: the largest, and means over the elements"""
    tensors: Records[TensorDifference]
    """in the order of the first file"""
    left_out: Records[str]
    """tensors that are not compared"""

class ComparedCheckpoints(Record):
    """Two checkpoints, and references for how far they may be apart."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    difference: CheckpointDifference
    """of the two"""
    references: Records[CheckpointDifference]
    """of the first from each reference"""

class WeightDistance(Record):
    """How far two sets of weights are apart."""
    largest: float
    """absolute difference"""
    mean: float
    """absolute difference"""
    wasserstein: float
    """of the distributions of each tensor's weights, mean over all elements"""

class TrainedPair(Record):
    """Distances of the weights of two trainings, after a step."""
    seed: int
    """of the initial weights and the tokens"""
    step: int
    """of the training"""
    flash: WeightDistance
    """from attention in the format to flash attention in it"""
    formats: WeightDistance
    """from training in the format to training in fp32"""
    other_seed: WeightDistance
    """from attention in the format to the same from other initial weights"""

class NumericsTrainTraining(Record):
    """How far numeric changes move the weights of a small transformer."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    format: str
    """of attention, and of one whole training"""
    tile: int
    """keys of a tile of flash attention"""
    steps: int
    """of a training"""
    pairs: Records[TrainedPair]
    """by seed, then step"""
    first_loss: Records[float]
    """after the first step, of each seed"""
    last_loss: Records[float]
    """after the last step, of each seed"""

class AdamRow(Record):
    """One layer at one step, or one simulation."""
    layer: str
    """layer, or what is simulated"""
    at: str
    """step, or the value that simulations differ in"""
    update_norm: float
    """root mean square of r"""
    bimodality: float
    """(skewness^2 + 1) / kurtosis of r"""
    cosine: float
    """of r and the gradient"""
    near_one: float
    """share of components with |r| > 0.8"""
    autocorrelation: Records[float]
    """of the gradient, at lags of 1, 2, 5 and 10 steps"""
    eps_dominated: float
    """share of components whose root of v is below eps"""
    variance_ratio: float
    """norm of m over norm of the root of v"""
    gradient_rms: float
    """root mean square of the gradient"""
    expected_update_norm: float | None
    """closed form; null: none"""

class Adam(Record):
    """What Adam makes of gradients."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    b1: float
    """decay of the first moment"""
    b2: float
    """decay of the second moment"""
    eps: float
    """added to the root of v"""
    rows: Records[AdamRow]
    """in the order of the text"""
    remarks: Records[str]
    """sentences; warnings first"""

class CompressedTable(Record):
    """One embedding table."""
    table: str
    """name of its tensor"""
    rows: int
    """vectors"""
    width: int
    """elements of one"""
    index: float
    """1 - distinct rows behind / before quantisation"""
    bound_class: Literal["tight", "base", "loose"]
    """how tightly errors are bounded"""
    bound: float
    """of the error of an element"""
    worst_error: float
    """of any element"""
    repeats_ratio: float
    """bytes before over bytes behind, of repeated rows"""
    huffman_ratio: float
    """bytes before over bytes behind, of a prefix code"""
    stage: Literal["repeats", "huffman"]
    """with the better ratio"""
    gain: float
    """time of the exchange without over that with it"""

class Vectors(Record):
    """What error-bounded compression makes of embedding tables."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    iteration: int
    """of the training"""
    link_bytes_per_s: float
    """of the exchange"""
    compress_bytes_per_s: float
    """of the codec"""
    decompress_bytes_per_s: float
    """of its inverse"""
    rows: Records[CompressedTable]
    """in the order of the file"""

class ForecastSizesSize(Record):
    """A size of a model, and what it is trained on."""
    choice: str
    """least compute, smallest model, largest model or least loss"""
    parameters: float
    """that the law counts"""
    tokens: float
    """of the run"""
    loss: float
    """nats a token"""
    compute_flops: float
    """6 x parameters x tokens"""
    critical_batch_tokens: float
    """beyond which a batch costs tokens"""

class SizesDocument(Record):
    """Which sizes of a model a scaling law says."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    law: str
    """name in the catalog"""
    choices: Records[ForecastSizesSize]
    """one or more"""
    assumed: Records[str]
    """sentences"""

class ComparedScheduleIdleByCause(Record):
    fill: float
    """fill"""
    drain: float
    """drain"""
    dependency: float
    """dependency"""
    communication: float
    """communication"""
    imbalance: float
    """imbalance"""

class ComparedSchedule(Record):
    """A schedule that was measured."""
    schedule: str
    """name"""
    v: int
    """chunks"""
    fits: bool
    """holds no more than the limit"""
    free_copies: bool
    """copies to host memory, and no time for that is stated"""
    asynchronous: bool
    """gives other gradients than a synchronous step"""
    makespan: float
    """of the step"""
    idle_per_device: float
    """mean over devices"""
    idle_by_cause: ComparedScheduleIdleByCause
    """parts of idle_per_device"""
    bubble_ratio: float
    """1 - busy / (p x makespan)"""
    bubble_ratio_span: float
    """the same where steps follow without a flush"""
    weights_held: float
    """copies of a device's share of the weights"""
    peak_microbatches: float
    """of the device that holds most"""
    peak_microbatches_lowest: float
    """of the device that holds least"""
    sends_per_microbatch: float
    """activations the busiest device sends for each microbatch"""
    fastest: bool
    """no other is faster"""
    least_memory: bool
    """no other holds less"""
    on_front: bool
    """no other is as good in both and better in one"""

class MissingSchedule(Record):
    """A schedule that does not exist here."""
    schedule: str
    """name"""
    v: int
    """chunks"""
    reason: str
    """why it does not exist here"""

class Comparison(Record):
    """All pipeline schedules, measured alike."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    p: int
    """devices"""
    m: int
    """microbatches"""
    time_unit: Literal["unit", "s"]
    """of every time: units of the asker's own, or seconds"""
    memory_limit: float | None
    """the most a device may hold, in microbatches of its share"""
    not_reached: int
    """schedules left out because the comparison was stopped"""
    schedules: Records[ComparedSchedule]
    """every schedule that was measured, in the order of schedule list"""
    not_possible: Records[MissingSchedule]
    """the others"""

class Finding(Record):
    """What costs time, and what could be done."""
    kind: Literal["host_waits", "other_process", "waiting", "communication", "slow_operators", "copies", "stream_waits", "earlier_work"]
    """which"""
    cost_s: float
    """the most that mending it alone could save, over all ranks; earlier_work: 0"""
    share: float
    """of the time of all ranks; earlier_work: of what devices did in the steps"""
    worst_rank: int
    """which it costs most"""
    worst_share: float
    """of that rank's time"""
    title: str
    """in words"""
    detail: str
    """in words"""
    advice: str
    """what to try"""

class Window(Record):
    """a span of time, since the first event of the run"""
    start_s: float
    """begin"""
    end_s: float
    """end"""

class TraceAnalyzeBreakdown(Record):
    """parts that add up to total_s"""
    compute: float
    """a kernel that computes runs"""
    exposed_communication: float
    """communication runs and nothing computes"""
    exposed_copy: float
    """copies or fills run and no kernel"""
    idle_host_wait: float
    """nothing runs; the next work had not been launched when that began"""
    idle_other_process: float
    """nothing runs; the next work was launched meanwhile, but another process had the device"""
    idle_kernel_wait: float
    """nothing runs for less than 30 ns"""
    idle_other: float
    """nothing runs although the next work was launched"""

class Step(Record):
    """one step of the profiler, by its window on the host"""
    step: int
    """N of ProfilerStep#N"""
    window: Window
    """what of the recording this is"""
    total_s: float
    """length of the window"""
    breakdown_s: TraceAnalyzeBreakdown
    """parts of the window, which they add up to"""
    busy_s: float
    """anything runs on the device"""
    communication_s: float
    """communication runs"""
    copy_s: float
    """copies or fills run"""
    overlapped_s: float
    """communication and computing run"""
    exposed_compute_s: float
    """computing runs without communication"""
    earlier_work_s: float | None
    """of the window, in which work ran that was launched before it; null: no launches are recorded"""
    behind_s: float | None
    """from the end of the window to the end of the last work launched in it; null: no launches are recorded"""

class RankHostDuringWaitsS(Record):
    data_loading: float
    """data loading"""
    synchronizing: float
    """synchronizing"""
    allocating: float
    """allocating"""
    calling: float
    """calling"""
    operators: float
    """operators"""
    elsewhere: float
    """elsewhere"""

class WorkTogether(Record):
    """Time in which exactly these kinds of work ran."""
    compute: float
    """computing alone"""
    communication: float
    """communication alone"""
    compute_and_communication: float
    """both, without copies and fills"""
    memory: float
    """copies and fills alone"""
    compute_and_memory: float
    """computing, and copies and fills"""
    communication_and_memory: float
    """communication, and copies and fills"""
    compute_and_communication_and_memory: float
    """all three"""

class TraceAnalyzeSpread(Record):
    """statistics of durations"""
    count: int
    """how many"""
    total_s: float
    """sum"""
    mean_s: float
    """mean"""
    median_s: float
    """median"""
    p90_s: float
    """90th percentile"""
    least_s: float
    """shortest"""
    greatest_s: float
    """longest"""

class Kernel(Record):
    """one name of kernel, copy or fill"""
    name: str
    """as recorded"""
    kind: Literal["none", "compute", "communication", "copy", "fill"]
    """what it does"""
    duration: TraceAnalyzeSpread
    """durations of its calls"""
    share: float
    """of the summed durations"""
    occupancy: float | None
    """mean achieved occupancy"""
    bytes: int
    """of copies and fills, where recorded"""
    launched_by: str | None
    """operator that launches most of its time"""

class DeviceSByClass(Record):
    """Device time by class of operator."""
    product: float
    """product"""
    convolution: float
    """convolution"""
    attention: float
    """attention"""
    normalization: float
    """normalization"""
    softmax: float
    """softmax"""
    elementwise: float
    """elementwise"""
    reduction: float
    """reduction"""
    movement: float
    """movement"""
    other: float
    """launched by operators of no class"""

class Operator(Record):
    """one operator with its shapes"""
    name: str
    """of the operator"""
    shapes: str
    """of its inputs, as recorded"""
    types: str
    """of its inputs, as recorded"""
    host: TraceAnalyzeSpread
    """durations of its calls on the host"""
    device: TraceAnalyzeSpread
    """device time of each call that launched work"""
    direct_device_s: float
    """device time of what it launched itself"""
    own_device_s: float
    """device time that counts for it, so that all work counts once"""
    launched: int
    """pieces of device work, with those of operators inside"""
    flops: float | None
    """of all calls that launched work"""
    bytes: float | None
    """of all calls that launched work"""
    flops_per_s: float | None
    """achieved"""
    bytes_per_s: float | None
    """achieved"""
    of_roofline: float | None
    """1: as fast as the data sheet allows"""

class Operators(Record):
    """operators"""
    flops: float
    """of all operators whose work is known, each once"""
    device_s_by_class: DeviceSByClass
    """device time by class of operator"""
    rows: Records[Operator]
    """most own device time first, at most 1,000"""

class Idle(Record):
    """Why a stream was idle."""
    host_wait_s: float
    """the next work had not been launched"""
    kernel_wait_s: float
    """less than 30 ns"""
    other_s: float
    """launched in time"""

class Gaps(Record):
    """Gaps between pieces of work of a stream."""
    host_wait: TraceAnalyzeSpread
    """the next work had not been launched"""
    kernel_wait: TraceAnalyzeSpread
    """less than 30 ns"""
    other: TraceAnalyzeSpread
    """launched in time"""

class Stream(Record):
    """one stream"""
    device: int
    """ordinal"""
    stream: int
    """number"""
    work: int
    """kernels, copies and fills"""
    busy_s: float
    """union of its work"""
    idle: Idle
    """from its first to its last work"""
    gaps: Gaps
    """gaps between pieces of work, by cause"""
    longest_queue: int
    """launched and not begun"""
    mean_queue: float
    """over time"""
    full_queue_s: float
    """time with 1024 or more"""
    queue_bin_s: float
    """of queue"""
    queue: Records[int]
    """the longest in equal parts of the time from the device's first to last work"""

class Launch(Record):
    """statistics of launch calls"""
    call: TraceAnalyzeSpread
    """durations of the calls"""
    delay: TraceAnalyzeSpread
    """from the end of a call to the start of its work"""
    work: TraceAnalyzeSpread
    """durations of what was launched"""
    shorter_than_call: int
    """pieces of work shorter than their call"""
    slow_calls: int
    """of more than 50 us"""
    long_delays: int
    """of more than 100 us"""

class Call(Record):
    """Launches by one call of the runtime."""
    name: str
    """of the call"""
    statistics: Launch
    """statistics of its launches"""

class Outlier(Record):
    """one launch"""
    duration_s: float
    """of the call, or of the delay"""
    at_s: float
    """when the call began, since the first event of the run"""
    call: str
    """of the runtime"""
    operator: str | None
    """that made the call"""
    work: str
    """what it launched"""

class Launches(Record):
    """launches"""
    all: Launch
    """statistics of all launches"""
    calls: Records[Call]
    """by the name of the call, most calls first"""
    without_call: int
    """work launched before the recording began"""
    slowest_calls: Records[Outlier]
    """of more than 50 us, at most 100"""
    longest_delays: Records[Outlier]
    """of more than 100 us, at most 100"""

class Section(Record):
    """an annotation, or a class of modules"""
    name: str
    """of the annotation or class"""
    kind: Literal["annotation", "module"]
    """which"""
    instances: int
    """names of the class"""
    depth: int
    """sections around the first"""
    host: TraceAnalyzeSpread
    """durations on the host"""
    device_s: float
    """device time of what was launched in it"""
    backward_s: float
    """of it, by operators derived from its own"""
    own_s: float
    """of it, in no section inside"""
    launched: int
    """pieces of device work"""

class Sequence(Record):
    """what one call of an operator launches"""
    operator: str
    """outermost operator"""
    count: int
    """calls with this sequence"""
    length: int
    """pieces of work"""
    device_s: float
    """of all calls"""
    host_s: float
    """of all calls"""
    kernels: Records[str]
    """names in the order of launch, at most 64"""

class PathBoundByS(Record):
    host: float
    """host"""
    data_loading: float
    """data loading"""
    compute: float
    """compute"""
    communication: float
    """communication"""
    copies: float
    """copies"""
    kernel_gap: float
    """kernel gap"""
    launch_delay: float
    """launch delay"""
    wake_up: float | None
    """wake up"""
    other_process: float | None
    """other process"""

class RankOnPath(Record):
    """What of a critical path belongs to one rank."""
    rank: int
    """whose"""
    total_s: float
    """on the path"""

class EventOnPath(Record):
    """What of a critical path belongs to one name."""
    name: str
    """of the event"""
    bound_by: Literal["host", "data_loading", "compute", "communication", "copies", "kernel_gap", "launch_delay", "wake_up", "other_process"]
    """by what"""
    rank: int | None
    """whose; not of hta"""
    count: int
    """operations; hta: edges"""
    total_s: float
    """on the path"""

class Stretch(Record):
    """A part of a critical path on one thread or stream."""
    rank: int
    """whose"""
    on: str
    """thread or stream, with its number"""
    cause: Literal["window", "launch", "other_stream", "device", "other_thread", "rank", "room"]
    """why it began when the stretch before ended"""
    start_s: float
    """since the step began, replayed"""
    duration_s: float
    """of the stretch"""
    operations: int
    """in it"""
    longest: str
    """name with most of its time"""
    bound_by: Literal["host", "data_loading", "compute", "communication", "copies", "kernel_gap", "launch_delay", "wake_up", "other_process"]
    """what that is"""

class Path(Record):
    """chain of operations that determined when the step ended"""
    construction: Literal["replay", "hta"]
    """whose: replay (the run's graph, across ranks) or hta"""
    of: str
    """annotation or recording"""
    window: Window
    """what of the recording it is the path of"""
    length_s: float
    """of the path; replay: of the replayed step"""
    recorded_s: float | None
    """of the step or recording; null: simulated only; not of hta"""
    nodes: int
    """operations on it; hta: points"""
    bound_by_s: PathBoundByS
    """parts of the length, which they add up to"""
    on_other_ranks_s: PathBoundByS | None
    """of these, on other ranks; not of hta"""
    ranks: Records[RankOnPath] | None
    """that the path touches, the longest first; not of hta"""
    events: Records[EventOnPath]
    """by name, longest first, at most 1,000"""
    stretches: Records[Stretch] | None
    """the longest 1,000 parts of the path on one thread or stream, in order; not of hta"""
    all_stretches: int | None
    """how many there are; not of hta"""

class TraceAnalyzeMemory(Record):
    """memory of one device"""
    device: int
    """ordinal; -1: the host"""
    changes: int
    """recorded"""
    allocations: int
    """recorded"""
    first_bytes: int
    """allocated at the first change"""
    last_bytes: int
    """allocated at the last change"""
    peak_allocated_bytes: int
    """most allocated"""
    peak_at_s: float
    """when"""
    peak_reserved_bytes: int
    """most reserved"""

class Copies(Record):
    """How fast copies or fills of one kind moved memory."""
    name: str
    """the kind, as the profiler names it"""
    count: int
    """of those with recorded bytes"""
    bytes: int
    """moved"""
    total_s: float
    """durations"""
    bytes_per_s: float
    """bytes over durations"""
    least_bytes_per_s: float
    """of one copy"""
    median_bytes_per_s: float
    """of one copy"""
    greatest_bytes_per_s: float
    """of one copy"""
    over_time_bytes_per_s: Records[float]
    """by bin of utilization"""

class Utilization(Record):
    """Share of each bin of time in which a kernel ran."""
    bin_s: float
    """width of a bin"""
    mean: float
    """over time"""
    busy: Records[float]
    """by bin"""
    multiprocessors_mean: float | None
    """over time; null: the recording does not tell"""
    multiprocessors: Records[float] | None
    """by bin: share of multiprocessors that had a block to run, by the grids of kernels; null: the recording does not tell"""

class Rank(Record):
    """one rank"""
    rank: int
    """of the job"""
    file: str
    """as given"""
    device: str | None
    """as recorded"""
    accelerator: str | None
    """of the catalog, for rooflines"""
    window: Window
    """what of the recording this is"""
    total_s: float
    """length of the window"""
    breakdown_s: TraceAnalyzeBreakdown
    """parts of the window, which they add up to"""
    busy_s: float
    """anything runs on the device"""
    communication_s: float
    """communication runs"""
    copy_s: float
    """copies or fills run"""
    overlapped_s: float
    """communication and computing run"""
    exposed_compute_s: float
    """computing runs without communication"""
    steps: Records[Step]
    """by time"""
    host_during_waits_s: RankHostDuringWaitsS
    """what the host did while the device waited for it"""
    work_together_s: WorkTogether
    """time in which exactly these ran"""
    kernels: Records[Kernel]
    """most time first, at most 1,000"""
    operators: Operators
    """operators of the framework"""
    streams: Records[Stream]
    """by number"""
    launches: Launches
    """launches of device work"""
    sections: Records[Section]
    """most device time first"""
    sequences: Records[Sequence]
    """most launches first, at most 100"""
    critical_path: Path
    """chain of operations that determined when the step ended"""
    memory: Records[TraceAnalyzeMemory]
    """by device, where recorded"""
    copies: Records[Copies]
    """how fast copies and fills moved memory, by kind, most time first"""
    utilization: Utilization
    """share of each bin in which a kernel ran"""

class CommunicationOfRank(Record):
    """Communication of one rank."""
    rank: int
    """of the job"""
    kernels: int
    """that communicate"""
    duration_s: float
    """recorded"""
    transfer_s: float
    """without waiting"""
    waiting_s: float
    """for others"""
    arrived_last: int
    """times"""
    caused_waiting_s: float
    """of others"""

class TraceAnalyzeCollective(Record):
    """Equal collectives of one group."""
    collective: str
    """which"""
    type: str
    """of the elements; empty: not recorded"""
    group: str
    """what its kernels were matched by"""
    ranks: int | None
    """of the group"""
    bytes: int | None
    """of the whole message"""
    instances: int
    """matched over ranks"""
    complete: int
    """instances of which every rank is recorded"""
    duration: TraceAnalyzeSpread
    """durations of its kernels"""
    transfer: TraceAnalyzeSpread
    """of each instance the shortest of its ranks, which is without waiting"""
    waiting_s: float
    """of all ranks"""
    longest_lateness_s: float
    """last arrival after the first"""
    bytes_per_s: float
    """of all instances together; 0: not known"""
    bus_bytes_per_s: float
    """of all instances together; 0: not known"""
    median_bus_bytes_per_s: float
    """of the instance in the middle; 0: not known"""

class Communication(Record):
    """Communication of the run."""
    matched: int
    """instances seen from several ranks"""
    transfer_s: float
    """summed over instances"""
    ranks: Records[CommunicationOfRank]
    """by rank"""
    rows: Records[TraceAnalyzeCollective]
    """most time first, at most 1,000"""

class KernelOfRanks(Record):
    """One name of kernel, copy or fill, over all ranks."""
    name: str
    """as recorded"""
    kind: Literal["none", "compute", "communication", "copy", "fill"]
    """what it does"""
    ranks: int
    """that ran it"""
    count: int
    """over all ranks"""
    total_s: float
    """over all ranks"""
    mean_s: float
    """over all ranks"""
    least_mean_s: float
    """of the fastest rank"""
    fastest_rank: int
    """of the job"""
    greatest_mean_s: float
    """of the slowest rank"""
    slowest_rank: int
    """of the job"""

class Analysis(Record):
    """Where the time of a recorded run went. Durations in seconds."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """of document"""
    preset: Literal["orrery", "hta", "tracelens"]
    """whose definitions"""
    times: Literal["recorded", "simulated"]
    """whose the times are: simulated of .et files that say so or have no start times, of graphs, and of runs that --timeline wrote"""
    world_size: int | None
    """ranks of the job"""
    findings: Records[Finding]
    """what costs the most, first"""
    ranks: Records[Rank]
    """by rank"""
    communication: Communication
    """communication of the run"""
    kernels: Records[KernelOfRanks]
    """over all ranks, most time first, at most 1,000"""

class Parts(Record):
    """Parts of a step, by what owned the time; they add up to it."""
    computing: float
    """kernels compute"""
    exposed_communication: float
    """only communication runs"""
    copying: float
    """only copies and fills run"""
    host: float
    """operators of a recording without device work"""
    late: float
    """the device idles: its next work is not launched yet"""
    latency: float
    """the device idles: its next work is being launched"""
    end: float
    """after the last work"""

class Run(Record):
    """One of the runs."""
    file: str
    """what was given"""
    times: Literal["recorded", "simulated", "predicted"]
    """whose the times are: simulated of .et files that say so or have no start times, of graphs, and of runs that --timeline wrote"""
    steps: int
    """of all its ranks"""
    step_time_s: float
    """on average"""
    parts_s: Parts
    """of a step, by what owned the time; they add up to it"""

class RowCausesS(Record):
    only_first: float
    """only first"""
    only_second: float
    """only second"""
    calls: float
    """calls"""
    work: float
    """work"""
    waiting: float
    """waiting"""
    overlap: float
    """overlap"""
    late: float
    """late"""
    latency: float
    """latency"""

class TraceDiffKernel(Record):
    """Kernels of one name."""
    name: str
    """of the kernel"""
    busy_s: float
    """it ran, in one step"""

class Line(Record):
    """An operator of one run."""
    name: str
    """operator, communication, kernel without a launch, or kind of work"""
    detail: str
    """shapes of its inputs, or the volume of a communication"""
    calls: float
    """kernels, copies or operators of one step"""
    busy_s: float
    """its work ran, in one step"""
    waiting_s: float
    """of busy, for ranks that came later"""
    owned_s: float
    """its work owned the time"""
    late_s: float
    """the device idled before it, and its launch call had not begun"""
    latency_s: float
    """the device idled from its launch call to its start"""
    kernels: Records[TraceDiffKernel]
    """that ran for it, by name"""

class Row(Record):
    """Operators that stand for each other in both runs."""
    alignment: Literal["same", "other_shapes", "replaced", "only_first", "only_second"]
    """how the sides were found to belong together"""
    kind: Literal["computing", "communication", "copying", "host"]
    """of work"""
    difference_s: float
    """second_s - first_s"""
    first_s: float
    """what it adds to a step of the first run"""
    second_s: float
    """what it adds to a step of the second run, or of the prediction"""
    causes_s: RowCausesS
    """parts of the difference, which they add up to"""
    first: Records[Line]
    """its lines in the first run"""
    second: Records[Line]
    """its lines in the second run"""

class Difference(Record):
    """Two recorded runs, or a run and its prediction, aligned: what got slower, and why."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    steps_by: str
    """a step lasts from its mark on the host to the mark's end; work of the device is clipped there"""
    predicted: bool
    """the second run is a prediction, and rows are kinds of work"""
    first: Run
    """the first run; the recording beside a prediction"""
    second: Run
    """the second run, or the prediction"""
    difference_s: float
    """of the steps: second - first"""
    notes: Records[str]
    """on what is predicted, a sentence each; of two runs none"""
    rows: Records[Row]
    """largest difference first; with the difference of the ends they add up to difference_s"""

class Errors(Record):
    """Relative errors: 0.1 is 10 %."""
    rows: int
    """rows with an error"""
    median: float
    """of |predicted / recorded - 1|"""
    mean: float
    """the same"""
    p90: float
    """the same, 90th percentile"""
    bias: float
    """mean of predicted / recorded - 1"""

class ErrorsByTime(Record):
    """Errors of all kernels together, by their time."""
    recorded_s: float
    """all calls"""
    predicted_s: float
    """all calls"""
    error: float
    """sum of |predicted - recorded| over recorded"""
    bias: float
    """predicted over recorded, minus 1"""

class Class(Record):
    """Kernels of one class."""
    name: str
    """\"product bf16\", \"attention forward\", \"elementwise\""""
    rows: int
    """operators, shapes and types"""
    calls: int
    """of all rows"""
    total_s: float
    """all calls of all ranks as they were, without waiting; with waiting_s of the run all classes add up to its total_s"""
    recorded_s: float
    """all calls at their median; without a prediction as they were"""
    predicted_s: float | None
    """all calls; null: no cost model"""
    errors: Errors | None
    """null: nothing is compared"""
    not_compared_because: str | None
    """of the first row without a prediction"""

class TraceKernelsKernel(Record):
    """Kernels of one name and shape."""
    name: str
    """of the operator or collective"""
    shapes: str
    """of its inputs as recorded"""
    kernel: str
    """that took most of the time of a call"""
    format: str | None
    """of a product or attention"""
    bytes: float | None
    """read and written; of a communication the message"""
    ranks: int
    """of the group; 1 of what does not communicate"""
    calls: int
    """of all recorded ranks; of a communication instances"""
    recorded_s: float
    """one call: the median"""
    total_s: float
    """all calls of all ranks, with waiting"""
    waiting_s: float
    """of it, a communication waits for ranks that came later"""
    waiting_included: bool
    """a communication whose ranks are not all recorded"""
    predicted_s: float | None
    """one call; null: no cost model"""

class KernelComparison(Record):
    """Our cost model beside the kernels of a recorded run."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    accelerator: str
    """of the catalog, whose model is compared"""
    total_s: float
    """all device work of all recorded ranks"""
    waiting_s: float
    """of it, communications wait for ranks that came later"""
    covered_s: float
    """of it, work that is compared, without waiting"""
    errors: Errors
    """of all rows that are compared"""
    errors_by_time: ErrorsByTime
    """the same rows, weighted by the time of all their calls"""
    classes: Records[Class]
    """most time first"""
    kernels: Records[TraceKernelsKernel]
    """one operator with its shapes and types each; most time first"""
    assumed: Records[str]
    """what the model defaulted, a sentence each"""

class KindSpread(Record):
    """One number of a variability."""
    key: str
    """of the variability, as --spread names it"""
    value: float
    """of the fitted variability"""
    kept: float
    """of the variability that is kept where nothing is fitted"""
    samples: int
    """it was fitted to; where nothing is fitted, those there are"""
    law: str | None
    """its form: normal, gamma, log_normal or sampled; null: kept, or too few samples"""
    kept_because: str | None
    """null: it is fitted"""

class OperationSpread(Record):
    """How much one operation varies."""
    work: Literal["pass", "products", "attention", "memory_bound", "within_node", "between_nodes"]
    """what a forecast draws it with"""
    name: str
    """of the kernel, collective or operation"""
    form: str
    """its shapes or grid, its group and bytes, its stage"""
    samples: int
    """that were fitted; of a collective one an instance"""
    waited: int
    """samples left out because they waited, by Otsu's threshold"""
    places: int
    """ranks, or groups of them"""
    steps: int
    """in which it was recorded"""
    mean_s: float
    """of the samples"""
    total_s: float
    """of the samples"""
    variation: float
    """standard deviation over mean, of all samples"""
    spatial: float | None
    """the same from place to place; null: of one place"""
    temporal: float | None
    """of a place from step to step; null: of one step"""
    within_step: float | None
    """from call to call of a step; null: of one call"""
    law: str | None
    """the nearest of normal, gamma and log_normal; empirical: none is near enough"""
    distance: float | None
    """Kolmogorov-Smirnov, of the nearest; null: fewer than 20 samples"""
    largest_distance: float
    """1.36 / sqrt(samples), above which the law is empirical"""

class RecordedSpreads(Record):
    """How much the operations of a recording vary."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    ranks: int
    """that are recorded"""
    steps: int
    """the most of any rank"""
    samples: int
    """durations"""
    kinds: Records[KindSpread]
    """what a forecast draws from"""
    operations: Records[OperationSpread]
    """most time first"""
    kept: str
    """variability that gives what is not fitted"""
    remarks: Records[str]
    """what is left out, a sentence each"""
    assumed: Records[str]
    """a sentence each"""

class FourParts(Record):
    """Parts of a step on the device, in seconds."""
    exposed_compute: float
    """computing kernels run, communication does not"""
    overlapped: float
    """both run"""
    exposed_communication: float
    """communication runs, no computing kernel does"""
    other: float
    """neither: copies, fills, idle"""

class BoundBy(Record):
    """What a replayed step depended on, from its end backwards; the parts add up to replayed_s."""
    host: float
    """threads of the rank, with calls of the runtime"""
    launches: float
    """from calls and other streams to work, and between two works"""
    device: float
    """computing kernels, copies and fills of the rank"""
    communication: float
    """transfers, from when the last rank has come"""
    other_ranks: float
    """until the last rank has come"""

class TraceReplayStep(Record):
    """One step of a rank."""
    rank: int | None
    """of the job, from 0; null: not recorded"""
    step: str
    """its name in the recording; \"recording\" where no steps are marked"""
    recorded_s: float
    """on the host's thread, as recorded"""
    replayed_s: float
    """the same, replayed"""
    error: float
    """|replayed - recorded| / recorded"""
    recorded_breakdown_s: FourParts
    """of the recorded step on the device"""
    replayed_breakdown_s: FourParts
    """of the replayed step on the device"""
    misplaced: float
    """share of the step that the replay puts into another of the four parts than the recording"""
    displacement_s: float
    """median over the work that began in the step of how far its replayed start is from the recorded one"""
    bound_by_s: BoundBy
    """what the replayed step hung on, walked back from its end; the parts sum to replayed_s"""

class Dependencies(Record):
    """How many dependencies of each kind were found."""
    device_to_host: int
    """calls that wait for device work"""
    stream_to_stream: int
    """waits of one stream for another"""
    room_on_device: int
    """work that found the device full"""
    turns_on_device: int
    """work that waited for another process's turn"""
    thread_to_thread: int
    """waits of one thread for another"""
    rank_to_rank: int
    """communications matched over two and more ranks"""
    rank_to_rank_incomplete: int
    """of which ranks are missing"""
    unlaunched: int
    """work whose launch is not recorded"""
    anchored: int
    """of the unlaunched: work that follows the progress of the host"""
    dropped: int
    """dependencies that closed a cycle"""

class ByWork(Record):
    """A time for each kind of device work."""
    kernel: float
    """of kernels"""
    communication: float
    """of communications"""
    copy: float
    """of copies"""
    fill: float
    """of fills"""

class Constants(Record):
    """Times of the whole recording that replace recorded starts."""
    launch_s: ByWork
    """from the end of a launch call to its work on an idle stream; of copies from its start"""
    dispatch_s: ByWork
    """from the end of one piece of work to the next that is ready"""
    wake_s: float
    """from the end of what a stream waited for to its work"""
    slice_s: float
    """of another process on the device; 0: none"""

class TraceReplayRank(Record):
    """One rank."""
    rank: int | None
    """of the job, from 0; null: not recorded"""
    file: str
    """as given"""
    constants: Constants
    """few times of the whole recording, in place of recorded starts"""

class Replay(Record):
    """A recorded run simulated from its durations and dependencies."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    steps: Records[TraceReplayStep]
    """by rank, then by start"""
    mean_error: float
    """over all ranks and steps"""
    worst_error: float
    """of a rank and step"""
    mean_misplaced: float
    """of the steps"""
    worst_misplaced: float
    """of the steps"""
    dependencies: Dependencies
    """how many of each kind were found"""
    nodes: int
    """of the graph"""
    ranks: Records[TraceReplayRank]
    """by rank"""

class OperationStep(Record):
    """One step of the job."""
    step: int
    """its number"""
    recorded_s: float
    """from the first start to the last end"""
    replayed_s: float
    """replayed as it was"""
    no_delay_s: float
    """without launch delays"""
    ideal_s: float
    """without launch delays and stragglers"""

class Part(Record):
    """A part of the job."""
    part: str
    """its name"""
    slowdown: float
    """times as long as the ideal job, where all else is ideal"""

class OperationReplay(Record):
    """A job's operation timeline replayed, and who slows it."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    steps: Records[OperationStep]
    """ascending"""
    incomplete_steps: int
    """left out because they lack an operation"""
    slowdown: float
    """mean of no_delay_s over mean of ideal_s"""
    launch_slowdown: float
    """mean of replayed_s over mean of no_delay_s"""
    by_worker: Records[Part]
    """data-parallel rank and stage, worst first"""
    by_data_parallel_rank: Records[Part]
    """worst first"""
    by_stage: Records[Part]
    """worst first"""
    by_type: Records[Part]
    """of operation, worst first"""

class TraceReplayChakraParts(Record):
    """Parts of the step, which they add up to, in seconds."""
    computing: float
    """kernels run, no communication does"""
    overlapped: float
    """both"""
    communicating: float
    """communication runs, no kernel does"""
    waiting: float
    """neither; communication waits for other ranks"""
    idle: float
    """none of these"""

class ReplayedRank(Record):
    """One rank."""
    rank: int
    """of the job, from 0"""
    recorded_s: float | None
    """from its first operation to its last; null: no start times"""
    replayed_s: float
    """the same, simulated; transfers between two ranks apart"""
    breakdown_s: TraceReplayChakraParts
    """of the step; the parts add up to step_time_s"""

class ChakraReplay(Record):
    """Chakra traces of one or more ranks, simulated."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    step_time_s: float
    """from the first operation of any rank to the last"""
    longest_rank_s: float
    """the largest replayed_s"""
    ranks: Records[ReplayedRank]
    """by rank"""
    operations: int
    """nodes of the graph"""
    dependencies: int
    """its edges, besides the order of streams"""
    times: Literal["recorded", "simulated"] | None
    """whose the start times of the files are, as these say; null: they have none"""
    files: Records[str]
    """as given, by rank"""
    rank_to_rank: int
    """communications of two or more of the given ranks"""
    rank_to_rank_alone: int
    """of one given rank alone"""
    priced: int
    """operations whose time is the cost model's"""
    without_duration: int
    """operations of devices of which no time is known: they take none"""
    undefined_groups: Records[str]
    """process groups no file defines, taken for all ranks"""

class NamedStep(Record):
    """A step that the file names."""
    rank: int
    """of the job, from 0"""
    step: str
    """its name"""
    recorded_s: float | None
    """null: not recorded"""
    replayed_s: float
    """simulated"""

class GraphFileReplay(Record):
    """A graph file, simulated."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    step_time_s: float
    """from the first operation of any rank to the last"""
    longest_rank_s: float
    """the largest replayed_s"""
    ranks: Records[ReplayedRank]
    """by rank"""
    operations: int
    """nodes of the graph"""
    dependencies: int
    """its edges, besides the order of streams"""
    steps: Records[NamedStep]
    """that the file names"""

class Edit(Record):
    """An edit and what it changed."""
    edit: str
    """as the language writes it"""
    changed: int
    """pieces of work and of the host's time that it changed"""
    assumed: Records[str]
    """what it assumed, in sentences"""

class TraceWhatifParts(Record):
    """Parts of a step on the device."""
    exposed_compute_s: float
    """computing kernels run, communication does not"""
    overlapped_s: float
    """both run"""
    exposed_communication_s: float
    """communication runs, no computing kernel does"""
    other_s: float
    """neither: copies, fills, idle"""

class TraceWhatifStep(Record):
    """One step of a rank."""
    rank: int | None
    """of the job, from 0; null: not recorded"""
    stage: int | None
    """of the pipeline that an edit made of the rank; where one did"""
    step: str
    """its name in the recording; \"recording\" where no steps are marked"""
    before_s: float
    """as replayed without edits"""
    after_s: float
    """with them"""
    parts_before: TraceWhatifParts
    """of the step on the device, before"""
    parts_after: TraceWhatifParts
    """the same, after"""
    waiting_before_s: float
    """of its communications, for other ranks to arrive"""
    waiting_after_s: float
    """the same, after"""

class Whatif(Record):
    """A recorded run, edited and simulated again."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    steps_by: str
    """a step lasts from when a rank is done with the one before (its host has left it, and all it launched has ended) until it is done with this one"""
    before_s: float
    """a step of the replay, on average"""
    after_s: float
    """a step of the edited run"""
    waiting_before_s: float
    """of a rank for others in a step, on average"""
    waiting_after_s: float
    """the same, after"""
    replay_error: float
    """how far replayed steps are from recorded ones, counted alike, on average: 0.01 is 1 %"""
    earlier_s: float
    """work launched before a rank's first step, left out of it; most of a rank"""
    edits: Records[Edit]
    """in the order in which they were applied"""
    steps: Records[TraceWhatifStep]
    """by rank, then by start, then by stage"""

class Waiting(Record):
    """Who waited for whom."""
    what: str
    """\"rank 2\""""
    waited_s: float
    """in communications, for others"""
    arrived_last: int
    """communications, of those with two or more recorded ranks"""
    caused_s: float
    """of the others' waiting, where it arrived last"""

class Gain(Record):
    """What one rank or kind of work costs."""
    what: str
    """\"rank 2\", \"host\", a class of kernels"""
    edit: str
    """what was asked: \"even rank 2\""""
    gain_s: float
    """what a step gains if only this one is even"""
    remains_s: float
    """how much longer than the even run a step is if all but this one are even"""

class Stragglers(Record):
    """What slow ranks cost a recorded run. Of a timeline of operations the document is that of trace replay (trace-replay-operations-1.json)."""
    schema_version: int
    """changes when a key is removed or changes its meaning"""
    kind: str
    """what the document is"""
    steps_by: str
    """a step lasts from when a rank is done with the one before (its host has left it, and all it launched has ended) until it is done with this one"""
    before_s: float
    """a step of the replay, on average"""
    even_s: float
    """with all ranks alike"""
    waiting_before_s: float
    """of a rank for others in a step, on average: the most that even ranks could gain"""
    waiting_even_s: float
    """with all ranks alike"""
    slowdown: float
    """before_s / even_s"""
    waiting: Records[Waiting]
    """who waited for whom in the replay of the whole recording, booked on the rank that arrived last; by rank, in the order of the recordings"""
    ranks: Records[Gain]
    """in the order of the recordings"""
    kinds: Records[Gain]
    """of work"""
