/** The fields of a webhook. behaviour 2.5 and B.8. */
import { column, field, Type, type GivenOf, type PatchOf, type RowOf } from "platform";
import { sealContext, tokenInfo } from "./sign.ts";

const { choice, flag, id, integer, json, jsonbOf, secret, text, time, usual } = column;

export const maxUrlLength = 2000;
const modelsPath = "/account/webhooks/source_types.json";
const targetKinds = ["url", "connector", "flow"] as const;

export const fields = {
  source_type: text({
    label: ["What changes", "Co się zmienia", "Was sich ändert"],
    help: [
      "Core::Record is a record of a table; “Only if” says of which.",
      "Core::Record to rekord tabeli; której, mówi „Tylko jeśli”.",
      "Core::Record ist ein Eintrag einer Tabelle; welcher, sagt „Nur wenn“.",
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
    label: ["What happens", "Co się dzieje", "Was geschieht"],
    help: [
      "create, update, destroy, or an event of its own.",
      "create, update, destroy albo własne zdarzenie.",
      "create, update, destroy oder ein eigenes Ereignis.",
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
    label: ["What to do", "Co zrobić", "Was zu tun ist"],
    choices: {
      url: ["Call an address", "Wywołaj adres", "Adresse aufrufen"],
      connector: ["Use a connection", "Użyj połączenia", "Verbindung nutzen"],
      flow: ["Run a flow", "Uruchom przepływ", "Ablauf starten"],
    },
    body: field.nullable(field.oneOf(targetKinds)),
    blank: "url",
  }),
  url: text({
    label: ["Address", "Adres", "Adresse"],
    help: ["It gets a POST with the record.", "Dostaje POST z rekordem.", "Sie erhält einen POST mit dem Eintrag."],
    body: field.when(field.line(maxUrlLength), { target_kind: ["", "url"] }),
    orNull: true,
    example: "https://example.com/hooks/orders",
  }),
  target_code: text({
    label: ["Connection or flow", "Połączenie lub przepływ", "Verbindung oder Ablauf"],
    body: field.from(
      field.line(100),
      { path: "/connect/connectors.json", value: "code", when: { target_kind: "connector" } },
      { path: "/connect/flows.json", value: "code", when: { target_kind: "flow" } },
    ),
    orNull: true,
  }),
  api_token: secret({
    label: ["Token of the receiver", "Token odbiorcy", "Token des Empfängers"],
    help: [
      "Sent as Authorization: Bearer …; it is never shown again.",
      "Wysyłany jako Authorization: Bearer …; nigdy więcej nie jest pokazywany.",
      "Wird als Authorization: Bearer … gesendet; es wird nie wieder gezeigt.",
    ],
    body: field.when(field.line(4000), { target_kind: ["", "url"] }),
    place: (webhookId) => sealContext(webhookId, "api_token"),
    info: tokenInfo,
    example: "abcdefghijklmnopqrstuvwxyz",
  }),
  active: flag({ ...usual.active, body: field.flag(), blank: true }),
  /** Why the server has switched it off. */
  disabled_reason: text({
    label: ["Why it is off", "Dlaczego wyłączone", "Warum er aus ist"],
    by: "check",
    orNull: true,
  }),
  filter: json({
    label: ["Only if", "Tylko jeśli", "Nur wenn"],
    help: ["Values the record must have.", "Wartości, które ma mieć rekord.", "Werte, die der Eintrag haben muss."],
    body: field.nullable(field.object()),
    orNull: true,
    example: { db_code: "orders" },
  }),
  changed: jsonbOf(Type.Array(Type.String()), {
    label: ["Only if it changes", "Tylko gdy się zmienia", "Nur wenn sich ändert"],
    help: [
      "Fields of a table: one of them has another value now.",
      "Pola tabeli: jedno z nich ma teraz inną wartość.",
      "Felder einer Tabelle: eines hat jetzt einen anderen Wert.",
    ],
    body: field.nullable(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 20 })),
    orNull: true,
    example: ["status"],
  }),
  ordered: flag({
    label: ["In order", "Po kolei", "Der Reihe nach"],
    help: ["Changes of one record.", "Zmiany jednego rekordu.", "Änderungen eines Eintrags."],
    body: field.flag(),
    blank: false,
  }),
  rate_limit: integer({
    label: ["Request limit", "Limit żądań", "Anfragelimit"],
    help: ["Empty: no limit.", "Puste pole: bez limitu.", "Leer: unbegrenzt."],
    body: field.nullable(Type.Integer({ minimum: 1, maximum: 10_000 })),
    orNull: true,
  }),
  rate_period: choice(["second", "minute"], {
    label: ["Limit per", "Limit na", "Limit je"],
    choices: { second: ["Second", "Sekundę", "Sekunde"], minute: ["Minute", "Minutę", "Minute"] },
    blank: "second",
  }),
  concurrency: integer({
    label: ["At once", "Jednocześnie", "Gleichzeitig"],
    help: ["Most requests at a time.", "Najwięcej żądań naraz.", "Höchstzahl gleichzeitiger Anfragen."],
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
