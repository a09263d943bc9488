/** A webhook as it will be saved: the given fields over the present ones, checked by the rules of behaviour 2.5. */
import { mistakes, type Model } from "platform";
import type { Filter } from "./match.ts";
import type { RatePeriod, TargetKind, WebhookInput } from "./store.ts";

/** The fields of a request. A field that is left out stays as it is. */
export interface WebhookFields {
  readonly source_type?: string;
  readonly kind?: string;
  readonly target_kind?: TargetKind | null;
  readonly url?: string | null;
  readonly target_code?: string | null;
  readonly api_token?: string | null;
  readonly active?: boolean;
  readonly filter?: Filter | null;
  readonly ordered?: boolean;
  readonly rate_limit?: number | null;
  readonly rate_period?: RatePeriod;
  readonly concurrency?: number;
}

export const standardKinds = ["create", "update", "destroy"] as const;
export const maxUrlLength = 2000;
const maxFilterKeys = 20;
const maxFilterChars = 4000;

const blank: Standing = {
  apiToken: null,
  sourceType: "",
  kind: "",
  targetKind: "url",
  url: null,
  targetCode: null,
  active: true,
  filter: null,
  ordered: false,
  rateLimit: null,
  ratePeriod: "second",
  concurrency: 10,
};

/** The present fields, with the stored credential of the receiver. */
type Standing = WebhookInput & { readonly apiToken: string | null };

/** Throws the 422 of all mistakes together. */
export function merged(
  given: WebhookFields,
  models: ReadonlyMap<string, Model>,
  before: Standing = blank,
): WebhookInput {
  const targetKind = given.target_kind === undefined ? before.targetKind : (given.target_kind ?? "url");
  const url = given.url === undefined ? before.url : given.url;
  const targetCode = given.target_code === undefined ? before.targetCode : given.target_code;
  const after: WebhookInput = {
    sourceType: given.source_type ?? before.sourceType,
    kind: given.kind ?? before.kind,
    targetKind,
    // behaviour 2.5 rule 2: the fields of another kind of target are cleared.
    url: targetKind === "url" ? url : null,
    targetCode: targetKind === "url" ? null : targetCode,
    active: given.active ?? before.active,
    filter: given.filter === undefined ? before.filter : given.filter,
    ordered: given.ordered ?? before.ordered,
    rateLimit: given.rate_limit === undefined ? before.rateLimit : given.rate_limit,
    ratePeriod: given.rate_period ?? before.ratePeriod,
    concurrency: given.concurrency ?? before.concurrency,
  };
  check(after, given, models, before);
  return after;
}

function check(after: WebhookInput, given: WebhookFields, models: ReadonlyMap<string, Model>, before: Standing): void {
  const wrong = mistakes();
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
  // A header can carry nothing else.
  if (given.api_token && !/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(given.api_token))
    wrong.add("api_token", "must be visible ASCII characters, with spaces only between them");
  // A person who changes the address has not seen the credential, and must not have it sent there.
  const kept = before.apiToken !== null && given.api_token === undefined;
  if (kept && after.url !== null && originOf(after.url) !== originOf(before.url))
    wrong.add("api_token", "must be given again, or removed with null, if the url has another origin");
  wrong.check();
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

/** All kinds of a model. */
export function kindsOf(model: Pick<Model, "kinds">): readonly string[] {
  return [...standardKinds, ...(model.kinds ?? [])];
}

/** A credential as it is shown: a few of its characters, none of a short one. */
export function tokenInfo(token: string): string {
  return token.length < 20 ? "..." : `${token.slice(0, 4)}...${token.slice(-4)}`;
}
