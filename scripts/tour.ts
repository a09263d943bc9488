/**
 * Runs the commands of docs/tour.md against a running server and writes their output there:
 * `bun scripts/tour.ts http://127.0.0.1:3000 TOKEN`. tests/readme.test.ts runs it too and compares.
 */
import { dirname } from "node:path";

const file = `${import.meta.dir}/../docs/tour.md`;
const written = "http://127.0.0.1:3000";
/** The port of the tour's receiver; replaced by a free one here. */
const writtenPort = "4000";
const place = /(?<=<!-- tour: bun scripts\/tour\.ts -->\n)[^]*?(?=<!-- \/tour -->)/;
const step = /```sh\n([^]*?)```(?:\n\n```(json|)\n([^]*?)```)?/g;

/** The page with the output of its commands at this server, run in a folder of its own for cookies. */
export async function pageWithTour(origin: string, token: string, folder: string): Promise<string> {
  const page = await Bun.file(file).text();
  const tour = place.exec(page)?.[0];
  if (!tour) throw new Error("docs/tour.md has no commands");
  const steps = [...tour.matchAll(step)];
  // One shell for all blocks, as a reader would use; a marker line separates the outputs.
  const script = steps.map(([, commands = ""]) => `${commands}\necho "<end of step>"`).join("\n");
  const port = `${freePort()}`;
  const replaced = script
    .replaceAll(written, origin)
    .replaceAll(writtenPort, port)
    .replace(/export TOKEN=\S+/, `export TOKEN=${token}`);
  const shell = Bun.spawn(["sh", "-c", replaced], {
    cwd: folder,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
    stdout: "pipe",
    stderr: "inherit",
  });
  const outputs = (await new Response(shell.stdout).text()).split("<end of step>\n");
  let at = 0;
  const printed = tour.replaceAll(step, (_, commands: string, language: string | undefined) => {
    // Secret scanners would report even a token of a server that no longer exists.
    const output = (outputs[at++] ?? "")
      .replaceAll(origin, written)
      .replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${writtenPort}`)
      .replaceAll(/core_\w{30,}/g, "core_…");
    return `\`\`\`sh\n${commands}\`\`\`${language === undefined ? "" : `\n\n\`\`\`${language}\n${output}\`\`\``}`;
  });
  return page.replace(place, () => printed);
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}

/** Replaces ids, times and tokens, which differ each time, by words. */
export function withoutVariables(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
    .replaceAll(/core_\w{3,}\.{3}\w{4}/g, "<token>");
}

if (import.meta.main) {
  const [origin = written, token = ""] = process.argv.slice(2);
  const folder = (await import("node:fs")).mkdtempSync("/tmp/corestead-tour-");
  await Bun.write(file, await pageWithTour(origin, token, folder));
}
