"""Draws docs/first_look.png: what `ritz demo wine -k 3` says in a terminal, and charts of the report that it writes.

    python docs/first_look.py

It needs the extras `test` and `docs`, and chromium. Both cards have a background of their own, and what is around them
is transparent: the picture is for light pages and for dark ones.
"""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from shutil import which

from PIL import Image
from selenium import webdriver

TARGET = Path(__file__).parent / "first_look.png"
COMMAND = "ritz demo wine -k 3"
CHARTS = (".scree", ".scores", ".weights0")  # of the report: variances, rows, the weights of PC1
WIDTH, SCALE = 1000, 1.7
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: {width}px; font-family: "DejaVu Sans", sans-serif; }}
div {{ border: 1px solid #8b949e80; border-radius: 10px; overflow: hidden; }}
pre {{ margin: 0; padding: 14px 18px 16px; background: #0d1117; color: #d7dde4; }}
pre {{ font: 13.4px/1.5 "DejaVu Sans Mono", monospace; }}
pre b {{ color: #7ee787; font-weight: normal; }}
pre i {{ color: #79c0ff; font-style: normal; }}
#report {{ margin-top: 14px; background: #fff; color: #1c2128; }}
#report p {{ margin: 0; padding: 7px 18px; background: #eef1f4; font-size: 12.5px; color: #57606a; }}
#report section {{ display: flex; align-items: center; justify-content: space-around; padding: 12px 8px; }}
img {{ max-height: 270px; max-width: 325px; }}
</style><div><pre><b>$ {command}</b>
{said}</pre></div>
<div id="report"><p>wine-ritz/report.html</p><section>{charts}</section></div>"""


def started() -> webdriver.Chrome:
    """Chromium without a window, with pixels fine enough for screens of today."""
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--force-device-scale-factor={SCALE}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=which("chromedriver")))


def spoken(said: str) -> str:
    """What the command prints, up to where files are named; the table is coloured as in a terminal."""
    lines = [line for line in said.partition("\nwritten:")[0].rstrip().splitlines() if "not decomposed" not in line]
    lines = [line.replace("; no larger", ";\n             no larger") for line in lines]
    marked = [f"<i>{escape(line)}</i>" if line.startswith(("PC", "     var")) else escape(line) for line in lines]
    return "\n".join(marked)


def picture() -> Image.Image:
    """The command, run in a folder of its own, and what it leaves there."""
    browser = started()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "COLUMNS": "118", "NO_COLOR": "1"}
        command = [sys.executable, "-m", *COMMAND.split()]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        browser.set_window_size(900, 1200)
        browser.get(f"file://{folder}/wine-ritz/report.html")
        shots = [browser.find_element("css selector", f"svg{chart}").screenshot_as_base64 for chart in CHARTS]
        charts = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
        page = Path(folder, "look.html")
        page.write_text(PAGE.format(width=WIDTH, command=COMMAND, said=spoken(done.stdout), charts=charts), "utf-8")
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


if __name__ == "__main__":
    picture().quantize(128, method=Image.Quantize.FASTOCTREE).save(TARGET, optimize=True)
    print(f"{TARGET.name}: {TARGET.stat().st_size // 1000} kB")
