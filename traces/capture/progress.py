"""Progress on standard error: a bar on a terminal, elsewhere a line now and then."""

import sys
import time


class Progress:
    """How far a part of the recording is, and how long the rest will take at the pace so far."""

    WIDTH = 30
    SECONDS = 30  # between two lines

    def __init__(self, label, total):
        self.label, self.total = label, total
        self.start = self.last = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def draw(self, done):
        now = time.monotonic()
        left = (now - self.start) / done * (self.total - done)
        if self.is_terminal:
            bar = '#' * (self.WIDTH * done // self.total)
            print(f'\r{self.label} [{bar:{self.WIDTH}}] {done}/{self.total}, {duration(left)} left'
                  '   ', end='', file=sys.stderr, flush=True)
        elif now - self.last >= self.SECONDS:
            self.last = now
            print(f'{self.label}: {done} of {self.total}, {duration(left)} left', file=sys.stderr,
                  flush=True)

    def close(self):
        if self.is_terminal:
            print(file=sys.stderr)


def show_progress(label, counts, total):
    """Shows how `counts` runs up to `total`."""
    progress = Progress(label, total)
    try:
        for done in counts:
            progress.draw(done)
    finally:
        progress.close()


def duration(seconds):
    """'50 s', '12 min', '3.5 h'."""
    if seconds < 100:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 100 * 60 else f'{seconds / 3600:.1f} h'
