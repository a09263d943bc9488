import { Counter, Gauge, Registry } from "prom-client";

/** The contents of `/metrics`, in Prometheus' text format. */
export function createMetrics() {
  const registry = new Registry();
  const requests = createRequestTimes();
  const memory: Gauge = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of this process",
    registers: [registry],
    collect: () => memory.set(process.memoryUsage.rss()),
  });
  const cpu: Counter = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of this process",
    registers: [registry],
    collect: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });

  return {
    type: registry.contentType,
    request: requests.observe,
    /** A number that is read whenever `/metrics` is requested. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [registry],
        collect: async () => gauge.set(await read()),
      });
    },
    /** Numbers by one label, which are read in the same way. */
    gauges(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect: () => {
          for (const [value, number] of Object.entries(read())) gauge.set({ [label]: value }, number);
        },
      });
    },
    counters(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
      const counter: Counter = new Counter({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect: () => {
          counter.reset();
          for (const [value, number] of Object.entries(read())) counter.inc({ [label]: value }, number);
        },
      });
    },
    /** The same as `gauge`, of a number that only grows. */
    counter(name: string, help: string, read: () => number | Promise<number>): void {
      const counter: Counter = new Counter({
        name,
        help,
        registers: [registry],
        collect: async () => {
          const value = await read();
          counter.reset();
          counter.inc(value);
        },
      });
    },
    print: async (): Promise<string> => `${requests.print()}\n${await registry.metrics()}`,
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

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
