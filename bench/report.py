"""Results as a table and as a picture."""

COLUMNS = [("case", "{:<28}"), ("threads", "{:>7}"), ("peer", "{:>12}"), ("ours_ms", "{:>10.4f}"), ("peer_ms", "{:>10.4f}"),
           ("ratio", "{:>6.2f}"), ("ratio_median", "{:>12.2f}"), ("share_of_peak", "{:>13.0%}"), ("max_error", "{:>9.1e}"),
           ("load", "{:>5.1f}")]


def print_table(results, heading=True):
    if heading:
        print("  ".join(_heading(form).format(name) for name, form in COLUMNS))
    for result in results:
        print("  ".join(form.format(result[name]) if name in result else _heading(form).format("") for name, form in COLUMNS),
              flush=True)


def _heading(form):
    """The column's width without its number format."""
    return form.split(".")[0].rstrip("}") + "}"


def plot(results, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [f"{r['case']}, {r['peer']}" for r in results][::-1]
    ratios = [r["ratio"] for r in results][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 1 + .35 * len(names)))
    axes.barh(names, ratios, color=["tab:blue" if ratio >= 1 else "tab:orange" for ratio in ratios])
    axes.axvline(1, color="black", linewidth=.8)
    axes.set_xlabel("time of the peer / ours")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
