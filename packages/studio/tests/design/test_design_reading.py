"""The design system of a repository is read from its files, and nothing of them is run."""

from pathlib import Path
from textwrap import dedent

import pytest

from heald_studio.bad_input import BadInput
from heald_studio.design.design_text import MAX_WRITTEN, read_design, write_design
from heald_studio.design.folder import read_folder
from heald_studio.design.reading import DesignReading, read_files
from heald_studio.design.source import design_of_files, open_design
from heald_studio.design.token import DesignToken

Token = tuple[str, str, str, str]


def tokens(reading: DesignReading) -> set[Token]:
    return {(token.kind, token.name, token.value, token.mode) for token in reading.tokens}


def read(**files: str) -> DesignReading:
    """Read files whose paths have __ for a slash and _ for a dot."""
    return read_files({path.replace("__", "/").replace("_", "."): text for path, text in files.items()}, "Site")


def test_a_configuration_of_tailwind_is_read_without_running_it() -> None:
    config = """
    const brand = { DEFAULT: '#0f766e', dark: "#115e59" } // ours
    /** @type {import('tailwindcss').Config} */
    module.exports = withPlugin({
      content: ["./src/**/*.{ts,tsx}"],
      theme: {
        spacing: { 1: '4px', 2: '8px' },
        extend: {
          colors: { brand, ink: 'hsl(var(--ink))', ['odd' + 1]: 'red', made: mix('#fff'), muted: { 500: `#777` } },
          fontFamily: { sans: ['var(--font)', 'Inter', ...defaults.sans] },
          fontSize: { big: ['2rem', { lineHeight: '1' }] },
          borderRadius: { card: "calc(var(--radius) - 2px)" },
        },
      },
      plugins: [require('x')],
    })"""
    sheet = ":root{--ink: 220 40% 10%;--radius:.5rem} .dark{--ink: 0 0% 98%}"
    reading = read(tailwind_config_js=dedent(config), app_css=sheet)
    assert tokens(reading) >= {
        ("color", "brand", "#0f766e", ""),
        ("color", "brand-dark", "#115e59", ""),
        ("color", "ink", "hsl(220 40% 10%)", ""),
        ("color", "ink", "hsl(0 0% 98%)", "dark"),
        ("color", "muted-500", "#777", ""),
        ("font", "sans", "Inter", ""),
        ("size", "big", "2rem", ""),
        ("space", "2", "8px", ""),
        ("radius", "card", "calc(.5rem - 2px)", ""),
    }
    scales = {token.kind for token in reading.tokens if token.name == "Tailwind's default scale"}
    assert scales == {"size", "radius"}  # its spacing replaces the default one
    assert reading.notes == ["tailwind.config.js: made is not a written value; add it below."]


def test_a_configuration_may_import_its_values() -> None:
    files = {
        "tailwind.config.ts": "import colors from './design/colors'\nimport { radii as round } from './design/shape'\n"
        "export default { theme: { colors: { ...colors, line: colors.grey[200] }, borderRadius: round } } "
        "satisfies Config",
        "design/colors.ts": "export default { sea: '#123456', grey: { 200: '#eee' } } as const",
        "design/shape.ts": "export const radii = { card: '12px' }",
    }
    assert tokens(read_files(files, "Site")) >= {
        ("color", "sea", "#123456", ""),
        ("color", "line", "#eee", ""),
        ("radius", "card", "12px", ""),
    }


def test_the_theme_of_tailwind_4_and_variables_of_css_are_read() -> None:
    sheet = """@import "tailwindcss";
    @theme { --color-brand: oklch(0.7 0.1 200); --font-sans: "Inter", sans-serif; --text-huge: 4rem;
      --text-huge--line-height: 1; --spacing: 0.25rem; --radius-card: 14px; --breakpoint-xl: 80rem }
    @layer base { :root { --page: #fff; --gap-section: 96px; --shadow: 0 1px 2px black; --z: 10; --w-side: 20rem } }
    @media (prefers-color-scheme: dark) { :root { --page: #111 } }
    .card { --inner: #f0f }
    /* :root { --old: #000 } */"""
    assert tokens(read(app_css=sheet)) == {
        ("color", "--color-brand", "oklch(0.7 0.1 200)", ""),
        ("color", "--page", "#fff", ""),
        ("color", "--page", "#111", "dark"),
        ("font", "--font-sans", '"Inter", sans-serif', ""),
        ("size", "--text-huge", "4rem", ""),
        ("space", "--spacing", "0.25rem and its multiples", ""),
        ("space", "--gap-section", "96px", ""),
        ("radius", "--radius-card", "14px", ""),
        (
            "size",
            "Tailwind's default scale",
            "0.75rem, 0.875rem, 1rem, 1.125rem, 1.25rem, 1.5rem, 1.875rem, 2.25rem, 3rem, 3.75rem, 4.5rem, 6rem, 8rem",
            "",
        ),
        ("radius", "Tailwind's default scale", "2px, 4px, 6px, 8px, 12px, 16px, 24px, 9999px", ""),
    }


def test_sass_theme_files_and_fonts_of_next_are_read() -> None:
    layout = 'import { Noto_Sans as Body } from "next/font/google"\nconst body = Body({ variable: "--font-body" })'
    files = {
        "styles/_vars.scss": "$brand: #abcdef; // blue\n$gutter: 1.5rem !default;",
        "src/theme.ts": "export const color = { primary: '#FF4785' };\nexport const spacing = { small: 10 };",
        "app/layout.tsx": layout,
    }
    assert tokens(read_files(files, "Site")) == {
        ("color", "$brand", "#abcdef", ""),
        ("space", "$gutter", "1.5rem", ""),
        ("color", "color.primary", "#FF4785", ""),
        ("space", "spacing.small", "10px", ""),
        ("font", "--font-body", '"Noto Sans"', ""),
    }


@pytest.mark.parametrize(
    "text",
    [
        # the format of the community group
        '{"base": {"$type": "color", "sea": {"$value": "#123456"}},'
        '"brand": {"$type": "color", "$value": "{base.sea}"},'
        '"gap": {"$type": "spacing", "$value": {"value": 8, "unit": "px"}},'
        '"head": {"$type": "typography", "$value": {"fontFamily": ["Inter", "serif"], "fontSize": "32px"}}}',
        # the format of Tokens Studio
        '{"global": {"base": {"sea": {"value": "#123456", "type": "color"}},'
        '"brand": {"value": "{base.sea}", "type": "color"}, "gap": {"value": "8", "type": "spacing"},'
        '"head": {"value": {"fontFamily": "Inter, serif", "fontSize": "32"}, "type": "typography"}},'
        '"$metadata": {"tokenSetOrder": ["global"]}}',
    ],
)
def test_design_tokens_of_figma_are_read(text: str) -> None:
    reading = read_files({"design/tokens.json": text}, "Site")
    assert {(token.kind, token.name.removeprefix("global."), token.value) for token in reading.tokens} == {
        ("color", "base.sea", "#123456"),
        ("color", "brand", "#123456"),
        ("space", "gap", "8px"),
        ("font", "head.fontFamily", "Inter, serif"),
        ("size", "head.fontSize", "32px"),
    }


def test_components_have_their_props_and_stories() -> None:
    button = """const buttonVariants = cva("p", { variants: { variant: { default: "a", ghost: `b` }, size: { sm: 1 } }})
    export interface ButtonProps extends Other, VariantProps<typeof buttonVariants> {
      asChild?: boolean
      onPress: (event: { id: string }) => void
    }
    const Button = React.forwardRef<X, ButtonProps>(({ className, ...props }, ref) => <a {...props} />)
    export { Button, buttonVariants }""".replace("\n    ", "\n")
    files = {
        "components/ui/button.tsx": button,
        "components/Card.jsx": "export default function Card({ title, wide = 1, ...rest }) {\n  return f({ a: 1 })\n}",
        "src/components/AppBar.vue": "<script setup>defineProps<{ tone?: 'sea' | 'land', title: string }>()</script>",
        "src/lib/Tag.svelte": "<script>export let label; let { open = 1 } = $props();</script>",
        "components/icons/Star.tsx": "export function Star() {}",
        "components/Card.stories.js": "export default { title: 'A/Card', component: Card };\nexport const Wide = {};",
        "components/card.test.jsx": "export function Broken() {}",
    }
    components = {component.name: component for component in read_files(files, "Site").components}
    props = {name: [(prop.name, prop.values) for prop in it.props] for name, it in components.items()}
    assert props == {
        "Button": [("asChild", ()), ("onPress", ()), ("variant", ("default", "ghost")), ("size", ("sm",))],
        "Card": [("title", ()), ("wide", ())],
        "AppBar": [("tone", ("sea", "land")), ("title", ())],
        "Tag": [("label", ()), ("open", ())],
    }
    assert components["Card"].stories == ("Wide",)


def test_a_design_that_is_written_can_be_read_again() -> None:
    design = [
        DesignToken("color", "brand", "#0f766e"),
        DesignToken("color", "brand", "#5eead4", "dark"),
        DesignToken("font", "sans", '"Inter", sans-serif'),
        DesignToken("size", "Tailwind's default scale", "1rem, 2rem"),
        DesignToken("space", "--spacing", "0.25rem and its multiples"),
        DesignToken("radius", "lg", "calc(0.5rem - 2px)"),
    ]
    text = write_design(DesignReading(name="Acme", tokens=design, sources=["app.css"]))
    assert read_design(text) == design
    corrected = text.replace("#0f766e", "#ff0000") + "\n## Rules\n\n- `brand`: only for buttons\n"
    assert read_design(corrected)[0] == DesignToken("color", "brand", "#ff0000")
    assert len(read_design(corrected)) == len(design)
    many = [DesignToken("color", f"colour-{number}", "#123456") for number in range(5_000)]
    assert len(write_design(DesignReading(name="Acme", tokens=many))) <= MAX_WRITTEN


def test_a_design_in_other_words_has_values_too() -> None:
    assert read_design("--brand: #0f766e;\n--radius: 8px\n") == [
        DesignToken("color", "--brand", "#0f766e"),
        DesignToken("radius", "--radius", "8px"),
    ]
    assert read_design("Buttons are #f0f, and never #00ff00.") == [
        DesignToken("color", "#f0f", "#f0f"),
        DesignToken("color", "#00ff00", "#00ff00"),
    ]
    assert read_design('{"a": {"$type": "color", "$value": "red"}}') == [DesignToken("color", "a", "red")]


async def test_a_folder_is_read_within_it_and_its_own_design_comes_first(tmp_path: Path) -> None:
    outside = tmp_path / "outside.css"
    outside.write_text(":root { --secret: #000000 }")
    site = tmp_path / "site"
    (site / "node_modules" / "x").mkdir(parents=True)
    (site / "node_modules" / "x" / "x.css").write_text(":root { --theirs: #111111 }")
    (site / "link.css").symlink_to(outside)
    (site / "app.css").write_text(":root { --brand: #0f766e }")
    assert list(read_folder(site)) == ["app.css"]
    system = await open_design(str(site))
    assert system.name == "Design system of site"
    assert read_design(system.text) == [DesignToken("color", "--brand", "#0f766e")]
    (site / "design.md").write_text("# House\n\nNever use red.")
    assert (await open_design(str(site))).text == "# House\n\nNever use red."
    (site / "figma.json").write_text('{"a": {"$type": "color", "$value": "#222222"}}')
    assert "`a`: #222222" in (await open_design(str(site / "figma.json"))).text


def test_files_without_a_design_are_refused() -> None:
    with pytest.raises(BadInput, match="shop has no Tailwind configuration"):
        design_of_files({"main.css": "p { color: red }", "b.css": ""}, "shop")


@pytest.mark.parametrize(
    "path",
    ["tailwind.config.js", "a.css", "components/A.tsx", "components/A.vue", "tokens.json", "A.stories.ts", "theme.ts"],
)
@pytest.mark.parametrize(
    "text",
    [
        "export default { theme: { colors: {" * 2_000,
        "/* " * 60_000,
        ":root{--a:var(--b,var(--a,var(--b,var(--c)));" * 4_000,
        "url(" * 40_000,
        "import { a " * 15_000,
        "{" * 60_000,
        "export const a = b" + "\n" * 60_000,
        "export const A = ({" * 8_000,
        "const a = [..." * 10_000,
        '{"a": ' * 30_000,
        "interface AProps { a: '" * 6_000,
        "'\\" * 30_000,
        "const b = cva(variants:" * 4_000,
    ],
)
def test_a_hostile_file_costs_little(path: str, text: str) -> None:
    read_files({path: text}, "Site")
    read_design(text[:60_000])
