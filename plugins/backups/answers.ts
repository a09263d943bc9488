import { column, view, type KeptOf } from "platform";

const { choice, flag, id, integer, text, time } = column;
const at = (clock: string) => new Date(`2026-01-31T03:${clock}.000Z`);

const fields = {
  id: id({ label: ["Id", "ID", "ID"], example: 7 }),
  kind: choice(["backup", "base", "wal"], {
    label: ["Kind", "Rodzaj", "Art"],
    choices: {
      backup: ["Backup", "Kopia zapasowa", "Sicherung"],
      base: ["Copy of the cluster", "Kopia klastra", "Kopie des Clusters"],
      wal: ["Archive of changes", "Archiwum zmian", "Archiv der Änderungen"],
    },
    example: "backup",
  }),
  state: choice(["running", "good", "failed"], {
    label: ["State", "Stan", "Status"],
    choices: {
      running: ["Running", "Trwa", "Läuft"],
      good: ["Good", "Dobra", "In Ordnung"],
      failed: ["Failed", "Nie powiodło się", "Fehlgeschlagen"],
    },
    from: "case when ended_at is null then 'running' when error is null then 'good' else 'failed' end",
    example: "good",
  }),
  file: text({ label: ["File", "Plik", "Datei"], orNull: true, example: "corestead-20260131T033000Z.backup.sealed" }),
  bytes: integer({ label: ["Bytes", "Bajty", "Bytes"], orNull: true, example: 48_211_034 }),
  verified: flag({ label: ["Verified", "Sprawdzona", "Geprüft"], example: true }),
  error: text({ label: ["Error", "Błąd", "Fehler"], orNull: true }),
  started_at: time({ label: ["Began", "Początek", "Beginn"], example: at("30:00") }),
  ended_at: time({ label: ["Ended", "Koniec", "Ende"], orNull: true, example: at("31:12") }),
  removed_at: time({ label: ["Removed", "Usunięto", "Entfernt"], orNull: true }),
};

export type BackupRow = KeptOf<typeof fields>;
export const Backup = view("Backup", fields);
