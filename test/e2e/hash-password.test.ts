import { execFile } from "node:child_process"
import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { createGateway } from "../../runtime/gateway/gateway.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { projectRoot } from "../structure/tree.ts"
import { freePort } from "../support/free-port.ts"

/** What the real command prints for what is piped into it. */
function hashOf(password: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const program = `${projectRoot}compiler/cli/sallyport.mjs`
    const child = execFile(process.execPath, [program, "hash-password"], (error, out) =>
      error === null ? resolve(out.trim()) : reject(error),
    )
    child.stdin?.end(password)
  })
}

test("the hash the command prints is what `users` needs: the password is known to its owner alone", async () => {
  const port = await freePort()
  const text = `
    gateway g { listen 127.0.0.1:${port}; trust none }
    secret ann_hash = env(ANN_HASH)
    users staff { user ann ann_hash }
    api a { path "/a"; auth basic staff; GET "/" { respond 200 { body json ({"user": jwt.sub}) } } }`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  expect(diagnostics).toEqual([])
  const gateway = createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter(),
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    authorizerOf: () => authorizerOf(() => ({ allowed: false, revision: 0 })),
    observer: { finished: () => undefined },
    environment: { ANN_HASH: await hashOf("correct horse: battery") },
    folder: process.cwd(),
  })
  try {
    await gateway.apply(plan as NonNullable<typeof plan>)
    const ask = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`
      const answer = await fetch(`http://127.0.0.1:${port}/a`, { headers: { authorization } })
      return [answer.status, answer.status === 200 ? await answer.json() : undefined]
    }
    expect(await ask("correct horse: battery")).toEqual([200, { user: "ann" }])
    expect(await ask("correct horse: staple")).toEqual([401, undefined])
  } finally {
    await gateway.close(0)
  }
})
