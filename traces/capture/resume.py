"""A recording that was stopped goes on: the same command finds FILE.swt.part and keeps its whole
tiles.

The state of the model is not kept: the prefix and the steps before the last whole tile are decoded
again, without recording. The last whole tile is recorded again and must come out as it was, byte by
byte; otherwise model, text or machine differ. So a recording that went on has the bytes of one that
was never stopped.
"""

import os
import sys

import swt
from options import Refusal


class Writer(swt.Writer):
    """`first_step` is the first step to record. An interrupt or a full disk leaves whole tiles."""

    def begin(self):
        self.first_step, self.again = 0, []
        frames = self.find_frames()
        whole = self.kept_tiles = len(frames) // self.header.layers
        if whole == 0:
            return super().begin()
        kept = frames[:(whole - 1) * self.header.layers]
        self.offsets = [offset for offset, _ in kept]
        self.first_step = (whole - 1) * self.header.steps_per_tile
        file = open(self.partial, 'r+b')
        file.seek(frames[len(kept)][0])
        self.again = [file.read(size) for _, size in frames[len(kept):whole * self.header.layers]]
        file.seek(frames[len(kept)][0])
        steps = min(whole * self.header.steps_per_tile, self.header.steps)
        print(f"'{self.partial}' holds {steps} of {self.header.steps} steps: the prefix and "
              f'{self.first_step} steps are decoded again, then recording goes on',
              file=sys.stderr, flush=True)
        return file

    def find_frames(self):
        """Offset and size of each whole frame of an unfinished file with this header."""
        header, frames = self.header.encode(), []
        try:
            file = open(self.partial, 'rb')
        except FileNotFoundError:
            return []
        with file:
            if file.read(len(header)) != header:
                return []
            offset = file.tell()
            while len(frames) < self.header.frame_count:
                size = swt.frame_size(file, self.header.place(len(frames)))
                if size is None:
                    break
                frames.append((offset, size))
                offset += size
        return frames

    def write_frame(self, data):
        if self.again and self.again.pop(0) != data:
            raise Another(f"'{self.partial}' is not of this recording: model, text or machine "
                          'differ. Remove it to begin anew')
        super().write_frame(data)
        if len(self.offsets) % self.header.layers == 0:
            self.file.flush()

    def close(self):
        self.file.truncate()
        super().close()

    def __exit__(self, kind, *more):
        holds_tile = self.kept_tiles > 0 or len(self.offsets) >= self.header.layers
        if kind and (issubclass(kind, Another) or
                     holds_tile and issubclass(kind, (KeyboardInterrupt, OSError))):
            self.close_unfinished()
        else:
            super().__exit__(kind, *more)


class Another(Refusal):
    """The unfinished file is of another recording; it is not this one's to remove."""
