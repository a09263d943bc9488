/** `oidc-provider` as a peer of the tests: it signs in `who` without asking. */
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

export interface Peer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who sits before the browser: the claims of the provider. */
  who: Readonly<Record<string, unknown>> & { readonly sub: string };
  /** Answers `error=access_denied`, as if the person had cancelled. */
  cancels: boolean;
  stop(): void;
}

/**
 * `redirectUris` are the addresses registered at the provider, as are those beside them for signing out; `host` is a name
 * of this machine.
 */
export async function startPeer(redirectUris: readonly string[], host = "127.0.0.1"): Promise<Peer> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on a port");
  const issuer = `http://${host}:${address.port}`;
  const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", privateKey);
  const jwk = {
    kty: kty ?? "EC",
    crv: crv ?? "",
    x: x ?? "",
    y: y ?? "",
    d: d ?? "",
    kid: "peer",
    use: "sig",
    alg: "ES256",
  };
  const peer: Peer = {
    issuer,
    clientId: "corestead",
    clientSecret: "a secret of the peer: & % +",
    who: { sub: "nobody" },
    cancels: false,
    stop: () => void server.close(),
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: peer.clientId,
        client_secret: peer.clientSecret,
        redirect_uris: [...redirectUris],
        id_token_signed_response_alg: "ES256",
        post_logout_redirect_uris: redirectUris.map((uri) => uri.replace(/callback$/, "signed_out")),
        backchannel_logout_uri: redirectUris[0]?.replace(/callback$/, "backchannel_logout"),
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 60, Session: 600 },
    cookies: { keys: ["a key of the tests"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) =>
          void (ctx.body = `${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`),
      },
    },
    // Its own fetch calls nobody on this machine.
    fetch: (url, options) => fetch(url, options),
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...peer.who, sub: accountId }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: peer.clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  provider.proxy = false;
  const handle = provider.callback();
  server.on("request", (request, response) => {
    const result = peer.cancels ? { error: "access_denied" } : { login: { accountId: peer.who.sub } };
    if (!request.url?.startsWith("/interaction/")) void handle(request, response);
    else void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return peer;
}
