import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { certificatesIn } from "../../runtime/plan/certificate-pair.ts"

const pem = readFileSync(new URL("../gateway/certificates/ca.pem", import.meta.url), "utf8")
const damaged = pem.replace(/\n[\s\S]*\n-----END/, "\nMIIB\n-----END")

test("certificates of a file are read in order, with text between them", () => {
  const both = certificatesIn(
    `# an authority\n${pem}\nanother\n${pem.replaceAll("CERTIFICATE", "X509 CERTIFICATE")}`,
  )
  expect(both.map(({ subject }) => subject)).toEqual(Array(2).fill(certificatesIn(pem)[0].subject))
})

test.each([
  ["no PEM", "x", /^it contains no PEM certificate; one starts with .* \(convert DER/],
  ["a damaged one", damaged, /^it contains a damaged certificate, number 1/],
  ["a damaged one after another", pem + damaged, /^it contains a damaged certificate, number 2/],
])("%s: refused", (_, text, reason) => {
  expect(() => certificatesIn(text)).toThrow(reason)
})
