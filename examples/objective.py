"""For `orrery search --python examples/objective.py`: the cheapest step that leaves memory free."""

DOLLARS_PER_GPU_HOUR = 2.95


def objective(step):
    """Dollars for a billion tokens."""
    gpu_seconds = step.gpus * 1e9 / step.tokens_per_s
    return gpu_seconds / 3600 * DOLLARS_PER_GPU_HOUR


def constraint(step):
    """A tenth of the memory stays free."""
    return step.peak_memory_bytes <= 0.9 * step.memory_capacity_bytes
