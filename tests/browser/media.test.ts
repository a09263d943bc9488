/** The library of media files in Chromium. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { drawn, png } from "../fixtures/media-files.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

test("files are uploaded in parts, found by folder, and get their texts", async () => {
  await using opened = await studio.signedIn({ at: "/studio/core/media", viewport: { width: 360, height: 800 } });
  const { page, faults } = opened;
  await page.getByText("Nothing is here yet.").waitFor();
  await page.getByLabel("Folder for uploads").fill("team");
  // What nobody opens to others stays with the account.
  const open = page.getByRole("switch", { name: "Anyone with the link", checked: false });
  await open.waitFor();
  await page.getByText("seen only by people of this account").waitFor();
  const file = page.locator("input[type=file]");
  await file.setInputFiles([{ name: "own.txt", mimeType: "text/plain", buffer: Buffer.from("own") }]);
  await page.getByRole("region", { name: "Uploads" }).getByText("uploaded").waitFor();
  const [own] = (await studio.app.get("/core/media.json?folder=team")).json;
  expect([own.is_public, (await studio.app.get(own.url, { token: null })).status]).toEqual([false, 404]);
  await page.getByRole("button", { name: "Clear the list" }).click();
  await open.check();
  await page.getByText("seen by everybody who has its link").waitFor();
  const film = Buffer.alloc(5_500_000, 7);
  await file.setInputFiles([
    { name: "anna.png", mimeType: "image/png", buffer: await drawn(200, 100) },
    { name: "film.bin", mimeType: "application/octet-stream", buffer: film },
  ]);
  await page.getByRole("region", { name: "Uploads" }).getByText("uploaded").nth(1).waitFor();
  expect((await studio.app.get("/core/media.json?folder=team")).json).toMatchObject([
    { name: "film.bin", size: film.length, is_public: true },
    { name: "anna.png", width: 200 },
    { name: "own.txt" },
  ]);

  // The same name with another content is refused, with the server's words.
  await file.setInputFiles([{ name: "anna.png", mimeType: "image/png", buffer: Buffer.from(png(9, 9)) }]);
  await page.getByText("name has already been taken in this folder").waitFor();
  expect(faults.filter((fault) => !fault.includes("status of 422"))).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await page.getByLabel("Folder", { exact: true }).selectOption("team");
  await page.getByRole("link", { name: "anna.png" }).click();
  await page.getByText('{{ "team/anna.png" | image: width: 640 }}').waitFor();
  await page.getByLabel("Alternative texts").fill("en: Anna\npl: Ania");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const [{ alts }] = (await studio.app.get("/core/media.json?q=anna.png")).json;
  expect(alts).toEqual({ en: "Anna", pl: "Ania" });

  // Before it is deleted one sees which pages would lose it.
  await page.getByText("No page, paragraph, layout or article names this file.").waitFor();
  await studio.app.post("/cms/sites.json", { site: { code: "acme", name: "Acme", locale: "en" } });
  const about = { site_code: "acme", code: "about", name: "About us", path: "about" };
  await studio.app.post("/cms/pages.json", { page: { ...about, content: '{{ "team/anna.png" | image }}' } });
  await page.reload();
  await page.getByRole("region", { name: "Used in" }).getByRole("link", { name: "About us" }).click();
  await page.getByRole("heading", { level: 1, name: "About us" }).waitFor();
});
