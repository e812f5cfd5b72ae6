import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { proxyHeader } from "../../runtime/http/server/proxy-header.ts"

const signature = "0d0a0d0a000d0a515549540a"
const binary = (rest: string) => Buffer.from(signature + rest, "hex")
const text = (line: string) => Buffer.from(line, "latin1")
const ipv4 = "c0000207cb007101" + "1f9001bb"
const ipv6 = `20010db8000000000000000000000007${"00".repeat(15)}01${"1f9001bb"}`

describe("a header of the PROXY protocol", () => {
  test.each([
    ["version 1, IPv4", text("PROXY TCP4 192.0.2.7 203.0.113.1 8080 443\r\n"), "192.0.2.7"],
    ["version 1, IPv6", text("PROXY TCP6 2001:db8::7 ::1 8080 443\r\n"), "2001:db8::7"],
    ["version 1, unknown", text("PROXY UNKNOWN\r\n"), undefined],
    ["version 1, unknown with addresses", text("PROXY UNKNOWN ffff::1 ::1 1 2\r\n"), undefined],
    ["version 2, IPv4", binary(`2111000c${ipv4}`), "192.0.2.7"],
    ["version 2, IPv6", binary(`21210024${ipv6}`), "2001:db8::7"],
    ["version 2, with further fields", binary(`21110012${ipv4}030003616263`), "192.0.2.7"],
    ["version 2, LOCAL", binary("20000000"), undefined],
    ["version 2, LOCAL with addresses", binary(`2011000c${ipv4}`), undefined],
    ["version 2, unspecified", binary("21000000"), undefined],
  ])("of %s has the client's address and its size, once it is complete", (_, header, address) => {
    expect(proxyHeader(Buffer.concat([header, Buffer.from("GET / HTTP/1.1\r\n")]))).toEqual({
      address,
      size: header.length,
    })
    for (let length = 0; length < header.length; length += 1)
      expect(proxyHeader(header.subarray(0, length))).toBe("more")
  })

  test.each([
    ["HTTP", text("GET / HTTP/1.1\r\n")],
    ["TLS", Buffer.from("16030100", "hex")],
    ["too long", text(`PROXY TCP4 ${"1".repeat(200)}`)],
    ["of another family", text("PROXY TCP4 2001:db8::7 ::1 8080 443\r\n")],
    ["without ports", text("PROXY TCP4 192.0.2.7 203.0.113.1\r\n")],
    ["with two blanks", text("PROXY TCP4  192.0.2.7 203.0.113.1 1 2\r\n")],
    ["in lower case", text("proxy TCP4 192.0.2.7 203.0.113.1 1 2\r\n")],
    ["of version 3", binary(`3111000c${ipv4}`)],
    ["with another command", binary(`2211000c${ipv4}`)],
    ["for UDP", binary(`2112000c${ipv4}`)],
    ["for a Unix socket", binary(`2131${"00d8"}${"00".repeat(216)}`)],
    ["with too few bytes for its addresses", binary(`21110008${ipv4.slice(0, 16)}`)],
  ])("%s is none", (_, bytes) => {
    expect(proxyHeader(bytes)).toBeUndefined()
  })

  test("never throws, and never has more bytes than there are", () => {
    fc.assert(
      fc.property(fc.constantFrom(signature, ""), fc.uint8Array({ maxLength: 80 }), (start, bytes) => {
        const all = Buffer.concat([Buffer.from(start, "hex"), bytes])
        const found = proxyHeader(all)
        return found === undefined || found === "more" || found.size <= all.length
      }),
    )
  })
})
