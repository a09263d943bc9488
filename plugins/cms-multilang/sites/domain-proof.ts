/** How an account proves that it owns a domain: by a TXT record, or by a file on the domain's web server. */
import { OutboundFault, type BaseContext } from "platform";
import type { DomainRow } from "../rows.ts";

type Proof = Pick<DomainRow, "name" | "proof">;

/** Either of the two is enough. */
export interface Verification {
  readonly txt_name: string;
  readonly txt_value: string;
  readonly file_url: string;
  readonly file_content: string;
}

const path = "/.well-known/corestead-domain.txt";
const maxFileBytes = 10_000;
const timeoutMs = 5000;

export function verificationOf({ name, proof }: Proof): Verification {
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
