"""The studio: several models build a page from a picture, words, a recording or an existing page."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald_studio.bad_input import BadInput
    from heald_studio.browser.page import BrowserError
    from heald_studio.dialect import StudioDialect
    from heald_studio.export.files import write_project, zip_project
    from heald_studio.export.offline import offline_project
    from heald_studio.export.single_page import single_page
    from heald_studio.host import SessionHost
    from heald_studio.input.load import load_picture
    from heald_studio.input.pictures import InputPicture, read_picture
    from heald_studio.preview.preview import ProjectPreview
    from heald_studio.projects.project import Project, Variant, VariantRef, VariantScore, VariantTry, Version
    from heald_studio.prompt.design_system import DesignSystem
    from heald_studio.prompt.request import ChosenElement
    from heald_studio.request import BuildRequest, View
    from heald_studio.score.score import Score
    from heald_studio.score.scoring import compare_page
    from heald_studio.server.routes import studio_routes
    from heald_studio.stacks.installed import load_stacks
    from heald_studio.stacks.stack import Stack
    from heald_studio.studio import Studio

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
    "StudioDialect",
    "Variant",
    "VariantRef",
    "VariantScore",
    "VariantTry",
    "Version",
    "View",
    "compare_page",
    "load_picture",
    "load_stacks",
    "offline_project",
    "read_picture",
    "single_page",
    "studio_routes",
    "write_project",
    "zip_project",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald_studio.bad_input": "BadInput",
        "heald_studio.browser.page": "BrowserError",
        "heald_studio.prompt.design_system": "DesignSystem",
        "heald_studio.dialect": "StudioDialect",
        "heald_studio.export.files": "write_project zip_project",
        "heald_studio.host": "SessionHost",
        "heald_studio.input.load": "load_picture",
        "heald_studio.input.pictures": "InputPicture read_picture",
        "heald_studio.stacks.installed": "load_stacks",
        "heald_studio.export.offline": "offline_project",
        "heald_studio.preview.preview": "ProjectPreview",
        "heald_studio.projects.project": "Project Variant VariantRef VariantScore VariantTry Version",
        "heald_studio.prompt.request": "ChosenElement",
        "heald_studio.request": "BuildRequest View",
        "heald_studio.score.score": "Score",
        "heald_studio.score.scoring": "compare_page",
        "heald_studio.server.routes": "studio_routes",
        "heald_studio.export.single_page": "single_page",
        "heald_studio.stacks.stack": "Stack",
        "heald_studio.studio": "Studio",
    },
)
