/**
 * Unpacks the archives of the binary in a process of its own: `corestead unpack ARCHIVE FOLDER`. An archive and what is
 * in it take 200 MB of memory for half a second, which would be the peak of a server that otherwise never needs it.
 */
import { ownProgram } from "../command/own-program.ts";

/** Unpacks a .tar.zst with its links and modes into an existing folder; throws with what went wrong. */
export async function unpack(archive: string, folder: string): Promise<void> {
  const child = Bun.spawn([...ownProgram(), "unpack", archive, folder], {
    cwd: folder, // no .env of the user's folder is read
    env: {},
    // It lives no longer than we do, kill -9 included: the next start would find it writing.
    stdin: "pipe",
    stdout: "ignore",
    stderr: "pipe",
    // Ctrl-C is for us, who stop when everything is there.
    detached: true,
  });
  const said = await new Response(child.stderr).text();
  const code = await child.exited;
  if (code !== 0) throw new Error(`PostgreSQL could not be unpacked (status ${code}): ${said.trim()}`);
}

/** What that process does. */
export async function runUnpack([archive = "", folder = ""]: readonly string[]): Promise<number> {
  const parent = Bun.stdin.stream().getReader();
  void parent.read().then(() => process.exit(1));
  const packed = await Bun.file(archive).bytes();
  await new Bun.Archive(await Bun.zstdDecompress(packed)).extract(folder);
  return 0;
}
