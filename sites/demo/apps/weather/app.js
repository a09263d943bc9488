const places = [
  { name: "Kraków", latitude: 50.06, longitude: 19.94 },
  { name: "Berlin", latitude: 52.52, longitude: 13.41 },
  { name: "Lisbon", latitude: 38.72, longitude: -9.14 },
  { name: "Reykjavík", latitude: 64.15, longitude: -21.94 },
];

const cloud = '<path d="M18 44a10 10 0 0 1 1-20 14 14 0 0 1 27-3 11.5 11.5 0 0 1 0 23z" fill="#fff"/>';
const drops = '<path d="M22 50l-3 8M33 50l-3 8M44 50l-3 8" stroke="#9bd0ff" stroke-width="3" stroke-linecap="round"/>';
const flakes =
  '<g fill="#fff"><circle cx="21" cy="54" r="2.5"/><circle cx="32" cy="57" r="2.5"/><circle cx="43" cy="54" r="2.5"/></g>';
const sun = (x, y, r) =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="#ffd34d"/><circle cx="${x}" cy="${y}" r="${r + 6}" fill="none" stroke="#ffd34d" stroke-width="3" stroke-dasharray="1 ${(((r + 6) * 2 * Math.PI) / 8 - 1).toFixed(2)}" stroke-linecap="round"/>`;

/** WMO code table 4677, in groups: the highest code of each, its picture and its name. */
const skies = [
  [0, sun(32, 32, 14), "Clear"],
  [2, sun(22, 22, 10) + cloud, "Some clouds"],
  [3, cloud, "Overcast"],
  [
    48,
    `${cloud}<path d="M16 52h32M20 59h24" stroke="#fff" stroke-width="3" stroke-linecap="round" opacity=".7"/>`,
    "Fog",
  ],
  [67, cloud + drops, "Rain"],
  [77, cloud + flakes, "Snow"],
  [82, sun(22, 22, 10) + cloud + drops, "Showers"],
  [86, cloud + flakes, "Snow showers"],
  [
    99,
    `${cloud}<path d="M34 42l-8 11h7l-4 9" fill="none" stroke="#ffd34d" stroke-width="3" stroke-linejoin="round"/>`,
    "Thunderstorm",
  ],
];

const style = document.createElement("style");
style.textContent = `
  :root { color-scheme: light dark; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#eaf2f8, #0b1622); font: 16px/1.5 system-ui, sans-serif; }
  .card { box-sizing: border-box; width: min(25.5rem, 100vw - 2rem); padding: 1.75rem; border-radius: 1.75rem; color: #fff; background: linear-gradient(160deg, #1d6fb8, #123f73); box-shadow: 0 20px 50px -20px #123f7399; }
  .places { display: flex; flex-wrap: wrap; gap: .375rem; margin: 0 0 1.5rem; padding: 0; border: 0; }
  .places button { padding: .25rem .75rem; border: 0; border-radius: 99px; background: #ffffff1f; color: inherit; font: inherit; font-size: .8125rem; cursor: pointer; }
  .places button[aria-pressed="true"] { background: #fff; color: #123f73; }
  .places button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
  .now { display: flex; align-items: center; justify-content: space-between; min-height: 6.5rem; }
  .degrees { font-size: 4.5rem; font-weight: 200; letter-spacing: -.04em; line-height: 1; }
  .icon svg { display: block; width: 5.5rem; }
  .sky { margin: 0; font-size: 1.0625rem; }
  dl { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; margin: 1.25rem 0 0; padding-top: 1.25rem; border-top: 1px solid #ffffff33; }
  dt { font-size: .75rem; color: #cfe3f5; }
  dd { margin: 0; font-variant-numeric: tabular-nums; }
  .busy .now, .busy dl { opacity: .45; }
`;
document.head.append(style);

const root = document.querySelector("#core-app");
root.innerHTML = `
  <main class="card" aria-live="polite">
    <h1 style="margin:0 0 .75rem;font-size:1rem;font-weight:500">Weather</h1>
    <div class="places" role="group" aria-label="Place"></div>
    <div class="now"><span class="degrees">–</span><span class="icon" aria-hidden="true"></span></div>
    <p class="sky">Loading…</p>
    <dl><div><dt>Humidity</dt><dd class="humidity">–</dd></div><div><dt>Wind</dt><dd class="wind">–</dd></div></dl>
  </main>`;

const part = (name) => root.querySelector(`.${name}`);
const buttons = places.map((place) => {
  const button = document.createElement("button");
  button.textContent = place.name;
  button.onclick = () => show(place);
  return button;
});
part("places").append(...buttons);

let asked = 0;
async function show(place) {
  const ours = ++asked;
  part("card").classList.add("busy");
  for (const [at, button] of buttons.entries()) button.setAttribute("aria-pressed", String(places[at] === place));
  try {
    const { latitude, longitude } = place;
    const now = await core.action("weather", { latitude, longitude });
    if (ours !== asked) return;
    const [, picture, name] = skies.find(([highest]) => now.code <= highest) ?? [0, "", "Unknown"];
    part("degrees").textContent = `${Math.round(now.temperature)}°`;
    part("icon").innerHTML = `<svg viewBox="0 0 64 64">${picture}</svg>`;
    part("sky").textContent = name;
    part("humidity").textContent = `${now.humidity} %`;
    part("wind").textContent = `${now.wind} km/h`;
  } catch {
    if (ours !== asked) return;
    part("degrees").textContent = "–";
    part("icon").textContent = "";
    part("sky").textContent = "The weather service does not answer just now.";
  } finally {
    if (ours === asked) part("card").classList.remove("busy");
  }
}

show(places[0]);
