import { MemoryFiles } from "../../compiler/core/files.ts"
import { createGateway } from "../../runtime/gateway/gateway.ts"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import type { TraceLine } from "../../runtime/policies/ports.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { freePort } from "../support/free-port.ts"

export interface Serving {
  readonly base: string
  readonly finished: readonly Finished[]
  readonly lines: TraceLine[]
  close(): Promise<void>
}

/** A gateway that serves a text and the documents it names. */
export async function serve(
  text: (port: number) => string,
  documents: Readonly<Record<string, string>>,
): Promise<Serving> {
  const port = await freePort()
  const files = new MemoryFiles([["gateway.conf", text(port)], ...Object.entries(documents)])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics.map(({ detail }) => detail)))
  const finished: Finished[] = []
  const lines: TraceLine[] = []
  const gateway = createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter(),
    authorizerOf: () => authorizerOf(() => ({ allowed: false, revision: 0 })),
    observer: { finished: (each) => finished.push(each), traced: (line) => lines.push(line) },
    environment: {},
    folder: process.cwd(),
  })
  await gateway.apply(plan)
  return { base: `http://127.0.0.1:${port}`, finished, lines, close: () => gateway.close(0) }
}
