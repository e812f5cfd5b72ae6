import { mkdtemp, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterEach, beforeAll, expect, test } from "vitest"
import { createVerifier, type IssuerSettings, type VerifierOptions } from "../../runtime/identity/issuer.ts"
import { verifyAny } from "../../runtime/identity/verify-any.ts"
import { promptlyMs } from "../support/busy.ts"
import { IssuerServer, type TestKey, testKey } from "./issuer-server.ts"

// An issuer that takes connections and says nothing: what a token costs then is the wait of a request.

let first: TestKey
let second: TestKey
const stops: (() => Promise<unknown> | unknown)[] = []

beforeAll(async () => {
  first = await testKey("first")
  second = await testKey("second")
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Hanging {
  readonly server: IssuerServer
  /** From now on nobody gets an answer. */
  hang(): void
  /** Those who wait get theirs, with these keys, and so does everybody after them. */
  release(keys: readonly TestKey[]): void
}

async function issuer(keys: readonly TestKey[]): Promise<Hanging> {
  const server = await new IssuerServer(keys).start()
  stops.push(() => server.stop())
  const waiting: ServerResponse[] = []
  return {
    server,
    hang() {
      server.jwks = (_, response) => waiting.push(response)
    },
    release(now) {
      server.keys = { keys: now.map(({ jwk }) => jwk) }
      server.jwks = undefined
      for (const response of waiting) response.end(JSON.stringify(server.keys))
    },
  }
}

function verifierOf(source: IssuerSettings["source"], options: VerifierOptions = {}) {
  const made = createVerifier(
    { name: "acme", source, audiences: ["api"], clockSkewSeconds: 30, algorithms: ["RS256"] },
    options,
  )
  stops.push(() => made.close())
  return made
}

const discovery = ({ server }: Hanging) => ({ discovery: server.url })

/** What was first: the answer, or a second that passes. Requests waited for two. */
function before<Answer>(answer: Answer | Promise<Answer>): Promise<Answer | "a second has passed"> {
  return Promise.race([answer, delay(promptlyMs(1_000), "a second has passed" as const)])
}

test("a token with an unknown key id does not wait for it, and costs one fetch however many come", async () => {
  const hanging = await issuer([first])
  const { server } = hanging
  const checked = verifierOf(discovery(hanging))
  expect((await checked.verify(await server.token(first))).kind).toBe("verified")
  hanging.hang()
  const forged = await Promise.all(
    Array.from({ length: 50 }, (_, index) => server.token(second, {}, { kid: `kid-${index}` })),
  )
  const { jwks } = server.fetches
  const one = await before(checked.verify(forged[0] as string))
  expect(one).toMatchObject({ kind: "invalid", fault: "TokenSignatureKeyNotFound" })
  // One after the other: had each of them a wait of its own, this would take four seconds.
  const all = (async () => {
    for (const token of forged) await checked.verify(token)
    return "all"
  })()
  expect(await before(all)).toBe("all")
  expect(server.fetches.jwks).toBe(jwks + 1)
})

test("known keys stay good meanwhile, and a key that comes in the background is accepted without another fetch", async () => {
  const hanging = await issuer([first])
  const { server } = hanging
  const checked = verifierOf(discovery(hanging))
  await checked.verify(await server.token(first))
  hanging.hang()
  const rotated = await server.token(second)
  expect(await before(checked.verify(rotated))).toMatchObject({ kind: "invalid" })
  expect(await before(checked.verify(await server.token(first, { sub: "bob" })))).toMatchObject({
    kind: "verified",
  })
  const { jwks } = server.fetches
  hanging.release([first, second])
  await expect.poll(async () => (await checked.verify(rotated)).kind).toBe("verified")
  expect(server.fetches.jwks).toBe(jwks)
})

test("before there are any keys, requests wait for the fetch and not each for itself", async () => {
  const hanging = await issuer([first])
  hanging.hang()
  const clock = { mono: 0 }
  const checked = verifierOf(discovery(hanging), { monotonic: () => clock.mono })
  const token = await hanging.server.token(first)
  // The fetch is as old as a request may wait.
  clock.mono = 2_000
  expect(await before(checked.verify(token))).toMatchObject({ kind: "unavailable" })
  hanging.release([first])
  await expect.poll(async () => (await checked.verify(token)).kind).toBe("verified")
})

test("of several issuers the one whose keys are known decides at once", async () => {
  const hanging = await issuer([first])
  const folder = await mkdtemp(join(tmpdir(), "sallyport-keys-"))
  stops.push(() => rm(folder, { recursive: true }))
  const keysFile = join(folder, "keys.json")
  await writeFile(keysFile, JSON.stringify({ keys: [second.jwk] }))
  const warm = verifierOf(discovery(hanging))
  await warm.verify(await hanging.server.token(first))
  hanging.hang()
  const cold = verifierOf(discovery(hanging))
  const file = verifierOf({ keysFile, issuer: null })
  await expect.poll(() => file.state().ready).toBe(true)
  const token = await hanging.server.token(second, { iss: "https://elsewhere.example" })
  expect(await before(verifyAny([cold, warm, file], token, {}))).toMatchObject({ kind: "verified" })
})
