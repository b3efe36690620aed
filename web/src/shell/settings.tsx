/** What this server has: keys, models, folders; and how the page looks. */

import { useState } from "react";
import { Button, IconButton } from "../parts/button";
import { Icon } from "../parts/icon";
import { forgetKept } from "../parts/kept";
import { Segmented } from "../parts/segmented";
import { showFailure } from "../parts/toasts";
import { designSystems, figmaKeys } from "../studio/calls";
import { DesignSource } from "../studio/design/design_source";
import { labelOf } from "../studio/model_choice";
import { health, models, providers, type ProviderView, studio, type StudioView, tools, workspaces } from "../wire/api";
import { logOut } from "../wire/login";
import { useAway } from "./away";
import { type Fetched, useFetched } from "./fetched";
import { ProviderRow } from "./provider_keys";
import { ShortcutList } from "./shortcut_list";
import { useTheme } from "./theme";

/** Figma as a row among the providers: its token is kept as their keys are. */
function figmaRow(origin: StudioView["figma"]): ProviderView {
  return { name: "Figma (designs)", key_set: origin !== "", origin, variables: ["FIGMA_TOKEN"] };
}

export function Settings() {
  const [theme, setTheme] = useTheme();
  const keys = useFetched("providers", providers);
  const catalogue = useFetched("models", models);
  const folders = useFetched("workspaces", workspaces);
  const offered = useFetched("tools", tools);
  const state = useFetched("health", health);
  const design = useFetched("studio", studio);
  return (
    <div className="page">
      <h1>Settings</h1>
      <section className="card stack" aria-labelledby="look">
        <h2 id="look">Appearance</h2>
        <Segmented
          label="Theme"
          value={theme}
          onChange={setTheme}
          choices={[
            { value: "system", label: "System", icon: "desktop" },
            { value: "light", label: "Light", icon: "sun" },
            { value: "dark", label: "Dark", icon: "moon" },
          ]}
        />
      </section>
      <section className="card stack" aria-labelledby="providers">
        <h2 id="providers">Providers</h2>
        <p className="muted">A key that you set here is stored on the server's machine and is never sent back to the page.</p>
        <Known fetched={keys}>
          {(value) => (
            <ul className="plain-list">
              {sorted(value.providers).map((provider) => (
                <ProviderRow key={provider.name} provider={provider} place={value.key_place} onChanged={keys.reload} />
              ))}
              {design.value !== null && <ProviderRow provider={figmaRow(design.value.figma)} place={value.key_place} calls={figmaKeys} onChanged={design.reload} />}
            </ul>
          )}
        </Known>
      </section>
      <DesignSystems />
      <section className="card stack" aria-labelledby="models">
        <h2 id="models">Models</h2>
        <Known fetched={catalogue}>
          {(value) => (
            <ul className="plain-list">
              {value.models.map((model) => (
                <li key={model.name} className="row">
                  <span className="grow stack model-name">
                    <span className="truncate">{model.label || labelOf([], model.name)}</span>
                    <span className="faint model-id truncate">{model.name}</span>
                  </span>
                  {model.name === value.default && <span className="badge accent">Default</span>}
                  {model.available === false && <span className="badge" title={model.reason}>Not available</span>}
                </li>
              ))}
            </ul>
          )}
        </Known>
      </section>
      <section className="card stack" aria-labelledby="folders">
        <h2 id="folders">Folders</h2>
        <Known fetched={folders}>
          {(value) =>
            value.workspaces.length === 0 ? (
              <p className="muted">This server offers no folder to work in.</p>
            ) : (
              <ul className="plain-list">
                {value.workspaces.map((folder) => (
                  <li key={folder} className="row">
                    <Icon name="folder" />
                    {folder}
                  </li>
                ))}
              </ul>
            )
          }
        </Known>
      </section>
      <section className="card stack" aria-labelledby="tools">
        <h2 id="tools">Tools</h2>
        <Known fetched={offered}>
          {(value) => (
            <ul className="plain-list">
              {value.tools.map((tool) => (
                <li key={tool.name} className="row">
                  <code>{tool.name}</code>
                  <span className="grow truncate muted hide-small">{tool.description.split("\n")[0]}</span>
                  {tool.effect && <span className="badge">{tool.effect}</span>}
                </li>
              ))}
            </ul>
          )}
        </Known>
      </section>
      <section className="card stack" aria-labelledby="keys">
        <h2 id="keys">Keyboard</h2>
        <ShortcutList />
      </section>
      <section className="card row wrap">
        <span className="grow muted">
          {state.value?.version ? `Heald ${state.value.version}` : "Heald"}
          {state.value?.sandbox ? ` · commands run in: ${state.value.sandbox}` : ""}
        </span>
        <Button onClick={() => {
            forgetKept();
            void logOut();
          }}>Sign out</Button>
      </section>
    </div>
  );
}

/** Those that can be used first, then those of this machine, then the rest. */
function sorted(listed: readonly ProviderView[]): ProviderView[] {
  const rank = (provider: ProviderView) => (provider.is_local ? (provider.is_running ? 0 : 2) : provider.key_set && (provider.variables?.length ?? 0) > 0 ? 0 : KNOWN.includes(provider.name) ? 1 : 3);
  return [...listed].sort((a, b) => rank(a) - rank(b));
}

const KNOWN = ["anthropic", "openai", "gemini", "openrouter"];

function Known<T>({ fetched, children }: { fetched: Fetched<T>; children(value: T): React.ReactNode }) {
  if (fetched.error !== null) return <p className="note error">{fetched.error.message}</p>;
  if (fetched.value === null) return <p className="faint">Loading…</p>;
  return <>{children(fetched.value)}</>;
}

/** Design systems: rules that every variant of a project gets. They are added from a text, or read from a repository, files or an address. */
function DesignSystems() {
  const listed = useFetched("design-systems", designSystems.list);
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const away = useAway();
  const add = () => {
    designSystems
      .add(name.trim(), content)
      .then(() => {
        setName("");
        setContent("");
        listed.reload();
      })
      .catch(showFailure);
  };
  return (
    <section className="card stack" aria-labelledby="design-systems">
      <h2 id="design-systems">Design systems</h2>
      <p className="muted">Colours, fonts, spacing and components in words, CSS variables or JSON. The start page offers them.</p>
      <DesignSource
        away={away}
        onRead={(design) => {
          setContent(design.text);
          if (name === "") setName(design.name);
        }}
      />
      {listed.value !== null && listed.value.length > 0 && (
        <ul className="plain-list">
          {listed.value.map((system) => (
            <li key={system.id} className="row">
              <span className="grow truncate">{system.name}</span>
              <span className="faint">{system.content.length.toLocaleString()} characters</span>
              <IconButton small icon="trash" label={`Delete ${system.name}`} onClick={() => void designSystems.remove(system.id).then(listed.reload).catch(showFailure)} />
            </li>
          ))}
        </ul>
      )}
      <input className="field" aria-label="Name of the design system" placeholder="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <textarea className="field" rows={6} aria-label="Rules of the design system" placeholder="--brand: #0f766e; headings in Inter 600; …" value={content} onChange={(event) => setContent(event.target.value)} />
      <div className="row">
        <Button look="primary" disabled={content.trim() === ""} onClick={add}>
          Add
        </Button>
      </div>
    </section>
  );
}
