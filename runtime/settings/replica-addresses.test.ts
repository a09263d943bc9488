import { expect, test } from "bun:test";
import { replicaAddresses } from "./replica-addresses.ts";

const cases: [url: string, addresses: [name: string, url: string][]][] = [
  ["postgres://core@db2/core", [["db2", "postgres://core@db2/core"]]],
  [
    "postgres://core:a%2Cb@db2,db3:5433/core?sslmode=require",
    [
      ["db2", "postgres://core:a%2Cb@db2/core?sslmode=require"],
      ["db3:5433", "postgres://core:a%2Cb@db3:5433/core?sslmode=require"],
    ],
  ],
  [
    "postgresql://[::1]:5433,db3?sslmode=disable",
    [
      ["[::1]:5433", "postgresql://[::1]:5433?sslmode=disable"],
      ["db3", "postgresql://db3?sslmode=disable"],
    ],
  ],
  [
    "postgres://core:a@db2,db3/core,postgresql://reader:b@db4:6432/core?sslmode=require",
    [
      ["db2", "postgres://core:a@db2/core"],
      ["db3", "postgres://core:a@db3/core"],
      ["db4:6432", "postgresql://reader:b@db4:6432/core?sslmode=require"],
    ],
  ],
  ["postgres://core@/core", []],
];

for (const [url, addresses] of cases)
  test(`${url} names ${addresses.length} replicas`, () => {
    expect(replicaAddresses(url).map((one) => [one.name, one.url])).toEqual(addresses);
  });
