const places = [
  { name: "Kraków", latitude: 50.06, longitude: 19.94 },
  { name: "Berlin", latitude: 52.52, longitude: 13.41 },
  { name: "Lisbon", latitude: 38.72, longitude: -9.14 },
  { name: "Reykjavík", latitude: 64.15, longitude: -21.94 },
];

/** WMO code table 4677, in groups: the highest code of each. */
const skies = [
  [0, "☀️", "Clear"],
  [2, "⛅️", "Some clouds"],
  [3, "☁️", "Overcast"],
  [48, "🌫️", "Fog"],
  [67, "🌧️", "Rain"],
  [77, "🌨️", "Snow"],
  [82, "🌦️", "Showers"],
  [86, "🌨️", "Snow showers"],
  [99, "⛈️", "Thunderstorm"],
];

const style = document.createElement("style");
style.textContent = `
  :root { color-scheme: light dark; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#eaf2f8, #0b1622); font: 16px/1.5 system-ui, sans-serif; }
  .card { width: min(22rem, calc(100vw - 2rem)); padding: 1.75rem; border-radius: 1.75rem; color: #fff; background: linear-gradient(160deg, #1d6fb8, #123f73); box-shadow: 0 20px 50px -20px #123f7399; }
  .places { display: flex; flex-wrap: wrap; gap: .375rem; margin: 0 0 1.5rem; padding: 0; border: 0; }
  .places button { padding: .25rem .75rem; border: 0; border-radius: 99px; background: #ffffff1f; color: inherit; font: inherit; font-size: .8125rem; cursor: pointer; }
  .places button[aria-pressed="true"] { background: #fff; color: #123f73; }
  .places button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
  .now { display: flex; align-items: center; justify-content: space-between; min-height: 6.5rem; }
  .degrees { font-size: 4.5rem; font-weight: 200; letter-spacing: -.04em; line-height: 1; }
  .icon { font-size: 3.75rem; line-height: 1; }
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
    const [, icon, name] = skies.find(([highest]) => now.code <= highest) ?? [0, "", "Unknown"];
    part("degrees").textContent = `${Math.round(now.temperature)}°`;
    part("icon").textContent = icon;
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
