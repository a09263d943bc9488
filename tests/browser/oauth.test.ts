/** An app is connected by signing in, as a browser sees it: the page in words, two tables, and its end in the Studio. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { AxeBuilder } from "@axe-core/playwright";
import { faultsOf } from "../chromium.ts";
import { question, redeemed, registered } from "../fixtures/oauth-app.ts";
import { adminPassword, eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
beforeAll(async () => {
  studio = await startStudio();
});
afterAll(() => studio.stop());

test("somebody connects an app to two tables, and ends it in the Studio", async () => {
  const { app, browser } = studio;
  for (const name of ["Orders", "People", "Salaries"])
    await app.post("/core/dbs.json", { db: { name, code: name.toLowerCase() } });
  // The app waits on this machine.
  const arrived = Promise.withResolvers<URLSearchParams>();
  const waiting = Bun.serve({
    port: 0,
    hostname: "0.0.0.0",
    fetch: ({ url }): Response => {
      const { pathname, searchParams } = new URL(url);
      if (pathname !== "/callback") return new Response("You may close this page.");
      arrived.resolve(searchParams);
      // As many do: to another origin.
      return Response.redirect(`http://localhost:${waiting.port}/done`);
    },
  });
  const redirect_uri = `http://127.0.0.1:${waiting.port}/callback`;
  const { id } = await registered(app, { client_name: "Claude", redirect_uris: ["http://127.0.0.1/callback"] });

  await using context = await browser.newContext({ locale: "en-US", viewport: { width: 360, height: 800 } });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const faults = faultsOf(page);
  const shot = async (name: string) => {
    const folder = Bun.env["SHOTS"];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  };
  await page.goto(`${app.origin}${question(id, { redirect_uri })}`);
  await page.getByLabel("Login or e-mail").fill("admin");
  await page.getByLabel("Password").fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Connect an app" }).waitFor();
  await page.getByText("An app that calls itself “Claude”").waitFor();
  await page.getByText("Its access goes to a program on this computer.").waitFor();
  expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id: rule }) => rule)).toEqual([]);
  await shot("oauth-consent");

  for (const box of await page.getByRole("group", { name: "What it may use" }).getByRole("checkbox").all())
    await box.uncheck();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.getByRole("alert").getByText("Choose at least one area").waitFor();
  await page.getByLabel("Tables and records").check();
  await page.getByLabel("Only these").check();
  await page.getByLabel("Orders").selectOption("Can view");
  await page.getByLabel("People").selectOption("Can view");
  await page.getByLabel("It may only read").check();
  await page.getByLabel("For how long").selectOption("90 days");
  await shot("oauth-narrowed");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  const { code = "" } = Object.fromEntries(await arrived.promise);
  await page.getByText("You may close this page.").waitFor();
  const { json: given } = await redeemed(app, id, code, { redirect_uri });

  const names = async () => {
    const { status, json } = await app.get("/core/dbs.json", { token: given.access_token });
    return status === 200 ? json.map(({ name }: { name: string }) => name).toSorted() : status;
  };
  expect(await names()).toEqual(["Orders", "People"]);

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${app.origin}/studio/account/tokens`);
  const row = page.getByRole("row").filter({ hasText: "Claude" });
  await row.getByText("Connected by sign-in: 127.0.0.1").waitFor();
  await row.getByText("Orders: Can view, People: Can view, only reads").waitFor();
  await shot("oauth-token");
  await row.getByText("Claude").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Access tokens" }).waitFor();
  expect(faults.filter((fault) => !/status of 422/.test(fault))).toEqual([]);
  await page.close({ runBeforeUnload: true });
  await eventually(async () => (await names()) === 401);
  await waiting.stop(true);
}, 600_000);
