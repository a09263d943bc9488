/**
 * How long requests take, as a histogram in Prometheus' text format. The one of prom-client makes and checks a text of
 * the labels at each observation, which took a fourteenth of a small request's time.
 */

const name = "corestead_http_request_duration_seconds";
const help = "Time from a request's arrival to its answer";
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

interface Times {
  readonly labels: string;
  /** How many took at most as long as each bound, and longer than the one before; the last took longer than all. */
  readonly counts: number[];
  seconds: number;
}

export function createRequestTimes() {
  const all = new Map<string, Times>();

  const timesOf = (method: string, route: string, status: number): Times => {
    const key = `${status} ${method} ${route}`;
    const known = all.get(key);
    if (known) return known;
    // A failure of another server must not raise an alarm about this one.
    const shown = status === 502 ? "502 remote" : `${status}`;
    const labels = `method=${quoted(method)},route=${quoted(route)},status=${quoted(shown)}`;
    const made = { labels, counts: [...bounds, Infinity].map(() => 0), seconds: 0 };
    all.set(key, made);
    return made;
  };

  return {
    observe(method: string, route: string, status: number, seconds: number): void {
      const times = timesOf(method, route, status);
      let at = 0;
      while (at < bounds.length && seconds > (bounds[at] ?? 0)) at++;
      times.counts[at] = (times.counts[at] ?? 0) + 1;
      times.seconds += seconds;
    },
    print: (): string =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...[...all.values()].flatMap(linesOf), ""].join("\n"),
  };
}

function linesOf({ labels, counts, seconds }: Times): string[] {
  let count = 0;
  const buckets = counts.map((of, at) => {
    count += of;
    return `${name}_bucket{le="${bounds[at] ?? "+Inf"}",${labels}} ${count}`;
  });
  return [...buckets, `${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${count}`];
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;
}
