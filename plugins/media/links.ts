import type { MediaRow } from "./store.ts";
import type { Secrets } from "platform";

type Named = Pick<MediaRow, "accountId" | "id">;

const purpose = "media link";

export function make(secrets: Pick<Secrets, "sign">, row: Named, seconds: number) {
  const expires = `${Math.floor(Date.now() / 1000) + seconds}`;
  const signed = secrets.sign(purpose, payload(row, expires));
  const signature = signed.slice(signed.lastIndexOf(".") + 1);
  return { query: `expires=${expires}&signature=${signature}`, expiresAt: new Date(Number(expires) * 1000) };
}

/** How many seconds a link's query still opens this file; 0 if it does not. */
export function secondsLeft(secrets: Pick<Secrets, "verify">, row: Named, query: URLSearchParams): number {
  const [expires, signature] = [query.get("expires") ?? "", query.get("signature") ?? ""];
  if (!/^\d{1,12}$/.test(expires) || signature === "") return 0;
  if (secrets.verify(purpose, `${payload(row, expires)}.${signature}`) === undefined) return 0;
  return Math.max(0, Number(expires) - Math.floor(Date.now() / 1000));
}

function payload({ accountId, id }: Named, expires: string) {
  return `${accountId}/${id}/${expires}`;
}
