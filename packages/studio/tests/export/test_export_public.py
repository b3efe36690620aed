"""One page of a Vite project: the pictures of `public/` are inside, however they are addressed."""

import pytest

from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.export.single_page import single_page
from heald_studio.stacks.installed import find_stack

pytestmark = pytest.mark.skipif(not is_installed(), reason=MISSING)

PNG = b"\x89PNG\r\n\x1a\nfake"
DATA = "data:image/png;base64,iVBORw0KGgpmYWtl"


@pytest.mark.parametrize("address", ["/assets/dot.png", "assets/dot.png"])
def test_a_public_picture_is_inside(address: str) -> None:
    files: dict[str, str | bytes] = {
        "index.html": '<!doctype html><div id="root"></div><script type="module" src="/src/main.jsx"></script>',
        "src/main.jsx": f'import "./App.jsx";\nexport default () => <img src="{address}" alt="" />;\n',
        "src/App.jsx": "export default 1;\n",
        "public/assets/dot.png": PNG,
    }
    page = single_page(find_stack("react_vite"), files)
    assert f'src=\\"{DATA}\\"' in page
    assert 'import \\"./App.jsx\\"' in page
