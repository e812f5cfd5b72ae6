import { expect, test } from "vitest"
import { canonicalName, canonicalNameOf } from "../../runtime/plan/distinguished-name.ts"

test.each([
  ["CN=orders,O=Acme", "CN=orders,O=Acme"],
  ["cn = orders , o = Acme ", "CN=orders,O=Acme"],
  [String.raw`CN=orders,O=Acme\, Inc`, String.raw`CN=orders,O=Acme\, Inc`],
  [String.raw`CN=orders,O=Acme\2C Inc`, String.raw`CN=orders,O=Acme\, Inc`],
  [String.raw`CN=Lu\C4\8Di\C4\87`, "CN=Lučić"],
  ["CN=Lučić 🙂", "CN=Lučić 🙂"],
  ["OU=b+CN=a,O=x", "CN=a+OU=b,O=x"],
  [String.raw`CN=\ a\ `, String.raw`CN=\ a\ `],
  [String.raw`CN=\#a`, String.raw`CN=\#a`],
  [String.raw`CN=a\0Ab`, String.raw`CN=a\0Ab`],
  ["1.2.3.4=x", "1.2.3.4=x"],
])("%s has one spelling", (text, canonical) => {
  expect(canonicalName(text)).toBe(canonical)
  expect(canonicalName(canonical)).toBe(canonical)
})

test.each([
  "",
  "orders",
  "CN=",
  "CN=a,",
  "=a",
  "CN=#0401",
  'CN="a"',
  "CN=a;O=b",
  "CN=a\\",
  String.raw`CN=\C4`,
  "C N=a",
])("%j is no name", (text) => {
  expect(canonicalName(text)).toBeUndefined()
})

test("the name of a certificate has the same spelling as the written one", () => {
  expect(canonicalNameOf("C=DE\nO=Acme\\, Inc\nOU=b + CN=a")).toBe("CN=a+OU=b,O=Acme\\, Inc,C=DE")
  expect(canonicalNameOf("O=a\\0ACN=b")).toBe("O=a\\0ACN\\=b".replace("\\=", "="))
  expect(canonicalNameOf("")).toBeUndefined()
})
