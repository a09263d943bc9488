/** The page of the Studio, at every address below /studio, and its files. */
import { answer, notFound, randomToken, redirect, route, text, webFile, type RequestInput, type Route } from "platform";
import type { StudioFiles } from "./files.ts";
import { shell, shellPolicy } from "./shell.ts";

const access = { open: "it leads to the sign-in page; what it shows comes from the API" } as const;
const page = {
  summary: "The account's user interface",
  access,
  answers: { 200: answer.text("text/html") },
  responses: { 200: "<!doctype html> …", 303: null },
};

export function studioRoutes(files: StudioFiles): Route[] {
  const answerPage = ({ caller, request, account }: RequestInput | Asking) => {
    const { pathname, search } = new URL(request.url);
    if (!caller?.viaCookie)
      return redirect(303, `/login?return_to=${encodeURIComponent(`${pathname}${search}`)}`, {
        "cache-control": "no-store",
      });
    const nonce = randomToken(16);
    return text(200, shell({ files, nonce, accountName: account.name }), "text/html; charset=utf-8", {
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
  ];
}

type Asking = Pick<RequestInput, "caller" | "request" | "account">;
