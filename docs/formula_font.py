"""Makes docs/formulas/stix-two-math.woff, the font of formulas: the part of STIX Two Math that they may need.

    npm pack @fontsource/stix-two-math@5.3.0 && tar xzf fontsource-stix-two-math-5.3.0.tgz
    python docs/formula_font.py package/files/stix-two-math-latin-400-normal.woff2

It needs fonttools and brotli. The font is under the SIL Open Font License (docs/formulas/OFL.txt).
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

TARGET = Path(__file__).parent / "formulas" / "stix-two-math.woff"  # fonttools reads a .woff without brotli
LETTERS = [(0x20, 0x7E), (0x391, 0x3C9), (0x1D400, 0x1D467), (0x1D6E2, 0x1D71B)]  # ASCII, Greek; bold, italic
OPERATORS = [(0x2190, 0x2194), (0x2200, 0x2235), (0x2260, 0x2267)]  # arrows, sums and quantifiers, relations
OTHERS = "¬¯ˆ˜°±·×ıȷϑϕϵ‐–—‖…′″ℂℓℎℕℝℤℰℱℒℛ↦⇐⇒⇔∼≃≅≈≔≪≫⊂⊃⊆⊇⊕⊗⊙⊤⊥⋅⋮⋯⋱⌈⌉⌊⌋⏞⏟⟨⟩"


def made(source: str) -> None:
    """The part, without hints, which screens of today do not need."""
    options = subset.Options(flavor="woff", hinting=False, glyph_names=False, layout_features=["ssty", "dtls", "flac"])
    options.name_IDs = [0, 1, 2, 13, 14]  # its authors, its name and its licence
    font = subset.load_font(source, options)
    part = subset.Subsetter(options)
    part.populate(unicodes=[i for low, high in LETTERS + OPERATORS for i in range(low, high + 1)], text=OTHERS)
    part.subset(font)
    narrow_roots(font)
    TARGET.parent.mkdir(exist_ok=True)
    subset.save_font(font, str(TARGET), options)


def narrow_roots(font: TTFont) -> None:
    """All sizes of √ as wide as the smallest: Chromium leaves the space of the widest after each of them."""
    known = font["MATH"].table.MathVariants
    smallest = font.getBestCmap()[ord("√")]
    sizes = known.VertGlyphConstruction[known.VertGlyphCoverage.glyphs.index(smallest)]
    names = {one.VariantGlyph for one in sizes.MathGlyphVariantRecord}
    names |= {one.glyph for one in sizes.GlyphAssembly.PartRecords}
    wide, outlines = font["hmtx"].metrics[smallest][0], font["glyf"]
    for name in names:
        factor = wide / font["hmtx"].metrics[name][0]
        outlines[name].coordinates.scale((factor, 1))
        outlines[name].recalcBounds(outlines)
        font["hmtx"].metrics[name] = (wide, outlines[name].xMin)


if __name__ == "__main__":
    made(sys.argv[1])
