/** How the built-in resources are addressed and grouped in the Studio. Others go by their path in the API. */
import type { IconName } from "../icons.ts";
import { ownOf } from "./values.ts";

/** Path in the API -> path in the Studio. */
const addresses: Readonly<Record<string, string>> = {
  "/account/users": "/account/people",
  "/account/api_tokens": "/account/tokens",
  "/connect/flow_processes": "/connect/processes",
  "/core/mails": "/account/mails",
  "/core/mail_templates": "/account/mail_texts",
  "/core/activity": "/account/activity",
  "/core/certificates": "/account/certificates",
  "/core/backups": "/account/backups",
};

/** The menu, by modules, in its order; what a plugin adds comes after them. */
export const modules: readonly { readonly name: string; readonly paths: readonly string[] }[] = [
  { name: "core", paths: ["/core/prompts", "/core/apps", "/core/dbs", "/core/media"] },
  { name: "connect", paths: ["/connect/connectors", "/connect/flows", "/connect/flow_processes"] },
  {
    name: "cms",
    paths: ["sites", "pages", "layouts", "paragraphs", "articles", "categories", "domains", "redirects"].map(
      (name) => `/cms/${name}`,
    ),
  },
  {
    name: "account",
    paths: [
      ...[
        "users",
        "invitations",
        "teams",
        "departments",
        "groups",
        "api_tokens",
        "webhooks",
        "crons",
        "sign_in_providers",
      ].map((name) => `/account/${name}`),
      "/core/mails",
      "/core/mail_templates",
      "/core/activity",
      "/core/certificates",
      "/core/backups",
    ],
  },
];

/** Lists that no menu shows: they belong to a page, or only describe what may be chosen elsewhere. */
export const unlisted: ReadonlySet<string> = new Set([
  "/core/prompts/system",
  "/core/mail_templates/system",
  "/core/media_folders",
  "/core/media/{id}/uses",
  "/connect/flow_steps",
  "/connect/flows/{id}/triggers",
  "/connect/flows/{code}/stats",
  "/account/webhooks/source_types",
  "/account/webhooks/health",
  "/account/privileges",
  "/account/me/sessions",
  "/cms/sites/{id}/check",
  "/cms/sites/{id}/texts",
  "/cms/sites/{id}/translations",
]);

/** The pictures of the menu. */
const pictures: Readonly<Record<string, IconName>> = {
  "/core/prompts": "prompt",
  "/core/apps": "app",
  "/core/dbs": "database",
  "/core/media": "image",
  "/connect/connectors": "plug",
  "/connect/flows": "flow",
  "/connect/flow_processes": "activity",
  "/cms/sites": "globe",
  "/cms/pages": "page",
  "/cms/layouts": "layout",
  "/cms/paragraphs": "paragraph",
  "/cms/articles": "article",
  "/cms/categories": "tags",
  "/cms/domains": "link",
  "/cms/redirects": "right",
  "/account/users": "users",
  "/account/invitations": "send",
  "/account/teams": "team",
  "/account/departments": "building",
  "/account/groups": "units",
  "/account/api_tokens": "key",
  "/account/webhooks": "webhook",
  "/account/crons": "alarm",
  "/connect/hooks": "down",
  "/account/sign_in_providers": "key",
  "/core/mails": "mail",
  "/core/mail_templates": "paragraph",
  "/core/activity": "activity",
  "/core/certificates": "verify",
};

export function iconOfList(path: string): IconName {
  return ownOf(pictures, path) ?? "list";
}

export function studioPath(path: string): string {
  return addresses[path] ?? path;
}

/** `url_code` -> `Url code`: a name in words. */
export function words(name: string): string {
  const text = name.replaceAll("_", " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The last word of a path that is no parameter: `/core/dbs/{db_id}/records` -> `records`. */
export function lastWord(path: string): string {
  return path.split("/").findLast((part) => part !== "" && !part.includes("{")) ?? "";
}
