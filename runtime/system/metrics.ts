/** What a metric shows whenever `/metrics` is requested: one number, or one for each value of a label. */
type ReadValue = () => number | Promise<number>;
type ReadByLabel = () => Readonly<Record<string, number>>;

interface Metric {
  readonly help: string;
  readonly type: "gauge" | "counter";
  /** Its lines without the name. */
  readonly read: () => Promise<readonly string[]>;
}

/** The contents of `/metrics`, in Prometheus' text format. */
export function createMetrics() {
  const all = new Map<string, Metric>();
  const requests = createRequestTimes();
  const add = (name: string, metric: Metric): void => {
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new Error(`a metric cannot have the name "${name}"`);
    if (all.has(name)) throw new Error(`there is a metric "${name}" already`);
    all.set(name, metric);
  };
  const one = (type: Metric["type"]) => (name: string, help: string, read: ReadValue) =>
    add(name, { help, type, read: async () => [` ${valueText(await read())}`] });
  const byLabel = (type: Metric["type"]) => (name: string, help: string, label: string, read: ReadByLabel) => {
    const lines = () => Object.entries(read()).map(([of, value]) => `{${label}=${quoted(of)}} ${valueText(value)}`);
    add(name, { help, type, read: async () => lines() });
  };
  const [gauge, counter] = [one("gauge"), one("counter")];
  gauge("process_resident_memory_bytes", "Resident memory of this process", () => process.memoryUsage.rss());
  counter("process_cpu_seconds_total", "Processor time of this process", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });

  return {
    type: "text/plain; version=0.0.4; charset=utf-8",
    request: requests.observe,
    gauge,
    gauges: byLabel("gauge"),
    /** A number that only grows. */
    counter,
    counters: byLabel("counter"),
    print: async (): Promise<string> => {
      const printed = [...all].map(async ([name, { help, type, read }]) =>
        [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...(await read()).map((line) => name + line), ""].join(
          "\n",
        ),
      );
      return [requests.print(), ...(await Promise.all(printed))].join("\n");
    },
  };
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

export type Metrics = ReturnType<typeof createMetrics>;

/** How long requests take, as a histogram. */

const name = "corestead_http_request_duration_seconds";
const help = "Time from a request's arrival to its answer";
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

interface Times {
  readonly labels: string;
  /** How many took at most as long as each bound, and longer than the one before; the last took longer than all. */
  readonly counts: number[];
  seconds: number;
}

function createRequestTimes() {
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
