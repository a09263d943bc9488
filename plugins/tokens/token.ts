/** An API token, as people make, see and change it. The rules: behaviour B.4 and B.6. */
import { column, field, filter, forbidden, invalid, mistakes, notFound, resource, sha256, Type } from "platform";
import type { AfterCommit, At, Caller, Change, Changed, DraftOf, RowOf, Tx } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { deleteChildren, endOf, limitsOf } from "./end-store.ts";
import { parseExpiry } from "./expiry.ts";
import { endedOrNot, isAdmin, ofAccountOrOwn, visibleTo } from "./filter-store.ts";
import { tokenInfo } from "./raw-token.ts";

const databasesText =
  "code or id of a database to read, add, edit or manage: the only ones that the token opens, and never further than its owner; null: all of its owner's";
const { choice, flag, id, integer, jsonOf, text, texts, time } = column;

/** Code or id of a database to a level. */
export const Databases = Type.Unsafe<Readonly<Record<string, string>>>(
  Type.Object({}, { additionalProperties: Type.String(), maxProperties: 200, description: databasesText }),
);

const fields = {
  name: text({
    label: ["Name", "Nazwa", "Name"],
    help: [
      "What it is for, such as the program that uses it.",
      "Do czego służy, np. program, który go używa.",
      "Wozu es dient, z. B. das Programm, das es benutzt.",
    ],
    body: field.line(),
    orNull: true,
    example: "import of orders",
  }),
  code: text({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "Programs can find the token by it; unique in the account.",
      "Programy mogą po niej odszukać token; niepowtarzalna na koncie.",
      "Programme können das Token daran finden; eindeutig im Konto.",
    ],
    body: field.line(100),
    orNull: true,
    example: "orders",
  }),
  kind: choice(["web_token"], {
    label: ["Used for", "Zastosowanie", "Verwendung"],
    help: ["Empty: for programs.", "Puste pole: dla programów.", "Leer: für Programme."],
    choices: {
      web_token: [
        "Signing a browser in, once",
        "Jednorazowe logowanie w przeglądarce",
        "Einmalige Anmeldung im Browser",
      ],
    },
    body: field.line(64),
    by: "check",
    orNull: true,
  }),
  active: flag({
    label: ["On", "Włączone", "An"],
    help: [
      "A token that is off is refused at once; it can be switched on again.",
      "Wyłączony token jest od razu odrzucany; można go znów włączyć.",
      "Ein ausgeschaltetes Token wird sofort abgewiesen; es lässt sich wieder einschalten.",
    ],
    body: field.flag(),
    blank: true,
  }),
  expires_at: time({
    label: ["Ends", "Wygasa", "Läuft ab"],
    help: ["Empty: it never ends.", "Puste pole: nigdy nie wygasa.", "Leer: Es läuft nie ab."],
    body: field.line(64),
    by: "check",
    orNull: true,
    example: new Date("2030-12-31T23:59:59.999Z"),
  }),
  integration_app_code: text({
    label: ["Integration", "Integracja", "Integration"],
    help: ["The integration that uses it.", "Integracja, która go używa.", "Die Integration, die es benutzt."],
    body: field.line(100),
    orNull: true,
  }),
  for_account: flag({
    label: ["For the whole account", "Dla całego konta", "Für das ganze Konto"],
    help: [
      "For integrations that must not stop: it cannot be deleted, only switched off.",
      "Dla integracji, które nie mogą stanąć: nie można go usunąć, tylko wyłączyć.",
      "Für Integrationen, die nicht ausfallen dürfen: Es lässt sich nicht löschen, nur ausschalten.",
    ],
    body: field.flag(),
    blank: false,
  }),
  privileges: texts({
    label: ["Rights", "Uprawnienia", "Berechtigungen"],
    help: ["Empty: those of its owner.", "Puste pole: te, które ma właściciel.", "Leer: die des Besitzers."],
    body: field.nullable(field.names()),
    blank: [],
    example: ["dbs"],
  }),
  /** The databases that it opens, by id, each up to a level; null = all of its owner's. */
  databases: jsonOf(Databases, {
    label: ["Tables", "Tabele", "Tabellen"],
    help: [
      "Empty: all that its owner may use.",
      "Puste pole: wszystkie, których może używać właściciel.",
      "Leer: alle, die der Besitzer nutzen darf.",
    ],
    body: field.nullable(Databases),
    by: "check",
    orNull: true,
  }),
  token_info: text({ label: ["Token", "Token", "Token"], by: "check", example: "core_AbC...wxyz" }),
  user_id: id({ label: ["Owner", "Właściciel", "Besitzer"], by: "check", example: 1 }),
  last_used_at: time({ label: ["Last used", "Ostatnie użycie", "Zuletzt benutzt"], by: "server", orNull: true }),
  /** Null: made by somebody through the API. */
  purpose: choice(["session", "temporary", "invitation"], { by: "check", hidden: true, orNull: true }),
  token_hash: text({ by: "check", hidden: true }),
  /** Given from outside, of any form. */
  given: flag({ by: "check", hidden: true }),
  /** Of a session: it ends after so long without a request. */
  idle_seconds: integer({ by: "server", hidden: true, orNull: true }),
  /** Requests a minute; null = as many as it likes. */
  rate_limit: integer({ by: "check", hidden: true, orNull: true }),
  /** Where it may be used from; empty = from anywhere. */
  networks: texts({
    label: ["Only from these addresses", "Tylko z tych adresów", "Nur von diesen Adressen"],
    help: [
      "One address or network a line, such as 203.0.113.0/24. Empty: from anywhere.",
      "Po jednym adresie lub sieci w wierszu, np. 203.0.113.0/24. Puste pole: zewsząd.",
      "Je Zeile eine Adresse oder ein Netz, z. B. 203.0.113.0/24. Leer: von überall.",
    ],
    by: "check",
    hidden: true,
  }),
  read_only: flag({
    label: ["Only reads", "Tylko odczyt", "Liest nur"],
    help: [
      "Whatever would change something is refused.",
      "Wszystko, co coś zmienia, jest odrzucane.",
      "Was etwas ändern würde, wird abgewiesen.",
    ],
    by: "check",
    example: false,
  }),
  /** Whether agents may delete with it over `/mcp`. */
  mcp_delete: flag({ by: "check", hidden: true }),
  warned_at: time({ by: "check", hidden: true, orNull: true, quiet: true }),
};

/** What a token names its databases by, to others. */
export const ofDatabases = "Core::Db";
const levels = ["read", "add", "edit", "manage"];

/**
 * By ids, so that a code which is taken again opens nothing. 422 for what is no database or no level, or beyond the
 * caller's own token, whose databases it has where none are given.
 */
export async function databasesFor(
  { caller, names }: Pick<At, "caller" | "names">,
  given: Readonly<Record<string, string>> | null | undefined,
): Promise<Readonly<Record<string, string>> | null> {
  const own = caller.within?.[ofDatabases];
  if (!given) return own ?? null;
  const wrong = mistakes();
  const found: Record<string, string> = {};
  for (const [key, level] of Object.entries(given)) {
    const name = key.slice(0, 100);
    const dbId = await names.idOf({ model: ofDatabases, key: name }, caller.account.id);
    const most = own && dbId !== undefined ? own[dbId] : "manage";
    if (dbId === undefined) wrong.add("databases", `${name} is no database of this account`);
    else if (!levels.includes(level)) wrong.add("databases", `${name} must be one of ${levels.join(", ")}`);
    else if (most === undefined || levels.indexOf(level) > levels.indexOf(most))
      wrong.add("databases", `${name} is beyond your own token`);
    else found[dbId] = level;
  }
  wrong.check();
  return found;
}

export type TokenRow = RowOf<typeof fields, "integer">;
type TokenChange = Change<typeof fields, "integer">;
type Draft = DraftOf<typeof fields>;

/** What the server keeps of tokens in memory. After a commit, before the answer, it forgets what has changed. */
export interface TokenCaches {
  /** Whether the database has this token, active or not. */
  readonly knows: (raw: string) => Promise<boolean>;
  readonly forget: (hashes: readonly string[]) => Promise<void>;
  /** The token's text is another one. */
  readonly forgetText: (id: number, hash: string) => Promise<void>;
}

export interface TokensContext extends Omit<At, "caller">, TokenCaches {
  readonly accounts: Accounts;
  readonly usage: { readonly flush: () => Promise<void> };
}

export interface TokenAt extends TokensContext, Pick<At, "caller"> {
  /** The text of a new one. */
  readonly raw?: string;
  /** What is shown in place of its text. */
  readonly info?: string;
  /** What a new one begins with, unless the caller's own token is limited: then it has those limits. */
  readonly limits?: { readonly networks: readonly string[]; readonly readOnly: boolean };
}

const forAccount = Type.String({ description: "`yes`: all tokens of the whole account (administrators only)" });

export const Token = resource("api_token", {
  table: "api_tokens",
  path: "/account/api_tokens",
  id: "integer",
  privilege: "api_tokens",
  model: "Account::ApiToken",
  events: ({ purpose }) => purpose === null,
  errors: "wrapped",
  authors: [],
  others: ["parent_id", "opened_at", "last_address", "address", "browser"],
  // Those that are made from it refer to it: none may come while it changes.
  lock: "for update",
  fields,
  filters: {
    for_account: {
      doc: field.from(forAccount, { values: () => ["yes"] }),
      where: ofAccountOrOwn,
    },
    kind: { doc: "`web_token`: web tokens and sessions only", where: () => undefined },
    q: filter.searching(["name", "code"], "searches name and code; `*` and `%` are wildcards"),
    ended: {
      doc: Type.Boolean({
        description: "true: only those that are switched off or have expired; false: only those that work",
      }),
      where: endedOrNot,
    },
  },
  beforeRead: ({ usage }: TokenAt) => usage.flush(),
  visible: visibleTo,
  check,
  mayErase({ caller }, row) {
    // behaviour 2.2 rule 5: running integrations depend on it.
    if (row.forAccount) throw invalid({ base: ["a token of the whole account cannot be deleted"] });
    if (!isWithin(caller, row)) throw forbidden("this token can do more than the one you use");
  },
  changed,
  example: { id: 7 },
  request: ["name", "code", "privileges"],
  change: { active: false },
  docs: {
    list: {
      summary: "List your tokens",
      description: "Sessions are tokens too. The list contains them only with `kind=web_token`.",
    },
    get: { summary: "One token" },
    change: {
      summary: "Change a token",
      description: "The use of a token is no change of it: `If-Match` compares what people have set.",
    },
    delete: {
      summary: "Delete a token",
      description: "A token with `for_account` cannot be deleted (422): running integrations depend on it.",
      refusals: { 422: { errors: { base: ["a token with for_account is not deleted"] } } },
    },
  },
});

async function check(at: TokenAt, { tx, given, before, after }: TokenChange): Promise<Draft> {
  const { accounts, caller, raw = "" } = at;
  if (before && before.purpose !== null) throw invalid({ base: ["a session can only be ended"] });
  const input = {
    ...after,
    ...kindAndEnd(given, before, caller.account.timezone),
    name: filled(after.name),
    code: filled(after.code),
    integrationAppCode: filled(after.integrationAppCode),
    privileges: [...new Set(after.privileges)],
    databases: before && given.databases === undefined ? before.databases : await databasesFor(at, given.databases),
  };
  if (before) mustManage(caller, before);
  mustManage(caller, input);
  if (!before || given.privileges !== undefined)
    await mustBeOwners(tx, input.privileges, before?.userId ?? caller.user.id, accounts);
  if (before) mustStayWithin(caller, before.privileges);
  mustStayWithin(caller, input.privileges);
  if (!before && input.expiresAt && input.expiresAt.getTime() <= Date.now())
    throw invalid({ expires_at: ["is in the past"] });
  if (!before || given.expires_at !== undefined || (input.active && !before.active))
    mustEndWithin(await endOf(tx, caller.account.id, caller.tokenId), input);
  if (before) return { ...before, ...input, warnedAt: isSameEnd(before, input) ? before.warnedAt : null };
  const own = await limitsOf(tx, caller);
  if (own.networks.length > 0 && at.limits && at.limits.networks.length > 0)
    throw invalid({ networks: ["are those of your own token, which is limited itself"] });
  const limits = {
    ...own,
    networks: own.networks.length > 0 ? own.networks : (at.limits?.networks ?? []),
    readOnly: own.readOnly || (at.limits?.readOnly ?? false),
  };
  const written = { tokenHash: sha256(raw), tokenInfo: at.info ?? tokenInfo(raw), given: false };
  return {
    ...input,
    ...limits,
    databases: input.databases,
    ...written,
    userId: caller.user.id,
    purpose: null,
    mcpDelete: false,
    warnedAt: null,
  };
}

/** Caches are keyed by the hashes of what has changed or ended. */
async function changed(
  { forget }: TokenAt,
  { before, after }: Changed<typeof fields, "integer">,
  tx: Tx,
): Promise<AfterCommit | undefined> {
  if (!before) return undefined;
  const children = !after || endsChildren(before, after) ? await deleteChildren(tx, before.id) : [];
  return () => forget([before.tokenHash, ...children]);
}

/** Throws the 422. */
function kindAndEnd(given: TokenChange["given"], before: TokenRow | undefined, timezone: string) {
  const wrong = mistakes();
  const kind = given.kind === undefined ? (before?.kind ?? null) : given.kind || null;
  if (kind !== null && kind !== "web_token") wrong.add("kind", "must be empty or web_token");
  const end = given.expires_at?.trim();
  const expiresAt = given.expires_at === undefined ? before?.expiresAt : end && parseExpiry(end, timezone);
  if (end && !expiresAt) wrong.add("expires_at", "must be a date (2030-12-31) or a time (2030-12-31T12:00:00Z)");
  wrong.check();
  return { kind: kind === "web_token" ? kind : null, expiresAt: expiresAt || null } as const;
}

/** Throws the 422 if the list names a privilege that no plugin declares or that the owner lacks. */
async function mustBeOwners(tx: Tx, list: readonly string[], userId: number, accounts: Accounts): Promise<void> {
  const owner = await accounts.access(userId, tx);
  if (!owner) throw notFound();
  const wrong = mistakes();
  for (const name of list) {
    if (!accounts.isPrivilege(name)) wrong.add("privileges", `${name} is not a privilege`);
    else if (!owner.privileges.has(name)) wrong.add("privileges", `${name} is one that the owner lacks`);
  }
  wrong.check();
}

/** Throws the 422 if a narrowed token would make or change a token with more rights than its own. */
export function mustStayWithin(caller: Caller, list: readonly string[]): void {
  if (caller.narrowedTo.length === 0) return;
  if (list.length === 0) throw invalid({ privileges: ["can't be empty: your own token is narrowed"] });
  const wider = list.filter((name) => !caller.narrowedTo.includes(name));
  if (wider.length > 0) throw invalid({ privileges: wider.map((name) => `${name} is beyond your own token`) });
}

/** Throws the 422 if a token would make or change one that expires later than itself: it would outlive its own end. */
export function mustEndWithin(ends: Date | null, { expiresAt }: Pick<TokenRow, "expiresAt">): void {
  if (ends === null || (expiresAt !== null && expiresAt <= ends)) return;
  throw invalid({ expires_at: [`must not be later than ${ends.toISOString()}, when your own token ends`] });
}

/** Throws the 403 if the caller may not change this token. */
export function mustManage(caller: Caller, token: Pick<TokenRow, "forAccount">): void {
  if (token.forAccount && !isAdmin(caller)) throw forbidden("tokens of the whole account are for administrators");
}

/** A narrowed token may delete itself and tokens within its own set. */
function isWithin(caller: Caller, { id: tokenId, privileges }: TokenRow): boolean {
  if (caller.narrowedTo.length === 0 || tokenId === caller.tokenId) return true;
  return privileges.length > 0 && privileges.every((name) => caller.narrowedTo.includes(name));
}

/** Whether this change ends the tokens that were made from it. */
function endsChildren(before: TokenRow, after: TokenRow): boolean {
  const isSame = before.active === after.active && before.kind === after.kind && isSameEnd(before, after);
  return !isSame || before.privileges.join() !== after.privileges.join();
}

function isSameEnd(one: Pick<TokenRow, "expiresAt">, other: Pick<TokenRow, "expiresAt">): boolean {
  return one.expiresAt?.getTime() === other.expiresAt?.getTime();
}

function filled(given: string | null): string | null {
  return given?.trim() ? given : null;
}
