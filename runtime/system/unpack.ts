/**
 * Unpacks the binary's archives in a separate process, `corestead unpack ARCHIVE FOLDER`. Unpacking takes 200 MB of
 * memory for half a second, which would otherwise be the server's peak.
 */
import { host } from "#host";
import { ownProgram, start, textOf } from "./process.ts";

/** Unpacks a .tar.zst, with links and modes, into an existing folder; throws with the reason if it fails. */
export async function unpack(archive: string, folder: string): Promise<void> {
  const child = start([...ownProgram(), "unpack", archive, folder], {
    cwd: folder, // does not read an .env of the user's folder
    env: {},
    // It must not outlive us, even after kill -9: the next start would find it still writing.
    stdio: ["pipe", "ignore", "pipe"],
    // Ctrl-C is meant for us; we stop when everything is unpacked.
    detached: true,
  });
  const said = await textOf(child.stderr);
  const code = await child.exited;
  if (code !== 0) throw new Error(`${folder} could not be unpacked (status ${code}): ${said.trim()}`);
}

/** The work of that process. */
export async function runUnpack([archive = "", folder = ""]: readonly string[]): Promise<number> {
  process.stdin.on("close", () => process.exit(1)).resume();
  await host.unpackArchive(archive, folder);
  return 0;
}
