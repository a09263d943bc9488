import { type HostData } from "../data.ts";
import { expect, test } from "bun:test";

import { createHosts } from "./hosts.ts";

type Listener = (payload: string, fromOtherProcess: boolean) => void;

/** Processes on one list of hosts, whose messages arrive at once. */
function startProcesses(stored: HostData[]) {
  const listeners: Listener[] = [];
  return () => {
    const at = listeners.length;
    const broadcast: Parameters<typeof createHosts>[0]["broadcast"] = {
      on: (_topic, run) => {
        listeners.push(run);
        return () => {};
      },
      publish: (_topic, payload) => listeners.forEach((run, index) => run(payload, index !== at)),
      onReset: () => () => {},
    };
    const account = async (id: number) => ({ id, name: "", baseUrl: "", timezone: "UTC", locale: "pl" });
    return createHosts({ broadcast, read: async () => [...stored], account, failed: (error) => expect(error).toBe(0) });
  };
}

const host = (id: number): HostData => ({ domainId: id, name: `${id}.test`, accountId: 1, siteId: 1 });

test("a host that a process has read already, because another's message came, is told to that one all the same", async () => {
  const stored: HostData[] = [];
  const start = startProcesses(stored);
  const [one, two] = [start(), start()];
  await Promise.all([one.load(), two.load()]);
  stored.push(host(1));
  const publishing = two.publish(); // has read
  stored.push(host(2)); // is committed by the first process
  await publishing;
  await Bun.sleep(0); // the first one has read why the second one's message came
  expect([one, two].map((process) => process.find("2.test")?.domainId)).toEqual([2, undefined]);
  await one.publish();
  expect(two.find("2.test")?.domainId).toBe(2);
  stored.splice(0, 1);
  await two.publish();
  for (const process of [one, two])
    expect([1, 2].map((id) => process.find(`${id}.test`)?.domainId)).toEqual([undefined, 2]);
});
