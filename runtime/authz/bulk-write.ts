import { setImmediate } from "node:timers/promises"
import type { LoadedModel } from "../check/loaded-model.ts"
import type { TupleRow } from "../check/ports.ts"
import { rowOfTuple } from "../store/read-tuples.ts"
import { tupleIdentity } from "../store/write-tuples.ts"
import { asWrite } from "../tracing/tuple-spans.ts"
import type { ApiResponse } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError, storeNotFound } from "./api-error.ts"
import { parseBody } from "./body.ts"
import { consistencyToken, consistencyTokenHeader } from "./consistency.ts"
import type { ApiRequest } from "./route.ts"
import { tupleKeyField } from "./tuple-keys.ts"
import { conflictError, judgeWrite } from "./write.ts"

const lineEnd = 10
/** Lines that are read before other requests get their turn; they take about 10 ms. */
const linesAtOnce = 2_000

/**
 * `POST /stores/{store}/bulk-write`: one tuple per line as a JSON object (`user`, `relation`, `object`, `condition`), empty lines are
 * skipped. All lines are written in one commit, or none. Existing tuples are no error, so that an interrupted import can be repeated. Only
 * the size of the body limits the number of lines. The response: `{"written": 4990, "existing": 10}`.
 */
export async function postBulkWrite(api: AuthzApi, request: ApiRequest): Promise<ApiResponse> {
  const store = await api.stores.find(request.store)
  const modelId = api.modelId(store, request.query.get("authorization_model_id") ?? "")
  const model = await api.model(store, modelId)
  const rows = await rowsOf(request.bytes, model, api.limits().conditionContextBytesMax)
  if (rows.length === 0)
    throw new ApiError("invalid_write_input", "the body has no tuples: it is one JSON object per line")
  const { trace } = request.traced ?? {}
  const outcome = await asWrite(trace, rows.length, () => api.writer.bulkWrite(store.id, rows))
  if (outcome === undefined) {
    api.stores.forget(store)
    throw storeNotFound()
  }
  if ("conflict" in outcome) throw conflictError(outcome)
  const written = outcome.changes.length
  return {
    status: 200,
    body: { written, existing: rows.length - written },
    headers: [...modelHeaders(store.id, modelId), consistencyTokenHeader, consistencyToken(outcome.at)],
  }
}

/**
 * The tuples of a body, each once.
 * @throws ApiError with the number of the line
 */
async function rowsOf(
  body: Buffer,
  model: LoadedModel,
  contextBytesMax: number,
): Promise<readonly TupleRow[]> {
  const rows = new Map<string, TupleRow>()
  let line = 0
  for (let start = 0; start < body.length; ) {
    line += 1
    if (line % linesAtOnce === 0) await setImmediate()
    const found = body.indexOf(lineEnd, start)
    const end = found === -1 ? body.length : found
    try {
      const row = rowOf(body.subarray(start, end), model, contextBytesMax)
      if (row !== undefined) addOnce(rows, row)
    } catch (error) {
      throw error instanceof ApiError ? new ApiError(error.code, `line ${line}: ${error.message}`) : error
    }
    start = end + 1
  }
  return [...rows.values()]
}

function rowOf(line: Buffer, model: LoadedModel, contextBytesMax: number): TupleRow | undefined {
  const fields = parseBody(line)
  if (Object.keys(fields).length === 0) return undefined
  const key = tupleKeyField(fields, "TupleKey", contextBytesMax)
  judgeWrite(model, key)
  return rowOfTuple(key)
}

/** The database would skip the second of two lines for one tuple even when its condition is another one. */
function addOnce(rows: Map<string, TupleRow>, row: TupleRow): void {
  const identity = tupleIdentity(row)
  const first = rows.get(identity)
  if (first !== undefined && (first[4] !== row[4] || first[5] !== row[5]))
    throw new ApiError(
      "cannot_allow_duplicate_tuples_in_one_request",
      "an earlier line has the same user, relation and object with another condition",
    )
  rows.set(identity, row)
}
