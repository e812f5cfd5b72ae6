import { afterAll, beforeAll } from "vitest"
import type { AuthzParts } from "../../runtime/authz/ports.ts"
import { type AuthzListeners, startAuthz } from "../../runtime/authz/server.ts"
import { describeDatabase } from "../store/databases.ts"
import { GrpcClient } from "../support/grpc-client.ts"
import { type Served, serve } from "./harness.ts"

/** The engine with a listener of HTTP and one of gRPC. */
export interface GrpcServed {
  readonly http: Served
  readonly client: GrpcClient
  readonly listeners: AuthzListeners
  readonly port: number
  /** The id of the declared store `acme`. */
  readonly acme: string
}

/** Tests against the engine's gRPC on a database. */
export function describeGrpc(
  name: string,
  body: (served: () => GrpcServed) => void,
  parts: Partial<AuthzParts> = {},
): void {
  describeDatabase(name, (database) => {
    let served: GrpcServed
    let end: () => Promise<void>
    beforeAll(async () => {
      const http = await serve(database(), undefined, parts)
      const listeners = await startAuthz({
        ...{ api: http.api, listen: [{ host: "127.0.0.1", port: 0 }], transport: { h2c: true, grpc: true } },
      })
      const port = listeners.addresses[0]?.port ?? 0
      const client = new GrpcClient(`127.0.0.1:${port}`)
      const { json } = await http.call("GET", "/stores?name=acme", undefined, {
        authorization: "Bearer key-of-ops",
      })
      served = { http, client, listeners, port, acme: json.stores[0].id }
      end = async () => {
        client.close()
        await listeners.close()
        await http.listeners.close()
      }
    })
    afterAll(() => end())
    body(() => served)
  })
}
