import { expect, test } from "vitest"
import { fieldText } from "../../runtime/policies/messages/header-list.ts"

test.each([
  ["ASCII", "abc", "abc"],
  ["UTF-8", "caf\u00c3\u00a9 \u00f0\u009f\u0092\u00a1", "café 💡"],
  ["a mark at the beginning is part of it", "\u00ef\u00bb\u00bfa", "\ufeffa"],
  ["what is no UTF-8 is Latin-1", "caf\u00e9", "café"],
  ["what ends inside of a character", "caf\u00c3", "cafÃ"],
  ["overlong forms are none", "\u00c0\u00af", "À¯"],
])("%s", (_, bytes, text) => {
  expect(fieldText(bytes)).toBe(text)
})
