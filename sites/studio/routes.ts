/** The page of the Studio, at every address below /studio, and its files. */
import {
  answer,
  notFound,
  ok,
  randomToken,
  redirect,
  route,
  text,
  Type,
  webFile,
  type BaseContext,
  type Caller,
  type RequestInput,
  type Route,
} from "platform";
import type { Extension } from "./extensions.ts";
import type { StudioFiles } from "./files.ts";
import { shell, shellPolicy } from "./shell.ts";

const access = { open: "it leads to the sign-in page; what it shows comes from the API" } as const;
const page = {
  summary: "The account's user interface",
  access,
  answers: { 200: answer.text("text/html") },
  responses: { 200: "<!doctype html> …", 303: null },
};

export function studioRoutes(
  files: StudioFiles,
  extensions: readonly Extension[],
  { rehearses, secrets }: Pick<BaseContext, "rehearses" | "secrets">,
): Route[] {
  const answerPage = ({ caller, request, account }: RequestInput | Asking) => {
    const { pathname, search } = new URL(request.url);
    if (!caller?.viaCookie)
      return redirect(303, `/login?return_to=${encodeURIComponent(`${pathname}${search}`)}`, {
        "cache-control": "no-store",
      });
    const nonce = randomToken(16);
    const draftKey = secrets.derive("studio.drafts", `${account.id}:${caller.user.id}`);
    const shown = { files, nonce, accountName: account.name, isRehearsal: rehearses(), draftKey, pathname };
    return text(200, shell(shown), "text/html; charset=utf-8", {
      "content-security-policy": shellPolicy(nonce),
      "x-frame-options": "DENY",
      "cache-control": "no-store",
    });
  };

  return [
    route("GET", "/studio", page, answerPage),
    route("GET", "/studio/*", page, answerPage),
    route(
      "GET",
      "/studio/-/:name",
      {
        summary: "A script or style of the user interface",
        access: { open: "the same files for everyone" },
        answers: { 200: [answer.text("text/javascript"), answer.text("text/css")] },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      ({ request, params: { name } }) => {
        const version = Object.hasOwn(files.files, name) ? files.files[name] : undefined;
        if (version === undefined) throw notFound();
        const type = name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
        return webFile(request, { version, type, read: (suffix) => files.read(name, suffix) });
      },
    ),
    ...extensionRoutes(extensions),
  ];
}

/** The pages of plugins, and their modules. */
function extensionRoutes(extensions: readonly Extension[]): Route[] {
  return [
    route(
      "GET",
      "/studio/-/pages",
      {
        summary: "The pages that plugins add to the user interface",
        description: "Those that one may open; each is an ES module.",
        access: { signedIn: "everyone sees their own menu" },
        answers: { 200: answer.list(Page) },
        responses: { 200: [pageExample] },
      },
      ({ caller }) =>
        ok(
          extensions
            .filter((one) => mayOpen(caller, one))
            .map(({ plugin, path, title, view = null, icon = null, file }) => ({
              path,
              title: { pl: title.en, de: title.en, ...title },
              view,
              icon,
              module: `/studio/ext/${plugin}/${file}`,
            })),
        ),
    ),
    route(
      "GET",
      "/studio/ext/:plugin/:file",
      {
        summary: "The module of a plugin's page",
        description: "404 also for those who may not open the page.",
        access: { signedIn: "its page's privilege is asked for" },
        answers: { 200: answer.text("text/javascript") },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      ({ request, caller, params: { plugin, file } }) => {
        const found = extensions.find((one) => one.plugin === plugin && one.file === file && mayOpen(caller, one));
        if (!found) throw notFound();
        return found.send(request);
      },
    ),
  ];
}

function mayOpen({ privileges }: Pick<Caller, "privileges">, { privilege }: Extension): boolean {
  return privilege === undefined || privileges.has(privilege);
}

const Page = answer.object("StudioPage", {
  path: Type.String(),
  title: Type.Object({ en: Type.String(), pl: Type.String(), de: Type.String() }),
  view: Type.Union([Type.String(), Type.Null()]),
  icon: Type.Union([Type.String(), Type.Null()]),
  module: Type.String(),
});
const pageExample = {
  path: "crm/contacts",
  title: { en: "Contacts", pl: "Kontakty", de: "Kontakte" },
  view: "contacts/index",
  icon: "users",
  module: "/studio/ext/crm/1a-2b.js",
};

type Asking = Pick<RequestInput, "caller" | "request" | "account">;
