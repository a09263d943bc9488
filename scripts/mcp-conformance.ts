/**
 * Runs the protocol's own conformance tests against `/mcp` in both revisions: `bun scripts/mcp-conformance.ts`. It fetches
 * them by npm (46 MB), so it is not part of the tests; `plugins/mcp/mcp.test.ts` checks the same offline.
 *
 * The other scenarios need a server with tools made for them, such as `test_image_content`.
 */
import { createServer, request as ask } from "node:http";
import { adminToken, startCorestead, temporaryFolder } from "./bench/harness.ts";

const tester = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const both = ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"];
const scenarios = {
  "2025-11-25": [...both, "server-initialize", "ping"],
  "2026-07-28": [
    ...both,
    "server-stateless",
    "http-header-validation",
    "caching",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
  ],
};
/** Matches failures of checks that need such tools, or subscriptions, which this server does not offer. */
const notForUs = /'test_\w+'|subscriptions\/listen|notifications\/subscriptions/;

const server = await startCorestead(await temporaryFolder());
const door = createServer((request, answer) => {
  const headers = { ...request.headers, authorization: `Bearer ${adminToken}` };
  const { url, method } = request;
  const inner = ask({ host: "127.0.0.1", port: server.port, path: url, method, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(answer);
  });
  inner.on("error", () => answer.destroy());
  request.pipe(inner);
});
await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
const address = door.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const failures: string[] = [];
try {
  for (const [revision, names] of Object.entries(scenarios))
    for (const name of names) failures.push(...(await failuresOf(name, revision)));
} finally {
  door.close();
  await server.stop();
}
console.log(failures.length === 0 ? "All that applies is met." : failures.join("\n"));
process.exit(failures.length === 0 ? 0 : 1);

async function failuresOf(scenario: string, revision: string): Promise<string[]> {
  const options = ["--url", `http://localhost:${port}/mcp`, "--scenario", scenario, "--spec-version", revision];
  const child = Bun.spawn([process.execPath, "x", "--bun", tester, "server", ...options], { stderr: "pipe" });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const plain = Bun.stripANSI(`${output}\n${errors}`);
  const passed = /^Passed: .*$/m.exec(plain)?.[0] ?? "no result";
  console.log(`${revision} ${scenario}: ${passed}`);
  const failed = plain.split("\n").filter((line) => /^\s+Error: /.test(line) && !notForUs.test(line));
  if (passed === "no result") failed.push(plain.slice(-500));
  return failed.map((line) => `${revision} ${scenario}: ${line.trim()}`);
}
