"""A small project for each stack, with the word `Harbour` on the page once it runs."""

from heald_studio.stacks.installed import find_stack

RED = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03"
    b"\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82"
)

_HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>T</title>'
_INTEGRITY = (
    'integrity="sha384-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" crossorigin="anonymous"'
)


_CARD = """import "./card.css";
export function Card({ name }) {
  return <p className="card">{name}</p>;
}
"""
_BADGE = """type Props = { text: string };
export const Badge = ({ text }: Props): JSX.Element => <b>{text as string}</b>;
"""
_WORDS = """export function shout(word: string): string {
  return word[0].toUpperCase() + word.slice(1);
}
"""


def _scaffold(name: str, old: str, new: str) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = dict(find_stack(name).scaffold)
    page = files["index.html"]
    assert isinstance(page, str)
    assert old in page
    files["index.html"] = page.replace(old, new, 1)
    return files


def _vite() -> dict[str, str | bytes]:
    return {
        **find_stack("react_vite").scaffold,
        "src/App.jsx": """
import { lazy, Suspense, useState } from "react";
import clsx from "clsx";
import { Anchor } from "lucide-react";
import dot from "./assets/dot.png";
import drawing from "./assets/wave.svg?raw";
import { Card } from "./components";
import ports from "./data/ports.json";
import styles from "./card.module.css";
import { shout } from "@/words";

const Later = lazy(() => import("./components/Later"));

export default function App() {
  const [count] = useState(ports.length);
  return (
    <main className={clsx("min-h-screen", count > 1 && "bg-brand")}>
      <h1 className="text-4xl font-bold text-white">{shout("harbour")}</h1>
      <img id="dot" src={dot} alt="" /><img id="public" src="/logo.png" alt="" />
      <Anchor size={24} />
      <p id="mode">{import.meta.env.MODE} {drawing.length}</p>
      <p id="module" className={styles.title}>scoped</p>
      {ports.map((port) => <Card key={port} name={port} />)}
      <Suspense fallback="…"><Later /></Suspense>
    </main>
  );
}
""",
        "src/components/index.js": 'export { Card } from "./Card.jsx";\nexport * from "./Badge";\n',
        "src/components/Card.jsx": _CARD,
        "src/components/Badge.tsx": _BADGE,
        "src/components/Later.jsx": 'export default function Later() {\n  return <p id="later">later</p>;\n}\n',
        "src/components/card.css": '@import "../base.css";\n.card { background: url(../assets/dot.png) }\n',
        "src/card.module.css": ".title { color: rgb(1, 2, 3) }\n.title:hover, .other { color: red }\n",
        "src/base.css": "body { margin: 7px }\n",
        "src/data/ports.json": '["Oslo", "Rome"]',
        "src/words.ts": _WORDS,
        "src/index.css": '@import "tailwindcss";\n@theme { --color-brand: #0a3d62; }\n',
        "src/assets/dot.png": RED,
        "src/assets/wave.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "public/logo.png": RED,
    }


def _next() -> dict[str, str | bytes]:
    return {
        **find_stack("next_shadcn").scaffold,
        "app/page.tsx": """
import { Anchor } from "lucide-react";
import { Inter } from "next/font/google";
import Image from "next/image";
import Link from "next/link";

import { PortTabs } from "@/components/port-tabs";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardContent, CardHeader, CardTitle } from "@/components/ui/card";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { ports } from "@/data/ports";

const inter = Inter({ subsets: ["latin"] });

export default function Page() {
  return (
    <main className="mx-auto grid max-w-3xl gap-6 p-8">
      <h1 className={`${inter.className} text-4xl font-bold`}>Harbour</h1>
      <Image id="public" src="/logo.png" alt="" width={8} height={8} />
      <p><Anchor size={24} /> <Badge variant="secondary">Open</Badge></p>
      <Label htmlFor="name">Name</Label>
      <Input id="name" placeholder="Your boat" />
      <Button id="plain" className="bg-brand">Moor</Button>
      <Button asChild variant="outline"><Link id="link" href="/about">About</Link></Button>
      <div className="grid grid-cols-2 gap-4">
        {ports.map((port) => (
          <Card key={port.name}>
            <CardHeader><CardTitle>{port.name}</CardTitle></CardHeader>
            <CardContent>{port.depth} m deep</CardContent>
          </Card>
        ))}
      </div>
      <PortTabs />
    </main>
  );
}
""",
        "components/port-tabs.tsx": """"use client";

import { useState } from "react";

import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";

export function PortTabs() {
  const [count, setCount] = useState(0);
  return (
    <Tabs defaultValue="tides" onValueChange={() => setCount(count + 1)}>
      <TabsList>
        <TabsTrigger value="tides">Tides</TabsTrigger>
        <TabsTrigger value="winds">Winds</TabsTrigger>
      </TabsList>
      <TabsContent value="tides">High at noon</TabsContent>
      <TabsContent value="winds">North, changed {count} times</TabsContent>
    </Tabs>
  );
}
""",
        "app/about/layout.tsx": """import type { ReactNode } from "react";

export default function AboutLayout({ children }: { children: ReactNode }) {
  return <section id="around">{children}</section>;
}
""",
        "app/about/page.tsx": """"use client";

import { usePathname } from "next/navigation";

export default function About() {
  return <h1>About Harbour at {usePathname()}</h1>;
}
""",
        "app/globals.css": str(find_stack("next_shadcn").scaffold["app/globals.css"]).replace(
            "@theme inline {", "@theme inline {\n  --color-brand: #0a3d62;"
        ),
        "data/ports.ts": """type Port = { name: string; depth: number };

export const ports: Port[] = [{ name: "Oslo", depth: 9 }, { name: "Rome", depth: 7 }];
""",
        "public/logo.png": RED,
    }


def _svelte() -> dict[str, str | bytes]:
    return {
        **find_stack("svelte_vite").scaffold,
        "src/App.svelte": """<script>
  import { fade } from "svelte/transition";

  import dot from "./assets/dot.png";
  import PortCard from "./components/PortCard.svelte";
  import { ports } from "./data/ports.js";
  import { counter } from "@/counter.svelte.js";

  let name = $state("harbour");
  let title = $derived(name[0].toUpperCase() + name.slice(1));
</script>

<main class="min-h-screen bg-brand p-8">
  <h1 class="text-4xl font-bold text-white">{title}</h1>
  <img id="dot" src={dot} alt="" />
  <img id="public" src="/logo.png" alt="" />
  <input bind:value={name} aria-label="Name" />
  <button id="more" onclick={() => counter.more()}>More: {counter.count}</button>
  {#if counter.count > 0}<p id="later" transition:fade={{ duration: 0 }}>Later</p>{/if}
  {#each ports as port (port.name)}
    <PortCard name={port.name}>{#snippet note()}<em>{port.depth} m</em>{/snippet}</PortCard>
  {/each}
</main>
""",
        "src/components/PortCard.svelte": """<script lang="ts">
  import type { Snippet } from "svelte";

  let { name, note }: { name: string; note: Snippet } = $props();
</script>

<p class="card">{name as string} {@render note()}</p>

<style>
  .card {
    color: rgb(1, 2, 3);
  }
</style>
""",
        "src/counter.svelte.js": """let count = $state(0);

export const counter = {
  get count() {
    return count;
  },
  more() {
    count += 1;
  },
};
""",
        "src/data/ports.js": 'export const ports = [{ name: "Oslo", depth: 9 }, { name: "Rome", depth: 7 }];\n',
        "src/index.css": '@import "tailwindcss";\n@theme { --color-brand: #0a3d62; }\n',
        "src/assets/dot.png": RED,
        "public/logo.png": RED,
    }


def _astro() -> dict[str, str | bytes]:
    return {
        **find_stack("astro_tailwind").scaffold,
        "src/pages/index.astro": """---
import Layout from "../layouts/Layout.astro";
import PortCard from "@/components/PortCard.astro";
import { ports } from "../data/ports";

const title: string = "Harbour";
const isOpen = true;
---

<Layout title={title}>
  <main class:list={["min-h-screen p-8", { "bg-brand": isOpen }]}>
    <h1 class="text-4xl font-bold text-white">{title}</h1>
    <img id="public" src="/logo.png" alt="" />
    <a id="link" href="/about">About “Ö”</a>
    {ports.map((port) => <PortCard name={port.name}><em>{port.depth} m</em></PortCard>)}
    {isOpen && <p id="open" set:html="<b>open</b> &amp; free" />}
    <input type="checkbox" checked={isOpen} disabled={false} aria-label="Open" />
    <button data-more>More</button>
    <p data-count></p>
  </main>
</Layout>

<script>
  import { shout } from "../words";

  const note = document.querySelector<HTMLElement>("[data-count]")!;
  let count: number = 0;
  document.querySelector("[data-more]")!.addEventListener("click", () => {
    count += 1;
    note.textContent = shout(`more ${count}`);
  });
</script>
""",
        "src/pages/about.astro": """---
import Layout from "../layouts/Layout.astro";
---

<Layout title="About"><h1>About Harbour at {Astro.url.pathname}</h1></Layout>
""",
        "src/components/PortCard.astro": """---
interface Props {
  name: string;
}

const { name } = Astro.props;
---

<p class="card">{name} <slot>nothing</slot></p>

<style>
  .card {
    color: rgb(1, 2, 3);
  }
</style>
""",
        "src/data/ports.ts": 'export const ports = [{ name: "Oslo", depth: 9 }, { name: "Rome", depth: 7 }];\n',
        "src/words.ts": _WORDS,
        "src/styles/global.css": '@import "tailwindcss";\n@theme { --color-brand: #0a3d62; }\n',
        "public/logo.png": RED,
    }


def project(name: str) -> dict[str, str | bytes]:
    """Files that use what the stack's rules allow."""
    match name:
        case "html_css":
            return {
                "index.html": f'{_HEAD}<link rel="stylesheet" href="style/main.css"><link rel="preconnect" '
                'href="https://fonts.googleapis.com"><link rel="stylesheet" '
                'href="https://fonts.googleapis.com/css2?family=Inter:wght@400;700&display=swap">'
                '<link rel="stylesheet" '
                f'href="https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.5.1/css/all.min.css" {_INTEGRITY}>'
                '</head><body><h1>Harbour</h1><i class="fa-solid fa-anchor"></i><img id="dot" src="dot.png" alt="">'
                '<img src="https://placehold.co/120x80?text=Boat" alt=""><script src="app.js"></script></body></html>',
                "style/main.css": 'body { font-family: Inter, sans-serif; background: url("../dot.png") }',
                "app.js": "document.body.dataset.ran = 'yes';",
                "dot.png": RED,
            }
        case "html_tailwind":
            return _scaffold(
                name,
                "<body>",
                '<body class="bg-brand p-8"><script>tailwind.config = { theme: { extend: { colors: { brand: "#123456" '
                '} } } }</script><h1 class="text-3xl text-white">Harbour</h1><canvas id="c"></canvas>'
                '<script src="https://cdn.jsdelivr.net/npm/chart.js"></script>'
                '<script>new Chart(document.getElementById("c"), '
                '{type: "bar", data: {labels: ["a"], datasets: [{data: [1]}]}})</script>',
            )
        case "react_tailwind":
            return _scaffold(
                name,
                '<main className="min-h-screen"></main>',
                '<main className="bg-[#123456] p-8">'
                '<h1 className="text-3xl">{React.useState("Harbour")[0]}</h1></main>',
            )
        case "vue_tailwind":
            files = _scaffold(
                name, "v-cloak></div>", 'v-cloak><h1 class="text-3xl bg-[#123456]">{{ title }}</h1></div>'
            )
            files["index.html"] = str(files["index.html"]).replace("return {};", 'return { title: ref("Harbour") };')
            return files
        case "bootstrap":
            return _scaffold(
                name,
                "<body>",
                '<body><div class="container"><h1 class="text-primary">Harbour</h1><i class="bi bi-alarm"></i>'
                '<button class="btn btn-primary" data-bs-toggle="collapse" data-bs-target="#x">Go</button></div>',
            )
        case "ionic_tailwind":
            return _scaffold(
                name,
                "<ion-content></ion-content>",
                '<ion-header><ion-toolbar color="primary"><ion-title>Harbour</ion-title></ion-toolbar></ion-header>'
                '<ion-content><ion-list><ion-item><ion-icon name="boat-outline" slot="start"></ion-icon><ion-label>'
                "Oslo</ion-label><ion-toggle></ion-toggle></ion-item></ion-list><ion-button>Go</ion-button></ion-content>",
            )
        case "svg":
            return {
                "image.svg": '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="300" height="100" '
                'viewBox="0 0 300 100"><rect width="300" height="100" fill="#123456"/><text x="20" y="60" fill="#fff" '
                'font-size="40">Harbour</text></svg>'
            }
        case "react_vite":
            return _vite()
        case "next_shadcn":
            return _next()
        case "svelte_vite":
            return _svelte()
        case "astro_tailwind":
            return _astro()
        case _:
            raise AssertionError(name)
