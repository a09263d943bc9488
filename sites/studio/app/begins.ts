/**
 * How the things come to be that nobody makes by a form: the sentence on their empty list, by its path in the API. Only
 * empty lists load it.
 */
type Sentence = Readonly<Record<"en" | "pl" | "de", string>>;

const usedBy = {
  en: "Nothing names it: what does stands here, and would not find it under another code.",
  pl: "Nic go nie wymienia: tu widać, co by go nie znalazło pod innym kodem.",
  de: "Nichts nennt es: Hier steht, was es unter einem anderen Code nicht mehr fände.",
};

export const begins: Readonly<Record<string, Sentence>> = {
  "/core/media": {
    en: "Files appear here when they are uploaded.",
    pl: "Pliki pojawią się tu po przesłaniu.",
    de: "Hier erscheinen Dateien, sobald sie hochgeladen sind.",
  },
  "/core/mails": {
    en: "Mails appear here when people are invited or ask for a new password.",
    pl: "Wiadomości pojawią się tu, gdy ktoś zostanie zaproszony albo poprosi o nowe hasło.",
    de: "Hier erscheinen E-Mails, sobald Personen eingeladen werden oder ein neues Passwort anfordern.",
  },
  "/core/certificates": {
    en: "The hosts of the account and of its sites appear here once the server has HTTPS switched on.",
    pl: "Hosty konta i jego witryn pojawią się tu, gdy na serwerze włączone jest HTTPS.",
    de: "Hier erscheinen die Hosts des Kontos und seiner Websites, sobald der Server HTTPS anbietet.",
  },
  "/core/activity": {
    en: "Whatever somebody changes from now on appears here.",
    pl: "Tu pojawi się wszystko, co ktoś odtąd zmieni.",
    de: "Hier erscheint alles, was jemand von nun an ändert.",
  },
  "/core/backups": {
    en: "Backups appear here once the server makes them: each night, if BACKUP_DIR is set.",
    pl: "Kopie pojawią się tu, gdy serwer zacznie je tworzyć: co noc, jeśli ustawiono BACKUP_DIR.",
    de: "Hier erscheinen Sicherungen, sobald der Server welche macht: jede Nacht, wenn BACKUP_DIR gesetzt ist.",
  },
  "/core/prompts/{id}/versions": {
    en: "Every save of the prompt keeps a version.",
    pl: "Każdy zapis promptu pozostawia wersję.",
    de: "Jedes Speichern des Prompts behält eine Version.",
  },
  "/core/apps/{id}/versions": {
    en: "Every save of the app's code keeps a version.",
    pl: "Każdy zapis kodu aplikacji pozostawia wersję.",
    de: "Jedes Speichern des Codes der App behält eine Version.",
  },
  "/core/apps/{id}/storage": {
    en: "What the app keeps in its storage stands here. It has kept nothing yet.",
    pl: "Tu widać, co aplikacja trzyma w swojej pamięci. Na razie nic w niej nie ma.",
    de: "Hier steht, was die App in ihrem Speicher hält. Noch ist dort nichts.",
  },
  "/connect/connectors/{id}/used_by": usedBy,
  "/connect/flows/{id}/used_by": usedBy,
  "/core/apps/{id}/used_by": usedBy,
  "/core/dbs/{db_id}/used_by": usedBy,
  "/core/dbs/{db_id}/tasks": {
    en: "Imports, exports and changes of many records at once are tasks. Start one in the records.",
    pl: "Importy, eksporty i zmiany wielu rekordów naraz to zadania. Zacznij jedno w rekordach.",
    de: "Importe, Exporte und Änderungen vieler Datensätze auf einmal sind Vorgänge. Sie beginnen bei den Datensätzen.",
  },
  "/core/dbs/{db_id}/tasks/{task_id}/errors": {
    en: "No row was refused.",
    pl: "Żaden wiersz nie został odrzucony.",
    de: "Keine Zeile wurde abgelehnt.",
  },
  "/core/dbs/{db_id}/indexes": {
    en: "The database learns an index when records are often searched in a way that none helps with. It has needed none yet.",
    pl: "Baza uczy się indeksu, gdy rekordy są często szukane w sposób, w którym żaden nie pomaga. Na razie nie był potrzebny.",
    de: "Die Datenbank lernt einen Index, wenn oft so gesucht wird, dass keiner hilft. Noch hat sie keinen gebraucht.",
  },
  "/connect/connectors/{id}/methods": {
    en: "The methods stand in the connector's fields: each is a request that flows and apps may make.",
    pl: "Metody są w polach łącznika: każda to żądanie, które mogą wysyłać przepływy i aplikacje.",
    de: "Die Methoden stehen in den Feldern des Konnektors: jede ist eine Anfrage, die Abläufe und Apps stellen dürfen.",
  },
  "/connect/flows/{id}/versions": {
    en: "Every save that changes the program of the flow keeps a version.",
    pl: "Każdy zapis, który zmienia program przepływu, pozostawia wersję.",
    de: "Jedes Speichern, das das Programm des Ablaufs ändert, behält eine Version.",
  },
  "/connect/flow_processes": {
    en: "Each run of a flow is a process. Open a flow and press Run, or let a cron or a webhook start it.",
    pl: "Każde uruchomienie przepływu to proces. Otwórz przepływ i naciśnij „Uruchom” albo zostaw to harmonogramowi lub webhookowi.",
    de: "Jeder Lauf eines Ablaufs ist ein Vorgang. Starten Sie einen Ablauf auf seiner Seite, oder lassen Sie es einen Zeitplan oder Webhook tun.",
  },
  "/cms/sites/{id}/translations": {
    en: "The pages of the site stand here with their languages. Make a page first.",
    pl: "Tu widać strony witryny i ich języki. Najpierw utwórz stronę.",
    de: "Hier stehen die Seiten der Website mit ihren Sprachen. Legen Sie zuerst eine Seite an.",
  },
  "/account/users": {
    en: "People are invited: make one with a login, then send them the link by which they sign in first.",
    pl: "Osoby się zaprasza: utwórz osobę z loginem, a potem wyślij jej link do pierwszego logowania.",
    de: "Personen werden eingeladen: legen Sie eine mit ihrem Login an und senden Sie ihr den Link für die erste Anmeldung.",
  },
  "/account/webhooks/{id}/deliveries": {
    en: "Each message that the webhook sends is a delivery. Change what it listens to, or press Test on its page.",
    pl: "Każda wiadomość wysłana przez webhook to doręczenie. Zmień to, czego nasłuchuje, albo naciśnij „Testuj” na jego stronie.",
    de: "Jede Nachricht, die der Webhook sendet, ist eine Zustellung. Ändern Sie etwas, worauf er hört, oder testen Sie ihn auf seiner Seite.",
  },
  "/account/sign_in_providers/{id}/identities": {
    en: "Somebody stands here after their first sign-in by this provider.",
    pl: "Osoba pojawia się tu po pierwszym zalogowaniu przez tego dostawcę.",
    de: "Hier steht jemand nach der ersten Anmeldung über diesen Anbieter.",
  },
  "/account/me/sessions": {
    en: "A session begins with each sign-in.",
    pl: "Sesja zaczyna się od zalogowania.",
    de: "Eine Sitzung beginnt mit jeder Anmeldung.",
  },
};
