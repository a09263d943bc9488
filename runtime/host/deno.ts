/** `#host` under Deno, from source. docs/development.md, "Deno", says what is different there. */
import { hash } from "node:crypto";
import { deno } from "./deno-api.ts";
import { bundlePage, importsOf } from "./deno-bundle.ts";
import { bodyOf, DiskFile } from "./deno-file.ts";
import { listen } from "./deno-listen.ts";
import { hashPassword, verifyPassword } from "./deno-passwords.ts";
import { send } from "./deno-send.ts";
import { sendDatagram } from "./deno-sockets.ts";
import { uuidv7 } from "./deno-uuid.ts";
import type { Host } from "./host.ts";

export const host: Host = {
  name: `Deno ${deno.version.deno}`,
  hasAuthorTools: false,
  hasHttp2: false,
  // The configuration is beside package.json, wherever the process is started.
  ownProgram: (main) => [deno.execPath(), "run", "-A", `--config=${import.meta.dirname}/../../deno.json`, main],
  childEnv: (memoryBytes) => ({
    // A run uses one processor, so that the others can answer requests.
    DENO_V8_FLAGS: `--max-old-space-size=${memoryBytes >> 21},--single-threaded-gc`,
    // Without its cache it would translate every source again.
    ...(process.env["DENO_DIR"] === undefined ? {} : { DENO_DIR: process.env["DENO_DIR"] }),
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  }),
  serverEnv: {},
  prepareServer: async () => {},
  listen,
  send,
  sendDatagram,
  hashPassword,
  verifyPassword,
  contentHash: (text) => hash("sha1", text, "hex").slice(0, 24),
  uuidv7,
  file: (path) => new DiskFile(path),
  bodyOf,
  // deno.json names them: Deno reads what a file imports before anything of ours can answer.
  provideModules: () => {},
  // V8's messages say where a mistake is.
  explainLoadError: (error) => error,
  bundlePage,
  importsOf,
  unpackArchive: () => Promise.reject(new Error("only the executable carries archives")),
};
