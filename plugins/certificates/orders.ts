/** Orders certificates: one at a time in the whole installation, within the authority's limits, and again after a failure. */
import { job, type BaseContext } from "platform";
import { adviceAddress, orderCertificate, register, type AcmeAccount, type Authority, type Proofs } from "./acme.ts";
import type { KnownHosts } from "./hosts.ts";
import { adviceOf, advisedTime, nextOrder, renewalTime, tryAgainAt, type Due } from "./renewal.ts";
import type { CertificateRow, CertificateStore } from "./store.ts";

export const orderJob = job<{ host: string }>("certificates.order");
/** Tells every process that a host has another certificate. */
export const changedTopic = "certificates:changed";

const perRun = 30;
/** Among how many due hosts the next one is looked for. */
const mostDue = 1000;

interface Needed {
  readonly ctx: Pick<BaseContext, "broadcast" | "enqueue" | "fetch" | "log" | "secrets" | "transaction">;
  readonly certificateStore: CertificateStore;
  readonly hosts: KnownHosts;
  readonly authority: Authority;
  /** Whether a port of this installation answers HTTP-01. */
  readonly answersHttp: boolean;
}

export type Orders = ReturnType<typeof createOrders>;

export const keyContext = (host: string) => `certificate:${host}`;
export const challengeContext = (name: string) => `certificate-challenge:${name}`;

export function createOrders(needed: Needed) {
  const { ctx, certificateStore, hosts, authority } = needed;
  const { secrets } = ctx;

  /** Orders of one host wait for each other anyway: while one waits, a second is not written. */
  const enqueue = (host: string) => ctx.enqueue(orderJob, { host }, { key: host, orderKey: "one", maxAttempts: 1 });

  const order = async (row: CertificateRow): Promise<void> => {
    const { host } = row;
    const orderId = await certificateStore.begin(host, row.accountId);
    const account = await accountAt(needed);
    const { chain, key, notBefore, expiresAt } = await orderCertificate(
      ctx.fetch,
      authority,
      account,
      host,
      proofs(needed),
    );
    const keySealed = secrets.seal(key, keyContext(host));
    const renewAt = renewalTime(notBefore, expiresAt, Math.random());
    await ctx.transaction(async (tx) => {
      await certificateStore.issued(tx, host, { chain, keySealed, notBefore, expiresAt, renewAt });
      await certificateStore.succeeded(tx, orderId);
    });
    ctx.log.info("a certificate was issued", { host, expires_at: expiresAt.toISOString() });
  };

  const allDue = async () => {
    const all = (await hosts.all()).map(({ host }) => host);
    return certificateStore.due(all, hosts.ofAccounts(), mostDue);
  };

  /** Says why nothing happens; an order that is due is looked at again in an hour. */
  const wait = async (host: string, due: readonly Due[], now: Date): Promise<void> => {
    const row = due.some((one) => one.host === host) ? await certificateStore.byHost(host) : undefined;
    const tryAt = new Date(now.getTime() + 3_600_000);
    if (row) await certificateStore.failed(host, "waits: so many orders are not allowed at once", row.failures, tryAt);
  };

  return {
    enqueue,

    /**
     * The job. It orders what is most urgent of all that is due, whatever host it was written for: jobs of made-up domains
     * would otherwise stand before a renewal.
     */
    async run({ host: asked }: { readonly host: string }): Promise<void> {
      const now = new Date();
      const due = await allDue();
      const next = nextOrder(due, await certificateStore.ordersOfLastHour(), now);
      if (next === undefined) return wait(asked, due, now);
      const { host } = next;
      const row = await certificateStore.byHost(host);
      if (!row || !hosts.ownerOf(host)) return;
      try {
        await order(row);
      } catch (error) {
        const failures = row.failures + 1;
        const reason = error instanceof Error ? error.message : String(error);
        await certificateStore.failed(host, reason, failures, tryAgainAt(failures, now));
        ctx.log.warn("a certificate could not be had", { host, failures, error: reason });
      }
      ctx.broadcast.publish(changedTopic, host);
    },

    /** Writes down the hosts there are, and orders what is due. */
    async tend(): Promise<void> {
      await certificateStore.keep(await hosts.all());
      for (const { host } of (await allDue()).slice(0, perRun)) await enqueue(host);
    },

    /** Asks the authority when to renew: it may have to revoke a certificate before its time (RFC 9773). */
    async takeAdvice(): Promise<void> {
      for (const { host, chain } of await certificateStore.unadvised(perRun)) {
        const address = await adviceAddress(ctx.fetch, authority.directory, chain).catch(() => undefined);
        if (address === undefined) return;
        const answer = await ctx.fetch(address, { timeoutMs: 20_000, maxBytes: 100_000 }).catch(() => undefined);
        const advice = answer?.status === 200 ? adviceOf(jsonOf(answer.text())) : undefined;
        if (advice) await certificateStore.renewAt(host, advisedTime(advice, new Date(), Math.random()));
      }
    },
  };
}

/** This installation's account at the authority, made at the first order. */
async function accountAt({ ctx, certificateStore, authority }: Needed): Promise<AcmeAccount> {
  const context = `certificate-authority:${authority.directory}`;
  const known = await certificateStore.authority(authority.directory);
  if (known) return { key: ctx.secrets.open(known.keySealed, context), url: known.accountUrl };
  const made = await register(ctx.fetch, authority);
  await certificateStore.keepAuthority(authority.directory, ctx.secrets.seal(made.key, context), made.url);
  return made;
}

/** Proofs are rows, so that any process of the installation can show them. */
function proofs({ ctx, certificateStore, answersHttp }: Needed): Proofs {
  const show = async (name: string, answer: string) => {
    await certificateStore.challenge(name, ctx.secrets.seal(answer, challengeContext(name)));
    return { end: () => certificateStore.endChallenge(name) };
  };
  return {
    overHttp: answersHttp ? show : undefined,
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
