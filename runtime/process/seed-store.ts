import type { TupleKey } from "../check/ports.ts"
import type { EngineDoor } from "../control/ports.ts"
import type { RequestSender } from "../http/client/http-client.ts"
import type { Database } from "../store/database.ts"
import { declaredStores } from "../store/declared-stores.ts"
import { createTupleSource } from "../store/tuple-source.ts"

/**
 * Writes the first tuples of a declared store, through the engine's own API so that they are checked like all others. A store that was ever written to is left alone.
 * @throws Error with the API's words when a tuple does not fit the model.
 */
export async function seedStore(
  database: Database,
  engine: EngineDoor | undefined,
  store: string,
  tuples: readonly TupleKey[],
  http: RequestSender,
): Promise<number> {
  const declared = (await declaredStores(database)).get(store)
  if (declared === undefined || engine === undefined || tuples.length === 0) return 0
  if ((await createTupleSource(database).newest(declared.storeId)).revision > 0) return 0
  const { status, body } = await http.send({
    url: `${engine.url}/stores/${store}/write`,
    method: "POST",
    headers: ["content-type", "application/json", "authorization", engine.authorization],
    body: Buffer.from(JSON.stringify({ writes: { tuple_keys: tuples } })),
    timeoutMs: 10_000,
  })
  if (status !== 200) {
    const { message } = JSON.parse(body.toString("utf8")) as { message?: string }
    throw new Error(`the tuples of store \`${store}\` cannot be written: ${message ?? `status ${status}`}`)
  }
  return tuples.length
}
