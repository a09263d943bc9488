/** The page that says in words what an app asks for, and the one that says why it cannot be connected. Without scripts. */
import { escapeHtml, filledIn, isObject, type Caller, type Language } from "platform";
import { linkLine, page } from "../accounts/sessions/api.ts";
import { heldOf, hostOf, lengths, type Question } from "./grant.ts";
import type { Client } from "./store.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

const all: Readonly<Record<Language, typeof en>> = { en, pl, de };
const levels = ["read", "add", "edit", "manage"] as const;

export type Mistake = "nothing" | "noTable";

export interface Consent {
  readonly language: Language;
  readonly caller: Caller;
  readonly question: Question;
  /** As the list of databases answers. */
  readonly tables: unknown;
  /** The question as it came, for this person's session. */
  readonly sealed: string;
  /** Where one signs in as somebody else and comes back. */
  readonly again: string;
  readonly mistake: Mistake | undefined;
  /** What was chosen on the page that had the mistake. */
  readonly chosen: URLSearchParams | undefined;
}

export function consentPage(consent: Consent): string {
  const { language, caller, question, sealed, again, mistake } = consent;
  const words = all[language];
  const accountName = caller.account.name;
  const app = `<strong>${appName(consent, words)}</strong>`;
  const asks = filledIn(words.asks, { app, account: escapeHtml(accountName) });
  const content = `${mistake ? `<p id="error" role="alert">${words[mistake]}</p>` : ""}
<p>${asks}</p>
<p>${escapeHtml(placeOf(question, words))}</p>
<p>${question.writes ? words.writes : words.reads} ${words.never}</p>
<form method="post" action="/oauth/authorize">
<input type="hidden" name="request" value="${escapeHtml(sealed)}">
${areasOf(consent, words)}
${tablesOf(consent, words)}
${question.writes ? `<p>${tick(consent, "checkbox", "reads", "yes", words.onlyReads, false)}</p>` : ""}
<label for="days">${words.long}</label>
<select id="days" name="days">${lengths.map((days) => option(`${days}`, words.days[days], isOn(consent, "days", `${days}`, days === 30))).join("")}</select>
<p>${words.end}</p>
<button name="decision" value="allow">${words.allow}</button>
<button class="second" name="decision" value="deny">${words.deny}</button>
</form>
<p class="more">${escapeHtml(filledIn(words.you, { person: caller.user.name || caller.user.login }))}</p>
${linkLine({ href: again, label: words.other })}`;
  return page({ language }, words.connect, accountName, content);
}

/** `reason`: a name in the words, or a status. */
export function refusedPage(language: Language, accountName: string, reason: string): string {
  const words = all[language];
  const said = Object.entries(words.reasons).find(([name]) => name === reason)?.[1] ?? words.reasons.client;
  return page({ language }, words.refused, accountName, `<p id="error" role="alert">${escapeHtml(said)}</p>`);
}

/** Whoever registers may choose any name; only one that stands at an address of its owner's is more than a claim. */
function appName({ question: { client }, caller }: Consent, words: typeof en): string {
  if (client.name === "") return words.unnamed;
  const name = escapeHtml(client.name);
  if (isClaim(client, caller.account.name)) return filledIn(words.calls, { name });
  return `${name} (${escapeHtml(hostOf(client, ""))})`;
}

function isClaim({ name, readAt }: Client, accountName: string): boolean {
  // Letters of other alphabets may look like ours.
  if (readAt === null || /[^\x20-\x7e]/.test(name)) return true;
  const plain = lettersOf(name);
  return plain.includes("corestead") || plain.includes(lettersOf(accountName) || "corestead");
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function placeOf({ redirectUri }: Question, words: typeof en): string {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === "http:") return words.fromHere;
  if (protocol === "https:") return filledIn(words.from, { host });
  return filledIn(words.fromDevice, { host: protocol.slice(0, -1) });
}

const isOn = ({ chosen }: Consent, name: string, value: string, standard: boolean) =>
  chosen ? chosen.getAll(name).includes(value) : standard;

function areasOf(consent: Consent, words: typeof en): string {
  const nameOf = (name: string) => Object.entries(words.rights).find(([known]) => known === name)?.[1] ?? name;
  const boxes = heldOf(consent.question, consent.caller).map((name) =>
    tick(consent, "checkbox", "areas", name, nameOf(name), true),
  );
  return `<fieldset><legend>${words.areas}</legend>${boxes.join("")}</fieldset>`;
}

function tablesOf(consent: Consent, words: typeof en): string {
  const { tables, question, caller } = consent;
  if (!heldOf(question, caller).includes("dbs")) return "";
  const offered = question.writes ? levels : levels.slice(0, 1);
  const rows = (Array.isArray(tables) ? tables : []).map((table: unknown) => {
    if (!isObject(table)) return "";
    const [id, name] = [String(table["id"]), String(table["name"] ?? table["code"])];
    const options = offered
      .map((level) =>
        option(`${id}:${level}`, words.levels[level], isOn(consent, "databases", `${id}:${level}`, false)),
      )
      .join("");
    const label = `<label for="t${escapeHtml(id)}">${escapeHtml(name)}</label>`;
    return `${label}<select id="t${escapeHtml(id)}" name="databases">${option("", words.noAccess, true)}${options}</select>`;
  });
  return `<fieldset><legend>${words.tables}</legend>
${tick(consent, "radio", "tables", "all", words.allTables, true)}
${tick(consent, "radio", "tables", "some", words.someTables, false)}
<div class="choices">${rows.join("")}</div></fieldset>`;
}

type Tick = [consent: Consent, type: "checkbox" | "radio", name: string, value: string, label: string, on: boolean];

function tick(...[consent, type, name, value, label, on]: Tick): string {
  const checked = isOn(consent, name, value, on) ? " checked" : "";
  return `<label class="tick"><input type="${type}" name="${name}" value="${escapeHtml(value)}"${checked}>${escapeHtml(label)}</label>`;
}

function option(value: string, label: string, selected: boolean): string {
  return `<option value="${escapeHtml(value)}"${selected ? " selected" : ""}>${escapeHtml(label)}</option>`;
}
