import { page, type StudioPage } from "studio/page";

const privilege = "mails";

export const pages: StudioPage[] = [
  page("account/mail_server", ["Mail server", "Serwer poczty", "Mailserver"], () => import("./Server.svelte"), {
    icon: "send",
    privilege,
  }),
  page("account/mails", ["Mails", "Wiadomości", "E-Mails"], () => import("./Mails.svelte"), { privilege }),
  page("account/mail_texts/:id", ["Mail text", "Treść wiadomości", "E-Mail-Text"], () => import("./Text.svelte"), {
    privilege,
  }),
];
