/** An order for one certificate at an authority (ACME, RFC 8555), through the guarded fetch. */
import type { BaseContext } from "platform";
import type { Authorization, Client } from "acme-client";

export interface Authority {
  /** The address of its directory. */
  readonly directory: string;
  readonly email: string;
  /** An account there that exists already, which some authorities ask for (RFC 8555 7.3.4). */
  readonly binding: { readonly kid: string; readonly hmacKey: string } | undefined;
}

export interface AcmeAccount {
  /** PEM */
  readonly key: string;
  readonly url: string;
}

/** Shows the authority whose host this is; `end` takes that back. */
export interface Proofs {
  /** HTTP-01: the text to be found under the token. Undefined if nobody listens on port 80. */
  readonly overHttp: ((token: string, text: string) => Promise<{ end(): Promise<void> }>) | undefined;
  /** TLS-ALPN-01: the certificate to be shown to the authority, as PEM. */
  readonly overTls: (host: string, chain: string, key: string) => Promise<{ end(): Promise<void> }>;
}

export interface NewCertificate {
  readonly chain: string;
  readonly key: string;
  readonly notBefore: Date;
  readonly expiresAt: Date;
}

/** Loaded when it is needed, which is seldom. */
async function library(fetch: BaseContext["fetch"]) {
  const { default: acme } = await import("acme-client");
  acme.axios.defaults.adapter = async (config) => {
    const headers = Object.fromEntries(
      Object.entries(config.headers.toJSON()).map(([name, value]) => [name, String(value)]),
    );
    const method = (config.method ?? "get").toUpperCase();
    const body = typeof config.data === "string" ? config.data : undefined;
    const answer = await fetch(config.url ?? "", {
      method,
      headers,
      ...(body !== undefined && { body }),
      timeoutMs: 20_000,
      maxBytes: 1_000_000,
    });
    const { status } = answer;
    return { data: parsed(answer.text()), status, statusText: "", headers: Object.fromEntries(answer.headers), config };
  };
  return acme;
}

/** As axios itself reads an answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const hourMs = 3_600_000;
const patience = { backoffAttempts: 12, backoffMin: 500, backoffMax: 5_000 };

/** A new account at the authority. */
export async function register(fetch: BaseContext["fetch"], authority: Authority): Promise<AcmeAccount> {
  const acme = await library(fetch);
  const key = (await acme.crypto.createPrivateEcdsaKey()).toString();
  const { directory: directoryUrl, email, binding } = authority;
  const client = new acme.Client({
    directoryUrl,
    accountKey: key,
    ...(binding && { externalAccountBinding: binding }),
    ...patience,
  });
  await client.createAccount({ termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) });
  return { key, url: client.getAccountUrl() };
}

/** Orders a certificate for this host. Throws the authority's reason if it refuses. */
export async function orderCertificate(
  fetch: BaseContext["fetch"],
  { directory: directoryUrl }: Authority,
  account: AcmeAccount,
  host: string,
  proofs: Proofs,
): Promise<NewCertificate> {
  const acme = await library(fetch);
  const client = new acme.Client({ directoryUrl, accountKey: account.key, accountUrl: account.url, ...patience });
  const order = await client.createOrder({ identifiers: [{ type: "dns", value: host }] });
  for (const authorization of await client.getAuthorizations(order))
    if (authorization.status !== "valid") await prove(client, authorization, host, proofs);
  const [key, request] = await acme.crypto.createCsr({ altNames: [host] }, await acme.crypto.createPrivateEcdsaKey());
  const chain = await client.getCertificate(await client.finalizeOrder(order, request));
  const { notBefore, notAfter } = acme.crypto.readCertificateInfo(chain);
  return { chain, key: key.toString(), notBefore, expiresAt: notAfter };
}

async function prove(
  client: Client,
  authorization: Authorization,
  host: string,
  { overHttp, overTls }: Proofs,
): Promise<void> {
  const offered = (type: string) => authorization.challenges.find((challenge) => challenge.type === type);
  const type = overHttp ? "http-01" : "tls-alpn-01";
  const challenge = offered(type);
  if (!challenge) throw new Error(`the authority does not offer ${type}, which HTTP_PORT decides`);
  const text = await client.getChallengeKeyAuthorization(challenge);
  const shown = async () => {
    if (overHttp) return overHttp(challenge.token, text);
    const { chain, key } = await proofCertificate(host, text);
    return overTls(host, chain, key);
  };
  const proof = await shown();
  try {
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(challenge);
  } finally {
    await proof.end();
  }
}

/** Signs itself, and holds the digest of the key authorization (TLS-ALPN-01, RFC 8737 3). */
async function proofCertificate(host: string, text: string): Promise<{ chain: string; key: string }> {
  const x509 = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=proof",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - hourMs),
    notAfter: new Date(Date.now() + hourMs),
    extensions: [
      new x509.SubjectAlternativeNameExtension([{ type: "dns", value: host }]),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      // An OCTET STRING of 32 bytes.
      new x509.Extension("1.3.6.1.5.5.7.1.31", true, new Uint8Array([0x04, 0x20, ...digest])),
    ],
  });
  const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  return { chain: certificate.toString("pem"), key: x509.PemConverter.encode(key, "PRIVATE KEY") };
}

/** The address of the authority's advice on a certificate's renewal (RFC 9773 4.1); undefined if it gives none. */
export async function adviceAddress(
  fetch: BaseContext["fetch"],
  directory: string,
  chain: string,
): Promise<string | undefined> {
  const answer = await fetch(directory, { timeoutMs: 20_000, maxBytes: 100_000 });
  const found = parsed(answer.text());
  if (typeof found !== "object" || found === null || !("renewalInfo" in found)) return undefined;
  return `${String(found.renewalInfo)}/${await certificateId(chain)}`;
}

/** The authority key identifier and the serial number, each in base64url (RFC 9773 4.1). */
export async function certificateId(chain: string): Promise<string> {
  const { AuthorityKeyIdentifierExtension, X509Certificate } = await import("@peculiar/x509");
  const certificate = new X509Certificate(chain.slice(0, chain.indexOf("-----END") + 25));
  const keyId = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  if (!keyId) throw new Error("the certificate does not name its authority's key");
  const { serialNumber } = certificate;
  // As DER has it: a first bit that is set gets a zero byte before it.
  const serial = `${serialNumber.length % 2 ? "0" : ""}${serialNumber}`;
  return [keyId, /^[89a-f]/i.test(serial) ? `00${serial}` : serial]
    .map((hex) => Uint8Array.fromHex(hex).toBase64({ alphabet: "base64url", omitPadding: true }))
    .join(".");
}
