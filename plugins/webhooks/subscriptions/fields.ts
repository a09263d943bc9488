/** The fields of a webhook. behaviour 2.5 and B.8. */
import { column, field, Type, type GivenOf, type PatchOf, type RowOf } from "platform";
import { sealContext, tokenInfo } from "./sign.ts";

const { choice, flag, id, integer, json, secret, text, time } = column;

export const maxUrlLength = 2000;
const modelsPath = "/account/webhooks/source_types.json";
const targetKinds = ["url", "connector", "flow"] as const;

export const fields = {
  source_type: text({
    label: ["Source type", "Typ źródła", "Art der Quelle"],
    help: [
      "What changes. Core::Record is a record of a database; Only if, below, says of which.",
      "Co się zmienia. Core::Record to rekord bazy danych; której, mówi niżej „Tylko jeśli”.",
      "Was sich ändert. Core::Record ist ein Datensatz einer Datenbank; welcher, sagt unten „Nur wenn“.",
    ],
    body: field.from(
      Type.String({
        maxLength: 200,
        pattern: "^[A-Z][A-Za-z0-9]*(?:::[A-Z][A-Za-z0-9]*)+$",
        description: "of the form Module::Model",
      }),
      { path: modelsPath, value: "source_type" },
    ),
    example: "Core::Record",
  }),
  kind: text({
    label: ["Kind", "Rodzaj", "Art"],
    help: [
      "create, update, destroy, or an event of the model's own.",
      "create, update, destroy albo własne zdarzenie modelu.",
      "create, update, destroy oder ein eigenes Ereignis des Modells.",
    ],
    body: field.from(
      Type.String({
        maxLength: 100,
        pattern: "^[A-Za-z][A-Za-z0-9_.-]*$",
        description: "create, update, destroy or an action of the model",
      }),
      { path: modelsPath, value: "kinds", where: ["source_type"] },
    ),
    example: "create",
  }),
  target_kind: choice(targetKinds, {
    label: ["Target kind", "Rodzaj celu", "Art des Ziels"],
    help: [
      "An address gets a POST. A connector's method or a flow gets the event as its input.",
      "Adres otrzymuje POST. Metoda łącznika lub przepływ dostaje zdarzenie jako dane wejściowe.",
      "Eine Adresse erhält einen POST. Die Methode eines Konnektors oder ein Ablauf erhält das Ereignis als Eingabe.",
    ],
    choices: {
      url: ["Address", "Adres", "Adresse"],
      connector: ["Connector", "Łącznik", "Konnektor"],
      flow: ["Flow", "Przepływ", "Ablauf"],
    },
    body: field.nullable(field.oneOf(targetKinds)),
    blank: "url",
  }),
  url: text({
    label: ["URL", "Adres URL", "Webadresse"],
    body: field.when(field.line(maxUrlLength), { target_kind: ["", "url"] }),
    orNull: true,
    example: "https://example.com/hooks/orders",
  }),
  target_code: text({
    label: ["Target", "Cel", "Ziel"],
    body: field.from(
      field.line(100),
      { path: "/connect/connectors.json", value: "code", when: { target_kind: "connector" } },
      { path: "/connect/flows.json", value: "code", when: { target_kind: "flow" } },
    ),
    orNull: true,
  }),
  api_token: secret({
    label: ["API token", "Token API", "API-Token"],
    help: [
      "Sent to the receiver as Authorization: Bearer …. It is never shown again; type another one to replace it.",
      "Wysyłany do odbiorcy jako Authorization: Bearer …. Nie jest więcej pokazywany; wpisz inny, aby go zastąpić.",
      "Geht als Authorization: Bearer … an den Empfänger. Es wird nie wieder gezeigt; ein anderes ersetzt es.",
    ],
    body: field.when(field.line(4000), { target_kind: ["", "url"] }),
    place: (webhookId) => sealContext(webhookId, "api_token"),
    info: tokenInfo,
    example: "abcdefghijklmnopqrstuvwxyz",
  }),
  active: flag({ label: ["Active", "Włączony", "Aktiv"], body: field.flag(), blank: true }),
  /** Why the server has switched it off. */
  disabled_reason: text({
    label: ["Reason for switching off", "Powód wyłączenia", "Grund der Abschaltung"],
    by: "check",
    orNull: true,
  }),
  filter: json({
    label: ["Only if", "Tylko jeśli", "Nur wenn"],
    body: field.nullable(field.object()),
    orNull: true,
    example: { db_code: "orders" },
  }),
  ordered: flag({ label: ["In order", "Po kolei", "Der Reihe nach"], body: field.flag(), blank: false }),
  rate_limit: integer({
    label: ["Rate limit", "Limit tempa", "Höchstrate"],
    body: field.nullable(Type.Integer({ minimum: 1, maximum: 10_000 })),
    orNull: true,
  }),
  rate_period: choice(["second", "minute"], {
    label: ["Rate limit per", "Limit tempa na", "Höchstrate je"],
    choices: { second: ["Second", "Sekundę", "Sekunde"], minute: ["Minute", "Minutę", "Minute"] },
    blank: "second",
  }),
  concurrency: integer({
    label: ["At once", "Jednocześnie", "Gleichzeitig"],
    body: Type.Integer({ minimum: 1, maximum: 100 }),
    blank: 10,
  }),
  failing_since: time({
    label: ["Failing since", "Zawodzi od", "Schlägt fehl seit"],
    by: "check",
    orNull: true,
    quiet: true,
  }),
  /** Sealed, the previous one as well. */
  signing_secret: text({ by: "check", hidden: true }),
  previous_secret: text({ by: "server", hidden: true, orNull: true, quiet: false }),
  previous_secret_until: time({ by: "server", hidden: true, orNull: true, quiet: false }),
  /** Whose rights count when it sends. Null = unknown: made before this was kept. */
  created_by_id: id({ by: "check", hidden: true, orNull: true }),
};

export type WebhookRow = RowOf<typeof fields, "integer">;
export type WebhookFields = PatchOf<typeof fields>;
export type WebhookInput = GivenOf<typeof fields>;
export type TargetKind = WebhookRow["targetKind"];
export type RatePeriod = WebhookRow["ratePeriod"];
