/** Redirects that an editor writes, beside those that pages leave when they move. behaviour B.11. */
import { column, field, resource, Type, type Change, type DraftOf, type Mistakes, type PatchOf } from "platform";
import { cleanPath, refOf, type Ref } from "../code.ts";
import { placeOf, type SiteEdit } from "../edit.ts";
import * as shared from "../fields.ts";
import { kindOf } from "../kind.ts";
import { byPath, bySite, find, searching } from "../kind-store.ts";
import { Domain } from "../sites/domain.ts";
import { cleanTarget, leadsBack, statuses, type Status } from "./rule.ts";
import { domainName, domainsOf, inFile, replaceMoved, rulesOf } from "./store.ts";

const domain: column.Label = ["Address", "Adres", "Adresse"];

const redirectFields = {
  path: shared.path(Type.String({ maxLength: 4000, description: "an old path of the site" }), "refused", "old-offer"),
  /** `/offer`, or an address (`https://…`); encoded as it is sent. */
  to: column.text({
    label: ["Leads to", "Prowadzi do", "Führt zu"],
    stored: "target",
    body: Type.String({ maxLength: 2000, description: "a path of the site (/offer) or an address (https://…)" }),
    by: "check",
    leftOut: "refused",
    example: "/offer",
  }),
  status: column.value("int2", Type.Union([Type.Literal(301), Type.Literal(302), Type.Literal(308)]), {
    label: ["For how long", "Na jak długo", "Für wie lange"],
    choices: {
      301: ["For good (301)", "Na stałe (301)", "Dauerhaft (301)"],
      302: ["For now (302)", "Na razie (302)", "Vorläufig (302)"],
      308: [
        "For good, with the same method (308)",
        "Na stałe, tą samą metodą (308)",
        "Dauerhaft, mit derselben Methode (308)",
      ],
    },
    body: Type.Integer({
      enum: [...statuses],
      description: "301: for good, 302: for now, 308: for good, with the same method",
    }),
    by: "check",
    blank: 301,
  }),
  ...shared.siteOf("cms_redirect_rules"),
  domain_id: shared.idOf(domain),
  /** By its name; null: on every domain of the site. */
  domain: column.text({
    label: domain,
    body: field.from(
      field.nullable(
        Type.String({ maxLength: 300, description: "on this domain alone, by its name; without one on all" }),
      ),
      { path: "/cms/domains.json", value: "name", where: ["site_code"] },
    ),
    by: "server",
    from: domainName,
    quiet: false,
    orNull: true,
  }),
  ...shared.authors,
};

type Patch = PatchOf<typeof redirectFields>;

export const Redirect = kindOf(
  resource("redirect", {
    table: "cms_redirect_rules",
    path: "/cms/redirects",
    id: "integer",
    privilege: "cms",
    model: "Cms::Redirect",
    fields: redirectFields,
    check,
    example: { id: 11 },
    request: ["path", "to", "site_code"],
    change: { status: 308 },
    docs: {
      create: {
        description:
          "Visitors of `path` are led to `to` where no page has that path. `to` is a path of the site or an address; the " +
          "query of the request goes along unless `to` has one. `status` defaults to 301. Without `domain` (a name) or `domain_id` it is for every domain " +
          "of the site; one for a domain comes first. Circles are refused. It replaces what a page that has moved left there.",
        refusals: { 422: { to: ["leads back to this path, or on and on"] } },
      },
    },
  }),
  {
    inSites: false,
    order: ["site_id", "path", "id"],
    needs: [["path"], ["to"], shared.needsSite],
    filters: { q: searching(["path", "target"], "paths and targets"), site_code: bySite, path: byPath() },
    refOf: (text) => (/^\d/.test(text) ? refOf(text) : undefined),
    /** It has no code of its own: this is what a site's files call it. */
    byCode: inFile,
  },
);

const mostOfSite = 5000;

async function check(
  edit: SiteEdit,
  { given, before }: Change<typeof redirectFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof redirectFields>> {
  const siteId = (await placeOf(edit, wrong, given, before)) ?? 0;
  for (const name of ["path", "to"] as const) if (!before && given[name] === undefined) wrong.add(name, "is required");
  wrong.check();
  const path = pathOf(wrong, given.path ?? before?.path ?? "");
  const to = targetOf(wrong, given.to ?? before?.to ?? "");
  const named = await domainOf(edit, wrong, siteId, given);
  const domainId = named === undefined ? (before?.domainId ?? null) : named;
  const draft = { siteId, path, to, domainId, status: statusOf(wrong, given.status ?? before?.status ?? 301) };
  wrong.check();
  const others = (await rulesOf(edit, siteId)).filter(({ id }) => id !== before?.id);
  if (others.length >= mostOfSite) wrong.add("base", `a site has at most ${mostOfSite} redirects`);
  if (others.some((one) => one.path === path && one.domainId === domainId)) wrong.add("path", "is already taken");
  if (leadsBack({ path, domainId, target: to }, others, await domainsOf(edit, siteId)))
    wrong.add("to", "leads back to this path, or on and on");
  wrong.check();
  await replaceMoved(edit, siteId, path);
  return draft;
}

/** The id of the domain that the body names, by its name or its id; null: every domain. Undefined: it does not say. */
async function domainOf(
  { tx, account }: SiteEdit,
  wrong: Mistakes,
  siteId: number,
  { domain: name, domain_id: id }: Patch,
): Promise<number | null | undefined> {
  if (name === undefined && id === undefined) return undefined;
  const idAt = async (at: "domain" | "domain_id", ref: Ref | undefined) => {
    const found = ref && (await find(Domain, tx, account.id, ref));
    if (ref && found?.siteId !== siteId) wrong.add(at, "names no domain of this site");
    return found?.id;
  };
  const byName = await idAt("domain", name ? { code: name } : undefined);
  const byId = await idAt("domain_id", id ? { id } : undefined);
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
