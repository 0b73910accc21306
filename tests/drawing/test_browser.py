# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Opens HTML pictures in headless Chromium, clicks, searches and zooms. `make test-browser` runs these tests."""

import itertools
import math
import random
import re
import shutil
import time

import pytest

from cuda_graphs.drawing.layout import lay_out
from cuda_graphs.drawing.picture import Picture
from cuda_graphs.drawing.scene import Box, Frame, Link, Plane, Scene
from tests.drawing.cases import CASES, chain, nested

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
PAINTED = "requestAnimationFrame(() => requestAnimationFrame(arguments[arguments.length - 1]))"
SCALE = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")


@pytest.fixture(scope="session")
def chromium():
    from selenium import webdriver

    programs = [path for name in NAMES if (path := shutil.which(name))]
    driver = shutil.which("chromedriver")
    assert programs and driver, "needs Chromium and chromedriver: apt-get install chromium chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield browser
    browser.quit()


class Page:
    """A picture in the browser."""

    def __init__(self, chromium, path):
        self.chromium, self.path = chromium, path

    def open(self, scene, *, size=(1200, 800), dark=False, folds=False, theme="auto"):
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        Picture(scene, folds, theme).save(self.path)
        self.chromium.get(self.path.as_uri())
        return self.wait()

    def command(self, name, **arguments):
        return self.chromium.execute_cdp_cmd(name, arguments)

    def wait(self):
        """Wait until the page has painted its changes."""
        self.chromium.execute_async_script(PAINTED)
        return self

    def run(self, script, *arguments):
        return self.chromium.execute_script(f"return {script}", *arguments)

    def find(self, selector):
        return self.chromium.find_element("css selector", selector)

    def box(self, key):
        return self.find(f'[data-key="{key}"]')

    def seen(self):
        return self.run("[...document.querySelectorAll('[data-key]')].map(g => g.dataset.key)")

    def boxes(self):
        """{key: (x, y, width, height)} on the sheet."""
        found = {}
        script = (
            "[...document.querySelectorAll('[data-key]')]"
            ".map(g => [g.dataset.key, g.getAttribute('transform'), g.dataset.size])"
        )
        for key, place, size in self.run(script):
            x, y = map(float, re.findall(r"[-\d.]+", place))
            found[key] = (x, y, *map(float, size.split()))
        return found

    def view(self):
        """(x, y, zoom) of the sheet in the window."""
        found = SCALE.fullmatch(self.find("main > svg > g").get_attribute("transform"))
        return tuple(map(float, found.groups()))

    def do(self, action):
        self.find(f'[data-do="{action}"]').click()
        return self.wait()

    def click(self, key):
        """Click at the title of a box."""
        x, y = self.middle(f'[data-key="{key}"] > .title')
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        return self.wait()

    def middle(self, selector):
        area = self.run("document.querySelector(arguments[0]).getBoundingClientRect()", selector)
        return area["x"] + area["width"] / 2, area["y"] + area["height"] / 2

    def corner(self, key):
        """Return the upper left corner of a box in the window."""
        x, y, zoom = self.view()
        left, top, _, _ = self.boxes()[key]
        sheet = self.run("document.querySelector('main').getBoundingClientRect()")
        return sheet["x"] + x + left * zoom, sheet["y"] + y + top * zoom

    def mouse(self, kind, x, y, **arguments):
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **arguments)

    def type(self, text):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.chromium).send_keys(text).perform()
        return self.wait()


@pytest.fixture
def page(chromium, tmp_path):
    yield Page(chromium, tmp_path / "picture.html")
    assert [entry["message"] for entry in chromium.get_log("browser")] == []


def scene(plane, **fields):
    return Scene("a picture", plane, **fields)


def loops(count=3):
    """Loops side by side after a kernel, and a kernel after them. Each has a body of two nodes, one in a loop."""
    boxes = [Box("0", "kernel", "first")]
    for n in range(1, count + 1):
        inner = chain(2, prefix=f"{n}.0.1.0.")
        body = Plane(
            (
                Box(f"{n}.0.0", "kernel", f"work {n}", source=f"/path/program.py:{n}"),
                Box(f"{n}.0.1", "while", "inner", frames=(Frame("body", inner),)),
            ),
            (Link(0, 1),),
        )
        boxes.append(Box(str(n), "while", f"loop {n}", frames=(Frame("body", body),)))
    boxes.append(Box(str(count + 1), "memcpy", "last"))
    links = [Link(0, n) for n in range(1, count + 1)] + [Link(n, count + 1) for n in range(1, count + 1)]
    return Plane(tuple(boxes), tuple(links))


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def check_boxes(boxes):
    """Boxes of one plane do not overlap, and the boxes inside a box lie in it."""
    for (key, box), (other, place) in itertools.combinations(boxes.items(), 2):
        if key.rpartition(".")[0] == other.rpartition(".")[0]:
            assert not overlap(box, place), (key, other)
    for key, (x, y, width, height) in boxes.items():
        around = key.rpartition(".")[0].rpartition(".")[0]
        if around:
            u, v, outer_width, outer_height = boxes[around]
            assert u < x and v < y and x + width < u + outer_width and y + height < v + outer_height, key


@pytest.mark.parametrize("name", CASES)
def test_closed_boxes_have_the_places_of_the_layout(page, name):
    page.open(scene(CASES[name]), size=(6000, 6000)).do("close")
    layout = lay_out(CASES[name], lambda box: False)
    places = {place.box.key: (place.x, place.y, place.width, place.height) for place in layout.places}
    assert page.boxes() == {key: pytest.approx(place, abs=0.3) for key, place in places.items()}
    ends = page.run("[...document.querySelectorAll('path.link')].map(p => [p.dataset.from, p.dataset.to])")
    boxes = CASES[name].boxes
    wanted = [[boxes[link.source].key, boxes[link.target].key] for link in CASES[name].links]
    assert sorted(ends) == sorted(wanted)


def test_a_click_opens_a_box_and_another_one_closes_it(page):
    page.open(scene(loops())).do("close")
    before = page.boxes()
    assert set(before) == set("01234")
    page.click("2")
    assert set(page.seen()) == set("01234") | {"2.0.0", "2.0.1"}
    assert page.box("2").get_attribute("aria-expanded") == "true"
    check_boxes(page.boxes())
    page.click("2.0.1")
    assert "2.0.1.0.1" in page.seen()
    check_boxes(page.boxes())
    page.click("2")
    assert page.boxes() == before


def test_a_box_that_opens_stays_in_its_place_in_the_window(page):
    page.open(scene(loops())).do("close")
    for key in ("1", "3", "3.0.1", "2"):
        before = page.corner(key)
        page.click(key)
        assert page.corner(key) == pytest.approx(before, abs=1)


def test_all_boxes_open_and_close(page):
    plane = loops(5)
    page.open(scene(plane), size=(3000, 3000)).do("open")
    assert sorted(page.seen()) == sorted(box.key for box in plane.walk())
    check_boxes(page.boxes())
    page.do("close")
    assert sorted(page.seen()) == sorted(box.key for box in plane.boxes)


def random_plane(choice, prefix="", depth=3):
    boxes = []
    for n in range(choice.randint(1, 6)):
        key = f"{prefix}{n}"
        frames = tuple(
            Frame("body", random_plane(choice, f"{key}.{number}.", depth - 1))
            for number in range(choice.randint(1, 2) if depth and choice.random() < 0.5 else 0)
        )
        kind = choice.choice(["if", "while", "switch"] if frames else ["kernel", "memset", "memcpy"])
        boxes.append(Box(key, kind, "x" * choice.randint(1, 20), lane=choice.choice([0, 1])))
        boxes[-1] = Box(key, kind, boxes[-1].title, lane=boxes[-1].lane, frames=frames)
    pairs = {tuple(sorted(choice.choices(range(len(boxes)), k=2))) for _ in boxes}
    return Plane(tuple(boxes), tuple(Link(*pair) for pair in sorted(pairs) if pair[0] != pair[1]))


def test_boxes_of_random_graphs_do_not_overlap_in_any_state(page):
    choice = random.Random(7)
    for _ in range(8):
        plane = random_plane(choice)
        page.open(scene(plane), size=(8000, 8000)).do("close")
        for _ in range(6):
            folders = page.run("[...document.querySelectorAll('.folder')].map(g => g.dataset.key)")
            if folders:
                page.click(choice.choice(folders))
            check_boxes(page.boxes())


def test_a_search_opens_what_it_finds_and_enter_goes_on(page):
    page.open(scene(loops())).do("close")
    page.find("input").click()
    page.type("WORK")
    assert page.find("output").text == "1 of 3"
    assert {"1.0.0"} == {key for key in page.seen() if "." in key} - {"1.0.1"}
    assert page.find(".current").get_attribute("data-key") == "1.0.0"
    page.type("\ue007")
    assert page.find("output").text == "2 of 3"
    assert page.find(".current").get_attribute("data-key") == "2.0.0"
    page.do("previous").do("previous")
    assert page.find("output").text == "3 of 3"
    x, y = page.middle(".current")
    assert 0 < x < 1200 and 50 < y < 800


def test_a_search_looks_at_source_lines_and_at_names_in_folds(page):
    page.open(scene(loops()))
    page.find("input").send_keys("program.py:2")
    page.wait()
    assert page.find(".current").get_attribute("data-key") == "2.0.0"
    page.find("input").send_keys("9 nothing")
    page.wait()
    assert page.find("output").text == "none"
    boxes = tuple(Box(str(n), "kernel", f"step_{n}", is_named=True) for n in range(9))
    page.open(scene(Plane(boxes, chain(9).links)), folds=True)
    page.find("input").send_keys("step_7")
    page.wait()
    assert page.find("output").text == "1 of 1"


def test_buttons_zoom_and_fit(page):
    page.open(scene(chain(40)))
    _, _, zoom = page.view()
    page.do("larger")
    assert page.view()[2] == pytest.approx(zoom * 1.3)
    page.do("smaller").do("smaller").do("fit")
    bottom = page.run("document.querySelector('[data-key=\"39\"]').getBoundingClientRect().bottom")
    assert bottom < 800 and len(page.seen()) == 40


def test_the_first_view_can_be_read(page):
    page.open(scene(chain(40)))
    assert page.view()[2] == pytest.approx(0.7)
    page.open(scene(chain(4)))
    assert page.view()[2] == 1


def test_a_drag_moves_the_sheet_and_opens_nothing(page):
    page.open(scene(loops())).do("close")
    x, y, _ = page.view()
    u, v = page.middle('[data-key="2"] > .title')
    page.mouse("mousePressed", u, v, button="left", clickCount=1)
    for step in range(1, 6):
        page.mouse("mouseMoved", u + 10 * step, v + 6 * step, button="left", buttons=1)
    page.mouse("mouseReleased", u + 50, v + 30, button="left", clickCount=1)
    page.wait()
    assert page.view()[:2] == pytest.approx((x + 50, y + 30))
    assert set(page.seen()) == set("01234")


def test_a_wheel_moves_and_with_control_zooms_at_the_pointer(page):
    page.open(scene(loops()))
    x, y, zoom = page.view()
    page.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-120)
    assert page.wait().view() == pytest.approx((x, y + 120, zoom))
    u, v = page.corner("2")
    page.mouse("mouseWheel", u, v, deltaX=0, deltaY=-100, modifiers=2)
    assert page.wait().view()[2] == pytest.approx(zoom * math.exp(100 / 250))
    assert page.corner("2") == pytest.approx((u, v), abs=0.5)


def test_keys_open_boxes_move_and_reach_the_search(page):
    page.open(scene(loops())).do("close")
    page.run("document.querySelector('[data-key=\"2\"]').focus()")
    page.type("\ue007")
    assert "2.0.0" in page.seen()
    assert page.run("document.activeElement.dataset.key") == "2"
    x, y, zoom = page.view()
    page.type("\ue015")
    assert page.view() == (x, y - 80, zoom)
    page.type("+")
    assert page.view()[2] == pytest.approx(zoom * 1.3)
    page.type("/")
    assert page.run("document.activeElement.tagName") == "INPUT"


def test_the_pointer_shows_all_that_is_known_of_a_box(page):
    page.open(scene(loops()))
    page.mouse("mouseMoved", *page.middle('[data-key="1.0.0"] > .title'))
    page.wait()
    assert page.find(".hover").text == "kernel: work 1\n/path/program.py:1"
    page.mouse("mouseMoved", 1190, 790)
    page.wait()
    assert not page.find(".hover").is_displayed()


def test_a_finding_leads_to_its_nodes(page):
    boxes = (*chain(30).boxes, Box("30", "memset", "wrong", notes=(1,)))
    page.open(scene(Plane(boxes, chain(31).links), notes=("two fills",)), size=(800, 500))
    page.find('[data-note="1"]').click()
    page.wait()
    x, y = page.middle(".current")
    assert page.find(".current").get_attribute("data-key") == "30"
    assert 0 < x < 800 and 50 < y < 500


def test_colours_follow_the_reader_unless_the_theme_is_fixed(page):
    def background():
        return page.run("getComputedStyle(document.body).backgroundColor")

    page.open(scene(chain(2)))
    light = background()
    page.open(scene(chain(2)), dark=True)
    dark = background()
    assert sum(map(int, re.findall(r"\d+", light))) > 600 and sum(map(int, re.findall(r"\d+", dark))) < 150
    page.open(scene(chain(2)), dark=True, theme="light")
    assert background() == light
    page.open(scene(chain(2)), theme="dark")
    assert background() == dark


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_a_page_fits_into_its_window(page, width):
    page.open(scene(loops(), notes=("a finding with a long text " * 20,)), size=(width, 700))
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.documentElement.scrollHeight") <= 700
    area = page.run("document.querySelector('main').getBoundingClientRect()")
    assert area["height"] > 300


def test_a_page_loads_nothing_else(page):
    page.chromium.get_log("performance")
    page.open(scene(loops()))
    messages = " ".join(entry["message"] for entry in page.chromium.get_log("performance"))
    addresses = set(re.findall(r'"requestWillBeSent".*?"url":"(\w+:[^"]*)"', messages))
    assert {each.partition(":")[0] for each in addresses} <= {"file", "data"}
    assert page.run("performance.getEntriesByType('resource').length") == 0


def test_texts_stay_in_their_boxes(page):
    titles = ["step", "a" * 80, "éè 漢字漢字漢字", "WWWWWWWWWW", "<b>&amp;</b>"]
    boxes = tuple(
        Box(str(n), kind, title, (title,), (title,), source=title)
        for n, (title, kind) in enumerate(itertools.product(titles, ["kernel", "memcpy", "while", "alloc"]))
    )
    page.open(scene(Plane(boxes)), size=(4000, 3000)).do("fit")
    area = "getBoundingClientRect()"
    found = page.run(
        f"[...document.querySelectorAll('[data-key]')].map(g => [g.querySelector('.outline').{area}, "
        f"...[...g.querySelectorAll('text')].map(t => t.{area})])"
    )
    assert len(found) == len(boxes)
    for outline, *texts in found:
        for text in texts:
            assert outline["left"] - 1 < text["left"] and text["right"] < outline["right"] + 1


def test_twenty_thousand_boxes_open_quickly_and_are_painted_as_far_as_visible(page):
    boxes = tuple(Box(str(n), "kernel", f"node {n}", source=f"/path/file.py:{n}") for n in range(20_000))
    start = time.monotonic()
    page.open(scene(Plane(boxes, chain(20_000).links)))
    opened = time.monotonic() - start
    assert len(page.seen()) < 100
    start = time.monotonic()
    page.do("fit")
    fitted = time.monotonic() - start
    assert page.run("document.querySelectorAll('main svg *').length") < 50
    page.find("input").send_keys("node 19999")
    assert page.wait().find(".current").get_attribute("data-key") == "19999"
    # About 3 s with the layout in Python, and 0.3 s, on two shared cores.
    assert opened < 30 and fitted < 10


def test_deep_nests_open(page):
    page.open(scene(nested(60)), size=(800, 600)).do("open")
    page.find("input").send_keys("loop")
    page.wait()
    assert page.find("output").text == "1 of 61"
    page.do("previous")
    assert page.find(".current").get_attribute("data-key") == "1" + ".0.1" * 60
