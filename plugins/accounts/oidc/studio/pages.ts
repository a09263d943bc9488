import type { StudioPage } from "studio";

export const pages: StudioPage[] = [
  {
    path: "account/sign_in_providers/:id",
    title: { en: "Sign-in provider", pl: "Dostawca logowania", de: "Anmeldeanbieter" },
    privilege: "sign_in_providers",
    load: () => import("./Provider.svelte"),
  },
];
