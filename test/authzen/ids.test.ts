import { expect, test } from "vitest"
import {
  decodeId,
  decodeResourceId,
  encodeId,
  encodeResourceId,
} from "../../runtime/authz/authzen/entities.ts"

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
  "%2A",
  "%252A",
  "%2a",
  "%3A",
  "%3a",
  "%253A",
  "%25:",
  "%2",
  "%2:",
  "%ff",
  "é%C3%A9",
  "\u0000",
  "tab\tnew\nline\r\f",
  "😀#😀",
]

const ways = [
  { of: "subject", encode: encodeId, decode: decodeId },
  { of: "resource", encode: encodeResourceId, decode: decodeResourceId },
]
const cases = ways.flatMap((way) => samples.map((id) => ({ ...way, id })))

test.each(cases)("$of $id comes back, and is an id the engine can hold", ({ of, encode, decode, id }) => {
  expect(decode(encode(id))).toBe(id)
  expect(encode(id)).toMatch(/^[^\s:#\0]+$/u)
  // Of a subject `*` is everybody, here as there.
  if (of === "resource" || id !== "*") expect(encode(id)).not.toBe("*")
})

const parts = ["%", "3", "A", "2", "5", ":", "#", "*", "a", " "]
const texts = parts.flatMap((a) =>
  parts.flatMap((b) => parts.flatMap((c) => parts.flatMap((d) => [a + b + c + d, `%25${a}${b}${c}${d}`]))),
)

test.each(ways)("of a $of no two ids are one", ({ encode, decode }) => {
  const seen = new Map<string, string>()
  for (const id of texts) {
    const other = seen.get(encode(id))
    if (other !== undefined && other !== id) expect(id).toBe(other)
    if (decode(encode(id)) !== id) expect(decode(encode(id))).toBe(id)
    seen.set(encode(id), id)
  }
})

test.each(ways)("of a $of every id in a tuple is told as one that finds it again", ({ encode, decode }) => {
  for (const id of texts.filter((text) => !/[:# ]/.test(text))) {
    if (encode(decode(id)) !== id) expect(`${id} → ${decode(id)} → ${encode(decode(id))}`).toBe(id)
  }
  for (const id of ["100%25", "%41nna", "%3a", "%252A", "%2a"]) expect(encode(decode(id))).toBe(id)
})

test("what needs no escape has none", () => {
  for (const id of ["rick@the-citadel.com", "50%", "a/b.c+d|e", "%zz", "%41", "é"])
    expect(encodeId(id)).toBe(id)
})
