import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Boundary } from "./parts/boundary";
import { showTooltips } from "./parts/tooltip";
import { App } from "./shell/app";
import { applyTheme, storedTheme } from "./shell/theme";
import { readToken } from "./wire/login";
import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/parts.css";
import "./style/shell.css";
import "./style/palette.css";
import "./style/conversation.css";
import "./style/prose.css";
import "./style/tool.css";
import "./style/composer.css";
import "./style/files.css";
import "./style/start.css";
import "./style/stage.css";
import "./style/project.css";
import "./style/variants.css";

applyTheme(storedTheme());
showTooltips();
const token = readToken();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Boundary level="page">
        <App token={token} />
      </Boundary>
    </StrictMode>,
  );
}
