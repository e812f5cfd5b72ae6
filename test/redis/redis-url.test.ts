import { expect, test } from "vitest"
import { readRedisUrl, redisName } from "../../runtime/redis/redis-url.ts"

test.each([
  ["redis://127.0.0.1", { kind: "single", tls: false, nodes: [{ host: "127.0.0.1", port: 6379 }], db: 0 }],
  [
    "rediss://app:p%40ss@[::1]:7000/3",
    { tls: true, username: "app", password: "p@ss", nodes: [{ host: "::1", port: 7000 }], db: 3 },
  ],
  ["redis://:secret@cache", { username: undefined, password: "secret" }],
  [
    "redis+cluster://a:7001,b:7002",
    {
      kind: "cluster",
      nodes: [
        { host: "a", port: 7001 },
        { host: "b", port: 7002 },
      ],
    },
  ],
  ["rediss+sentinel://a,b/main/1", { kind: "sentinel", tls: true, group: "main", db: 1 }],
])("reads %s", (url, address) => {
  expect(readRedisUrl(url)).toMatchObject(address)
})

test.each([
  ["http://127.0.0.1", "begins with `http:`"],
  ["unix:///run/redis.sock", "begins with `unix:`"],
  ["127.0.0.1:6379", "begins with no scheme"],
  ["redis://a:1,b:2", "names several hosts"],
  ["redis://a/x", "not a database number"],
  ["redis://a?db=1", "options after `?`"],
  ["redis://a:99999", "a host in the URL"],
  ["redis+cluster://a/1", "only database 0"],
  ["redis+sentinel://a", "no group"],
  ["redis://a%zz:b@c", "encodes nothing"],
])("refuses %s", (url, words) => {
  expect(() => readRedisUrl(url)).toThrow(words)
})

test("names the nodes without the password", () => {
  expect(redisName(readRedisUrl("redis+cluster://u:p@a:1,[::1]:2"))).toBe("a:1, [::1]:2")
})
