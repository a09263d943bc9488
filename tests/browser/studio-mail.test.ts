/** The Studio's pages of mails, with a real mail server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { receiverPassword, startMailReceiver, type MailReceiver } from "../fixtures/mail-receiver.ts";
import { eventually } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let receiver: MailReceiver;
beforeAll(async () => {
  [studio, receiver] = await Promise.all([startStudio(), startMailReceiver()]);
});
afterAll(async () => {
  await studio.stop();
  receiver.stop();
});

test("an administrator sets up mail, tries it out, and writes a mail in their own words", async () => {
  await using opened = await studio.signedIn({ viewport: { width: 360, height: 800 } });
  const { page, faults } = opened;
  const shot = async (name: string) => {
    const folder = Bun.env["SHOTS"];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  };
  await page.goto(`${studio.app.origin}/studio/account/mail_server`);
  await page.getByText("Mail is not set up yet.").waitFor();
  const address = page.getByLabel("Address", { exact: true });
  await address.fill("mail.example.com");
  await page.getByLabel("From", { exact: true }).fill("Office <office@example.com>");
  await page.keyboard.press("Enter");
  await page.getByText("must be smtp://host:port").waitFor();
  expect(await address.getAttribute("aria-invalid")).toBe("true");
  await shot("server-wrong");
  await address.fill(`smtp://127.0.0.1:${receiver.port}`);
  await page.getByLabel("User", { exact: true }).fill("mailer");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Mails go through the server below.").waitFor();
  await page.getByLabel("To", { exact: true }).fill("me@example.com");
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("the mail server refused the sign-in (535)").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(receiverPassword);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").first().waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The mail server has taken the mail: 250 taken as 42").waitFor();
  await shot("server");
  expect(receiver.mails.map(({ to }) => to)).toEqual(["me@example.com"]);

  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${studio.app.origin}/studio/account/mail_texts/new?code=password_reset&language=pl`);
  await page.getByRole("button", { name: "Begin with the built-in words" }).click();
  const preview = page.getByRole("region", { name: "With example values" });
  await preview.getByText("Nowe hasło do Example").waitFor();
  await shot("text");
  await page.getByLabel("Subject").fill("Hasło: {{ nmae }}");
  await preview.getByText("there is no {{ nmae }} in this mail").waitFor();
  await page.getByLabel("Subject").fill("Hasło dla {{ name }}");
  await preview.getByText("Hasło dla Anna Nowak").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/mail-texts(\/\d+)?$/);
  const [own] = (await studio.app.get("/core/mail_templates.json")).json;
  expect(own).toMatchObject({ code: "password_reset", language: "pl", subject: "Hasło dla {{ name }}" });

  await page.goto(`${studio.app.origin}/studio/account/mails`);
  await page.getByText("Mails appear here when people are invited").waitFor();

  await page.goto(`${studio.app.origin}/studio/account/people`);
  await page.getByRole("button", { name: "Invite a person" }).click();
  await page.getByLabel("E-mail", { exact: true }).fill("ewa@example.com");
  await page.getByLabel("Name", { exact: true }).fill("Ewa Zima");
  await shot("invite");
  await page.getByRole("button", { name: "Send invitation" }).click();
  await page.getByRole("heading", { name: "Ewa Zima is invited" }).waitFor();
  await page.goto(`${studio.app.origin}/studio/account/invitations`);
  await page.getByRole("link", { name: "ewa@example.com" }).click();
  await page.getByRole("button", { name: "Resend" }).waitFor();
  await shot("invitation");
  const invited = await eventually(() => receiver.mails.find(({ to }) => to === "ewa@example.com"), "the invitation");
  await page.goto(`${studio.app.origin}/studio/account/mails`);
  await page.getByRole("link", { name: "Waiting" }).waitFor();
  await page.getByText("ewa@example.com").waitFor();
  await shot("mails");

  // Without scripts, as a person who was invited may come.
  const context = await studio.browser.newContext({
    javaScriptEnabled: false,
    locale: "de-DE",
    viewport: { width: 360, height: 700 },
  });
  const hers = await context.newPage();
  await hers.goto(/https?:\S+token=\S+/.exec(invited.text)?.[0] ?? "");
  expect(hers.url()).toBe(`${studio.app.origin}/set_password`);
  if (Bun.env["SHOTS"]) await hers.screenshot({ path: `${Bun.env["SHOTS"]}/set.png` });
  await hers.getByLabel("Neues Passwort").fill("winter is coming");
  await hers.getByRole("button", { name: "Passwort festlegen" }).click();
  await hers.getByText("Ihr Passwort ist festgelegt").waitFor();
  await hers.getByRole("link", { name: "Anmelden" }).click();
  if (Bun.env["SHOTS"]) await hers.screenshot({ path: `${Bun.env["SHOTS"]}/login.png` });
  await hers.getByRole("link", { name: "Passwort vergessen?" }).waitFor();
  await hers.getByLabel("Benutzername").fill("ewa@example.com");
  await hers.getByLabel("Passwort").fill("winter is coming");
  await hers.getByRole("button", { name: "Anmelden" }).click();
  await hers.waitForURL(/\/studio$/);
  await context.close();
  expect(faults.filter((fault) => !fault.includes("422"))).toEqual([]);
});
