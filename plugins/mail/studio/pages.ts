import type { StudioPage } from "studio";

const privilege = "mails";
const load = () => import("./Text.svelte");

export const pages: StudioPage[] = [
  {
    path: "account/mail_server",
    icon: "send",
    title: { en: "Mail server", pl: "Serwer poczty", de: "Mailserver" },
    privilege,
    load: () => import("./Server.svelte"),
  },
  {
    path: "account/mail_texts/new",
    title: { en: "New mail text", pl: "Nowa treść wiadomości", de: "Neuer E-Mail-Text" },
    privilege,
    load,
  },
  {
    path: "account/mail_texts/:id",
    title: { en: "Mail text", pl: "Treść wiadomości", de: "E-Mail-Text" },
    privilege,
    load,
  },
];
