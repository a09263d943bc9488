/** Checks of `corestead doctor` for mail. */
import { findingsOf, reasonOf, setting, type CheckContext, type Finding } from "platform";
import { serverOf } from "../smtp/api.ts";
import type { Standard } from "./context.ts";
import { standardOf, type FromEnvironment } from "./outgoing.ts";
import { count } from "./server-store.ts";
import { failedLately } from "./store.ts";

const report = findingsOf("mail");
const timeoutMs = 10_000;

interface MailCheck extends Pick<CheckContext<{}>, "sql" | "connect"> {
  readonly config: FromEnvironment;
}

export async function checkMail({ sql, connect, config }: MailCheck): Promise<readonly Finding[]> {
  const standard = fromEnvironment(config);
  if (standard.faults.length > 0) return standard.faults;
  const findings: Finding[] = [];
  const { failed, lastError } = await failedLately(sql);
  if (failed > 0)
    findings.push(report.warn(`${failed} mails failed in the last day: ${lastError ?? ""}`, "see Account -> Mails"));
  if (standard.server) findings.push(await checkServer(standard.server, connect));
  else if ((await count(sql)) > 0)
    findings.push(report.ok("accounts have mail servers of their own; Account -> Mail server tries one out"));
  else
    findings.push(
      report.warn(
        "no mail server is set up: nobody is invited by mail or can ask for a new password",
        "set SMTP_URL and MAIL_FROM, or enter a server in the Studio (Account -> Mail server)",
      ),
    );
  return findings;
}

function fromEnvironment(config: MailCheck["config"]): { server?: Standard | undefined; faults: readonly Finding[] } {
  try {
    return { server: standardOf(config), faults: [] };
  } catch (error) {
    if (!(error instanceof setting.ConfigError)) throw error;
    return {
      faults: error.mistakes.map((mistake) => report.fail(mistake, "the server does not start until it is right")),
    };
  }
}

/** Whether the server can be reached: signing in would count as a try there. */
async function checkServer(standard: Standard, connect: MailCheck["connect"]): Promise<Finding> {
  const { host, port } = serverOf(standard.url, {});
  try {
    const { socket } = await connect({ host, port, timeoutMs });
    socket.destroy();
    return report.ok(`${host}:${port} answers; mails come from ${standard.from}`);
  } catch (error) {
    const remedy =
      "see that SMTP_URL is right, that the firewall lets it through, and for a private network OUTBOUND_ALLOW";
    return report.fail(`the mail server ${host}:${port} cannot be reached: ${reasonOf(error)}`, remedy);
  }
}
