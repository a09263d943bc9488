/** An address at which another service starts a flow, and the proof that it is that service. behaviour B.9. */
import { column, field, filter, randomToken, resource, Type } from "platform";
import type { At, BaseContext, Cache, Change, DraftOf, Mistakes, RowOf } from "platform";
import type { Flows } from "../flows/api.ts";
import { algorithms, encodings, schemes } from "./schemes.ts";

const { choice, flag, integer, secret, text, time, usual } = column;

/** The largest body of any hook, in bytes. */
export const maxBodyBytes = 5_000_000;
const maxPerMinute = 60_000;
const overlapMs = 3_600_000;

const headerName = field.nullable(
  Type.String({ pattern: "^[A-Za-z0-9-]{1,60}$", maxLength: 60, description: "the name of a header" }),
);

const fields = {
  name: text({ ...usual.name, body: field.name(), example: "Payments" }),
  code: text({ label: ["Address", "Adres", "Adresse"], by: "check", example: "q5Xw0aT3mZ8hLr2KpYc7" }),
  flow_code: text({
    label: ["Flow", "Przepływ", "Ablauf"],
    body: field.from(field.name(100), { path: "/connect/flows.json", value: "code" }),
    example: "weather-advice",
  }),
  scheme: choice(schemes, {
    label: ["How it signs", "Jak podpisuje", "Wie signiert wird"],
    choices: {
      standard: ["Standard Webhooks", "Standard Webhooks", "Standard Webhooks"],
      github: ["GitHub", "GitHub", "GitHub"],
      stripe: ["Stripe", "Stripe", "Stripe"],
      slack: ["Slack", "Slack", "Slack"],
      hmac: ["A signature in a header", "Podpis w nagłówku", "Signatur in einer Kopfzeile"],
      token: ["A token in a header", "Token w nagłówku", "Token in einer Kopfzeile"],
      none: ["Not at all", "Wcale", "Gar nicht"],
    },
    blank: "standard",
  }),
  secret: secret({
    label: ["Secret", "Sekret", "Geheimnis"],
    help: [
      "The one that the other service signs with.",
      "Ten, którym podpisuje druga usługa.",
      "Das, mit dem der andere Dienst signiert.",
    ],
    body: field.when(field.line(1000), { scheme: ["", ...schemes.filter((scheme) => scheme !== "none")] }),
    place: (id) => `hook:${id}:secret`,
    info: (given) => (given.length < 20 ? "…" : `…${given.slice(-4)}`),
    example: "whsec_bWFkZSB1cCBmb3IgdGhlIGV4YW1wbGU=",
  }),
  verify_token: secret({
    label: ["Verify token", "Token weryfikacji", "Prüftoken"],
    help: [
      "Meta asks for it once, when the address is entered there.",
      "Meta pyta o niego raz, przy wpisaniu adresu.",
      "Meta fragt einmal danach, wenn die Adresse dort eingetragen wird.",
    ],
    body: field.line(200),
    place: (id) => `hook:${id}:verify_token`,
    example: "a word of your own",
  }),
  header: text({
    label: ["Header", "Nagłówek", "Kopfzeile"],
    help: [
      "Where the signature or token is. Empty: x-signature, or authorization for a token.",
      "Gdzie jest podpis lub token. Puste pole: x-signature, dla tokenu authorization.",
      "Wo Signatur oder Token steht. Leer: x-signature, bei einem Token authorization.",
    ],
    widget: "line",
    body: field.when(headerName, { scheme: ["hmac", "token"] }),
    orNull: true,
  }),
  algorithm: choice(algorithms, {
    label: ["Algorithm", "Algorytm", "Verfahren"],
    choices: {
      sha256: ["SHA-256", "SHA-256", "SHA-256"],
      sha1: ["SHA-1", "SHA-1", "SHA-1"],
      sha512: ["SHA-512", "SHA-512", "SHA-512"],
    },
    body: field.when(field.oneOf(algorithms), { scheme: ["hmac"] }),
    blank: "sha256",
  }),
  encoding: choice(encodings, {
    label: ["Written as", "Zapis", "Geschrieben als"],
    choices: { hex: ["Hexadecimal", "Szesnastkowo", "Hexadezimal"], base64: ["Base64", "Base64", "Base64"] },
    body: field.when(field.oneOf(encodings), { scheme: ["hmac"] }),
    blank: "hex",
  }),
  id_header: text({
    label: ["Header of the message's id", "Nagłówek z ID wiadomości", "Kopfzeile der Nachrichten-ID"],
    help: [
      "By it a repeated message is known, and starts nothing.",
      "Po nim poznaje się powtórzoną wiadomość; nic nie uruchamia.",
      "Daran wird eine wiederholte Nachricht erkannt; sie startet nichts.",
    ],
    body: field.when(headerName, { scheme: ["hmac", "token", "none"] }),
    orNull: true,
  }),
  tolerance_seconds: integer({
    label: ["Seconds the clock may be off", "Dopuszczalna różnica zegara (s)", "Erlaubte Abweichung der Uhr (s)"],
    body: field.when(Type.Integer({ minimum: 1, maximum: 86_400 }), { scheme: ["standard", "stripe", "slack"] }),
    blank: 300,
  }),
  max_bytes: integer({
    label: ["Largest body in bytes", "Największa treść w bajtach", "Größter Inhalt in Bytes"],
    body: Type.Integer({ minimum: 1, maximum: maxBodyBytes }),
    blank: 1_000_000,
  }),
  rate_limit: integer({
    label: ["At most a minute", "Najwięcej na minutę", "Höchstens je Minute"],
    help: ["Empty: no limit.", "Puste pole: bez limitu.", "Leer: unbegrenzt."],
    body: field.nullable(Type.Integer({ minimum: 1, maximum: maxPerMinute })),
    orNull: true,
  }),
  active: flag({ ...usual.active, body: field.flag(), blank: true }),
  /** Sealed; taken beside the new one for an hour, until the sender has it. */
  previous_secret: text({ by: "check", hidden: true, orNull: true }),
  previous_secret_until: time({ by: "check", hidden: true, orNull: true }),
};

export type HookRow = RowOf<typeof fields, "integer">;

export interface HookAt extends At, Pick<BaseContext, "origin"> {
  readonly flows: Pick<Flows, "flowName">;
  readonly hooks: Cache<HookRow>;
}

export const Hook = resource("hook", {
  table: "hooks",
  path: "/connect/hooks",
  id: "integer",
  privilege: "flows",
  model: "Connect::Hook",
  fields,
  derived: { url: { label: ["Address", "Adres", "Adresse"], schema: Type.String() } },
  derivedInLists: true,
  filters: { flow_code: filter.exact() },
  check,
  committed: async ({ hooks, caller }, { before }) => {
    if (before) await hooks.invalidate(`${caller.account.id}/${before.code}`);
  },
  derive: ({ origin }, { code }) => ({ url: `${origin()}/hooks/${code}` }),
  example: { id: 5, url: "https://example.com/hooks/q5Xw0aT3mZ8hLr2KpYc7" },
  request: ["name", "flow_code", "scheme", "secret"],
  change: { active: false },
  docs: {
    create: {
      description:
        "Other services POST to `url`, and each message starts the flow `flow_code` with the input { kind: `hook`, hook_id, id, " +
        "message_id, headers, query, body }. `scheme` says how a message proves where it comes from, over the bytes of its " +
        "body: `standard` (Standard Webhooks), `github`, `stripe`, `slack`, `hmac` (`header`, `algorithm`, `encoding`), " +
        "`token` (in `header`, default `authorization`) or `none`. A message whose id is known starts nothing again.",
      refusals: { 422: { secret: ["can't be blank: without it anybody could send"] } },
    },
    change: { description: "For an hour after a change of `secret` the one before it is taken as well." },
  },
});

async function check(
  { flows, caller, now }: HookAt,
  { tx, given, before, after }: Change<typeof fields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof fields>> {
  const { scheme } = after;
  if (scheme === "none" && given.secret) wrong.add("secret", "is not used without a signature: choose another scheme");
  if (scheme !== "none" && !after.secret) wrong.add("secret", "can't be blank: without it anybody could send");
  if (given.header && scheme !== "hmac" && scheme !== "token") wrong.add("header", "is for `hmac` and `token`");
  if (given.id_header && !["hmac", "token", "none"].includes(scheme))
    wrong.add("id_header", `is for \`hmac\`, \`token\` and \`none\`: ${scheme} has an id of its own`);
  if (given.flow_code !== undefined && (await flows.flowName(tx, caller.account.id, given.flow_code)) === undefined)
    wrong.add("flow_code", "names no flow of this account");
  wrong.check();
  const lower = (name: string | null) => name?.toLowerCase() ?? null;
  const isNew = Boolean(given.secret && before?.secret);
  return {
    ...after,
    previousSecret: (isNew ? before?.secret : before?.previousSecret) ?? null,
    previousSecretUntil: isNew ? new Date(now().getTime() + overlapMs) : (before?.previousSecretUntil ?? null),
    header: lower(after.header),
    idHeader: lower(after.idHeader),
    code: before?.code ?? randomToken(15),
  };
}
