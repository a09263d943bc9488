import type { RequestInput } from "platform";
import type { SignedInFrom } from "../../tokens/api.ts";

const maxChars = 300;

export function signedInFrom({ request, ip }: Pick<RequestInput, "request" | "ip">): SignedInFrom {
  return { address: ip, browser: request.headers.get("user-agent")?.slice(0, maxChars) || null };
}
