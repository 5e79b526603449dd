"""What every figure is held to."""

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from matplotlib import image
from matplotlib.transforms import Bbox

from litepyramid.tables import Result, Table
from litepyramid.types import Signature


def ink(text):
    """The box of a label: matplotlib's is as high as a line, whatever stands in it."""
    box = text.get_window_extent()
    middle = (box.p0 + box.p1) / 2
    size = np.array([box.width, box.height])
    upright = text.get_rotation() == 90
    lines = text.get_text().count("\n") + 1
    size[0 if upright else 1] *= 0.6 if lines == 1 else 0.85
    return Bbox([middle - size / 2, middle + size / 2])


@dataclass
class Drawn(Result):
    """A figure as a result, to be saved."""

    figure: Any
    signature = Signature.of(judge="own")

    def to_tables(self):
        return [Table("", (), ())]

    def to_figure(self):
        return self.figure


def check(figure, tmp_path, columns=1):
    """As wide as so many columns, nothing at the edge, no label over another, no legend
    above axis text."""
    Drawn(figure).save(tmp_path / "f.png")
    pixels = image.imread(tmp_path / "f.png")
    for edge in (pixels[:3], pixels[-3:], pixels[:, :3], pixels[:, -3:]):
        assert edge.min() == 1.0
    assert pixels.shape[1] <= 3.5 * 160 * columns
    figure.set_dpi(500)  # labels measured in fine pixels
    figure.draw_without_rendering()

    for axes in figure.axes:
        for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [ink(t) for t in ticks if t.get_text() and t.get_visible()]
            for one, other in pairwise(boxes):
                assert not one.overlaps(other)
        assert axes.get_window_extent().width > 5

    for one, other in combinations([a for a in figure.axes if a.get_visible()], 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())
    names = [axes.xaxis.label.get_window_extent() for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))

    for legend in figure.legends:
        sizes = [text.get_fontsize() for text in legend.get_texts()]
        assert max(sizes) <= figure.axes[0].xaxis.label.get_fontsize()
        for axes in figure.axes:
            assert not legend.get_window_extent().overlaps(axes.get_tightbbox())
