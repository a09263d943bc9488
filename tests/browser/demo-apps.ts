/** What the browser tests of the example apps share. */

/** Each by its url_code, with what is there when it has loaded its data. */
export const demoApps = {
  "demo-board": "[data-column] h3",
  "demo-expenses": "li button",
  "demo-guestbook": "blockquote",
  "demo-poll": ".bar.leading",
  "demo-stardust": "canvas",
  "demo-weather": ".icon svg",
} as const;

/** Stands in for the weather service of the demo, on this machine. */
export interface FakeWeather {
  readonly url: string;
  stop(): Promise<void>;
}

export function fakeWeather(): FakeWeather {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** Clouds in the middle of Europe, snow in the north, and no answer for Lisbon. */
function answer(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url);
  const latitude = Number(searchParams.get("latitude"));
  if (pathname !== "/v1/forecast" || latitude === 0) return new Response("unknown", { status: 404 });
  if (latitude < 40) return new Response("out of order", { status: 503 });
  const [degrees, humidity, wind, code] = latitude > 60 ? [-4.2, 88, 31, 73] : [17.4, 61, 12.3, 2];
  return Response.json({
    current: {
      temperature_2m: degrees,
      relative_humidity_2m: humidity,
      wind_speed_10m: wind,
      weather_code: code,
    },
  });
}
