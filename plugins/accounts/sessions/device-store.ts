/** All SQL about the devices by which people have signed in. */
import type { Sql, Tx } from "platform";

const keptDays = 365;

export interface SignedInBy {
  readonly accountId: number;
  readonly userId: number;
  readonly device: string;
}

export type DeviceStore = ReturnType<typeof createDeviceStore>;

export function createDeviceStore(sql: Sql) {
  return {
    /** Notes it. True if it is new and the person has others; the first one is no news. */
    async isNews(tx: Tx, { accountId, userId, device }: SignedInBy): Promise<boolean> {
      const [row] = await tx<{ isNews: boolean }[]>`
        with known as (
          select bool_or(device = ${device}) as is_known from sign_in_devices
          where account_id = ${accountId} and user_id = ${userId}
        ), noted as (
          insert into sign_in_devices (account_id, user_id, device)
          select account_id, id, ${device} from users where account_id = ${accountId} and id = ${userId}
          on conflict (account_id, user_id, device) do update set last_at = now()
        )
        select is_known is false as is_news from known`;
      return row?.isNews === true;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_devices where last_at < now() - make_interval(days => ${keptDays})`;
    },
  };
}
