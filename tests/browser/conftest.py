"""A real browser: Debian's chromium, driven by Playwright."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

sys.path.append(str(Path(__file__).resolve().parent.parent / "service"))


@pytest.fixture(scope="module")
def chromium():
    """The browser, for one module, as its loop lets no other be; where it is absent tests skip, but not in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is missing: .ci/run installs it")
        pytest.skip("chromium is not installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page that tells of every script, dialog, error and request to elsewhere."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.happened = []
    page.on("dialog", lambda dialog: (page.happened.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: page.happened.append(f"error {error}"))
    page.on("console", lambda message: page.happened.append(f"console {message.text}"))
    page.on("request", lambda request: page.happened.append(request.url) if "127.0.0.1" not in request.url else None)
    yield page
    context.close()
