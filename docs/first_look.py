"""Draws docs/first_look.png: what `ritz demo` says in a terminal, and a part of the report that it writes.

    python docs/first_look.py

It needs the extras `test` and `docs`, and chromium. Both cards have a background of their own, and what is around them
is transparent: the picture is for light pages and for dark ones. Its lines are short, for the screen of a phone: long
ones are wrapped, and of ten components four are shown.
"""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from functools import partial
from html import escape
from pathlib import Path
from shutil import which

from PIL import Image
from selenium import webdriver

TARGET = Path(__file__).parent / "first_look.png"
COMMAND = "ritz demo"
COLUMNS = 72  # the table has as many
HIDDEN = re.compile(r"^ PC([4-9]) .*\n", re.MULTILINE)
PICTURES = 6  # of the components, with the mean
WIDTH, SCALE = 600, 2.0
LARGER = """for (const text of document.querySelectorAll('.scores text'))
    text.style.fontSize = text.matches('.class') ? '26px' : '18px'"""
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: {width}px; font-family: "DejaVu Sans", sans-serif; }}
body > div {{ border: 1px solid #8b949e80; border-radius: 10px; overflow: hidden; }}
pre {{ margin: 0; padding: 10px 12px 12px; background: #0d1117; color: #d7dde4; }}
pre {{ font: 13.2px/1.45 "DejaVu Sans Mono", monospace; }}
pre b {{ color: #7ee787; font-weight: normal; }}
pre i {{ color: #79c0ff; font-style: normal; }}
#report {{ margin-top: 12px; background: #fff; color: #1c2128; }}
#report p {{ margin: 0; padding: 6px 12px; background: #eef1f4; font-size: 14px; color: #57606a; }}
section {{ display: flex; align-items: center; justify-content: space-between; padding: 8px 12px; }}
section > img {{ width: 310px; }}
section > div {{ display: grid; grid-template-columns: repeat(3, 80px); gap: 12px 8px; }}
figure {{ margin: 0; text-align: center; font-size: 12.5px; }}
figure img {{ display: block; width: 80px; height: 80px; margin-bottom: 4px; image-rendering: pixelated; }}
</style><div><pre><b>$ {command}</b>
{said}</pre></div>
<div id="report"><p>digits-ritz/report.html</p><section>{scores}<div>{pictures}</div></section></div>"""


def started() -> webdriver.Chrome:
    """Chromium without a window, with pixels fine enough for screens of today."""
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--force-device-scale-factor={SCALE}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=which("chromedriver")))


def spoken(said: str) -> str:
    """What the command prints, up to where files are named; the table is coloured as in a terminal."""
    kept = HIDDEN.sub(lambda row: "   ⋮\n" if row[1] == "4" else "", said.partition("\nwritten:")[0].rstrip())
    wrap = partial(textwrap.fill, width=COLUMNS, break_on_hyphens=False)
    lines = []
    for line in kept.splitlines():
        table = line.lstrip().startswith(("PC", "variance ", "⋮"))
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines.append(f"<i>{escape(line)}</i>" if table else escape(wrap(line, subsequent_indent=indent)))
    return "\n".join(lines)


def shown(browser: webdriver.Chrome, report: Path) -> dict[str, str]:
    """Of the report: the scores, with larger letters, and the first components as pictures."""
    browser.set_window_size(900, 1200)
    browser.get(report.as_uri())
    browser.execute_script(LARGER)
    scores = browser.find_element("css selector", "svg.scores").screenshot_as_base64
    figures = browser.find_elements("css selector", ".pictures figure")[:PICTURES]
    parts = [(one.find_element("css selector", "img").get_attribute("src"), one.text) for one in figures]
    pictures = "".join(f'<figure><img src="{image}">{escape(text)}</figure>' for image, text in parts)
    return {"scores": f'<img src="data:image/png;base64,{scores}">', "pictures": pictures}


def picture() -> Image.Image:
    """The command, run in a folder of its own, and what it leaves there."""
    browser = started()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COLUMNS": "118", "NO_COLOR": "1"}
        command = [sys.executable, "-m", *COMMAND.split()]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        parts = shown(browser, Path(folder, "digits-ritz", "report.html"))
        page = Path(folder, "look.html")
        page.write_text(PAGE.format(width=WIDTH, command=COMMAND, said=spoken(done.stdout), **parts), "utf-8")
        browser.set_window_size(WIDTH, 900)
        browser.execute_cdp_cmd(
            "Emulation.setDefaultBackgroundColorOverride", {"color": {"r": 0, "g": 0, "b": 0, "a": 0}}
        )
        browser.get(page.as_uri())
        height = browser.execute_script("return document.body.scrollHeight")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    browser.quit()
    return Image.open(io.BytesIO(base64.b64decode(shot["data"])))


def few_colours(drawn: Image.Image) -> Image.Image:
    """255 colours, and one for what is transparent."""
    solid = Image.new("RGB", drawn.size, "white")
    solid.paste(drawn, mask=drawn.getchannel("A"))
    small = solid.quantize(255, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.putpalette([*small.getpalette()[: 3 * 255], 255, 255, 255])
    small.paste(255, mask=drawn.getchannel("A").point(lambda alpha: 255 * (alpha < 64)))
    return small


if __name__ == "__main__":
    few_colours(picture()).save(TARGET, compress_level=9, transparency=255)
    print(f"{TARGET.name}: {TARGET.stat().st_size // 1000} kB")
