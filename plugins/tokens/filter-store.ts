/** Which tokens a list shows, and to whom. */
import { flagOf, forbidden, type Caller, type Fragment, type Sql } from "platform";

/** People see their own tokens, an administrator all of the account's. Temporary ones are hidden. */
export function visibleTo({ caller }: { readonly caller: Caller }, sql: Sql): Fragment {
  return sql`purpose is distinct from 'temporary' ${isAdmin(caller) ? sql`` : sql`and user_id = ${caller.user.id}`}`;
}

/** The tokens of the whole account, or a person's own: those made through the API, or with `kind` also their sessions. */
export function ofAccountOrOwn(sql: Sql, query: URLSearchParams, name: string, caller: Caller): Fragment {
  if (/^(yes|true|1)$/.test(query.get(name) ?? "")) {
    if (!isAdmin(caller)) throw forbidden("tokens of the whole account are for administrators");
    return sql`for_account`;
  }
  const isWeb = query.get("kind") === "web_token";
  return sql`user_id = ${caller.user.id}
    and ${isWeb ? sql`kind = 'web_token' and (purpose is null or purpose = 'session')` : sql`purpose is null`}`;
}

/** Those that are switched off or have expired, or those that work. */
export function endedOrNot(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const ended = flagOf(query, name);
  return ended === undefined ? undefined : sql`(active and (expires_at is null or expires_at > now())) <> ${ended}`;
}

export function isAdmin(caller: Caller): boolean {
  return caller.user.role === "admin";
}
