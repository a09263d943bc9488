import { expect, test } from "bun:test";
import { createRequestTimes } from "./metrics.ts";

test("requests are counted by the bounds that they keep", () => {
  const times = createRequestTimes();
  for (const seconds of [0.001, 0.002, 7]) times.observe("GET", "/core/notes/:id", 200, seconds);
  times.observe("POST", '/a"b', 502, 0.5);
  const lines = times.print().split("\n");
  const labels = 'method="GET",route="/core/notes/:id",status="200"';
  const name = "corestead_http_request_duration_seconds";
  expect(lines.slice(0, 2).map((line) => line.split(" ").slice(0, 3))).toEqual([
    ["#", "HELP", name],
    ["#", "TYPE", name],
  ]);
  for (const line of [
    `${name}_bucket{le="0.001",${labels}} 1`,
    `${name}_bucket{le="0.0025",${labels}} 2`,
    `${name}_bucket{le="5",${labels}} 2`,
    `${name}_bucket{le="+Inf",${labels}} 3`,
    `${name}_sum{${labels}} 7.003`,
    `${name}_count{${labels}} 3`,
    String.raw`${name}_count{method="POST",route="/a\"b",status="502 remote"} 1`,
  ])
    expect(lines).toContain(line);
});
