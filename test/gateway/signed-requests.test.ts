import { createHmac } from "node:crypto"
import { inspect } from "node:util"
import { afterEach, expect, test } from "vitest"
import { SecretKey } from "../../runtime/expression/secret-key.ts"
import { compiled } from "../diff/compiled.ts"
import { closeAll, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

// Requests of the gateway that are signed by `hmac` with a secret.

afterEach(closeAll)

const key = "canary-7f1c2a90-of-the-partner"
const secrets = { partner: { env: "PARTNER" } }

/** The steps of the inbound section of a route. */
function stepsOf(inbound: string): StepDraft[] {
  const { plan } = compiled({
    "gateway.conf": `gateway g { listen 127.0.0.1:8000; trust none }
secret partner = env(PARTNER)
api a { path "/a"; auth none; backend "http://127.0.0.1:1"; inbound { ${inbound} }; POST "/" }`,
  })
  const ids = Object.values(plan.routes)[0]?.sections.inbound ?? []
  return ids.map((id) => plan.steps[id] as StepDraft)
}

const signed = 'header set "X-Signature" "sha256=${hmac("sha256", partner, request.text).hex()}"'
const environment = { PARTNER: key }

const digest = (text: string) => `sha256=${createHmac("sha256", key).update(text).digest("hex")}`

test("a backend can verify the signature of a request", async () => {
  const { running, upstream } = await start({ inbound: stepsOf(signed) }, { secrets }, { environment })
  const body = '{"amount":"12.50"}'
  expect((await fetch(`${running.url}/a/7`, { method: "POST", body })).status).toBe(200)
  expect(upstream.requests[0]?.headers["x-signature"]).toBe(digest(body))
})

test("an explanation signs with a random key, and shows no secret", async () => {
  const variable = `set signature (hmac("sha256", partner, request.text).hex())`
  const { running } = await start(
    { inbound: stepsOf(`${variable}; ${signed}; header set "X-Copy" "\${var.signature}"`) },
    { secrets },
    { environment },
  )
  const question = {
    ...{ method: "POST", target: "/a/7", host: "gw", ip: "127.0.0.1", claims: undefined },
    ...{ headers: [], body: Buffer.from("chosen") },
  }
  const first = JSON.stringify(await running.gateway.explain(question as never))
  const second = JSON.stringify(await running.gateway.explain(question as never))
  for (const text of [first, second]) {
    expect(text).not.toContain(key)
    expect(text).not.toContain(digest("chosen").slice(7))
  }
  expect(first).toContain("set-header")
})

test("an empty or unset secret refuses the plan, and names it", async () => {
  const inbound = stepsOf(signed)
  await expect(start({ inbound }, { secrets }, { environment: { PARTNER: "" } })).rejects.toThrow(
    "the secret `partner` is empty",
  )
  await expect(start({ inbound }, { secrets }, { environment: {} })).rejects.toThrow("PARTNER is not set")
})

test("a plan whose expression uses a secret as a text is refused", async () => {
  const [step] = stepsOf(signed)
  const forged = JSON.parse(
    JSON.stringify(step).replace(/hmac\(.*\)\.hex\(\)/, "string(partner)"),
  ) as StepDraft
  const running = start({ inbound: [forged] }, { secrets }, { environment })
  await expect(running).rejects.toThrow("`partner` is a secret, which can only be the key of `hmac`")
})

test("the value of a secret prints nothing of it", () => {
  const value = new SecretKey(key)
  for (const text of [`${value}`, JSON.stringify({ value }), inspect({ value }), Object.keys(value).join()])
    expect(text).not.toContain("canary")
})
