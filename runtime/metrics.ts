import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The contents of `/metrics`, in Prometheus' text format. */
export function createMetrics() {
  const registry = new Registry();
  const requests = new Histogram({
    name: "corestead_http_request_duration_seconds",
    help: "Time from a request's arrival to its answer",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
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
    request(method: string, route: string, status: number, seconds: number): void {
      // A failure of another server must not raise an alarm about this one.
      requests.observe({ method, route, status: status === 502 ? "502 remote" : status }, seconds);
    },
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
    print: (): Promise<string> => registry.metrics(),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
