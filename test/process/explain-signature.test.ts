import { createHmac } from "node:crypto"
import { expect, test } from "vitest"
import { explainOffline } from "../../runtime/gateway/explain/explain-offline.ts"
import type { RequestQuestion } from "../../runtime/gateway/explain/request-explanation.ts"
import { compiled } from "../diff/compiled.ts"

const text = `
gateway test { listen 127.0.0.1:1 }
secret hook = env(HOOK)
secret globex = env(GLOBEX)
backend plain { url "http://127.0.0.1:2" }
api a {
  path "/a"
  backend plain
  POST "/github" { auth hmac github hook { replay-guard } }
  POST "/both" {
    auth hmac custom hook { header "X-Sign"; caller "hook" }
    auth hmac custom globex { header "X-Sign"; caller "globex" }
  }
}
`
const environment = { HOOK: "a secret of a webhook", GLOBEX: "a secret of a partner" }

const offline = (question: Partial<RequestQuestion>, known: Readonly<Record<string, string>> = environment) =>
  explainOffline(
    compiled({ "gateway.conf": text }),
    {
      ...{
        method: "POST",
        target: "/a/github",
        host: "localhost",
        ip: "127.0.0.1",
        headers: [],
        body: undefined,
      },
      ...question,
    },
    { environment: known, folder: process.cwd() },
  )

const signed = (body: string): Partial<RequestQuestion> => ({
  body: Buffer.from(body),
  headers: [
    ["X-Hub-Signature-256", `sha256=${createHmac("sha256", environment.HOOK).update(body).digest("hex")}`],
  ],
})

test("a signature in the question is verified; whether it was used before is not known", async () => {
  const right = await offline(signed("x"))
  expect(right.verdict).toMatchObject({ kind: "forwarded" })
  expect(right.verdict?.assuming).toEqual([expect.stringContaining("is known only to a running Sallyport")])
  expect((await offline({ ...signed("x"), body: Buffer.from("y") })).verdict).toMatchObject({
    ...{ status: 401, problem: "signature-invalid", by: { kind: "validate-hmac" } },
  })
  expect((await offline({})).verdict).toMatchObject({ status: 401, problem: "signature-missing" })
  expect(JSON.stringify(right)).not.toContain(environment.HOOK)
})

test("a named caller is assumed to have signed", async () => {
  for (const claims of [{ sub: "hook" }, {}]) {
    const { verdict } = await offline({ claims })
    expect(verdict).toMatchObject({ kind: "forwarded" })
    expect(verdict?.assuming).toEqual([expect.stringContaining("assumed to have a valid signature")])
  }
  expect((await offline({ target: "/a/both", claims: { sub: "globex" } })).verdict).toMatchObject({
    kind: "forwarded",
  })
  expect((await offline({ target: "/a/both", claims: { sub: "eve" } })).verdict).toMatchObject({
    ...{ status: 401, problem: "signature-missing" },
  })
})

test("without the secrets no signature is valid", async () => {
  expect((await offline(signed("x"), {})).verdict).toMatchObject({ problem: "signature-invalid" })
})
