import { page, type StudioPage } from "studio/page";

const load = () => import("./Token.svelte");
const privilege = "api_tokens";

export const pages: StudioPage[] = [
  page("account/tokens", ["Access tokens", "Tokeny dostępu", "Zugriffstoken"], () => import("./Tokens.svelte"), {
    privilege,
  }),
  page("account/tokens/new", ["New access token", "Nowy token dostępu", "Neues Zugriffstoken"], load, { privilege }),
  page("account/tokens/:id", ["Access token", "Token dostępu", "Zugriffstoken"], load, { privilege }),
];
