/** Without a token there is nothing to see. */

import icon from "../icon.svg";
import { useState } from "react";
import { Button } from "../parts/button";
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
          Open the address that <code>heald serve</code> printed, or paste its token here.
        </p>
        <input
          className="field"
          type="password"
          aria-label="Token"
          aria-invalid={wrong}
          placeholder="Token"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        {wrong && (
          <p className="note error" role="alert">
            The server does not know this token.
          </p>
        )}
        <Button type="submit" look="primary" disabled={token.trim() === ""}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
