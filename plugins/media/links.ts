/** Links to files that are not public: signed, and of no use after their time. */
import type { Secrets } from "platform";
import type { MediaRow } from "./store.ts";

export interface Links {
  make(row: Pick<MediaRow, "accountId" | "id">, seconds: number): { readonly query: string; readonly expiresAt: Date };
  /** How many seconds a link's query still opens this file; 0 if it does not. */
  secondsLeft(row: Pick<MediaRow, "accountId" | "id">, query: URLSearchParams): number;
}

const purpose = "media link";

export function createLinks(secrets: Pick<Secrets, "sign" | "verify">, now = Date.now): Links {
  const payload = ({ accountId, id }: Pick<MediaRow, "accountId" | "id">, expires: string) =>
    `${accountId}/${id}/${expires}`;
  return {
    make(row, seconds) {
      const expires = `${Math.floor(now() / 1000) + seconds}`;
      const signed = secrets.sign(purpose, payload(row, expires));
      const signature = signed.slice(signed.lastIndexOf(".") + 1);
      return { query: `expires=${expires}&signature=${signature}`, expiresAt: new Date(Number(expires) * 1000) };
    },
    secondsLeft(row, query) {
      const [expires, signature] = [query.get("expires") ?? "", query.get("signature") ?? ""];
      if (!/^\d{1,12}$/.test(expires) || signature === "") return 0;
      if (secrets.verify(purpose, `${payload(row, expires)}.${signature}`) === undefined) return 0;
      return Math.max(0, Number(expires) - Math.floor(now() / 1000));
    },
  };
}
