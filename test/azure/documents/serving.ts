import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect } from "vitest"
import { MemoryFiles } from "../../../compiler/core/files.ts"
import { renderDiagnostics } from "../../../compiler/render/diagnostics.ts"
import type { CheckAnswer } from "../../../runtime/check/ports.ts"
import { createGateway } from "../../../runtime/gateway/gateway.ts"
import type { Finished } from "../../../runtime/gateway/observer.ts"
import { createVerifier } from "../../../runtime/identity/issuer.ts"
import { createKeyTable, type IssuedKeys } from "../../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../../runtime/limits/memory.ts"
import type { TraceLine } from "../../../runtime/policies/ports.ts"
import { compile } from "../../compile.ts"
import { authorizerOf } from "../../gateway/authorizer.ts"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { freePort } from "../../support/free-port.ts"

/** A gateway that serves a project of gateway.conf and documents. */
export interface Served {
  readonly url: string
  readonly log: readonly Finished[]
  /** Lines that steps have written. */
  readonly traces: readonly TraceLine[]
  close(): Promise<void>
}

/** Compiles a project and serves it on a port of its own: `gateway.conf` listens on `127.0.0.1:8000`. Certificates are files of `test/gateway/certificates`. */
export async function serveDocuments(
  files: readonly (readonly [string, string])[],
  environment: Readonly<Record<string, string>> = {},
  issued?: IssuedKeys,
): Promise<Served> {
  const { plan, diagnostics } = compile(new MemoryFiles(files), "gateway.conf")
  expect(
    renderDiagnostics(
      diagnostics.filter(({ severity }) => severity === "error"),
      "text",
      { colour: false },
    ),
  ).toBe("")
  if (plan?.plan.gateway == null) throw new Error("no gateway in the plan")
  const log: Finished[] = []
  const traces: TraceLine[] = []
  const port = await freePort()
  const gateway = createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable: (entries) => createKeyTable(entries, issued),
    limiter: createMemoryLimiter(),
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    authorizerOf: () => authorizerOf((): CheckAnswer => ({ allowed: false, revision: 0, stamp: "" })),
    observer: { finished: (finished) => log.push(finished), traced: (line) => traces.push(line) },
    environment,
    folder: fileURLToPath(new URL("../../gateway/certificates", import.meta.url)),
  })
  const listen = [{ host: "127.0.0.1", port }]
  await gateway.apply({ ...plan, plan: { ...plan.plan, gateway: { ...plan.plan.gateway, listen } } })
  return { url: `http://127.0.0.1:${port}`, log, traces, close: () => gateway.close(0) }
}

/** A project that is served before a backend which echoes, as long as the tests of a file or of a `describe` run. */
export interface Standing {
  readonly upstream: Upstream
  readonly served: Served
}

/** `filesOf` gets the URL of the backend. Call it where tests are declared; it is there when they run. */
export function standing(filesOf: (backend: string) => readonly (readonly [string, string])[]): Standing {
  const made: { upstream?: Upstream; served?: Served } = {}
  beforeAll(async () => {
    made.upstream = await startUpstream()
    made.served = await serveDocuments(filesOf(made.upstream.url))
  })
  afterAll(async () => {
    await made.served?.close()
    await made.upstream?.close()
  })
  return made as Standing
}
