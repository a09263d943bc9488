/** An administrator sets up a provider in the Studio, and somebody signs in by it: of another site, as browsers see it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startPeer, type Peer } from "../fixtures/oidc-peer.ts";
import { faultsOf } from "../chromium.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let peer: Peer;
beforeAll(async () => {
  studio = await startStudio({ env: { OUTBOUND_ALLOW: "127.0.0.1, ::1" } });
  peer = await startPeer([`${studio.app.origin}/login/with/example-id/callback`], "localhost");
});
afterAll(async () => {
  await studio.stop();
  peer.stop();
});

test("a provider is entered, tried out, and signs somebody in", async () => {
  const { origin } = studio.app;
  await using opened = await studio.signedIn({ viewport: { width: 360, height: 800 } });
  const { page, faults } = opened;
  const shot = async (name: string, of = page) => {
    const folder = Bun.env["SHOTS"];
    if (folder) await of.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    expect(await of.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  };
  await page.goto(`${origin}/studio/account/sign_in_providers`);
  await page.getByRole("heading", { name: "Sign-in providers" }).waitFor();
  await page.goto(`${origin}/studio/account/sign_in_providers/new`);
  await page.getByLabel("Name", { exact: true }).fill("Example ID");
  await page.getByLabel("Issuer", { exact: true }).fill(`${peer.issuer}/.well-known/openid-configuration`);
  await page.getByLabel("Client ID", { exact: true }).fill(peer.clientId);
  await page.getByLabel("Client secret", { exact: true }).fill(peer.clientSecret);
  await page.getByLabel("Add people", { exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is required with create_people").waitFor();
  await shot("provider-wrong");
  await page.getByLabel("E-mail domains", { exact: true }).fill("example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("code").getByText(`${origin}/login/with/example-id/callback`).waitFor();
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText(`${peer.issuer}/token`).first().waitFor();
  await shot("provider");

  peer.who = { sub: "anna", email: "anna@example.com", email_verified: true, name: "Anna Nowak" };
  await using visitor = await studio.browser.newContext({ locale: "de-DE" });
  const login = await visitor.newPage();
  const loginFaults = faultsOf(login);
  await login.goto(`${origin}/login?return_to=/studio`);
  await shot("login", login);
  await login.getByRole("link", { name: "Mit Example ID anmelden" }).click();
  await login.waitForURL(`${origin}/studio`);
  await login.getByRole("heading", { name: "Anna" }).waitFor();
  await page.goto(`${origin}/studio/account/sign_in_providers`);
  await page.getByText("Example ID").first().waitFor();

  // Somebody without a password signs in again in another tab, and the page goes on.
  const { id } = (await studio.app.get("/account/users.json?q=anna@example.com")).json[0];
  await studio.app.delete(`/account/users/${id}/sessions.json`);
  await login.keyboard.press("Control+k");
  await login.keyboard.type("anything");
  const ended = login.getByRole("dialog", { name: "Ihre Sitzung ist abgelaufen" });
  const [tab] = await Promise.all([
    visitor.waitForEvent("page"),
    ended.getByRole("link", { name: "Auf andere Weise anmelden" }).click(),
  ]);
  await tab.getByRole("link", { name: "Mit Example ID anmelden" }).click();
  await tab.waitForURL(`${origin}/studio`);
  await tab.close();
  await login.evaluate(() => dispatchEvent(new Event("focus")));
  await ended.waitFor({ state: "detached" });

  // Signs out at the provider too: from the Studio, and by the page without scripts.
  await page.goto(`${origin}/studio/account/sign_in_providers`);
  await page.getByText("Example ID").first().click();
  await page.getByLabel("Sign out there too", { exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").first().waitFor();
  await shot("provider-signs-out");
  const signsOut = async (press: () => Promise<void>) => {
    await login.goto(`${origin}/login/with/example-id?return_to=/studio`);
    await login.getByRole("heading", { name: "Anna" }).waitFor();
    await press();
    await login.waitForURL(`${peer.issuer}/session/end?*`);
    await login.getByRole("button", { name: "Yes" }).click();
    await login.getByText("Sie sind hier und bei Example ID abgemeldet.").waitFor();
  };
  await signsOut(async () => {
    await login.keyboard.press("Control+k");
    await login.keyboard.type("Abmelden");
    await login.keyboard.press("Enter");
  });
  await shot("signed-out", login);
  await signsOut(async () => {
    await login.goto(`${origin}/logout`);
    await login.getByRole("button", { name: "Abmelden" }).click();
  });
  // The form was refused once with 422, and requests without a session with 401.
  expect([...faults, ...loginFaults].filter((fault) => !/status of (401|422)/.test(fault))).toEqual([]);
}, 600_000);
