"""One layer of a decode step as text: a lane for each resource.

    spillway timeline FILE -o step.json && python3 -m spillway.layer step.json 16

Reads what `spillway timeline` writes. A layer lasts from the end of the layer before on the main stream to its own end
there. A bar begins and ends at "|", and its name is cut to the bar's width; "+1" is work of the next layer, done
meanwhile. A bar that is shorter than a column is a single "|".
"""
import json
import re
import sys

LANE, COLUMNS = 14, 85  # characters of a lane's name, and of its bars


def bars_of(path):
    """(lane, stage, layer, begin and end in microseconds) of each event, lane by lane."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    for event in sorted(events, key=lambda event: event["tid"]):
        of_layer = re.fullmatch(r"(\S+) (\d+)(\.\d+)?", event["name"])
        if event["ph"] == "X" and of_layer:
            stage = of_layer.group(1) + (of_layer.group(3) or "")
            yield lanes[event["tid"]], stage, int(of_layer.group(2)), event["ts"], event["ts"] + event["dur"]


def picture(bars, layer):
    """The lines of the picture."""
    ends = {of: end for lane, _, of, _, end in sorted(bars, key=lambda bar: bar[4]) if lane == "main stream"}
    if layer not in ends:
        sys.exit(f"spillway.layer: the step has no layer {layer}\n  expected: 0 to {max(ends)}")
    begin, end = ends.get(layer - 1, 0), ends[layer]
    yield f"layer {layer}: {end - begin:.1f} us; a column is {(end - begin) / COLUMNS:.1f} us"
    yield ""
    lanes = {}
    for lane, stage, of, first, last in bars:
        if min(last, end) > max(first, begin):
            named = lanes.setdefault(lane, [])
            name = stage + (f"{of - layer:+d}" if of != layer else "")
            if named and named[-1][0] == name and named[-1][2] == first:
                named[-1][2] = last  # the same stage goes on
            else:
                named.append([name, first, last])
    for lane, named in lanes.items():
        drawn = [" "] * (COLUMNS + 1)
        for name, first, last in named:
            at, to = (int((min(max(time, begin), end) - begin) / (end - begin) * COLUMNS) for time in (first, last))
            drawn[at:to + 1] = list("|" + name[:max(to - at - 1, 0)].ljust(to - at - 1, "=") + "|")[:to - at + 1]
        yield (lane.ljust(LANE) + "".join(drawn)).rstrip()


def main(words):
    if len(words) != 2 or not words[1].isdigit():
        sys.exit("usage: python3 -m spillway.layer STEP.json LAYER")
    print("\n".join(picture(list(bars_of(words[0])), int(words[1]))))


if __name__ == "__main__":
    main(sys.argv[1:])
