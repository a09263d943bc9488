import { Counter, Gauge, Registry } from "prom-client";
import { createRequestTimes } from "./request-times.ts";

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
