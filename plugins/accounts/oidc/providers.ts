/** What is done with a provider beside the usual calls. No HTTP, no SQL. */
import { found, invalid, notFound, type ContextOf, type Caller } from "platform";
import type { IdentityStore } from "./identity-store.ts";
import { PeerFault, type Peers } from "./peer.ts";
import { mustBeAdmin, Provider, type ProviderAt } from "./provider.ts";
import { peerFacts } from "./sign-in.ts";

export interface ProvidersContext extends ContextOf<ProviderAt> {
  readonly identityStore: IdentityStore;
  readonly peers: Peers;
}

/** Throws a 422 that says what is wrong. */
export async function testProvider(around: ProvidersContext, caller: Caller, id: string) {
  const row = await found(Provider, { ...around, caller }, { id });
  try {
    return await around.peers.test(peerFacts(around, row), row.scopes.split(" "));
  } catch (error) {
    if (!(error instanceof PeerFault)) throw error;
    const start = error.kind === "unreachable" ? "does not answer" : "does not answer as a provider does";
    throw invalid({ issuer: [`${start}: ${error.message}`] });
  }
}

export async function unlink(around: ProvidersContext, caller: Caller, id: string, identityId: number): Promise<void> {
  mustBeAdmin({ caller });
  const { id: providerId } = await found(Provider, { ...around, caller }, { id });
  const place = { accountId: caller.account.id, providerId };
  const deleted = await around.transaction((tx) => around.identityStore.delete(tx, place, identityId));
  if (!deleted) throw notFound();
}
