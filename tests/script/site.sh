#!/bin/bash
# The pages become a site: every link and anchor leads somewhere, the search knows each page, llms.txt lists
# it. Skipped, with a reason, where there is no mkdocs.
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! command -v mkdocs >/dev/null; then
    echo '1..0 # SKIP mkdocs is missing (apt-get install mkdocs mkdocs-material)'
    exit 0
fi
if ! tools/site.py "$scratch/site" 2>"$scratch/said"; then
    sed 's/^/# /' "$scratch/said"
    echo 'not ok - the site is built, and its links lead somewhere'
    exit 1
fi
echo 'ok - the site is built, and its links lead somewhere'
python3 -B - "$scratch/site" <<'END'
import json, os, re, sys
import importlib.util
spec = importlib.util.spec_from_file_location("spillway_site", "tools/site.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)
site, failed = sys.argv[1], 0


def check(good, what, *more):
    global failed
    failed += not good
    for line in more if not good else ():
        print(f"# {line}")
    print(f"{'ok' if good else 'not ok'} - {what}")


index = json.load(open(f"{site}/search/search_index.json"))["docs"]
found = {entry["location"].split("#")[0] for entry in index}
lines = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", open(f"{site}/llms.txt").read(), re.M)
check(len(lines) > 30 and all(os.path.isfile(f"{site}/{line}") for line in lines), "llms.txt lists the pages as Markdown", *lines)
pages = {line.replace("README.md", "index.html").replace(".md", ".html") for line in lines}
check(pages <= found | {"index.html"}, "the search knows every page", *sorted(pages - found))
front = open(f"{site}/index.html").read()
check("<h2 id=\"accuracy\">" in front, "the accuracy page is in front")
outside = re.compile(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"')
loads = [line for page in pages for line in outside.findall(open(f"{site}/{page}").read())]
check(loads == [], "pages load nothing from elsewhere", *loads)
open(f"{site}/start.html", "a").write('<a href="docs/nowhere.html"></a><a href="docs/advise.html#nowhere"></a>')
check(tool.broken(site) == ["start.html: docs/advise.html#nowhere", "start.html: docs/nowhere.html"],
      "a link that leads nowhere is found", *tool.broken(site))
sys.exit(failed > 0)
END
