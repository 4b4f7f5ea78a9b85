"""For `--kernels examples/kernel_times.py`: what if attention reached 80 % of the peak in both directions?"""

PEAK_FLOPS = 989e12  # of an H100 SXM in bf16, without sparsity


def kernel_time(kernel):
    """Seconds of one kernel."""
    if kernel.kind == "attention":
        return max(kernel.flops / (0.8 * PEAK_FLOPS), 5e-6)
    return kernel.predicted_s
