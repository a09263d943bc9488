import type { StudioPage } from "studio";

const load = () => import("./Token.svelte");
const privilege = "api_tokens";

export const pages: StudioPage[] = [
  {
    path: "account/tokens",
    title: { en: "Access tokens", pl: "Tokeny dostępu", de: "Zugriffstoken" },
    privilege,
    load: () => import("./Tokens.svelte"),
  },
  {
    path: "account/tokens/new",
    title: { en: "New access token", pl: "Nowy token dostępu", de: "Neues Zugriffstoken" },
    privilege,
    load,
  },
  {
    path: "account/tokens/:id",
    title: { en: "Access token", pl: "Token dostępu", de: "Zugriffstoken" },
    privilege,
    load,
  },
];
