import { expect, test } from "vitest"
import { decodeId, encodeId } from "../../runtime/authz/authzen/ids.ts"

const samples = [
  "alice",
  "rick@the-citadel.com",
  "a:b",
  "a#b",
  "a b",
  "*",
  "**",
  "a*",
  "50%",
  "%",
  "%%41",
  "%41",
  "%3A",
  "%253A",
  "%2",
  "%2:",
  "%ff",
  "é%C3%A9",
  "\u0000",
  "tab\tnew\nline\r\f",
  "😀#😀",
]

test.each(samples)("%j comes back, and is an id the engine can hold", (id) => {
  expect(decodeId(encodeId(id))).toBe(id)
  expect(encodeId(id)).toMatch(/^[^\s:#\0]+$/u)
  expect(encodeId(id)).not.toBe("*")
})

test("no two ids are one", () => {
  const parts = ["%", "3", "A", "2", "5", ":", "#", "*", "a", " "]
  const seen = new Map<string, string>()
  for (const a of parts)
    for (const b of parts)
      for (const c of parts)
        for (const d of parts) {
          const id = a + b + c + d
          const other = seen.get(encodeId(id))
          expect(other ?? id).toBe(id)
          expect(decodeId(encodeId(id))).toBe(id)
          seen.set(encodeId(id), id)
        }
})

test("what needs no escape has none", () => {
  for (const id of ["rick@the-citadel.com", "50%", "a/b.c+d|e", "%zz", "é"]) expect(encodeId(id)).toBe(id)
})
