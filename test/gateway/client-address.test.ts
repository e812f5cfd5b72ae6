import { expect, test } from "vitest"
import { ClientAddresses, normalAddress } from "../../runtime/gateway/exchange/client-address.ts"

const trusts: Record<string, string[]> = {
  nobody: [],
  loopback: ["127.0.0.1"],
  network: ["10.0.0.0/8", "127.0.0.1"],
  everybody: ["0.0.0.0/0", "::/0"],
  six: ["2001:db8::/32"],
  mapped: ["::ffff:10.0.0.0/104", "127.0.0.1"],
}

/** `[who is trusted, peer, X-Forwarded-For, derived address]` */
const rows: [string, string, string | undefined, string][] = [
  ["nobody", "127.0.0.1", undefined, "127.0.0.1"],
  ["nobody", "127.0.0.1", "9.9.9.9", "127.0.0.1"],
  ["nobody", "::ffff:127.0.0.1", "9.9.9.9", "127.0.0.1"],
  ["loopback", "127.0.0.1", "9.9.9.9", "9.9.9.9"],
  ["loopback", "127.0.0.1", "1.1.1.1, 9.9.9.9", "9.9.9.9"],
  ["loopback", "127.0.0.1", "1.1.1.1, 9.9.9.9, 127.0.0.1", "9.9.9.9"],
  ["loopback", "::ffff:127.0.0.1", "9.9.9.9", "9.9.9.9"],
  ["network", "127.0.0.1", "9.9.9.9, 10.1.1.1", "9.9.9.9"],
  ["network", "127.0.0.1", "8.8.8.8, 9.9.9.9, 10.1.1.1, 10.1.1.2", "9.9.9.9"],
  ["network", "127.0.0.1", "10.1.1.1, 10.1.1.2", "10.1.1.1"],
  ["network", "127.0.0.1", "9.9.9.9, ::ffff:10.1.1.1", "9.9.9.9"],
  ["network", "127.0.0.1", "9.9.9.9:4711", "9.9.9.9"],
  ["network", "127.0.0.1", "[2001:DB8::0:1]:443", "2001:db8::1"],
  ["network", "127.0.0.1", "2001:0db8:0000::0001", "2001:db8::1"],
  ["network", "127.0.0.1", "::ffff:9.9.9.9", "9.9.9.9"],
  ["network", "127.0.0.1", "::ffff:0909:0909", "9.9.9.9"],
  ["network", "127.0.0.1", "rubbish", "127.0.0.1"],
  ["network", "127.0.0.1", "9.9.9.9, rubbish", "127.0.0.1"],
  ["network", "127.0.0.1", "9.9.9.9, rubbish, 10.0.0.3", "10.0.0.3"],
  ["network", "127.0.0.1", "9.9.9.9, 010.1.1.1", "127.0.0.1"],
  ["network", "127.0.0.1", "9.9.9.9,", "127.0.0.1"],
  ["network", "127.0.0.1", "", "127.0.0.1"],
  ["network", "11.0.0.1", "9.9.9.9", "11.0.0.1"],
  ["everybody", "127.0.0.1", "1.1.1.1, 2.2.2.2", "1.1.1.1"],
  ["six", "2001:db8::5", "9.9.9.9", "9.9.9.9"],
  ["six", "127.0.0.1", "9.9.9.9", "127.0.0.1"],
]

test.each(rows)("trust %s, peer %s, X-Forwarded-For %j → %s", (trust, peer, forwarded, expected) => {
  expect(new ClientAddresses(trusts[trust] ?? []).of(peer, forwarded).ip).toBe(expected)
})

test("a chain of five thousand hops is not walked", () => {
  const chain = Array.from({ length: 5_000 }, () => "10.0.0.1").join(", ")
  expect(new ClientAddresses(["10.0.0.0/8", "127.0.0.1"]).of("127.0.0.1", `9.9.9.9, ${chain}`).ip).toBe(
    "10.0.0.1",
  )
})

test("equal hosts are one text", () => {
  for (const text of ["::ffff:1.2.3.4", "::FFFF:1.2.3.4", "1.2.3.4:80", " 1.2.3.4 ", "[::ffff:102:304]:9"])
    expect(normalAddress(text)).toBe("1.2.3.4")
  for (const text of ["", "1.2", "01.2.3.4", "1.2.3.4.5", "fe80::1%eth0", "[::1", "host", "::g"])
    expect(normalAddress(text)).toBeUndefined()
})

test("what is no CIDR is refused", () => {
  for (const trust of ["rubbish", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/x"])
    expect(() => new ClientAddresses([trust])).toThrow("CIDR range")
})
