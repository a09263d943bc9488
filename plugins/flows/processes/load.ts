/**
 * How much the flows of each account have computed lately in this server process. A flow that computes much takes turns
 * with others, so that nobody else's small flow waits for it.
 */
export interface Load {
  computed(flow: FlowKey, milliseconds: number): void;
  isHeavy(flow: FlowKey): boolean;
}

interface FlowKey {
  readonly accountId: number;
  readonly flowCode: string;
}

const heavyMs = 300;
const halfLifeMs = 2000;
const mostFlows = 10_000;

export function createLoad(now: () => number = () => performance.now()): Load {
  const flows = new Map<string, { ms: number; at: number }>();
  const keyOf = ({ accountId, flowCode }: FlowKey) => `${accountId}/${flowCode}`;
  const lately = (key: string): number => {
    const found = flows.get(key);
    return found ? found.ms * 0.5 ** ((now() - found.at) / halfLifeMs) : 0;
  };
  return {
    computed(flow, milliseconds) {
      const key = keyOf(flow);
      if (flows.size >= mostFlows) flows.clear();
      flows.set(key, { ms: lately(key) + milliseconds, at: now() });
    },
    isHeavy: (flow) => lately(keyOf(flow)) > heavyMs,
  };
}
