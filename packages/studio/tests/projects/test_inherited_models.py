"""A change is made by the model that built what is changed, unless another is named."""

from pathlib import Path

from heald_studio.projects.inherited_models import inherit_models
from heald_studio.projects.project import Project, Variant, VariantRef, Version
from heald_studio.request import BuildRequest
from studio_support import OWNER, Script, desk, page, writes

SCRIPTS: dict[str, Script] = {name: writes(page(name)) for name in ("dear", "small", "other")}
CHANGE = BuildRequest(text="Larger.")


async def test_a_change_uses_the_model_and_the_number_of_its_variant(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("small",), variants=1))
        second = await studio.studio.update(OWNER, project.id, VariantRef(first.id, 0), CHANGE)
        assert [variant.model for variant in second.variants] == ["small"]
        await studio.studio.wait_version(OWNER, project.id, second.id)
        edited = await studio.studio.edit(OWNER, project.id, VariantRef(second.id, 0), {"a.css": b"p{}"})
        assert edited.variants[0].model == ""
        third = await studio.studio.update(OWNER, project.id, VariantRef(edited.id, 0), CHANGE)
        assert [variant.model for variant in third.variants] == ["small"]
        await studio.studio.wait_version(OWNER, project.id, third.id)


async def test_each_of_several_variants_is_changed_by_its_own_model(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("dear", "small", "other")))
        second = await studio.studio.update(OWNER, project.id, VariantRef(first.id, 2), CHANGE)
        assert [variant.model for variant in second.variants] == ["other", "other"]
        await studio.studio.wait_version(OWNER, project.id, second.id)
        named = BuildRequest(text="Larger.", models=("dear",))
        third = await studio.studio.update(OWNER, project.id, VariantRef(second.id, 0), named)
        assert [variant.model for variant in third.variants] == ["dear"]
        await studio.studio.wait_version(OWNER, project.id, third.id)


def test_a_language_model_takes_over_from_the_converter() -> None:
    def changed(model: str, *ranked: str) -> BuildRequest:
        version = Version(
            id="v", number=1, kind="create", created=0.0, variants=[Variant(index=0, session="s", model=model)]
        )
        project = Project(id="p", title="", stack="html_css", created=0.0, updated=0.0, versions=[version])
        return inherit_models(CHANGE, project, VariantRef("v", 0), ranked)

    alone = changed("local/vision", "local/vision", "local/vision-responsive")
    assert (alone.models, alone.variants) == (("local/vision",), 1)
    assert changed("local/vision", "vllm/qwen3", "local/vision").models == ("vllm/qwen3",)
    beside_a_key = changed("vllm/qwen3", "anthropic/claude-opus-4-6")
    assert (beside_a_key.models, beside_a_key.variants) == (("vllm/qwen3",), 1)
    assert changed("", "anthropic/claude-opus-4-6").models == ("anthropic/claude-opus-4-6",)
