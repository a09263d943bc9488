import { mailTexts, type MailTemplate } from "../mail/api.ts";

export const failedTemplate: MailTemplate = {
  code: "backup_failed",
  doc: "says that a scheduled backup has failed",
  values: {
    at: { doc: "when it failed", example: "2026-01-31T03:30:12.000Z" },
    reason: { doc: "why", example: "ENOSPC: no space left on device, write" },
  },
  texts: {
    en: mailTexts({
      subject: "A backup of {{ account.name }} has failed",
      paragraphs: [
        "The scheduled backup failed at {{ at }}:",
        "{{ reason }}",
        "Older backups are still there. Please mend the cause, then run: corestead backup.",
      ],
    }),
    pl: mailTexts({
      subject: "Kopia zapasowa {{ account.name }} nie powiodła się",
      paragraphs: [
        "Zaplanowana kopia zapasowa nie powiodła się ({{ at }}):",
        "{{ reason }}",
        "Starsze kopie nie zostały usunięte. Usuń przyczynę, a potem uruchom: corestead backup.",
      ],
    }),
    de: mailTexts({
      subject: "Die Sicherung von {{ account.name }} ist fehlgeschlagen",
      paragraphs: [
        "Die geplante Sicherung ist fehlgeschlagen ({{ at }}):",
        "{{ reason }}",
        "Ältere Sicherungen sind noch vorhanden. Bitte beheben Sie die Ursache und starten Sie dann: corestead backup.",
      ],
    }),
  },
};
