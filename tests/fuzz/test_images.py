# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an image, however damaged, is loaded or refused with a reason. It crashes nothing, and it ends.

`corpus` has what once did otherwise, and what is near to it. The suite loads these and some hundred cases of the fuzzer
up to the code; `make nightly` runs the fuzzer for an hour.
"""

from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs.hostdriver.ptx import loader
from cuda_graphs.hostdriver.ptx.errors import ImageError
from tests.fuzz import images
from tests.fuzz.mutations import case, fatbin

CORPUS = sorted(path for path in Path(__file__).with_name("corpus").iterdir())
HOUR = 60  # minutes


@pytest.fixture(scope="module")
def host_driver():
    if cg.driver_info().kind != "host":
        pytest.skip("the loader is the host driver's")
    return images.Driver()


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_image_that_once_did_harm_is_loaded_or_refused(host_driver, tmp_path, path):
    assert host_driver.outcome(path.read_bytes(), tmp_path / "image") == ""


def test_damaged_text_is_translated_or_refused():
    refused = 0
    for number in range(300):
        image = case(number)
        if image[:1] in (b"\x7f", b"P"):  # for the driver: below
            continue
        try:
            loader.translate(image.decode(errors="replace"))
        except ImageError:
            refused += 1
    assert refused > 100


def test_damaged_fatbins_and_native_images_are_refused_before_they_are_used(host_driver, tmp_path):
    for number in range(600):
        image = case(number)
        if image[:1] in (b"\x7f", b"P") and image[:4] != b"\x7fELF":
            assert host_driver.outcome(image, tmp_path / "image") == "", number


@pytest.mark.parametrize("byte", [0, 0x7F, 0xFF])
def test_each_byte_of_the_headers_of_a_fatbin_may_be_wrong(host_driver, tmp_path, byte):
    text = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\0"
    good = fatbin((1, text))
    for at in range(80):
        image = good[:at] + bytes([byte]) + good[at + 1 :]
        assert host_driver.outcome(image, tmp_path / "image") == "", at


@pytest.mark.nightly
def test_an_hour_of_damaged_images(tmp_path):
    count, wrong = images.run(HOUR, 1000, tmp_path)
    assert count > 1000
    assert not wrong
