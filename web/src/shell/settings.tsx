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
import { settings as texts } from "../texts/settings";
import { health, models, providers, type ProviderView, studio, type StudioView, tools, workspaces } from "../wire/api";
import { logOut } from "../wire/login";
import { useAway } from "./away";
import { type Fetched, useFetched } from "./fetched";
import { ProviderRow } from "./provider_keys";
import { ShortcutList } from "./shortcut_list";
import { useTheme } from "./theme";

/** Figma as a row among the providers: its token is kept as their keys are. */
function figmaRow(origin: StudioView["figma"]): ProviderView {
  return { name: texts.figmaDesigns, key_set: origin !== "", origin, variables: ["FIGMA_TOKEN"] };
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
      <h1>{texts.settings}</h1>
      <section className="card stack" aria-labelledby="look">
        <h2 id="look">{texts.appearance}</h2>
        <Segmented
          label={texts.theme}
          value={theme}
          onChange={setTheme}
          choices={[
            { value: "system", label: texts.system, icon: "desktop" },
            { value: "light", label: texts.light, icon: "sun" },
            { value: "dark", label: texts.dark, icon: "moon" },
          ]}
        />
      </section>
      <section className="card stack" aria-labelledby="providers">
        <h2 id="providers">{texts.providers}</h2>
        <p className="muted">{texts.aKeyThatYouSet}</p>
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
        <h2 id="models">{texts.models}</h2>
        <Known fetched={catalogue}>
          {(value) => (
            <ul className="plain-list">
              {value.models.map((model) => (
                <li key={model.name} className="row">
                  <span className="grow stack model-name">
                    <span className="truncate">{model.label || labelOf([], model.name)}</span>
                    <span className="faint model-id truncate">{model.name}</span>
                  </span>
                  {model.name === value.default && <span className="badge accent">{texts.default}</span>}
                  {model.available === false && <span className="badge" title={model.reason}>{texts.notAvailable}</span>}
                </li>
              ))}
            </ul>
          )}
        </Known>
      </section>
      <section className="card stack" aria-labelledby="folders">
        <h2 id="folders">{texts.folders}</h2>
        <Known fetched={folders}>
          {(value) =>
            value.workspaces.length === 0 ? (
              <p className="muted">{texts.thisServerOffersNoFolder}</p>
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
        <h2 id="tools">{texts.tools}</h2>
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
        <h2 id="keys">{texts.keyboard}</h2>
        <ShortcutList />
      </section>
      <section className="card row wrap">
        <span className="grow muted">
          {state.value?.version ? texts.heald(state.value.version) : texts.healdLabel}
          {state.value?.sandbox ? texts.commandsRunIn(state.value.sandbox) : ""}
        </span>
        <Button onClick={() => {
            forgetKept();
            void logOut();
          }}>{texts.signOut}</Button>
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
  if (fetched.value === null) return <p className="faint">{texts.loading}</p>;
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
      <h2 id="design-systems">{texts.designSystems}</h2>
      <p className="muted">{texts.coloursFontsSpacingAndComponents}</p>
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
              <span className="faint">{texts.characters(system.content.length.toLocaleString())}</span>
              <IconButton small icon="trash" label={texts.delete(system.name)} onClick={() => void designSystems.remove(system.id).then(listed.reload).catch(showFailure)} />
            </li>
          ))}
        </ul>
      )}
      <input className="field" aria-label={texts.nameOfTheDesignSystem} placeholder={texts.name} value={name} onChange={(event) => setName(event.target.value)} />
      <textarea className="field" rows={6} aria-label={texts.rulesOfTheDesignSystem} placeholder={texts.brand0f766eHeadingsInInter} value={content} onChange={(event) => setContent(event.target.value)} />
      <div className="row">
        <Button look="primary" disabled={content.trim() === ""} onClick={add}>
          {texts.add}
        </Button>
      </div>
    </section>
  );
}
