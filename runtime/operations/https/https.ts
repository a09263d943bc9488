/** Serves https beside the plain port: the TLS front, the port that leads there, and where certificates come from. */
import { listenFault, listenOn } from "../../http/listen-on.ts";
import type { Certificates } from "../../plugin/certificates.ts";
import { openFront, type Contexts, type Front, type FrontOptions } from "./front.ts";
import type { OwnCertificates } from "./own-certificates.ts";
import type { Config } from "../../settings/config.ts";
import type { Log } from "../../system/log.ts";
import { plainHost } from "../../http/auth.ts";
import { pathOf } from "../../http/arrival.ts";

const plainNames = { port: "HTTP_PORT", host: "HTTPS_HOST" };

/** `own` certificates are those of TLS_DIR; a plugin's are for hosts without a file there. */
export interface HttpsContext {
  readonly config: Config;
  readonly log: Log;
  readonly own: OwnCertificates;
  readonly certificates: Certificates | undefined;
}

export interface Https {
  readonly port: number;
  /** The port that leads to https; undefined without one. */
  readonly httpPort: number | undefined;
  readonly clientAt: Front["clientAt"];
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
}

export async function openHttps(
  { config, log, own, certificates }: HttpsContext,
  inner: FrontOptions["inner"],
): Promise<Https> {
  const defaultHost = new URL(config.baseUrl).hostname;
  /** Nobody waits for it: it may have to be ordered first. */
  const lookForDefault = () =>
    void front
      .setDefault()
      .catch((error: unknown) => log.error("a certificate cannot be used", { host: defaultHost, error }));
  const contexts: Contexts = {
    kept: new Map(),
    find: async (host) => (await own.find(host)) ?? certificates?.find(host),
  };
  const shared = { hostname: config.httpsHost, reusePort: config.workers > 1 };
  const at = { ...shared, port: config.httpsPort };
  // Where no port answers HTTP-01, authorities look at this one (TLS-ALPN-01).
  const proof = config.httpPort === 0 ? certificates?.proof : undefined;
  const front = await openFront({ ...at, contexts, proof, defaultHost, inner }).catch((cause: unknown) => {
    throw listenFault(cause, at, { port: "HTTPS_PORT", host: "HTTPS_HOST" });
  });
  own.onChange(() => {
    contexts.kept.clear();
    lookForDefault();
  });
  certificates?.onChange((host) => {
    contexts.kept.delete(host);
    if (host === defaultHost) lookForDefault();
  });
  lookForDefault();
  const challenge = async (token: string) => certificates?.challenge(token);
  const redirect = (request: Request) => redirectToHttps(request, front.port, challenge);
  const plain =
    config.httpPort === 0 ? undefined : listenOn({ ...shared, port: config.httpPort, fetch: redirect }, plainNames);
  return {
    port: front.port,
    httpPort: plain?.port,
    clientAt: front.clientAt,
    stop: async () => {
      front.stop();
      await plain?.stop();
    },
    kill: front.kill,
  };
}

// The plain port beside https: it answers authorities, and leads everybody else to https.

const challengePrefix = "/.well-known/acme-challenge/";
/** What an authority may use as a token (RFC 8555 8.3). */
const isToken = (text: string) => text.length <= 200 && /^[\w-]+$/.test(text);
const hostForm = /^[a-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/;

async function redirectToHttps(
  request: Request,
  httpsPort: number,
  challenge: (token: string) => Promise<string | undefined>,
): Promise<Response> {
  const path = pathOf(request.url);
  if (path.startsWith(challengePrefix)) {
    const token = path.slice(challengePrefix.length);
    const text = isToken(token) ? await challenge(token) : undefined;
    return new Response(text ?? "there is no such challenge\n", { status: text === undefined ? 404 : 200, headers });
  }
  const host = plainHost(request.headers.get("host") ?? "");
  if (!hostForm.test(host)) return new Response("send a Host header\n", { status: 400, headers });
  const port = httpsPort === 443 ? "" : `:${httpsPort}`;
  // 308 keeps the method and the body; a browser keeps nothing, so that another server may follow on this port.
  const location = `https://${host.replace(/:\d+$/, "")}${port}${path.startsWith("/") ? path : "/"}`;
  return new Response(null, { status: 308, headers: { location, "cache-control": "no-store" } });
}

const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
