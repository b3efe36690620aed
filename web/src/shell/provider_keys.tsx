/** The keys of providers: set, tested and removed. A key is stored on the server's machine and never comes back. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { showFailure, showToast } from "../parts/toasts";
import { keys, type KeyTest } from "../studio/calls";
import { providerKeys as texts } from "../texts/settings";
import type { ProvidersView, ProviderView } from "../wire/api";
import { ApiError } from "../wire/rest";

export type KeyPlace = ProvidersView["key_place"];

/** Where a key goes, said before it is typed. */
export const KEY_PLACES: Record<KeyPlace, string> = {
  keyring: texts.storedInKeyring,
  encrypted_file: texts.storedEncrypted,
  file: texts.theServersMachineHasNoKeyring,
};

interface Props {
  provider: ProviderView;
  /** Where the server would store a key. */
  place: KeyPlace;
  /** The calls that store, test and remove its key. */
  calls?: Pick<typeof keys, "store" | "remove" | "test">;
  onChanged(): void;
}

export function ProviderRow({ provider, place, calls = keys, onChanged }: Props) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [tested, setTested] = useState<KeyTest | null>(null);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      showFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const test = () => run(async () => setTested(await calls.test(provider.name)));
  const store = () =>
    run(async () => {
      try {
        await calls.store(provider.name, text.trim());
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const variable = provider.variables?.[0] ?? "";
        const remedy = error.code === "no_keyring" && variable !== "" ? texts.stopTheServerAndStart(variable) : "";
        setTested({ ok: false, message: error.message + remedy });
        return;
      }
      setText("");
      setOpen(false);
      onChanged();
      setTested(await calls.test(provider.name));
    });
  const drop = () =>
    run(async () => {
      await calls.remove(provider.name);
      setTested(null);
      onChanged();
      showToast(texts.theKeyIsRemoved);
    });
  const needsKey = (provider.variables?.length ?? 0) > 0;
  return (
    <li className="provider">
      <div className="row wrap">
        <span className="grow provider-name">{provider.name}</span>
        <State provider={provider} />
        {provider.key_set && needsKey && (
          <Button small disabled={busy} onClick={() => void test()}>
            {texts.test}
          </Button>
        )}
        {needsKey && (
          <Button small icon="key" aria-expanded={open} onClick={() => setOpen(!open)}>
            {provider.key_set ? texts.replaceKey : texts.setKey}
          </Button>
        )}
        {(provider.origin === "keyring" || provider.origin === "file") && (
          <Button small look="danger" disabled={busy} onClick={() => void drop()}>
            {texts.remove}
          </Button>
        )}
      </div>
      {open && (
        <form
          className="row wrap provider-form"
          onSubmit={(event) => {
            event.preventDefault();
            void store();
          }}
        >
          <input
            className="field grow"
            type="password"
            autoComplete="off"
            aria-label={texts.keyOf(provider.name)}
            placeholder={provider.variables?.[0] ?? texts.key}
            autoFocus
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
          />
          <Button look="primary" type="submit" disabled={busy || text.trim() === ""}>
            {texts.saveAndTest}
          </Button>
          <p className="faint">{KEY_PLACES[place]}</p>
        </form>
      )}
      {tested !== null && (
        <p className={`note ${tested.ok ? "" : "error"}`} role="status">
          <Icon name={tested.ok ? "check" : "alert"} size={14} />
          <span>{tested.message}</span>
        </p>
      )}
    </li>
  );
}

function State({ provider }: { provider: ProviderView }) {
  if (provider.is_local === true) {
    return (
      <span className={`badge ${provider.is_running === true ? "ok" : ""}`} title={provider.address}>
        {provider.is_running === true ? texts.running : texts.notRunning}
      </span>
    );
  }
  if ((provider.variables?.length ?? 0) === 0) return <span className="badge">{texts.noKeyNeeded}</span>;
  if (!provider.key_set) return <span className="badge">{texts.noKey}</span>;
  return (
    <span className="badge ok">
      <Icon name="check" size={12} />
      {provider.origin === "environment" ? texts.keyInTheEnvironment : texts.keySet}
    </span>
  );
}
