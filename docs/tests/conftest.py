"""What tests of the site share: the site, built once in a run, and a browser that notes what goes wrong."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree, which

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

DOCS = Path(__file__).parents[1]
OWN = ("file:", "data:", "blob:", "about:", "chrome:")
WIDTH, HEIGHT = 1280, 900


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. RITZ_SITE names one that is there already, to repeat a test quickly."""
    if given := os.environ.get("RITZ_SITE"):
        return Path(given).absolute()
    target = DOCS / "_build"
    done = tmp_path_factory.getbasetemp().parent / f"site-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
    with done.with_suffix(".lock").open("w") as lock:  # processes of one run share what the first of them builds
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            done.write_text(build(target), encoding="utf-8")
    faults = done.read_text("utf-8")
    if faults:
        pytest.fail(f"the site does not build:\n{faults}", pytrace=False)
    return target


def build(target: Path) -> str:
    """Empty, or what is wrong: every warning is an error. Examples that did not change are not run again."""
    rmtree(target, ignore_errors=True)  # pages that are no longer there would be tested too
    command = [sys.executable, "-m", "sphinx", "-W", "-E", "-q", "-b", "html", str(DOCS), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout[-3000:] + done.stderr[-6000:] if done.returncode else ""


class Browser(webdriver.Chrome):
    """Chromium without a window; the whole of selenium, and what happened since a page was shown."""

    site = Path()

    def show(self, page: str) -> None:
        """Open a page of the site from its file, `page` as in "guide/csv.html#top"."""
        name, _, anchor = page.partition("#")
        self.get("about:blank")
        self.forget()
        self.get((self.site / name).as_uri() + (f"#{anchor}" if anchor else ""))
        WebDriverWait(self, 20).until(lambda me: me.execute_script("return document.readyState") == "complete")

    def errors(self) -> list[str]:
        """Warnings and errors of the console since the page was shown, each once told."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.get_log("browser")]

    def requests(self) -> list[str]:
        """What was asked of a network since the page was shown."""
        events = (json.loads(entry["message"])["message"] for entry in self.get_log("performance"))
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith(OWN)]

    def forget(self) -> None:
        """What happened so far."""
        self.get_log("browser")
        self.get_log("performance")

    def size(self, width: int, height: int) -> None:
        """A window that shows so many pixels, also fewer than a real window can have."""
        shown = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shown)

    def scheme(self, name: str) -> None:
        """As a system set to "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One process for all tests of a worker."""
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "WARNING", "performance": "ALL"})
    driver = which("chromedriver")
    if not options.binary_location or not driver:
        pytest.fail("tests of the site need chromium and chromedriver: apt-get install chromium chromium-driver")
    browser = Browser(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Browser, built: Path) -> Browser:
    """The browser as it is at first: a light scheme, a window of 1280×900, nothing stored, nothing noted."""
    chromium.site = built
    chromium.size(WIDTH, HEIGHT)
    chromium.scheme("light")
    chromium.get("about:blank")
    chromium.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
    chromium.forget()
    return chromium
