"""The studio: several models build a page from a picture, words, a recording or an existing page."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.studio.browser.page import BrowserError
    from weft.studio.export import write_project, zip_project
    from weft.studio.host import SessionHost
    from weft.studio.input.pictures import InputPicture, load_picture, read_picture
    from weft.studio.offline import offline_project
    from weft.studio.preview import ProjectPreview
    from weft.studio.project import Project, Variant, VariantRef, VariantScore, Version
    from weft.studio.request import BadInput, BuildRequest, ChosenElement, DesignSystem, View
    from weft.studio.score.score import Score
    from weft.studio.scoring import compare_page
    from weft.studio.single_page import single_page
    from weft.studio.stack import Stack, load_stacks
    from weft.studio.studio import Studio

__all__ = [
    "BadInput",
    "BrowserError",
    "BuildRequest",
    "ChosenElement",
    "DesignSystem",
    "InputPicture",
    "Project",
    "ProjectPreview",
    "Score",
    "SessionHost",
    "Stack",
    "Studio",
    "Variant",
    "VariantRef",
    "VariantScore",
    "Version",
    "View",
    "compare_page",
    "load_picture",
    "load_stacks",
    "offline_project",
    "read_picture",
    "single_page",
    "write_project",
    "zip_project",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "weft.studio.browser.page": "BrowserError",
        "weft.studio.export": "write_project zip_project",
        "weft.studio.host": "SessionHost",
        "weft.studio.input.pictures": "InputPicture load_picture read_picture",
        "weft.studio.offline": "offline_project",
        "weft.studio.preview": "ProjectPreview",
        "weft.studio.project": "Project Variant VariantRef VariantScore Version",
        "weft.studio.request": "BadInput BuildRequest ChosenElement DesignSystem View",
        "weft.studio.score.score": "Score",
        "weft.studio.scoring": "compare_page",
        "weft.studio.single_page": "single_page",
        "weft.studio.stack": "Stack load_stacks",
        "weft.studio.studio": "Studio",
    },
)
