/** Beginning a conversation with an agent: its model, its folder, its tools, and what it may do without asking. */

import { useState } from "react";
import { Box } from "../chat/box";
import { contentOf } from "../chat/composer";
import { unsentAttachments, unsentText } from "../chat/unsent";
import { MODES } from "../chat/session_settings";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { useKeptText } from "../parts/kept";
import { showFailure, showToast } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { RepositoryLinks } from "../repository/repository_links";
import { address, go } from "../shell/route";
import { assist as texts } from "../texts/start";
import { models, type Permissions, sessions, workspaces } from "../wire/api";
import type { Written } from "./start";

type Offer = Awaited<ReturnType<typeof models>>;

/** The name of all tools together. */
const ALL = "all";

const usableOf = (offer: Offer) => offer.models.filter((model) => model.available !== false);

/** The model that is taken where nobody has chosen one. */
const usualOf = (offer: Offer) => offer.default || usableOf(offer)[0]?.name || "";

export function Assist({ offer, text, setText, attachments, setAttachments }: Written & { offer: Offer | null }) {
  const folders = useFetched("workspaces", workspaces);
  const [remembered, setModel] = useKeptText("assist-model");
  const [folder, setFolder] = useState("");
  const [hasAllTools, setHasAllTools] = useState(false);
  const [chosenMode, setMode] = useState<Permissions | null>(null);
  const [busy, setBusy] = useState(false);
  const empty = text.trim() === "" && attachments.length === 0;
  const usable = offer === null ? [] : usableOf(offer);
  const mode = chosenMode ?? offer?.session.permissions ?? "ask";
  const noWords = usable.length > 0 && usable.every((candidate) => candidate.name.startsWith("local/"));
  const model = usable.some((candidate) => candidate.name === remembered) ? remembered : "";
  const name = model || (offer === null ? "" : usualOf(offer));
  const create = async () => {
    if (empty || busy) return;
    setBusy(true);
    try {
      const loaded = offer ?? (await models());
      const asked = name || usualOf(loaded);
      if (asked === "" && !loaded.fixed) {
        showToast(texts.noModelIsAvailableSet, "error");
        setBusy(false);
        return;
      }
      const settings = {
        model: asked,
        ...(hasAllTools ? { tools: [...new Set([...loaded.session.tools, ALL])] } : {}), // else those of the server
        ...(chosenMode === null ? {} : { permissions: chosenMode }),
        ...(folder === "" ? {} : { workspace: folder }),
      };
      const session = await sessions.create(loaded.fixed ? {} : settings);
      await sessions.send(session.id, contentOf(text, attachments));
      setText((current) => unsentText(current, text));
      setAttachments((current) => unsentAttachments(current, attachments));
      go("session", session.id);
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <div className="start-box">
      <Box
        tall
        autoFocus
        label={texts.whatToWorkOn}
        placeholder={texts.askSomethingOrSayWhat}
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void create()}
        submit={
          <Button look="primary" disabled={empty || busy} onClick={() => void create()}>
            {texts.start}
          </Button>
        }
      >
        {offer?.fixed !== true && (
          <>
            <select className="select" aria-label={texts.model} value={name} onChange={(event) => setModel(event.target.value)}>
              {usable.map((candidate) => (
                <option key={candidate.name} value={candidate.name}>
                  {candidate.label || candidate.name}
                </option>
              ))}
            </select>
            <select className="select" aria-label={texts.folder} value={folder} onChange={(event) => setFolder(event.target.value)}>
              <option value="">{texts.noFolder}</option>
              {folders.value?.workspaces.map((workspace) => (
                <option key={workspace}>{workspace}</option>
              ))}
            </select>
            {offer?.session.tools.includes(ALL) !== true && (
              <select className="select" aria-label={texts.tools} value={hasAllTools ? ALL : ""} onChange={(event) => setHasAllTools(event.target.value === ALL)}>
                <option value="">{texts.toolsOfTheServer}</option>
                <option value={ALL}>{texts.allTools}</option>
              </select>
            )}
            <select className="select" aria-label={texts.permissions} value={mode} onChange={(event) => setMode(event.target.value as Permissions)}>
              {MODES.map((option) => (
                <option key={option.value} value={option.value}>
                  {option.label}
                </option>
              ))}
            </select>
          </>
        )}
      </Box>
      {offer?.fixed !== true && <RepositoryLinks names={folders.value?.workspaces ?? []} />}
      {noWords && (
        <p className="note" data-testid="no-key">
          <Icon name="info" size={14} />
          <span>
            {texts.noLanguageModelIsAvailable}{" "}
            <a href={address("settings")}>{texts.setAProvidersKey}</a> {texts.toTalkToAnAssistant}
          </span>
        </p>
      )}
    </div>
  );
}
