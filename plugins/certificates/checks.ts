/** Checks of `corestead doctor` for certificates. */
import { findingsOf, reasonOf, type CheckContext, type Finding } from "platform";
import { troubled, type CertificateRow } from "./store.ts";

const report = findingsOf("certificates");
const most = 20;

interface CertificateCheck extends Pick<CheckContext<{}>, "sql" | "isHttps" | "fetch" | "clock"> {
  readonly config: { readonly directory: string };
}

export async function checkCertificates(context: CertificateCheck): Promise<readonly Finding[]> {
  if (!context.isHttps) return [];
  const { total, rows } = await troubled(context.sql, most);
  const findings = rows.map(findingOf);
  if (findings.length === 0) findings.push(report.ok(`${total} are valid, and renewed by themselves`));
  return [...findings, ...(await askAuthority(context))];
}

function findingOf({ host, expiresAt, lastError, tryAt }: CertificateRow): Finding {
  const because = lastError === null ? "" : `; the last order failed: ${lastError}`;
  const remedy =
    lastError === null
      ? "one is ordered when somebody asks for the host: see the lines of dns, and that ports 80 and 443 are open"
      : `see the lines of dns and ports; it is tried again at ${tryAt.toISOString()}, or at once by POST /core/certificates/${host}/order`;
  if (expiresAt === null) return report.warn(`${host} has none yet${because}`, remedy);
  const day = expiresAt.toISOString().slice(0, 10);
  if (expiresAt < new Date()) return report.fail(`that of ${host} ended on ${day}${because}`, remedy);
  return report.warn(`that of ${host} ends on ${day}${because}`, remedy);
}

/** The authority is asked for certificates anyway, so it may be asked for the time. */
async function askAuthority({ fetch, clock, config }: CertificateCheck): Promise<readonly Finding[]> {
  try {
    const { headers, status } = await fetch(config.directory);
    const date = new Date(headers.get("date") ?? "");
    if (status !== 200)
      return [
        report.fail(`the authority answers ${status} at ${config.directory}`, "see that ACME_DIRECTORY is right"),
      ];
    return Number.isNaN(date.getTime()) ? [] : [clock(new URL(config.directory).host, date)];
  } catch (error) {
    const remedy = "let this machine reach it by https, or set ACME_DIRECTORY to an authority that it reaches";
    return [report.fail(`the authority ${config.directory} does not answer: ${reasonOf(error)}`, remedy)];
  }
}
