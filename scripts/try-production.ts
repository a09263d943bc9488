/**
 * Follows docs/production.md to the letter in an empty Debian, with pebble as the authority, a mail server and Chromium:
 *
 *     debootstrap --variant=minbase bookworm /tmp/debian
 *     bun scripts/try-production.ts --debian /tmp/debian --deb dist/release/corestead_0.2.0_amd64.deb --screenshots /tmp/seen
 *
 * As root on Linux; needs unshare, pebble, Chromium and certutil (libnss3-tools). The shell blocks of the page run as one
 * session in a chroot with a network of its own. systemd does not run there: a stand-in starts what the unit says, as the
 * unit's user with the unit's capability. Afterwards the schedule makes a backup, which is restored into another folder.
 */
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium, type Page } from "playwright-core";
import { startPebble } from "../tests/fixtures/pebble.ts";
import { startMailReceiver } from "../tests/fixtures/mail-receiver.ts";
import { eventually } from "../runtime/operations/authors/test-client.ts";
import { parseArguments } from "../runtime/operations/command/arguments.ts";

const host = "core.example.com";
const sites = [`kobalt.${host}`, `en.kobalt.${host}`];
const executablePath = process.env["CHROMIUM"] || Bun.which("chromium") || "/usr/bin/chromium-headless-shell";
const page = await Bun.file(resolve(import.meta.dir, "../docs/production.md")).text();
const { options } = parseArguments(process.argv.slice(2));
const { debian, deb, inside, screenshots } = options;
if (!debian || !deb) throw new Error("name --debian FOLDER and --deb FILE");

/** Copies the empty Debian, and goes on in namespaces of its own. */
async function enter(base: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "corestead-production-"));
  try {
    await run(["cp", "-a", `${base}/.`, work]);
    const again = [process.execPath, import.meta.path, "--debian", base, "--deb", resolve(deb ?? ""), "--inside", work];
    if (screenshots) again.push("--screenshots", resolve(screenshots));
    await run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", ...again]);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function follow(root: string): Promise<void> {
  await run(["ip", "link", "set", "lo", "up"]);
  await run(["mount", "-t", "proc", "proc", join(root, "proc")]);
  await run(["mount", "--rbind", "/dev", join(root, "dev")]);
  const pebble = await startPebble({ httpPort: 80, tlsPort: 443 });
  const mail = await startMailReceiver();
  try {
    // A public authority is trusted anyway: both the certificate of pebble's own port, and the root of what it issues.
    await prepare(root, `${await Bun.file(pebble.caFile).text()}\n${await pebble.root()}`);
    const own = [
      ["smtp://user:password@mail.example.com:587", `smtp://127.0.0.1:${mail.port}`],
      [
        "HTTPS=on",
        `HTTPS=on\nACME_DIRECTORY=${pebble.directory}\nOUTBOUND_CA_FILE=/root/ca.pem\nOUTBOUND_ALLOW=127.0.0.1`,
      ],
    ] as const;
    const session = own.reduce((text, [from, to]) => text.replace(from, to), blocks().join("\n"));
    const printed = await inDebian(root, `set -eu\ncd /root\n${session}`);
    process.stdout.write(printed);
    const unseen = outputs().filter((line) => !alike(printed).includes(alike(line)));
    if (unseen.length > 0) throw new Error(`the page shows what was not printed:\n${unseen.join("\n")}`);
    const [, password = ""] = /Administrator: admin, password: (\S{1,80})/.exec(printed) ?? [];
    await visit(await pebble.root(), password);
    const invitation = await eventually(async () => mail.mails.find(({ to }) => to === "ann@example.com"), "the mail");
    say(`a mail came: ${invitation.subject}`);
    process.stdout.write(await inDebian(root, scheduledBackup));
    say("a backup of the schedule, sealed, restored into another folder");
  } catch (error) {
    process.stderr.write(await Bun.file(join(root, "run/corestead.log")).text());
    throw error;
  } finally {
    pebble.stop();
    mail.stop();
  }
  process.exit(0); // the server ends with this process's namespace
}

/** The shell blocks of the page. */
function blocks(): string[] {
  return page
    .split("\n```sh\n")
    .slice(1)
    .map((part) => part.slice(0, part.indexOf("\n```")));
}

/** The lines that the page shows as printed by a shell block: each stands in the next block. */
function outputs(): string[] {
  return [...page.matchAll(/\n```sh\n[^`]{1,5000}\n```\n\n```\n((?:[^\n]{1,2000}\n){1,100}?)```\n/g)].flatMap(
    ([, lines = ""]) => lines.trimEnd().split("\n"),
  );
}

/** Without what differs from one machine to another, and with the names that the page has. */
function alike(text: string): string {
  return text
    .replaceAll(/password: \S{1,80}/g, "password: …")
    .replaceAll(/fingerprint \w{1,80}/g, "fingerprint …")
    .replaceAll(/that of 127\.0\.0\.1:\d{1,5}/g, "that of acme-v02.api.letsencrypt.org")
    .replaceAll(/127\.0\.0\.1:\d{1,5} answers/g, "mail.example.com:587 answers")
    .replaceAll(/\d{1,40}/g, "0");
}

async function prepare(root: string, authorities: string): Promise<void> {
  await cp(deb ?? "", join(root, "root", (deb ?? "").split("/").at(-1) ?? ""));
  await Bun.write(join(root, "root/ca.pem"), authorities);
  await Bun.write(join(root, "etc/hosts"), `127.0.0.1 localhost ${host} ${sites.join(" ")}\n`);
  // The page needs nothing of the network but names.
  await rm(join(root, "etc/apt/sources.list"), { force: true });
  await mkdir(join(root, "usr/local/bin"), { recursive: true });
  await standIn(root, "systemctl", serviceManager);
  await standIn(root, "journalctl", "#!/bin/sh\ncat /run/corestead.log\n");
}

/** The night comes at once: what `core backup` of the page has made does not count here. */
const scheduledBackup = `set -eu
core() { (cd /var/lib/corestead && runuser -u corestead -- corestead "$@"); }
made() { ls /var/backups/corestead | sort | tail -n 1; }
echo 'BACKUP_CRON=* * * * *' >> /etc/corestead/corestead.env
systemctl restart corestead
by_hand=$(made)
until [ "$(made)" != "$by_hand" ] && core backups | grep -F "$(made)" | grep -q "B *verified$"; do sleep 1; done
core backups
export DATA_DIR=/var/lib/corestead/elsewhere
core restore "$(made | grep -F .sealed)"
cp /var/lib/corestead/data/secret.key $DATA_DIR/
chown corestead: $DATA_DIR/secret.key
core activity verify
`;

const serviceManager = `#!/bin/sh
# A stand-in: "enable --now corestead" starts what the unit says, and waits for it; "restart" does so again.
case $1 in enable | restart) ;; *) exit 0 ;; esac
if [ "$1" = restart ]; then
  kill "$(cat /run/corestead.pid)"
  # Nobody here asks how it ended, so what is left of it stays.
  while grep -qs "^State:.[^Z]" "/proc/$(cat /run/corestead.pid)/status"; do sleep 0.2; done
  rm /run/corestead.log
fi
unit=/usr/lib/systemd/system/corestead.service
of() { sed -n "s/^$1=//p" $unit; }
cp /root/ca.pem /var/lib/corestead/ca.pem
sed -i "s|/root/ca.pem|/var/lib/corestead/ca.pem|" /etc/corestead/corestead.env
chmod 644 /var/lib/corestead/ca.pem
touch /run/corestead.log
cd "$(of WorkingDirectory)"
setpriv --reuid="$(of User)" --regid="$(of Group)" --clear-groups --no-new-privs \\
  --inh-caps=-all,+net_bind_service --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service \\
  $(of ExecStart) >/run/corestead.log 2>&1 &
echo $! >/run/corestead.pid
for try in $(seq 300); do
  grep -q "serves on" /run/corestead.log && exit 0
  sleep 0.2
done
cat /run/corestead.log
exit 1
`;

async function standIn(root: string, name: string, text: string): Promise<void> {
  const file = join(root, "usr/local/bin", name);
  await Bun.write(file, text);
  await chmod(file, 0o755);
}

async function inDebian(root: string, script: string): Promise<string> {
  const env = { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LANG: "C.UTF-8" };
  // A file, because the server, which goes on, holds it.
  const child = Bun.spawn(["chroot", root, "/bin/bash", "-c", `exec >/root/output 2>&1\n${script}`], {
    env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const code = await child.exited;
  const printed = await Bun.file(join(root, "root/output")).text();
  if (code !== 0) throw new Error(`a step of the page failed (${code}):\n${printed}`);
  return printed;
}

/** Three hosts with a green lock, a passkey, and an invitation. */
async function visit(root: string, password: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "corestead-home-"));
  await Bun.write(join(home, "root.pem"), root);
  const store = `sql:${join(home, ".pki/nssdb")}`;
  await mkdir(join(home, ".pki/nssdb"), { recursive: true });
  await run(["certutil", "-N", "-d", store, "--empty-password"]);
  await run(["certutil", "-A", "-d", store, "-t", "C,,", "-n", "pebble", "-i", join(home, "root.pem")]);
  const args = ["--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP *.example.com 127.0.0.1`];
  const browser = await chromium.launch({ executablePath, args, env: { ...process.env, HOME: home } });
  try {
    for (const name of [host, ...sites]) {
      const tab = await browser.newPage();
      tab.setDefaultTimeout(90_000); // generous, because the machine may be busy
      say(`${name}: ${await lockOf(tab, `https://${name}/`)}, "${await tab.title()}"`);
      await show(tab, name);
      await tab.close();
    }
    const tab = await browser.newPage({ locale: "en-US" });
    tab.setDefaultTimeout(90_000);
    await withPasskey(tab, password);
  } finally {
    await browser.close();
    await rm(home, { recursive: true });
  }
}

/** Chromium goes nowhere with a certificate that it does not trust. The lock itself is Chromium's own, and not the shell's. */
async function lockOf(tab: Page, url: string): Promise<string> {
  const client = await tab.context().newCDPSession(tab);
  const states: string[] = [];
  client.on("Security.visibleSecurityStateChanged", ({ visibleSecurityState }) => {
    states.push(visibleSecurityState.securityState);
  });
  await client.send("Security.enable");
  const answer = await tab.goto(url, { waitUntil: "domcontentloaded" });
  if (answer?.status() !== 200) throw new Error(`${url} answers ${answer?.status()}`);
  const { issuer = "nobody" } = (await answer.securityDetails()) ?? {};
  if (executablePath.endsWith("chromium-headless-shell")) return `a certificate of ${issuer}`;
  await eventually(async () => states.at(-1) === "secure" || undefined, `a green lock of ${url}`);
  return `a green lock, by a certificate of ${issuer}`;
}

async function withPasskey(tab: Page, password: string): Promise<void> {
  const client = await tab.context().newCDPSession(tab);
  await client.send("WebAuthn.enable");
  const key = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true } as const;
  await client.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...key, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await tab.goto(`https://${host}/login?return_to=/studio/account/me`);
  await show(tab, "login");
  await tab.locator("[autocomplete=username]").fill("admin");
  await tab.locator("[autocomplete=current-password]").fill(password);
  await tab.getByRole("button", { name: "Sign in" }).click();
  const security = tab.getByRole("region", { name: "Sign-in security" });
  await security.getByRole("button", { name: "Add a passkey" }).click();
  const naming = tab.getByRole("dialog", { name: "Add a passkey" });
  await naming.getByLabel("Name").fill("Laptop");
  await naming.getByRole("button", { name: "Continue" }).click();
  await security.getByRole("button", { name: /Remove .*Laptop/ }).waitFor();
  await show(tab, "security");
  await tab.context().clearCookies();
  await tab.goto(`https://${host}/login?return_to=/studio/account/invitations/new`);
  await tab.getByRole("link", { name: "Use a passkey" }).click();
  await tab.getByRole("button", { name: "Use a passkey" }).click();
  await tab.getByRole("textbox", { name: "Email" }).fill("ann@example.com");
  say("signed in by a passkey");
  await show(tab, "invitation");
  await tab.getByRole("button", { name: "Save" }).click();
  await tab.getByRole("heading", { level: 1, name: "ann@example.com" }).waitFor();
}

async function show(tab: Page, name: string): Promise<void> {
  if (screenshots) await tab.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

function say(line: string): void {
  process.stdout.write(`✓ ${line}\n`);
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed`);
}

if (inside) await follow(inside);
else await enter(debian);
