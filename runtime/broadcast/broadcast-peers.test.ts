import { describe, expect, test } from "bun:test";
import { createPeers } from "./broadcast-outbox.ts";
import { createProof } from "./broadcast.ts";

describe("the other processes", () => {
  test("are behind until they have heard a number; a new one has heard all that came before it", () => {
    const peers = createPeers();
    expect([peers.any(), peers.behind(9)]).toEqual([false, []]);
    expect([peers.meet("a", 5), peers.meet("b", 7), peers.meet("a", 9)]).toEqual([true, true, false]);
    expect([peers.any(), peers.behind(5), peers.behind(6), peers.behind(8)]).toEqual([true, [], ["a"], ["a", "b"]]);
    peers.heard("a", 8);
    peers.heard("b", 3); // came late
    expect(peers.behind(8)).toEqual(["b"]);
    peers.part("b");
    expect([peers.behind(8), peers.behind(9)]).toEqual([[], ["a"]]);
  });
});

describe("the proof that we hear", () => {
  test("is as old as the sending of the last message that came back", () => {
    let now = 0;
    const proof = createProof(() => now);
    for (const [number, at] of [
      [1, 100],
      [2, 200],
      [5, 300],
    ] as const) {
      now = at;
      proof.ask(number);
    }
    now = 400;
    expect(proof.ageMs()).toBe(400);
    proof.hear(0);
    expect(proof.ageMs()).toBe(400);
    proof.hear(3); // all up to this number
    expect(proof.ageMs()).toBe(200);
    proof.hear(2); // again
    expect(proof.ageMs()).toBe(200);
    proof.hear(5);
    expect(proof.ageMs()).toBe(100);
  });

  test("begins with a new connection, and does not count what was asked on the one before", () => {
    let now = 0;
    const proof = createProof(() => now);
    proof.ask(1);
    now = 500;
    proof.renew();
    now = 600;
    proof.hear(1);
    expect(proof.ageMs()).toBe(100);
  });
});
