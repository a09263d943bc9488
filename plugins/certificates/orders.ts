/** Orders certificates: one at a time in the whole installation, within the authority's limits, and again after a failure. */
import { job } from "platform";
import { adviceAddress, orderCertificate, register, type AcmeAccount, type Proofs } from "./acme.ts";
import { adviceOf, advisedTime, nextOrder, renewalTime, tryAgainAt, type Due } from "./renewal.ts";
import type { CertificateRow } from "./store.ts";
import * as certificateStore from "./store.ts";
import { knownHosts, ownerOf, type CertificatesContext } from "./context.ts";

export const orderJob = job<{ host: string }>("certificates.order");
/** Tells every process that a host has another certificate. */
export const changedTopic = "certificates:changed";

const perRun = 30;
/** Among how many due hosts the next one is looked for. */
const mostDue = 1000;

export const keyContext = (host: string) => `certificate:${host}`;
export const challengeContext = (name: string) => `certificate-challenge:${name}`;

/** Orders of one host wait for each other anyway: while one waits, a second is not written. */
export function enqueueOrder(ctx: CertificatesContext, host: string) {
  return ctx.enqueue(orderJob, { host }, { key: host, orderKey: "one", maxAttempts: 1 });
}

/**
 * The job. It orders what is most urgent of all that is due, whatever host it was written for: jobs of made-up domains
 * would otherwise stand before a renewal.
 */
export async function runOrder(ctx: CertificatesContext, { host: asked }: { readonly host: string }): Promise<void> {
  const now = new Date();
  const due = await allDue(ctx);
  const next = nextOrder(due, await certificateStore.ordersOfLastHour(ctx.sql), now);
  if (next === undefined) return wait(ctx, asked, due, now);
  const { host } = next;
  const row = await certificateStore.byHost(ctx.sql, host);
  if (!row || !ownerOf(ctx, host)) return;
  try {
    await order(ctx, row);
  } catch (error) {
    const failures = row.failures + 1;
    const reason = error instanceof Error ? error.message : String(error);
    await certificateStore.failed(ctx.sql, host, reason, failures, tryAgainAt(failures, now));
    ctx.log.warn("a certificate could not be had", { host, failures, error: reason });
  }
  ctx.broadcast.publish(changedTopic, host);
}

/** Writes down the hosts there are, and orders what is due. */
export async function tend(ctx: CertificatesContext): Promise<void> {
  await certificateStore.keep(ctx.sql, await knownHosts(ctx));
  for (const { host } of (await allDue(ctx)).slice(0, perRun)) await enqueueOrder(ctx, host);
}

/** Asks the authority when to renew: it may have to revoke a certificate before its time (RFC 9773). */
export async function takeAdvice(ctx: CertificatesContext): Promise<void> {
  for (const { host, chain } of await certificateStore.unadvised(ctx.sql, perRun)) {
    const address = await adviceAddress(ctx.fetch, ctx.authority.directory, chain).catch(() => undefined);
    if (address === undefined) return;
    const answer = await ctx.fetch(address, { timeoutMs: 20_000, maxBytes: 100_000 }).catch(() => undefined);
    const advice = answer?.status === 200 ? adviceOf(jsonOf(answer.text())) : undefined;
    if (advice) await certificateStore.setRenewal(ctx.sql, host, advisedTime(advice, new Date(), Math.random()));
  }
}

async function order(ctx: CertificatesContext, row: CertificateRow): Promise<void> {
  const { host } = row;
  const orderId = await certificateStore.begin(ctx.sql, host, row.accountId);
  const account = await accountAt(ctx);
  const { chain, key, notBefore, expiresAt } = await orderCertificate(
    ctx.fetch,
    ctx.authority,
    account,
    host,
    proofs(ctx),
  );
  const keySealed = ctx.secrets.seal(key, keyContext(host));
  const renewAt = renewalTime(notBefore, expiresAt, Math.random());
  await ctx.transaction(async (tx) => {
    await certificateStore.issued(tx, host, { chain, keySealed, notBefore, expiresAt, renewAt });
    await certificateStore.succeeded(tx, orderId);
  });
  ctx.log.info("a certificate was issued", { host, expires_at: expiresAt.toISOString() });
}

async function allDue(ctx: CertificatesContext) {
  const all = (await knownHosts(ctx)).map(({ host }) => host);
  return certificateStore.due(ctx.sql, all, [...ctx.ofAccounts.keys()], mostDue);
}

/** Says why nothing happens; an order that is due is looked at again in an hour. */
async function wait(ctx: CertificatesContext, host: string, due: readonly Due[], now: Date): Promise<void> {
  const row = due.some((one) => one.host === host) ? await certificateStore.byHost(ctx.sql, host) : undefined;
  const tryAt = new Date(now.getTime() + 3_600_000);
  if (row)
    await certificateStore.failed(ctx.sql, host, "waits: so many orders are not allowed at once", row.failures, tryAt);
}

/** This installation's account at the authority, made at the first order. */
async function accountAt(ctx: CertificatesContext): Promise<AcmeAccount> {
  const context = `certificate-authority:${ctx.authority.directory}`;
  const known = await certificateStore.authority(ctx.sql, ctx.authority.directory);
  if (known) return { key: ctx.secrets.open(known.keySealed, context), url: known.accountUrl };
  const made = await register(ctx.fetch, ctx.authority);
  await certificateStore.keepAuthority(ctx.sql, ctx.authority.directory, ctx.secrets.seal(made.key, context), made.url);
  return made;
}

/** Proofs are rows, so that any process of the installation can show them. */
function proofs(ctx: CertificatesContext): Proofs {
  const show = async (name: string, answer: string) => {
    await certificateStore.challenge(ctx.sql, name, ctx.secrets.seal(answer, challengeContext(name)));
    return { end: () => certificateStore.endChallenge(ctx.sql, name) };
  };
  return {
    overHttp: ctx.https.answersHttp ? show : undefined,
    overTls: (host, chain, key) => show(host, JSON.stringify({ chain, key })),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
