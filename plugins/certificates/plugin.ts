import { definePlugin, on, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { cms } from "../cms-multilang/api.ts";
import { checkCertificates } from "./checks.ts";
import type { CertificatesContext } from "./context.ts";
import { createKeyring } from "./keyring.ts";
import migration from "./migrations/001_certificates.sql" with { type: "text" };
import budgets from "./migrations/002_budgets.sql" with { type: "text" };
import { orderJob, runOrder, takeAdvice, tend } from "./orders.ts";
import { certificateRoutes } from "./routes.ts";
import { counts, prune } from "./store.ts";

const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory";

/** Certificates for https: ordered, renewed and kept for every host of the installation. */
export default definePlugin({
  name: "certificates",
  needs: { accounts, cms },
  config: {
    email: setting.text("ACME_EMAIL", "", "Whom the authority tells of trouble with a certificate"),
    directory: setting.checked("ACME_DIRECTORY", letsEncrypt, "The authority that issues certificates", parseDirectory),
    binding: setting.checked(
      "ACME_EAB",
      "",
      "`KEY_ID:HMAC_KEY` of an account there, where the authority asks for one",
      parseBinding,
    ),
  },
  migrations: [
    { name: "001_certificates", sql: migration },
    { name: "002_budgets", sql: budgets },
  ],
  // They are ordered and renewed by the server, which logs that itself.
  activity: { certificates: false },
  privileges: [{ name: "certificates", doc: "see the certificates of hosts, and order them", roles: ["manager"] }],

  checks: checkCertificates,

  setup(ctx) {
    const { config, services } = ctx;
    const shared: CertificatesContext = {
      ...ctx,
      ...services,
      ofAccounts: new Map(),
      authority: { directory: config.directory, email: config.email, binding: config.binding },
    };
    ctx.metrics.gauge(
      "corestead_certificates_failing",
      "Hosts whose last order for a certificate failed",
      async () => (await counts(ctx.sql)).failing,
    );
    ctx.metrics.gauge(
      "corestead_certificate_soonest_end_seconds",
      "Until the next certificate ends",
      async () => (await counts(ctx.sql)).soonestSeconds ?? Number.POSITIVE_INFINITY,
    );
    const ifOn = (run: () => Promise<void>) => async () => (ctx.https.isOn ? run() : undefined);
    return {
      certificates: createKeyring(shared),
      routes: certificateRoutes(shared),
      handlers: [on(orderJob, (asked) => runOrder(shared, asked), { concurrency: 1 })],
      schedules: [
        { id: "certificates.tend", cron: "* * * * *", run: ifOn(() => tend(shared)) },
        { id: "certificates.advice", cron: "13 * * * *", run: ifOn(() => takeAdvice(shared)) },
        { id: "certificates.prune", cron: "51 3 * * *", run: () => prune(ctx.sql) },
      ],
      begin: () =>
        void ifOn(() => tend(shared))().catch((error: unknown) =>
          ctx.log.error("no certificates were ordered", { error }),
        ),
    };
  },
});

function parseDirectory(text: string): string {
  if (!URL.canParse(text) || !text.startsWith("https://"))
    throw new Error("must be an address that begins with https://");
  return text;
}

function parseBinding(text: string) {
  if (text === "") return undefined;
  const [kid = "", hmacKey = ""] = text.split(":");
  if (kid === "" || !/^[\w-]+$/.test(hmacKey))
    throw new Error("must be a key's id, a colon and its HMAC key in base64url");
  return { kid, hmacKey };
}
