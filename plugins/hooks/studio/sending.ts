/** How another service sends to a hook: a command for its shell, signed as `../schemes.ts` checks it. Pure. */

/** What the API answers of one. */
type Hook = Readonly<Record<string, unknown>>;

const textIn = (hook: Hook, name: string) => (typeof hook[name] === "string" ? hook[name] : "");

/** The header of the proof, where the hook may name it. */
export function headerOf(hook: Hook): string {
  return textIn(hook, "header") || (hook["scheme"] === "token" ? "Authorization" : "x-signature");
}

/** Undefined for a service that sends by itself. `secret`: one that was just made, else a place to put it. */
export function sampleOf(hook: Hook, secret: string): string | undefined {
  const name = headerOf(hook);
  const idName = textIn(hook, "id_header");
  const id = idName === "" ? [] : [`${idName}: $(date +%s)`];
  const lines = {
    none: { sign: [], headers: id },
    token: { sign: [], headers: [`${name}: ${name.toLowerCase() === "authorization" ? "Bearer " : ""}$secret`, ...id] },
    hmac: {
      sign: [digest(textIn(hook, "algorithm"), hook["encoding"] === "base64")],
      headers: [`${name}: $sign`, ...id],
    },
    github: {
      sign: [digest("sha256", false)],
      headers: ["X-Hub-Signature-256: sha256=$sign", "X-GitHub-Delivery: $(date +%s)"],
    },
    standard: {
      sign: standard,
      headers: ["webhook-id: $id", "webhook-timestamp: $time", "webhook-signature: v1,$sign"],
    },
  } as const;
  const found = Object.entries(lines).find(([scheme]) => scheme === hook["scheme"])?.[1];
  if (!found) return undefined;
  const headers = ["Content-Type: application/json", ...found.headers].map((one) => `  -H "${one}" \\`);
  return [
    ...(hook["scheme"] === "none" ? [] : [`secret='${secret}'`]),
    `body='{"order":7}'`,
    ...found.sign,
    `curl "${textIn(hook, "url")}" \\`,
    ...headers,
    `  -d "$body"`,
  ].join("\n");
}

function digest(algorithm: string, isBase64: boolean): string {
  const written = isBase64 ? "-binary | openssl base64 -A" : "| sed 's/.* //'";
  return `sign=$(printf %s "$body" | openssl dgst -${algorithm} -hmac "$secret" ${written})`;
}

/** The key is the bytes behind `whsec_`. */
const standard = [
  "id=msg_$(date +%s)",
  "time=$(date +%s)",
  `key=$(printf %s "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`,
  `sign=$(printf %s "$id.$time.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)`,
];
