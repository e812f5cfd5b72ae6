import { describe, expect, test } from "vitest"
import { canonicalPath } from "../../runtime/policies/messages/canonical-path.ts"
import { promptlyMs } from "../support/busy.ts"

/** `[path, canonical form]`; undefined: refused. */
const rows: [string, string | undefined][] = [
  ["/", "/"],
  ["/a/b", "/a/b"],
  ["/a/b/", "/a/b/"],
  ["/a.b/c-d_e~f", "/a.b/c-d_e~f"],
  ["/.well-known/x", "/.well-known/x"],
  ["/a..b", "/a..b"],
  ["/%61%62", "/ab"],
  ["/%2D%7e", "/-~"],
  ["/a%20b", "/a%20b"],
  ["/a%2bb%3ab%40", "/a+b:b@"],
  ["/%c3%a9", "/%C3%A9"],
  ["/%7b%7D", "/%7B%7D"],
  ["/a%3Fb%23c", "/a%3Fb%23c"],
  ["/50%25", "/50%25"],
  ["/50%25x", "/50%25x"],
  ["/a:b@c!$&'()*+,=", "/a:b@c!$&'()*+,="],
  ["", undefined],
  ["a", undefined],
  ["//", undefined],
  ["/a//b", undefined],
  ["//a", undefined],
  ["/a//", undefined],
  ["/.", undefined],
  ["/..", undefined],
  ["/a/./b", undefined],
  ["/a/../b", undefined],
  ["/a/..", undefined],
  ["/%2e/a", undefined],
  ["/%2E%2e/a", undefined],
  ["/.%2e/a", undefined],
  ["/.../a", undefined],
  ["/a./b", undefined],
  ["/a%2e/b", undefined],
  ["/a%20/b", undefined],
  ["/%20a/b", undefined],
  ["/%20", undefined],
  ["/a%2fb", undefined],
  ["/a%5Cb", undefined],
  ["/a\\b", undefined],
  ["/a;b", undefined],
  ["/a%3bb", undefined],
  ["/%00", undefined],
  ["/%0d%0a", undefined],
  ["/%09", undefined],
  ["/%1f", undefined],
  ["/%7f", undefined],
  ["/%2525", undefined],
  ["/%252e", undefined],
  ["/%25%32%65", undefined],
  ["/%", undefined],
  ["/%4", undefined],
  ["/%zz", undefined],
  ["/%u002e", undefined],
  ["/%c0%ae", undefined],
  ["/%c0%af", undefined],
  ["/%e0%80%af", undefined],
  ["/%ff", undefined],
  ["/%c3", undefined],
  ["/%ed%a0%80", undefined],
  ["/%c2%85", undefined],
  ["/%e2%80%a8", undefined],
  ["/%ef%bb%bf", undefined],
  ["/a b", undefined],
  ["/a<b", undefined],
  ['/a"b', undefined],
  ["/a{b}", undefined],
  ["/a|b", undefined],
  ["/a^b", undefined],
  ["/a`b", undefined],
  ["/é", undefined],
]

/** As a careless server does: what is no encoding stays. */
function decodeLoosely(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

describe("canonicalPath", () => {
  test.each(rows)("%s", (path, canonical) => {
    expect(canonicalPath(path)).toBe(canonical)
  })

  test("is stable: a canonical path is its own canonical form", () => {
    for (const [, canonical] of rows)
      if (canonical !== undefined) expect(canonicalPath(canonical)).toBe(canonical)
  })

  test("no single character, raw or encoded, makes another segment, a dot segment or a blank end", () => {
    for (let code = 0; code < 256; code += 1) {
      const hex = code.toString(16).padStart(2, "0")
      for (const middle of [String.fromCharCode(code), `%${hex}`, `%25${hex}`, `%${hex.toUpperCase()}`]) {
        for (const path of [
          `/a${middle}b`,
          `/a/${middle}`,
          `/${middle}/b`,
          `/a/${middle}${middle}/b`,
          `/a/.${middle}/b`,
        ]) {
          const canonical = canonicalPath(path)
          if (canonical === undefined) continue
          const inner = canonical.slice(1, canonical.endsWith("/") ? -1 : undefined).split("/")
          for (const segment of inner) {
            const decoded = decodeLoosely(decodeLoosely(segment))
            expect(decoded, path).not.toMatch(/[/\\;]|\p{Cc}|^\.{0,2}$|[. ]$/u)
          }
        }
      }
    }
  })

  test("reads a long hostile path in no time", () => {
    const began = performance.now()
    for (const piece of ["a.", ".a", "%2", "a%", "/a", "(", "%61"]) canonicalPath(`/${piece.repeat(8_000)}"`)
    expect(performance.now() - began).toBeLessThan(promptlyMs(5_000))
  })
})
