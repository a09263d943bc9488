/** Creating, changing and deleting redirects of a site. behaviour B.11. */
import { field, mistakes, Type, type Static } from "platform";
import { type Ref, cleanPath } from "../code.ts";
import { locked, mustStay, reread, siteOf, there, type Mistakes, type SiteEdit, type Writer } from "../edit.ts";
import { idRef, siteRef } from "../input.ts";
import * as kindStore from "../kind-store.ts";
import { domains } from "../sites/store.ts";
import { cleanTarget, leadsBack, statuses, type Status } from "./rule.ts";
import { domainsOf, redirects, replaceMoved, rulesOf, type RuleInput, type RuleView } from "./store.ts";

export const RedirectBody = Type.Object({
  path: Type.Optional(Type.String({ maxLength: 4000, description: "an old path of the site" })),
  to: Type.Optional(
    Type.String({ maxLength: 2000, description: "a path of the site (/offer) or an address (https://…)" }),
  ),
  status: Type.Optional(
    Type.Integer({
      enum: [...statuses],
      description: "301: for good, 302: for now, 308: for good, with the same method",
    }),
  ),
  domain: Type.Optional(
    field.from(
      field.nullable(
        Type.String({ maxLength: 300, description: "on this domain alone, by its name; without one on all" }),
      ),
      { path: "/cms/domains.json", value: "name", where: ["site_code"] },
    ),
  ),
  domain_id: idRef(),
  ...siteRef(),
});
export type RedirectBody = Static<typeof RedirectBody>;

const mostOfSite = 5000;

export const redirectWriter: Writer<RedirectBody, RuleView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    if (body.path === undefined) wrong.add("path", "is required");
    if (body.to === undefined) wrong.add("to", "is required");
    wrong.check();
    const { id: siteId } = there(site);
    await edit.touch(siteId);
    const input = await inputOf(edit, wrong, { siteId }, body);
    wrong.check();
    await replaceMoved(edit, siteId, input.path);
    return reread(edit, redirects, await kindStore.insert(redirects, edit, input, siteId));
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, redirects, ref, expected);
    const wrong = mistakes();
    mustStay(wrong, body, before);
    const input = await inputOf(edit, wrong, before, body);
    wrong.check();
    await replaceMoved(edit, before.siteId, input.path);
    await kindStore.update(redirects, edit, before.id, input);
    return reread(edit, redirects, before.id);
  },

  async remove(edit, ref, expected) {
    const { id } = await locked(edit, redirects, ref, expected);
    await kindStore.remove(redirects, edit, id);
  },
};

type Before = Pick<RuleView, "siteId"> & Partial<RuleView>;

async function inputOf(edit: SiteEdit, wrong: Mistakes, before: Before, body: RedirectBody): Promise<RuleInput> {
  const { siteId } = before;
  const path = pathOf(wrong, body.path ?? before.path ?? "");
  const target = targetOf(wrong, body.to ?? before.target ?? "");
  const given = await domainOf(edit, wrong, siteId, body);
  const domainId = given === undefined ? (before.domainId ?? null) : given;
  const input = { path, target, domainId, status: statusOf(wrong, body.status ?? before.status ?? 301) };
  if (wrong.any) return input;
  const all = await rulesOf(edit, siteId);
  const others = all.filter(({ id }) => id !== before.id);
  if (others.length >= mostOfSite) wrong.add("base", `a site has at most ${mostOfSite} redirects`);
  if (others.some((one) => one.path === path && one.domainId === domainId)) wrong.add("path", "is already taken");
  if (leadsBack(input, others, await domainsOf(edit, siteId))) wrong.add("to", "leads back to this path, or on and on");
  return input;
}

/** The id of the domain that the body names, by its name or its id; null: every domain. Undefined: it does not say. */
async function domainOf(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  siteId: number,
  { domain: name, domain_id: id }: RedirectBody,
): Promise<number | null | undefined> {
  if (name === undefined && id === undefined) return undefined;
  const find = async (at: "domain" | "domain_id", ref: Ref | undefined) => {
    const found = ref && (await kindStore.find(domains, tx, account.id, ref));
    if (ref && found?.siteId !== siteId) wrong.add(at, "names no domain of this site");
    return found?.id;
  };
  const byName = await find("domain", name ? { code: name } : undefined);
  const byId = await find("domain_id", id ? { id } : undefined);
  if (byName !== undefined && byId !== undefined && byName !== byId)
    wrong.add("domain", "is another one than domain_id");
  return byName ?? byId ?? null;
}

/** The home page's own path is no old one. */
function pathOf(wrong: Mistakes, given: string): string {
  const clean = cleanPath(given);
  if ("mistake" in clean) wrong.add("path", clean.mistake);
  else if (clean.path === "") wrong.add("path", "can't be blank");
  return "path" in clean ? clean.path : given;
}

function targetOf(wrong: Mistakes, given: string): string {
  const clean = cleanTarget(given.trim());
  if ("href" in clean) return clean.href;
  wrong.add("to", clean.mistake);
  return given;
}

function statusOf(wrong: Mistakes, given: number): Status {
  const status = statuses.find((one) => one === given);
  if (status === undefined) wrong.add("status", `must be one of ${statuses.join(", ")}`);
  return status ?? 301;
}
