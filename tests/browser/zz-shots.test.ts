import { test } from "bun:test";
import { startStage } from "./apps-fixture.ts";
test("shots", async () => {
  const stage = await startStage();
  const lines = await stage.app.app.commands.find(({name})=>name==="demo")?.run({});
  console.log(lines?.join("\n"));
  const weather = Bun.serve({ port: 0, fetch: () => Response.json({ current: { temperature_2m: 17.4, relative_humidity_2m: 61, wind_speed_10m: 12.3, weather_code: 2 } }) });
  await stage.app.patch("/connect/connectors/demo_weather.json", { connector: { url: `http://127.0.0.1:${weather.port}` } });
  const only = (process.env.ONLY ?? "board,expenses,guestbook,poll,stardust,weather").split(",");
  const context = await stage.visit("admin");
  for (const code of only) for (const [name, w, h, scheme] of [["desktop",1280,800,"light"],["mobile",390,844,"light"],["dark",1280,800,"dark"]] as const) {
    const { page, faults } = await stage.open(context, `/a/demo-${code}`);
    await page.setViewportSize({ width: w, height: h });
    await page.emulateMedia({ colorScheme: scheme });
    await Bun.sleep(code === "stardust" ? 2500 : 1500);
    if (code === "stardust" && process.env.PLAY) { await page.keyboard.press("Space"); await Bun.sleep(3000); }
    await page.screenshot({ path: `/tmp/shots/${code}-${name}.png` });
    if (faults.length) console.log(code, name, faults);
    await page.close();
  }
  await stage.stop(); await weather.stop(true);
}, 300000);
