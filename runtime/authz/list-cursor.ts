import type { Commit } from "../check/ports.ts"
import type { Freshness, Paging } from "../check/questions.ts"
import { digestOf } from "../plan/canonical.ts"
import { decodeToken, encodeToken } from "../store/continuation.ts"
import { continuationField, invalidToken, type JsonFields, pageSizeField, pick } from "./fields.ts"

const tokenKind = "list-2"

/** The position in a list. All pages of a list use one model and one revision. */
interface Cursor {
  readonly storeId: string
  readonly modelId: string
  readonly at: Commit
  readonly after: string
  readonly digest: string
}

/** The paging parameters of a list request. */
export interface PageWanted {
  readonly pageSize: number | undefined
  /** Undefined: the first page. */
  readonly cursor: Cursor | undefined
}

/**
 * `page_size` and `continuation_token` of a list; `question` is the request without them.
 * @throws ApiError `invalid_continuation_token` when the token belongs to another question
 */
export function pageWanted(body: JsonFields, message: string, max: number, question: object): PageWanted {
  const size = pick(body, "page_size", "pageSize")
  const token = continuationField(pick(body, "continuation_token", "continuationToken"), message)
  const pageSize = size === undefined ? undefined : pageSizeField(size, message, max)
  if (token === "") return { pageSize, cursor: undefined }
  const [storeId = "", modelId = "", revision = "", stamp = "", after = "", digest = ""] =
    decodeToken(tokenKind, token, 6) ?? []
  if (!/^\d{1,15}$/.test(revision) || digest !== questionDigest(question)) throw invalidToken()
  return { pageSize, cursor: { storeId, modelId, at: { revision: Number(revision), stamp }, after, digest } }
}

/**
 * The model of the previous pages, or the one that the request names.
 * @throws ApiError when it names another one
 */
export function modelOfPage({ cursor }: PageWanted, named: string): string {
  if (cursor === undefined) return named
  if (named !== "" && named !== cursor.modelId) throw invalidToken()
  return cursor.modelId
}

/**
 * The engine's parameters for a page.
 * @throws ApiError when the previous pages belong to another store
 */
export function termsOfPage(
  { pageSize, cursor }: PageWanted,
  storeId: string,
  freshness: Freshness,
): { readonly paging: Pick<Paging, "pageSize" | "after">; readonly freshness: Freshness } {
  if (cursor === undefined) return { paging: { pageSize }, freshness }
  if (cursor.storeId !== storeId) throw invalidToken()
  return { paging: { pageSize, after: cursor.after }, freshness: { exactly: cursor.at } }
}

/** The token for the page after the name `next`, the last of this page. */
export function cursorToken(
  where: Commit & { readonly storeId: string; readonly modelId: string },
  next: string,
  question: object,
): string {
  const { storeId, modelId, revision, stamp } = where
  return encodeToken(tokenKind, [storeId, modelId, String(revision), stamp, next, questionDigest(question)])
}

/** Identifies the question of a token. It need not be secret: a forged token gives a client nothing that it could not ask for. */
function questionDigest(question: object): string {
  return digestOf(question).slice(-32)
}
