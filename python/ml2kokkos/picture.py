"""The picture of a report as SVG, in text alone: nothing has to be installed."""

import html

WIDTH, LEFT, RIGHT, ROW = 960, 230, 190, 18
MOST = 60 # kernels with a bar of their own: the longest
COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb")


def text(x, y, content, anchor="start", size=11, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{html.escape(content)}</text>'


def box(x, y, width, height, colour, title="", more=""):
    inner = f"<title>{html.escape(title)}</title>" if title else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{max(height, 0.5):.1f}" fill="{colour}" {more}>{inner}</rect>'


def line(x1, y1, x2, y2, colour="#888", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def shortened(label, most=34):
    return label if len(label) <= most else label[:most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def bars(costs, top):
    """Time of each kernel, and a mark where the roofline would have it."""
    from .report import short_time

    known = [kernel for kernel in costs.kernels if kernel.seconds]
    kept = set(map(id, sorted(known, key=lambda kernel: -kernel.seconds)[:MOST]))
    shown = [kernel for kernel in known if id(kernel) in kept]
    if not shown:
        return [], top
    parts = [text(8, top, f"Time of kernels ({short_time(costs.forward)} a call)", size=13),
             text(WIDTH - 8, top, "mark: the least that bandwidth and peak allow", "end", 10, "#b00")]
    scale = (WIDTH - LEFT - RIGHT) / max(max(kernel.seconds, kernel.least or 0) for kernel in shown)
    y = top + 10
    for kernel in shown:
        least = kernel.least or 0.0
        by_compute = kernel.flops and kernel.flops / costs.limits["f32"] > kernel.bytes / costs.limits["bandwidth"]
        share = f", {100 * least / kernel.seconds:.0f} % of the roofline" if least else ""
        parts += [text(LEFT - 6, y + 12, shortened(kernel.label), "end"),
                  box(LEFT, y + 2, kernel.seconds * scale, ROW - 5, COLOURS[0] if by_compute else COLOURS[2],
                      f"{kernel.label}: {kernel.pattern} {kernel.shapes}, bound by {'compute' if by_compute else 'memory'}"),
                  text(LEFT + max(kernel.seconds, least) * scale + 6, y + 12, short_time(kernel.seconds) + share, size=10)]
        if least:
            parts.append(line(LEFT + least * scale, y, LEFT + least * scale, y + ROW - 1, "#b00", 2))
        y += ROW
    if len(known) > len(shown):
        parts.append(text(LEFT, y + 12, f"and {len(known) - len(shown)} shorter ones", size=10))
        y += ROW
    return parts, y


def bytes_text(count):
    from .report import scaled

    return scaled(count, "B")


def placed(costs):
    """Buffers with a place in the arena, those of unknown size left out."""
    return [buffer for buffer in costs.buffers if buffer.get("offset") is not None and buffer["alive"][0] >= 0]


def arena(costs, top):
    """Live ranges: kernels from left to right, bytes of the arena from bottom to top."""
    buffers = placed(costs)
    if not buffers:
        return [], top
    peak = max(buffer["offset"] + buffer["bytes"] for buffer in buffers)
    count, height = len(costs.kernels), 240
    column, scale = (WIDTH - LEFT - 20) / count, height / peak
    bottom = top + 14 + height
    parts = [text(8, top, f"Live ranges in the arena ({bytes_text(peak)}, {len(buffers)} buffers, {count} kernels)", size=13)]
    for place, buffer in enumerate(sorted(buffers, key=lambda one: one["alive"])):
        first, last = buffer["alive"]
        x, y = LEFT + first * column, bottom - (buffer["offset"] + buffer["bytes"]) * scale
        width, tall = (last - first + 1) * column, buffer["bytes"] * scale
        parts.append(box(x, y, width, tall, COLOURS[place % len(COLOURS)], f"{buffer['name']}: {bytes_text(buffer['bytes'])}",
                         'fill-opacity="0.75" stroke="white"'))
        if width > 46 and tall > 12:
            parts.append(text(x + 3, y + min(tall, 14) - 3, shortened(buffer["name"], int(width / 6.5)), size=10))
    for part in range(5):
        y = bottom - height * part / 4
        parts += [line(LEFT - 4, y, LEFT, y), text(LEFT - 8, y + 4, bytes_text(peak * part / 4), "end", 10)]
    parts += [line(LEFT, bottom, LEFT + count * column, bottom), line(LEFT, bottom - height, LEFT, bottom),
              text(LEFT, bottom + 14, shortened(costs.kernels[0].label), size=10),
              text(LEFT + count * column, bottom + 14, shortened(costs.kernels[-1].label), "end", 10)]
    return parts, bottom + 20


def picture(costs, title):
    parts, y = [text(8, 18, title, size=14)], 30
    for panel in (bars, arena):
        more, end = panel(costs, y + 16)
        parts += more
        y = end if more else y
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 8:.0f}" viewBox="0 0 {WIDTH} {y + 8:.0f}" '
            f'font-family="sans-serif">{box(0, 0, WIDTH, y + 8, "white")}{"".join(parts)}</svg>')
