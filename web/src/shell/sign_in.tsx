/** Without a token there is nothing to see. */

import icon from "../icon.svg";
import { useState } from "react";
import { Button } from "../parts/button";
import { signIn as texts } from "../texts/shell";
import { logInWith } from "../wire/login";

export function SignIn({ onSigned }: { onSigned(): void }) {
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState(false);
  return (
    <main className="sign-in">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void logInWith(token.trim()).then((signed) => (signed ? onSigned() : setWrong(true)));
        }}
      >
        <div className="row brand-name">
          <img src={icon} width={28} height={28} alt="" />
          <h1>Heald</h1>
        </div>
        <p className="muted">
          {texts.openAddress} <code>{texts.healdServe}</code> {texts.printedOrPasteItsToken}
        </p>
        <input
          className="field"
          type="password"
          aria-label={texts.token}
          aria-invalid={wrong}
          placeholder={texts.token}
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        {wrong && (
          <p className="note error" role="alert">
            {texts.theServerDoesNotKnow}
          </p>
        )}
        <Button type="submit" look="primary" disabled={token.trim() === ""}>
          {texts.signIn}
        </Button>
      </form>
    </main>
  );
}
