/** Serves https beside the plain port: the TLS front, the port that leads there, and where certificates come from. */
import type { Config } from "../../settings/config.ts";
import { listenFault, listenOn } from "../../http/listen-on.ts";
import type { Log } from "../../system/log.ts";
import { createContexts, type Certificates } from "../../plugin/certificates.ts";
import { openFront, type Front, type FrontOptions } from "./front.ts";
import type { OwnCertificates } from "./own-certificates.ts";
import { createRedirect } from "./redirect.ts";

const plainNames = { port: "HTTP_PORT", host: "HTTPS_HOST" };

interface Needed {
  readonly config: Config;
  readonly log: Log;
  /** Those of TLS_DIR. */
  readonly own: OwnCertificates;
  /** Those of a plugin, for hosts without a file in TLS_DIR. */
  readonly certificates: Certificates | undefined;
  readonly inner: FrontOptions["inner"];
}

export interface Https {
  readonly port: number;
  /** The port that leads to https; undefined without one. */
  readonly httpPort: number | undefined;
  readonly clientAt: Front["clientAt"];
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
}

export async function openHttps({ config, log, own, certificates, inner }: Needed): Promise<Https> {
  const defaultHost = new URL(config.baseUrl).hostname;
  /** Nobody waits for it: it may have to be ordered first. */
  const lookForDefault = () =>
    void front
      .setDefault()
      .catch((error: unknown) => log.error("a certificate cannot be used", { host: defaultHost, error }));
  const contexts = createContexts(async (host) => (await own.find(host)) ?? certificates?.find(host));
  const shared = { hostname: config.httpsHost, reusePort: config.workers > 1 };
  const at = { ...shared, port: config.httpsPort };
  // Where no port answers HTTP-01, authorities look at this one (TLS-ALPN-01).
  const proof = config.httpPort === 0 ? certificates?.proof : undefined;
  const front = await openFront({ ...at, contexts, proof, defaultHost, inner }).catch((cause: unknown) => {
    throw listenFault(cause, at, { port: "HTTPS_PORT", host: "HTTPS_HOST" });
  });
  own.onChange(() => {
    contexts.clear();
    lookForDefault();
  });
  certificates?.onChange((host) => {
    contexts.forget(host);
    if (host === defaultHost) lookForDefault();
  });
  lookForDefault();
  const challenge = async (token: string) => certificates?.challenge(token);
  const redirect = createRedirect({ challenge, httpsPort: () => front.port });
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
