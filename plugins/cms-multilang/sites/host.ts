/**
 * A domain's name as it is stored (a host in lower case and in ASCII, with a port only if one is given), and how an
 * account proves that it owns it: by a TXT record, or by a file on the domain's web server. behaviour B.11.
 */
import { answer as schema, OutboundFault, Type, type BaseContext, type Static } from "platform";

export type CleanHost = { readonly host: string } | { readonly mistake: string };

const reserved = "is not a public host name: numeric addresses and names without a dot are refused";
const mistake = "must be a host name such as www.example.com, without https:// and without a path";

export function cleanHost(given: string): CleanHost {
  const text = given.trim();
  // URL accepts far more than host names, so anything it would read differently is refused first.
  if (text === "" || text.length > 300 || /[\s/?#@\\%[\]]/.test(text)) return { mistake };
  // URL drops port 80 under http, so the port is parsed separately.
  const [, name = "", port] = /^([^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = `http://${name}/`;
  if (name === "" || !URL.canParse(address)) return { mistake };
  const host = new URL(address).hostname.replace(/\.$/, "");
  // "1.2.3" would become the address 1.2.0.3.
  if (/^[\d.]+$/.test(host) && host !== name) return { mistake };
  if (/^[\d.]+$/.test(host) || !host.includes(".")) return { mistake: reserved };
  if (host.length > 253 || !host.split(".").every(isLabel)) return { mistake };
  if (port === undefined) return { host };
  const number = Number(port);
  return number >= 1 && number <= 65535 ? { host: `${host}:${number}` } : { mistake };
}

function isLabel(label: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label);
}

/** A domain, and the text that proves it. */
interface Proof {
  readonly name: string;
  readonly proof: string;
}

/** How the account proves that a pending domain is its own: either of the two is enough. */
export const DomainVerification = schema.object("DomainVerification", {
  txt_name: Type.String(),
  txt_value: Type.String(),
  file_url: Type.String(),
  file_content: Type.String(),
});

const path = "/.well-known/corestead-domain.txt";
const maxFileBytes = 10_000;
const timeoutMs = 5000;

export function verificationOf({ name, proof }: Proof): Static<typeof DomainVerification> {
  const says = `corestead-domain=${proof}`;
  return {
    txt_name: `_corestead.${name.replace(/:\d+$/, "")}`,
    txt_value: says,
    file_url: `http://${name}${path}`,
    file_content: says,
  };
}

/** Whether the domain's DNS or its web server holds the text, which only its owner could have put there. */
export async function isProved(
  domain: Proof,
  { fetch, resolveTxt }: Pick<BaseContext, "fetch" | "resolveTxt">,
): Promise<boolean> {
  const { txt_name, txt_value, file_content } = verificationOf(domain);
  if ((await resolveTxt(txt_name)).some((text) => text.trim() === txt_value)) return true;
  for (const scheme of ["https", "http"]) {
    // Redirects are not followed, because they may lead to somebody else's server.
    const request = { maxBytes: maxFileBytes, overflow: "truncate", timeoutMs } as const;
    const answer = await fetch(`${scheme}://${domain.name}${path}`, request).catch((error: unknown) => {
      if (error instanceof OutboundFault) return undefined;
      throw error;
    });
    if (answer?.status === 200 && answer.text().trim() === file_content) return true;
  }
  return false;
}
