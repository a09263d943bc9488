import { expect, test } from "bun:test";
import { createMetrics } from "./metrics.ts";

test("requests are counted by the bounds that they keep", async () => {
  const metrics = createMetrics();
  for (const seconds of [0.001, 0.002, 7]) metrics.request("GET", "/core/notes/:id", 200, seconds);
  metrics.request("POST", '/a"b', 502, 0.5);
  const lines = (await metrics.print()).split("\n");
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

test("numbers are read when they are printed, by label and beyond all bounds too", async () => {
  const metrics = createMetrics();
  let waiting = 1;
  metrics.gauge("waiting", "Jobs that wait", async () => waiting);
  metrics.gauges("lag_bytes", "How far each is behind", "replica", () => ({ 'db"2': 7, db3: 0 }));
  metrics.counter("failures_total", "Failures", () => 3);
  metrics.gauge("soonest_end_seconds", "Until the next end", () => Number.POSITIVE_INFINITY);
  waiting = 2;
  const text = await metrics.print();
  for (const part of [
    "# HELP waiting Jobs that wait\n# TYPE waiting gauge\nwaiting 2\n",
    String.raw`lag_bytes{replica="db\"2"} 7` + '\nlag_bytes{replica="db3"} 0\n',
    "# TYPE failures_total counter\nfailures_total 3\n",
    "soonest_end_seconds +Inf\n",
  ])
    expect(text).toContain(part);
  expect(() => metrics.gauge("waiting", "Once more", () => 0)).toThrow("there is a metric");
  expect(() => metrics.gauge("with-dash", "No name", () => 0)).toThrow("cannot have the name");
});
