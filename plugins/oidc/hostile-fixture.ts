/** A provider that says whatever a test wants it to say. */

type Json = Readonly<Record<string, unknown>>;

/** How an ID token is signed. */
export type Signing = "right" | "none" | "other key" | "client secret";

export interface Hostile {
  readonly issuer: string;
  readonly clientSecret: string;
  /** Over what a right provider would say; undefined takes a claim away. */
  claims: Json;
  signing: Signing;
  discovery: Json;
  userinfo: Json;
  /** In place of its answers, by path. */
  answers: Readonly<Record<string, () => Response>>;
  /** What was asked of the token endpoint. */
  readonly asked: URLSearchParams[];
  /** Of the next ID token; empty = the code that it is given for. */
  nonce: string;
  honest(): void;
  stop(): void;
}

export const clientId = "corestead";

export async function startHostile(): Promise<Hostile> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
  const [own, other] = await Promise.all([
    crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]),
    crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]),
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", own.publicKey);
  const right = { claims: {}, discovery: {}, userinfo: {}, answers: {}, signing: "right", nonce: "" } as const;

  const signed = async (hostile: Hostile, claims: Json): Promise<string> => {
    const alg = { right: "ES256", "other key": "ES256", none: "none", "client secret": "HS256" }[hostile.signing];
    const head = `${encoded({ alg, kid: "own", typ: "JWT" })}.${encoded(claims)}`;
    const bytes = new TextEncoder().encode(head);
    if (hostile.signing === "none") return `${head}.`;
    if (hostile.signing === "client secret")
      return `${head}.${new Bun.CryptoHasher("sha256", hostile.clientSecret).update(bytes).digest("base64url")}`;
    const { privateKey } = hostile.signing === "right" ? own : other;
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, bytes);
    return `${head}.${new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true })}`;
  };

  const answerTo = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const instead = hostile.answers[pathname];
    if (instead) return instead();
    if (pathname === "/.well-known/openid-configuration")
      return Response.json({ ...document(hostile.issuer), ...hostile.discovery });
    if (pathname === "/keys")
      return Response.json({ keys: [{ kty, crv, x, y, kid: "own", use: "sig", alg: "ES256" }] });
    if (pathname === "/userinfo") return Response.json({ sub: "somebody", ...hostile.userinfo });
    if (pathname !== "/token") return new Response(null, { status: 404 });
    hostile.asked.push(new URLSearchParams(await request.text()));
    const now = Math.floor(Date.now() / 1000);
    const { issuer: iss } = hostile;
    const nonce = hostile.nonce || hostile.asked.at(-1)?.get("code");
    const claims = { iss, aud: clientId, sub: "somebody", nonce, iat: now, exp: now + 60, ...hostile.claims };
    return Response.json({ access_token: "x", token_type: "Bearer", id_token: await signed(hostile, claims) });
  };

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answerTo });
  const hostile: Hostile = {
    issuer: `http://127.0.0.1:${server.port}`,
    clientSecret: "the secret of a client, which signs nothing",
    asked: [],
    ...right,
    honest: () => void Object.assign(hostile, right, { asked: [] }),
    stop: () => void server.stop(true),
  };
  return hostile;
}

function document(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    scopes_supported: ["openid", "email"],
    code_challenge_methods_supported: ["S256"],
    id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    authorization_response_iss_parameter_supported: true,
  };
}

function encoded(value: Json): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
}
