/** Takes the README's picture, the records of the demo's board in the Studio: `bun scripts/screenshot.ts` writes docs/studio.png. */
import { join } from "node:path";
import { startStudio } from "../tests/browser/studio-fixture.ts";

const studio = await startStudio();
await studio.app.app.commands.find(({ name }) => name === "demo")?.run({});
const { page } = await studio.signedIn({ colorScheme: "light" });
await page.goto(`${studio.app.origin}/studio/core/dbs/demo_board/records`);
await page.getByText("Emerald").first().waitFor();
await page.screenshot({ path: join(import.meta.dir, "../docs/studio.png") });
await studio.stop();
// The PostgreSQL that tests share would keep the process alive.
process.exit(0);
