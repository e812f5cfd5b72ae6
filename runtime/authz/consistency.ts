import type { IncomingHttpHeaders } from "node:http"
import { type Commit, commitLost } from "../check/ports.ts"
import type { Database } from "../store/database.ts"
import { prunedFeed } from "../store/read-changes.ts"
import { stampOfRevision } from "../store/tuple-source.ts"
import { ApiError } from "./api-error.ts"
import { invalid, type JsonFields, pick } from "./fields.ts"

/** Names and numbers of the protobuf enum. */
const preferences = new Map<unknown, "minimize-latency" | "higher-consistency">([
  ["UNSPECIFIED", "minimize-latency"],
  ["MINIMIZE_LATENCY", "minimize-latency"],
  ["HIGHER_CONSISTENCY", "higher-consistency"],
  [0, "minimize-latency"],
  [100, "minimize-latency"],
  [200, "higher-consistency"],
])

/** The header for the token: in the response to a write, and in any later question. */
export const consistencyTokenHeader = "Sallyport-Consistency-Token"

const headerName = consistencyTokenHeader.toLowerCase()

/**
 * `consistency` of a request; `message` is the request's protobuf message. A text that OpenFGA does not know is ignored, as in OpenFGA; a
 * number is an error.
 */
export function consistencyField(value: unknown, message: string): "minimize-latency" | "higher-consistency" {
  if (value === undefined || value === null) return "minimize-latency"
  const preference = preferences.get(value)
  if (preference !== undefined) return preference
  if (typeof value === "string") return "minimize-latency"
  if (Number.isInteger(value))
    throw invalid(message, "Consistency", "value must be one of the defined enum values")
  throw new ApiError(
    "validation_error",
    "consistency: expected UNSPECIFIED, MINIMIZE_LATENCY or HIGHER_CONSISTENCY",
  )
}

/** A store's commit as a token, opaque to clients. */
export function consistencyToken({ revision, stamp }: Commit): string {
  return Buffer.from(`c1.${revision}.${stamp}`, "latin1").toString("base64url")
}

/**
 * The oldest commit that an answer must include: the header `Sallyport-Consistency-Token`, or `consistency_token` of the body (in AuthZEN:
 * of its `options`) or of the query of `changes`.
 * @throws ApiError when it is not a token, or the two differ
 */
export function consistencyTokenOf(headers: IncomingHttpHeaders, fields: JsonFields): Commit | undefined {
  const inHeader = headers[headerName]
  const inBody = pick(fields, "consistency_token", "consistencyToken")
  if (inHeader === undefined && inBody === undefined) return undefined
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody)
    throw new ApiError(
      "validation_error",
      "consistency_token: the header Sallyport-Consistency-Token and the body name two different tokens; send one of them",
    )
  return commitOf(inHeader ?? inBody)
}

/**
 * For reads from the database itself, which is always current: requires that its history contains the commit.
 * A commit that was pruned from the feed counts as contained.
 * @throws CheckError `history_lost` when it does not (any more)
 */
export async function requireCommit(
  database: Database,
  storeId: string,
  commit: Commit | undefined,
): Promise<void> {
  if (commit === undefined) return
  const stamp = await stampOfRevision(database, storeId, commit.revision)
  if (stamp === commit.stamp) return
  // The stamp of a pruned commit is gone. Everything newer includes it.
  if (stamp === undefined && commit.revision <= (await prunedFeed(database, storeId)).revision) return
  throw commitLost(commit)
}

function commitOf(token: unknown): Commit {
  const text = typeof token === "string" ? Buffer.from(token, "base64url").toString("latin1") : ""
  const [, revision, stamp] = /^c1\.(\d{1,15})\.([\w-]{12}|)$/.exec(text) ?? []
  const commit = { revision: Number(revision), stamp: stamp ?? "" }
  // `Buffer` also accepts quotes, padding and unused bits, which our tokens never contain.
  if (revision === undefined || consistencyToken(commit) !== token)
    throw new ApiError(
      "validation_error",
      "consistency_token: invalid consistency token; send the value of the response header Sallyport-Consistency-Token of a write unchanged",
    )
  return commit
}
