import type { StudioPage } from "studio";

const privilege = "users";

export const pages: StudioPage[] = [
  {
    path: "account/invitations",
    title: { en: "Invitations", pl: "Zaproszenia", de: "Einladungen" },
    privilege,
    load: () => import("./Invitations.svelte"),
  },
  {
    path: "account/invitations/:id",
    title: { en: "Invitation", pl: "Zaproszenie", de: "Einladung" },
    privilege,
    load: () => import("./Invitation.svelte"),
  },
];
