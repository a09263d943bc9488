import type { StudioPage } from "studio";

const load = () => import("./Token.svelte");
const privilege = "api_tokens";

export const pages: StudioPage[] = [
  {
    path: "account/tokens",
    title: { en: "API tokens", pl: "Tokeny API", de: "API-Tokens" },
    privilege,
    load: () => import("./Tokens.svelte"),
  },
  {
    path: "account/tokens/new",
    title: { en: "New API token", pl: "Nowy token API", de: "Neues API-Token" },
    privilege,
    load,
  },
  { path: "account/tokens/:id", title: { en: "API token", pl: "Token API", de: "API-Token" }, privilege, load },
];
