#!/usr/bin/env python3
"""Make a site of static pages with a search from the Markdown pages: site.py FOLDER. Needs mkdocs and mkdocs-material.

The pages keep their places, so that their links hold: a page is staged with every file of the tree that it links to, and
so are the pages that it links to. The front page is the accuracy page. llms.txt lists the pages for programs
(llmstxt.org), which find each as Markdown beside its HTML. Fails if a link in the built pages leads nowhere."""

import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FRONT = "docs/accuracy.md"
NAV = {
    "Accuracy": "index.md",
    "Start": "start.md",
    "Ask": ["advise", "planning", "serving", "requests", "systems", "tiers", "mechanisms", "policies", "demands"],
    "Guides": "scenarios/guides/*",
    "Inputs": ["scenarios", "machines", "calibrate", "traces/README.md", "traces/FORMAT.md", "importing"],
    "Results": ["database", "python", "judged", "bands", "retrieval", "scenarios/papers/README.md", "scenarios/measured/README.md", "glossary"],
    "Project": ["CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"],
}
LINK = re.compile(r"(\]\()([^)#\s]+)?(#[^)\s]*)?(\))")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def moved(path):
    """Where a page is staged: the README would be an index, which the front page is."""
    return "start.md" if path == "README.md" else path


def relink(text, at, to):
    """A page's text with its links as they are from `to`, and the files of the tree that it links to."""
    linked = set()

    def change(match):
        target, anchor = match[2], match[3] or ""
        if not target or ":" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(at), target))
        if os.path.isdir(os.path.join(ROOT, path)) and os.path.exists(os.path.join(ROOT, path, "README.md")):
            path += "/README.md"
        linked.add(path)
        return f"]({posixpath.relpath(moved(path), posixpath.dirname(to) or '.')}{anchor})"

    return LINK.sub(change, text), linked


def intro():
    """The title and the first two paragraphs of the README."""
    return re.match(r"(# [^\n]*)\n\n((?:[^\n]+\n)+\n(?:[^\n]+\n)+)", read("README.md")).groups()


def front():
    """What Spillway is, then the accuracy page; and the files that it links to."""
    title, first = intro()
    first, linked = relink(f"{first.strip()} [Start here](README.md).", "README.md", "index.md")
    text, more = relink(
        read(FRONT).replace("\n## ", "\n### ").replace("# Accuracy", "## Accuracy", 1), FRONT, "index.md"
    )
    return f"{title}\n\n{first}\n\n{text}", linked | more


def pages_of(entry):
    if isinstance(entry, list):
        return [name if name.endswith(".md") else f"docs/{name}.md" for name in entry]
    if entry.endswith("*"):
        folder = entry[:-2]
        return sorted(
            f"{folder}/{name}" for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith(".md")
        )
    return [entry]


def stage(folder):
    """Lay out all pages, and what they link to."""
    index, waiting = front()
    write(folder, "index.md", index)
    waiting |= {"README.md", FRONT} | {page for entry in NAV.values() for page in pages_of(entry)} - {
        "index.md",
        "start.md",
    }
    waiting = {page for page in waiting if os.path.exists(os.path.join(ROOT, page))}
    done = set()
    while waiting - done:
        path = min(waiting - done)
        done.add(path)
        if os.path.isdir(os.path.join(ROOT, path)):
            raise SystemExit(f"site: a link leads to the folder {path}, which has no README.md")
        if path.endswith(".md"):
            text, linked = relink(read(path), path, moved(path))
            write(folder, moved(path), text)
            waiting |= linked
        else:
            os.makedirs(os.path.dirname(f"{folder}/{path}") or folder, exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), f"{folder}/{path}")
    return sorted(page for page in done if page.endswith(".md"))


def write(folder, path, text):
    os.makedirs(os.path.dirname(f"{folder}/{path}") or folder, exist_ok=True)
    with open(f"{folder}/{path}", "w", encoding="utf-8") as file:
        file.write(text)


def title_of(text):
    return re.search(r"^# (.*)", text, re.M)[1].replace("`", "")


def configure(source, site):
    """mkdocs' settings; JSON is YAML, so a name needs no other quotes."""

    def item(page):
        with open(f"{source}/{moved(page)}", encoding="utf-8") as file:
            return f"{{{quote(title_of(file.read()))}: {quote(moved(page))}}}"

    nav = [
        f"{{{quote(name)}: "
        + (
            quote(entry)
            if isinstance(entry, str) and entry.endswith(".md")
            else f"[{', '.join(item(page) for page in pages_of(entry) if os.path.exists(os.path.join(ROOT, page)))}]"
        )
        + "}"
        for name, entry in NAV.items()
    ]
    write(
        os.path.dirname(source),
        "mkdocs.yml",
        f"""site_name: Spillway
docs_dir: {quote(source)}
site_dir: {quote(site)}
use_directory_urls: false
plugins: [search]
markdown_extensions: [tables, fenced_code, toc]
theme:
  name: material
  font: false
  features: [navigation.sections, toc.follow]
  palette:
    - {{media: "(prefers-color-scheme: light)", scheme: default, toggle: {{icon: material/brightness-7, name: dark}}}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate, toggle: {{icon: material/brightness-4, name: light}}}}
extra: {{generator: false}}
nav: [{", ".join(nav)}]
""",
    )


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def list_for_programs(source, site, pages):
    """llms.txt, and each page as Markdown."""
    lines = []
    for page in pages:
        shutil.copy(f"{source}/{moved(page)}", f"{site}/{moved(page)}")
        with open(f"{source}/{moved(page)}", encoding="utf-8") as file:
            text = file.read()
        first = re.search(
            r"^# [^\n]*\n(?:\n|[ |#>!<-][^\n]*\n|```.*?\n```\n)*([^\n]+(?:\n[^\n]+)*)", text, re.M | re.S
        )
        said = (
            re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(first[1].split())).replace("**", "")
            if first
            else ""
        )
        lines.append(
            f"- [{title_of(text)}]({moved(page)})" + (f": {said.split('. ')[0].rstrip('.:')}" if said else "")
        )
    title, summary = intro()
    docs = [line for line, page in zip(lines, pages) if not page.startswith("sim/")]
    inside = [line for line, page in zip(lines, pages) if page.startswith("sim/")]
    write(
        site,
        "llms.txt",
        f"{title}\n\n> {' '.join(summary.replace('**', '').split())}\n\n## Docs\n\n"
        + "\n".join(docs)
        + "\n\n## Optional\n\n"
        + "\n".join(inside)
        + "\n",
    )


class Links(html.parser.HTMLParser):
    """The names and the links of a page."""

    def __init__(self):
        super().__init__()
        self.names, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.names.add(value)
            elif key in ("href", "src") and value and tag != "base":
                self.links.append(value)


def broken(site):
    """Links that lead nowhere, as PAGE: LINK; and addresses elsewhere from which a page loads something."""
    pages, bad = {}, []
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html") and name != "404.html":
                path = os.path.relpath(os.path.join(folder, name), site)
                pages[path] = Links()
                with open(f"{site}/{path}", encoding="utf-8") as file:
                    pages[path].feed(file.read())
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urllib.parse.urldefrag(urllib.parse.unquote(link))
            if ":" in target or target.startswith("//"):
                continue
            to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.isfile(f"{site}/{to}"):
                bad.append(f"{path}: {link}")
            elif anchor and to in pages and anchor not in pages[to].names:
                bad.append(f"{path}: {link}")
    return sorted(set(bad))


def main():
    site = os.path.abspath(sys.argv[1])
    source = f"{site}-source/pages"
    shutil.rmtree(os.path.dirname(source), ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    os.makedirs(source)
    pages = stage(source)
    configure(source, site)
    subprocess.run(
        ["mkdocs", "build", "--quiet", "--strict", "--config-file", f"{os.path.dirname(source)}/mkdocs.yml"],
        check=True,
    )
    list_for_programs(source, site, pages)
    bad = broken(site)
    for line in bad:
        print(f"site: a link leads nowhere: {line}", file=sys.stderr)
    sys.exit(len(bad) > 0)


if __name__ == "__main__":
    main()
