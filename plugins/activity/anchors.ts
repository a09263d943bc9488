/**
 * The last seal of each account, in DATA_DIR: a chain whose end was taken away, together with its head, has not got it any
 * more. A seal is signed, so nobody without SECRET_KEY makes one that fits. Written after each sealing.
 */
import type { BaseContext } from "platform";
import type { Head, SealAnchor } from "./chain.ts";
import * as sealStore from "./seal-store.ts";
import type { ActivityContext } from "./context.ts";

/** Result of sealing an account's chain. */
export interface SealResult extends SealAnchor {
  readonly accountId: number;
  readonly before: Pick<Head, "number" | "lastSignature"> | undefined;
}

export async function readAnchors({ anchor }: Pick<BaseContext, "anchor">): Promise<Map<number, SealAnchor>> {
  const lines = ((await anchor.read()) ?? "").split("\n").filter((line) => line !== "");
  return new Map(lines.map(parseLine));
}

/** The account, and its seal. */
function parseLine(line: string): [number, SealAnchor] {
  const [, accountId, number, signature = ""] = /^(\d{1,15}) (\d{1,15}) (\S+)$/.exec(line) ?? [];
  if (signature === "")
    throw new Error("DATA_DIR/anchors/activity is damaged: remove it if you have done that yourself");
  return [Number(accountId), { number: Number(number), signature }];
}

/** An anchor stays where the chain has lost it: what was sealed since would hide that. */
export async function moveAnchors(ctx: ActivityContext, sealings: readonly SealResult[]): Promise<void> {
  const anchors = await readAnchors(ctx);
  for (const { accountId, before, number, signature } of sealings) {
    const anchor = anchors.get(accountId);
    const follows = anchor?.number === before?.number && anchor?.signature === before?.lastSignature;
    if (anchor && !follows && !(await sealStore.holds(ctx.sql, accountId, anchor)))
      ctx.log.error("the log of activity was cut off", { account: accountId, reason: lostText(anchor) });
    else anchors.set(accountId, { number, signature });
  }
  const lines = [...anchors].map(([id, { number, signature }]) => `${id} ${number} ${signature}\n`);
  await ctx.anchor.write(lines.join(""));
}

export function lostText({ number }: SealAnchor): string {
  return `its seal ${number}, which is in DATA_DIR/anchors, is not in the chain: its end was removed, or an older state of the database was put back`;
}

/** Parses `--at-least`: the number that each chain must have reached. Throws an Error that shows the syntax. */
export function parseAtLeast(text: string | undefined): (accountId: number) => number {
  const wanted = new Map<string, number>();
  for (const part of text === undefined ? [] : text.split(",")) {
    const [, account = "", number = ""] = /^(?:(\d{1,15}):)?(\d{1,15})$/.exec(part.trim()) ?? [];
    if (number === "" || wanted.has(account))
      throw new Error("--at-least takes the number of a seal, such as 17, or one for each account: 1:17,2:5");
    wanted.set(account, Number(number));
  }
  return (accountId) => wanted.get(`${accountId}`) ?? wanted.get("") ?? 0;
}
