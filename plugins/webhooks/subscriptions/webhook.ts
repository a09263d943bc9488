/** A webhook: what it is to others, and the rules of behaviour 2.5. */
import { count, filter, HttpError, invalid, resource, misspeltNames, Type, unknownNames } from "platform";
import type { At, BaseContext, Change, Changed, DraftOf, Mention, Mistakes, Model, Tx } from "platform";
import { fields, maxUrlLength, type WebhookFields, type WebhookInput, type WebhookRow } from "./fields.ts";
import { mustFollow, mustManage, mustReach, type Grants, type Rights } from "./rights.ts";
import { newSecret, sealContext } from "./sign.ts";
import { clearQueue, urgedTopic } from "../signals.ts";

export const standardKinds = ["create", "update", "destroy"] as const;
const maxFilterKeys = 20;
const maxFilterChars = 4000;
const maxPerAccount = 1000;

export interface WebhookAt extends At, Pick<BaseContext, "enqueue" | "broadcast"> {
  readonly rights: Rights;
  readonly models: ReadonlyMap<string, Model>;
  readonly forget: (accountId: number) => Promise<void>;
  /** Its maker, looked up before the change (manage.ts). */
  readonly maker?: { readonly id: number | null; readonly able: Grants | undefined };
}

/** Its maker has changed since they were looked up: look again. */
export class Outdated extends HttpError {
  constructor() {
    super(409, { error: "the webhook has changed just now, try again" });
  }
}

type WebhookChange = Change<typeof fields, "integer">;
type WrittenWebhook = Changed<typeof fields, "integer">;

export const Webhook = resource("webhook", {
  table: "webhooks",
  path: "/account/webhooks",
  id: "integer",
  privilege: "webhooks",
  model: "Core::Webhook",
  nameColumn: "url",
  fields,
  authors: [],
  filters: {
    source_type: filter.exact("exact"),
    kind: filter.exact("exact"),
    target_kind: filter.exact("exact"),
    target_code: filter.exact("exact"),
    active: filter.flagged(Type.Boolean({ description: "true or false" })),
  },
  check,
  changed,
  committed,
  hints: webhookHints,
  example: { id: 3 },
  request: ["source_type", "kind", "url", "filter"],
  change: { active: false },
  docs: {
    list: { summary: "List the account's webhooks" },
    change: {
      description:
        "Switching it on again clears `disabled_reason`. Switching it off cancels what still waits. If `url` changes " +
        "to another origin, `api_token` must be given again.",
    },
    delete: { summary: "Delete a webhook with its deliveries" },
  },
});

async function check(at: WebhookAt, change: WebhookChange, wrong: Mistakes): Promise<DraftOf<typeof fields>> {
  const { rights, caller } = at;
  const { tx, id, given, before } = change;
  const isUrl = change.after.targetKind === "url";
  // behaviour 2.5 rule 2: the fields of another kind of target are cleared.
  const after = { ...change.after, ...(isUrl ? { targetCode: null } : { url: null }) };
  checkInput(after, given, at.models, before, wrong);
  wrong.check();
  if (!before) {
    mustFollow(rights, caller, after.sourceType);
    mustReach(caller, after);
    if ((await count(Webhook, tx, caller.account.id)) >= maxPerAccount)
      throw invalid({ base: [`an account may have at most ${maxPerAccount} webhooks`] });
    const signingSecret = at.secrets.seal(newSecret(), sealContext(id, "signing"));
    return { ...after, createdById: caller.user.id, signingSecret, disabledReason: null, failingSince: null };
  }
  const { maker } = at;
  if (!maker || maker.id !== before.createdById) throw new Outdated();
  const off = onlySwitchesOff(given);
  if (!off) mustBeTheirs(at, before, after, maker.able);
  // The caller becomes its maker if it has none, or now follows another model.
  const stays = off || (maker.able !== undefined && after.sourceType === before.sourceType);
  const revived = after.active && !before.active;
  return {
    ...after,
    createdById: stays ? before.createdById : caller.user.id,
    signingSecret: before.signingSecret,
    // Switched on again: the server forgets what it found wrong.
    disabledReason: revived ? null : before.disabledReason,
    failingSince: revived ? null : before.failingSince,
  };
}

async function changed({ enqueue }: WebhookAt, { before, after }: WrittenWebhook, tx: Tx): Promise<void> {
  if (!before || (after && (after.active || !before.active))) return;
  await enqueue(clearQueue, { accountId: before.accountId, webhookId: before.id }, { tx });
}

async function committed({ forget, broadcast, caller }: WebhookAt, { before, after }: WrittenWebhook): Promise<void> {
  await forget(caller.account.id);
  if (before && after?.active) broadcast.publish(urgedTopic, `${after.accountId}:${after.id}`);
}

/** Throws the 403 if the webhook is, or becomes, more than the caller may have. */
function mustBeTheirs(
  { rights, caller }: WebhookAt,
  before: WebhookRow,
  after: WebhookInput,
  maker: Grants | undefined,
) {
  mustManage(rights, caller, before, maker);
  mustFollow(rights, caller, after.sourceType);
  mustReach(caller, after, before);
}

/** Everybody who sees a webhook may switch it off: that can only limit damage. */
function onlySwitchesOff(given: WebhookFields): boolean {
  return given.active === false && Object.keys(given).length === 1;
}

function checkInput(
  after: WebhookInput,
  given: WebhookFields,
  models: ReadonlyMap<string, Model>,
  before: WebhookRow | undefined,
  wrong: Mistakes,
): void {
  const model = models.get(after.sourceType);
  if (model && !kindsOf(model).includes(after.kind))
    wrong.add("kind", `must be one of ${kindsOf(model).join(", ")} for ${model.name}`);
  if (after.targetKind === "url") {
    const fault = urlFault(after.url);
    if (fault) wrong.add("url", fault);
  } else if (!after.targetCode?.trim()) wrong.add("target_code", "can't be blank");
  else if (!/^[A-Za-z0-9._-]+$/.test(after.targetCode))
    wrong.add("target_code", `must be the code of a ${after.targetKind}: letters, digits, - and _`);
  if (after.filter && Object.keys(after.filter).length > maxFilterKeys)
    wrong.add("filter", `may have at most ${maxFilterKeys} keys`);
  else if (after.filter && JSON.stringify(after.filter).length > maxFilterChars)
    wrong.add("filter", `may have at most ${maxFilterChars} characters as JSON`);
  if (after.changed !== null && (after.sourceType !== "Core::Record" || after.kind !== "update"))
    wrong.add("changed", "is for `update` of `Core::Record`");
  // A header can carry nothing else.
  if (given.api_token && !/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(given.api_token))
    wrong.add("api_token", "must be visible ASCII characters, with spaces only between them");
  // A person who changes the address has not seen the credential, and must not have it sent there.
  const kept = Boolean(before?.apiToken) && given.api_token === undefined;
  if (kept && after.url !== null && originOf(after.url) !== originOf(before?.url ?? null))
    wrong.add("api_token", "must be given again, or removed with null, if the url has another origin");
}

function originOf(url: string | null): string | undefined {
  return URL.parse(url ?? "")?.origin;
}

/** The mistake in an address, or undefined. Whether the address may be reached is known only when it is called. */
function urlFault(url: string | null): string | undefined {
  if (!url?.trim()) return "can't be blank";
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:\/\//i.test(url) || /[\s\p{Cc}]/u.test(url))
    return "must be an absolute address with http:// or https://";
  if (parsed.username !== "" || parsed.password !== "")
    return "must not contain a user name or password: use api_token, or another part of the address";
  // As ASCII it may be longer than as it was given.
  if (parsed.href.length > maxUrlLength) return `may have at most ${maxUrlLength} characters`;
  return undefined;
}

export function kindsOf(model: Pick<Model, "kinds">): readonly string[] {
  return [...standardKinds, ...(model.kinds ?? [])];
}

/** What a saved webhook names that is not there: nothing would ever be sent. */
export async function webhookHints({ names, models }: Pick<WebhookAt, "names" | "models">, row: WebhookRow) {
  const { accountId, sourceType, targetKind, targetCode } = row;
  const named = (row.changed ?? []).map((name) => [name, undefined] as const);
  const wanted = row.filter && { ...Object.fromEntries(named), ...row.filter };
  const code = sourceType === "Core::Record" ? wanted?.["db_code"] : undefined;
  const target = { url: undefined, flow: "Core::Flow", connector: "Core::Connector" }[targetKind];
  const mentions: Mention[] = [];
  if (code !== undefined) {
    const key = typeof code === "string" ? code : JSON.stringify(code);
    mentions.push({ place: "filter.db_code", model: "Core::Db", key, ...(wanted && { values: wanted }) });
  }
  if (target !== undefined && targetCode !== null)
    mentions.push({ place: "target_code", model: target, key: targetCode });
  const model = models.get(sourceType);
  // With a database, its fields are compared too.
  // A plugin may emit events of its own, so it is not refused.
  if (!model)
    return [
      ...(await names.unknown(accountId, mentions)),
      ...unknownNames([sourceType], [...models.keys()], (name) => `source_type: no model is called "${name}"`),
    ];
  if (model.anyKeys && code !== undefined) return names.unknown(accountId, mentions);
  const hintsOf = model.anyKeys ? misspeltNames : unknownNames;
  const [given, known] = [Object.keys(wanted ?? {}), Object.keys(model.sample)];
  return [
    ...(await names.unknown(accountId, mentions)),
    ...hintsOf(given, known, (name) => `filter: ${sourceType} has no "${name}"`),
  ];
}
