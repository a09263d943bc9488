/** Tells of a scheduled backup that ended: the log of activity, webhooks and, if it failed, people. */
import { noticed, toApi, type BackupEnd } from "platform";
import { Backup, type BackupRow } from "./answers.ts";
import type { BackupsContext } from "./context.ts";
import { textsIn, type MailTemplate } from "../mail/api.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const model = "Core::Backup";

export async function tell(ctx: BackupsContext, end: BackupEnd): Promise<void> {
  const { accounts, mail } = ctx.services;
  const { id: accountId } = await accounts.defaultAccount();
  const { id, file, error, startedAt, endedAt } = end;
  const told = error === null ? [] : await peopleToTell(ctx, accountId);
  const row: BackupRow = {
    ...end,
    kind: end.kind ?? "backup",
    state: error === null ? "good" : "failed",
    startedAt: new Date(startedAt),
    endedAt: new Date(endedAt),
    removedAt: null,
  };
  const kind = error === null ? "made" : "failed";
  const news = { accountId, sourceType: model, kind, id, data: toApi(Backup, row) };
  // All or none, so that a retry tells nobody twice.
  await ctx.transaction(async (tx) => {
    await ctx.changed(news, tx);
    const values = { at: endedAt, reason: error ?? "" };
    for (const address of told) await mail.send({ accountId, to: address, template: failedTemplate.code, values }, tx);
  });
  const action = error === null ? "backup" : "backup failed";
  await ctx.emit(noticed, { accountId, action, model, recordId: `${id}`, name: file ?? error ?? "" });
}

async function peopleToTell(ctx: BackupsContext, accountId: number): Promise<readonly string[]> {
  const { to } = ctx.config;
  const { accounts, mail } = ctx.services;
  const all = to !== "" ? [to] : (await accounts.administrators(accountId)).flatMap(({ email }) => email ?? []);
  if (all.length > 0 && (await mail.isSetUp(accountId))) return all;
  const mend = all.length > 0 ? "mail is not set up" : "no administrator has an e-mail address; set BACKUP_MAIL";
  ctx.log.error(`nobody is told that a backup has failed: ${mend}`);
  return [];
}

export const failedTemplate: MailTemplate = {
  code: "backup_failed",
  doc: "says that a scheduled backup has failed",
  values: {
    at: { doc: "when it failed", example: "2026-01-31T03:30:12.000Z" },
    reason: { doc: "why", example: "ENOSPC: no space left on device, write" },
  },
  texts: textsIn({ en, pl, de }),
};
