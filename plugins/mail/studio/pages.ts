import type { StudioPage } from "studio";

const privilege = "mails";

export const pages: StudioPage[] = [
  {
    path: "account/mail_server",
    icon: "send",
    title: { en: "Mail server", pl: "Serwer poczty", de: "Mailserver" },
    privilege,
    load: () => import("./Server.svelte"),
  },
  {
    path: "account/mails",
    title: { en: "Mails", pl: "Wiadomości", de: "E-Mails" },
    privilege,
    load: () => import("./Mails.svelte"),
  },
  {
    path: "account/mail_texts/:id",
    title: { en: "Mail text", pl: "Treść wiadomości", de: "E-Mail-Text" },
    privilege,
    load: () => import("./Text.svelte"),
  },
];
