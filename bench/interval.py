"""interval: the median of a few values and how far it may be off, for the benches that compare in pairs."""
import statistics


def interval(values):
    """Returns the median and its 95 % confidence interval (order statistics)."""
    ranked, n = sorted(values), len(values)
    k = max(0, int(n / 2 - 0.98 * n ** 0.5))
    return statistics.median(ranked), ranked[k], ranked[n - 1 - k]
