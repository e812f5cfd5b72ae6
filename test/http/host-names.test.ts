import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { HostNames, type NameTimes } from "../../runtime/http/names/host-names.ts"
import { formsOf, NameQuestions } from "../../runtime/http/names/name-questions.ts"
import { hasOtherSources, parseHosts, parseResolver } from "../../runtime/http/names/system-files.ts"
import { type DnsServer, startDnsServer } from "../support/dns-server.ts"
import { closeAll, startBackend } from "./pool-harness.ts"

let dns: DnsServer

beforeEach(async () => {
  dns = await startDnsServer("options timeout:30 attempts:1")
})

afterEach(async () => {
  await closeAll()
  await dns.stop()
})

function namesOf(times: Partial<NameTimes> = {}): HostNames {
  return new HostNames(new NameQuestions(dns.paths, "linux"), times)
}

function addresses(names: HostNames, name: string): Promise<readonly string[]> {
  return names.addresses(name).then((found) => found.map(({ address }) => address))
}

describe("look-ups", () => {
  test("names with silent name servers delay no other", async () => {
    const names = namesOf()
    dns.set("fine.test", { a: ["127.0.0.9"] })
    const silent = Array.from({ length: 20 }, (_, index) => `silent-${index}.test`)
    let ended = 0
    for (const name of silent) {
      dns.set(name, { drops: ["A", "AAAA"] })
      void names.addresses(name).catch(() => {
        ended += 1
      })
    }
    await expect.poll(() => silent.every((name) => dns.asked.includes(`AAAA ${name}`))).toBe(true)
    expect(await addresses(names, "fine.test")).toEqual(["127.0.0.9"])
    expect(ended).toBe(0)
  })

  test("a silent name server costs its own name a bounded time", async () => {
    dns.set("silent.test", { drops: ["A", "AAAA"] })
    const names = new HostNames(new NameQuestions(dns.paths, "linux", 100))
    await expect(names.addresses("silent.test")).rejects.toMatchObject({
      code: "EAI_AGAIN",
      message: "the name `silent.test` cannot be looked up: no name server has replied in time",
    })
  })

  test("a known address serves on while its name server is silent", async () => {
    const names = namesOf({ ttlMin: 1, ttlMax: 1 })
    dns.set("kept.test", { a: ["127.0.0.9"] })
    expect(await addresses(names, "kept.test")).toEqual(["127.0.0.9"])
    dns.set("kept.test", { drops: ["A", "AAAA"] })
    await expect
      .poll(async () => [await addresses(names, "kept.test"), dns.asked.length])
      .toEqual([["127.0.0.9"], 4])
    // Only one question at a time.
    for (let each = 0; each < 20; each += 1)
      expect(await addresses(names, "kept.test")).toEqual(["127.0.0.9"])
    expect(dns.asked).toHaveLength(4)
  })

  test("a new address is used after a question in the background", async () => {
    const names = namesOf({ ttlMin: 1, ttlMax: 1 })
    dns.set("moved.test", { a: ["127.0.0.8"] })
    expect(await addresses(names, "moved.test")).toEqual(["127.0.0.8"])
    dns.set("moved.test", { a: ["127.0.0.9"] })
    await expect.poll(() => addresses(names, "moved.test")).toEqual(["127.0.0.9"])
  })

  test("an address that has been unused for long is asked before it is used", async () => {
    const names = namesOf({ ttlMin: 1, ttlMax: 1, background: 0 })
    dns.set("old.test", { a: ["127.0.0.8"] })
    await addresses(names, "old.test")
    dns.set("old.test", { a: ["127.0.0.9"] })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await addresses(names, "old.test")).toEqual(["127.0.0.9"])
  })

  test("the time to live of DNS counts, within bounds", async () => {
    const names = namesOf()
    dns.set("long.test", { a: ["127.0.0.9"], ttl: 3600 })
    await addresses(names, "long.test")
    await addresses(names, "LONG.test")
    expect(dns.asked).toEqual(["A long.test", "AAAA long.test"])
  })

  test("a connection that fails makes the next look-up ask again", async () => {
    const names = namesOf({ ttlMin: 1 })
    dns.set("gone.test", { a: ["127.0.0.9"], ttl: 3600 })
    const { port } = await startBackend((_text, socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    )
    const http = new HttpClient(names)
    const request = { method: "GET", headers: [], body: undefined, timeoutMs: 60_000 }
    const send = () => http.send({ ...request, url: `http://gone.test:${port}/` })
    // The backend listens on 127.0.0.1 only.
    await expect(send()).rejects.toMatchObject({ reason: "unreachable" })
    dns.set("gone.test", { a: ["127.0.0.1"], ttl: 3600 })
    await expect.poll(async () => (await send().catch(() => undefined))?.status).toBe(200)
    await http.close()
  })

  test("negative answers are kept shortly", async () => {
    const names = namesOf({ unknown: 60_000, unanswered: 60_000 })
    const wrong = { reason: "unknown", code: "ENOTFOUND" }
    await expect(names.addresses("none.test")).rejects.toMatchObject(wrong)
    await expect(names.addresses("none.test")).rejects.toMatchObject(wrong)
    expect(dns.asked).toHaveLength(2)
    dns.set("broken.test", { code: "SERVFAIL" })
    const unanswered = { reason: "unanswered", code: "EAI_AGAIN" }
    await expect(names.addresses("broken.test")).rejects.toMatchObject(unanswered)
    const { length } = dns.asked
    await expect(names.addresses("broken.test")).rejects.toMatchObject(unanswered)
    expect(dns.asked).toHaveLength(length)
  })

  test("a name that DNS has removed loses its address, a failing server removes none", async () => {
    const names = namesOf({ ttlMin: 1, ttlMax: 1, unanswered: 1 })
    dns.set("removed.test", { a: ["127.0.0.9"] })
    await addresses(names, "removed.test")
    dns.set("removed.test", { code: "SERVFAIL" })
    const { length } = dns.asked
    await expect
      .poll(async () => [await addresses(names, "removed.test"), dns.asked.length > length + 4])
      .toEqual([["127.0.0.9"], true])
    dns.set("removed.test", undefined)
    await expect
      .poll(() => addresses(names, "removed.test").catch(({ code }: { code: string }) => code))
      .toBe("ENOTFOUND")
  })

  test("both families are found, and one that is never answered delays little", async () => {
    const names = namesOf()
    dns.set("both.test", { a: ["127.0.0.9"], aaaa: ["2001:db8:0:0:0:0:0:1"] })
    expect([...(await addresses(names, "both.test"))].sort()).toEqual(["127.0.0.9", "2001:db8::1"])
    dns.set("half.test", { a: ["127.0.0.9"], drops: ["AAAA"] })
    expect(await addresses(names, "half.test")).toEqual(["127.0.0.9"])
    dns.set("six.test", { aaaa: ["2001:db8:0:0:0:0:0:1"], drops: ["A"] })
    expect(await addresses(names, "six.test")).toEqual(["2001:db8::1"])
  })

  test("the hosts file comes first, and is read again", async () => {
    const names = namesOf()
    dns.set("listed.test", { a: ["127.0.0.9"] })
    dns.write("hosts", "127.0.0.7 other listed.test # a comment\n")
    await expect.poll(() => addresses(names, "Listed.test")).toEqual(["127.0.0.7"])
    const { length } = dns.asked
    await addresses(names, "listed.test")
    expect(dns.asked).toHaveLength(length)
    dns.write("hosts", "")
    await expect.poll(() => addresses(names, "listed.test")).toEqual(["127.0.0.9"])
  })

  test("`localhost` needs no question", async () => {
    expect([...(await addresses(namesOf(), "app.localhost"))].sort()).toEqual(["127.0.0.1", "::1"])
    expect(dns.asked).toEqual([])
  })

  test("a name that DNS does not know goes to the system where it has other sources", async () => {
    dns.write("sources", "hosts: files mdns4_minimal [NOTFOUND=return] dns\n")
    await expect(namesOf().addresses("unknown.invalid")).rejects.toMatchObject({
      message: expect.stringMatching(/^the system does not find `unknown.invalid`/),
    })
  })
})

describe("search domains", () => {
  const search = (options: string) =>
    dns.write("resolver", `nameserver 127.0.0.1:${dns.port}\nsearch shop.svc.test svc.test\n${options}\n`)

  test("short names are asked with them, in the order of `ndots`", async () => {
    search("options ndots:5")
    dns.set("orders.svc.test", { a: ["127.0.0.9"] })
    expect(await addresses(namesOf(), "orders")).toEqual(["127.0.0.9"])
    expect(dns.asked.filter((each) => each.startsWith("A "))).toEqual([
      "A orders.shop.svc.test",
      "A orders.svc.test",
    ])
  })

  test("a failing server for one of them is no answer that the name is unknown", async () => {
    search("options ndots:5")
    dns.set("orders.svc.test", { code: "SERVFAIL" })
    await expect(namesOf().addresses("orders")).rejects.toMatchObject({ code: "EAI_AGAIN" })
    expect(dns.asked).toContain("A orders")
  })

  test("names with enough dots are asked as they are first", () => {
    const settings = parseResolver("search a.test b.test\noptions ndots:2", {}, "h")
    expect(formsOf("x.y", settings)).toEqual(["x.y.a.test", "x.y.b.test", "x.y"])
    expect(formsOf("x.y.z", settings)).toEqual(["x.y.z", "x.y.z.a.test", "x.y.z.b.test"])
    expect(formsOf("x.", settings)).toEqual(["x."])
  })
})

describe("files of the system", () => {
  test("resolv.conf is read as glibc does", () => {
    const text = "# c\nnameserver 10.0.0.1\nnameserver ::1 ; c\nsearch a\ndomain b.test\noptions timeout:3"
    expect(parseResolver(text, { RES_OPTIONS: "ndots:99 attempts:0" }, "h.c.test")).toEqual({
      servers: ["10.0.0.1", "::1"],
      search: ["b.test"],
      ndots: 15,
      timeoutMs: 3000,
      attempts: 1,
    })
    expect(parseResolver("", { LOCALDOMAIN: "x y" }, "h")).toMatchObject({
      servers: ["127.0.0.1"],
      search: ["x", "y"],
      ndots: 1,
    })
    expect(parseResolver("options ndots:x", {}, "h.c.test")).toMatchObject({ search: ["c.test"], ndots: 1 })
  })

  test("hosts and nsswitch.conf", () => {
    expect(parseHosts("::1 A\n127.0.0.1 a b\nnonsense c\n").get("a")).toEqual(["::1", "127.0.0.1"])
    expect(parseHosts("nonsense c").size).toBe(0)
    expect(hasOtherSources("hosts: files [NOTFOUND=return] dns # myhostname")).toBe(false)
    expect(hasOtherSources("passwd: ldap\nhosts:files myhostname dns")).toBe(true)
    expect(hasOtherSources("")).toBe(false)
  })
})
