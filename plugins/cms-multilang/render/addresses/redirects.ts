/** The redirects that editors have written, on a site's hosts. behaviour B.11. */
import { leavesHost, redirectKey } from "../../redirects/rule.ts";
import type { Asked } from "../door/asked.ts";
import { redirectTo } from "../door/replies.ts";

/** Where a path without a page leads; one for the domain comes first. The request's query goes along unless there is one. */
export async function redirectReply({ state, domain, search }: Asked, path: string) {
  const rules = await state.redirects();
  const rule = rules.get(redirectKey(domain.id, path)) ?? rules.get(redirectKey(null, path));
  // Earlier versions have stored such targets.
  if (!rule || leavesHost(rule.target)) return undefined;
  const { target, status } = rule;
  const [before = "", ...hash] = target.split("#");
  const location = search === "" || before.includes("?") ? target : [before + search, ...hash].join("#");
  return redirectTo(status, location);
}
