"""read_file: many files, lines, limits, pictures."""

import base64

import pytest

from files_bench import Bench
from heald.tools.files.access import MAX_IMAGE
from heald.tools.files.read_tool import ALL_CHARACTERS, FILE_CHARACTERS, FILE_LINES, MAX_FILES, read_file

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PICTURES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + b"\0" * 20,
    "image/gif": b"GIF89a" + b"\0" * 20,
    "image/webp": b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 20,
}


async def test_one_file_by_its_path(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\n")
    done = await bench.run(read_file, path="a.txt")
    assert done.text == "=== a.txt (lines 1-2 of 2) ===\none\ntwo"
    assert not done.truncated


async def test_many_files_in_one_call(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    bench.put("b/c.txt", "1\n2\n3\n4")
    done = await bench.run(read_file, files=[{"path": "a.txt"}, {"path": "b/c.txt", "start_line": 2, "end_line": 3}])
    assert done.text == "=== a.txt (lines 1-1 of 1) ===\none\n\n=== b/c.txt (lines 2-3 of 4) ===\n2\n3"
    assert done.summary == "2 of 2 files"


async def test_a_bad_file_does_not_spoil_the_others(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    done = await bench.run(read_file, files=[{"path": "gone.txt"}, {"path": "a.txt"}, {"path": "../x"}])
    assert "=== gone.txt could not be read: 'gone.txt' does not exist" in done.text
    assert "=== ../x could not be read" in done.text
    assert "one" in done.text
    assert not done.is_error


async def test_all_bad_is_an_error(bench: Bench) -> None:
    done = await bench.run(read_file, files=[{"path": "gone.txt"}, {"path": "/etc/passwd"}])
    assert done.is_error
    assert (await bench.run(read_file, path="gone.txt")).kind == "not_found"


async def test_lines_beyond_the_end(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\n")
    assert (await bench.run(read_file, path="a.txt", start_line=3)).kind == "no_such_line"
    assert (await bench.run(read_file, path="a.txt", start_line=2, end_line=1)).kind == "no_such_line"
    done = await bench.run(read_file, path="a.txt", start_line=2, end_line=99)
    assert done.text == "=== a.txt (lines 2-2 of 2) ===\ntwo"


async def test_an_empty_file(bench: Bench) -> None:
    bench.put("a.txt", "")
    assert (await bench.run(read_file, path="a.txt")).text == "=== a.txt (empty) ==="


async def test_a_long_file_is_cut_and_states_where_to_go_on(bench: Bench) -> None:
    bench.put("a.txt", "".join(f"{number}\n" for number in range(1, 5001)))
    done = await bench.run(read_file, path="a.txt")
    assert done.truncated
    assert (
        done.lines[-1]
        == f"[Cut: {5000 - FILE_LINES} more lines were asked for; go on with start_line={FILE_LINES + 1}.]"
    )
    after = await bench.run(read_file, path="a.txt", start_line=FILE_LINES + 1)
    assert after.lines[1] == str(FILE_LINES + 1)


async def test_reading_on_gives_every_line_once(bench: Bench) -> None:
    lines = [f"{number} " + "x" * (number % 90) for number in range(1, 4000)]
    bench.put("a.txt", "\n".join(lines))
    read, start = list[str](), 1
    for _ in range(20):
        done = await bench.run(read_file, path="a.txt", start_line=start)
        body = done.lines[1:]
        if not done.truncated:
            read += body
            break
        start = int(body.pop().rpartition("start_line=")[2].rstrip(".]"))
        read += body
    assert read == lines


async def test_a_single_endless_line(bench: Bench) -> None:
    bench.put("a.js", "x" * 300_000 + "\nend\n")
    done = await bench.run(read_file, path="a.js")
    assert len(done.text) < FILE_CHARACTERS + 500
    assert "[Line 1 has 300000 characters and is cut" in done.text
    assert done.lines[-1].endswith("go on with start_line=2.]")


async def test_the_whole_result_is_bounded(bench: Bench) -> None:
    for number in range(6):
        bench.put(f"{number}.txt", ("x" * 99 + "\n") * 590)
    done = await bench.run(read_file, files=[{"path": f"{number}.txt"} for number in range(6)])
    assert len(done.text) < ALL_CHARACTERS + 2_000
    assert "=== 5.txt (590 lines) is left out" in done.text
    assert done.truncated


async def test_too_many_files(bench: Bench) -> None:
    assert (await bench.run(read_file, files=[{"path": "a"}] * (MAX_FILES + 1))).kind == "too_large"
    assert (await bench.run(read_file)).kind == "invalid_path"


@pytest.mark.parametrize("kind", PICTURES)
async def test_pictures_by_their_bytes_not_their_name(bench: Bench, kind: str) -> None:
    bench.put("picture.txt", PICTURES[kind])
    done = await bench.run(read_file, path="picture.txt")
    (image,) = done.images
    assert image.media_type == kind
    assert base64.b64decode(image.data or "") == PICTURES[kind]


async def test_a_picture_beside_text(bench: Bench) -> None:
    bench.put("a.png", PNG)
    bench.put("a.txt", "one")
    done = await bench.run(read_file, files=[{"path": "a.txt"}, {"path": "a.png"}])
    assert len(done.images) == 1
    assert "one" in done.text


async def test_a_huge_picture_and_a_binary_file(bench: Bench) -> None:
    bench.put("a.png", PNG + b"\0" * MAX_IMAGE)
    bench.put("a.bin", b"\0\1\2")
    bench.put("fake.png", "<svg onload='x'/>")
    assert (await bench.run(read_file, path="a.png")).kind == "too_large"
    assert (await bench.run(read_file, path="a.bin")).kind == "not_text"
    assert not (await bench.run(read_file, path="fake.png")).images
