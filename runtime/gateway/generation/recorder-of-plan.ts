import { resolve } from "node:path"
import type { PlanBody } from "../../plan/plan.ts"
import type { RecordPlan } from "../../plan/resources.ts"
import type { RecordedRequest } from "../../record/recorded-request.ts"
import type { Held } from "./held.ts"
import type { References } from "./references.ts"

/** Where requests are recorded. */
export interface RecorderSettings {
  /** Absolute. */
  readonly folder: string
  readonly secret: string
  /** Of all files in the folder. */
  readonly bytesMax: number
}

/** Writes requests to the record. It must be fast and must not throw. */
export interface RequestSink {
  /** `hidden`: texts that must not be written, wherever they occur. */
  write(request: RecordedRequest, hidden: readonly string[]): void
  /** The keyed digest by which the record identifies a text. */
  mark(text: string): string
}

/** Opens the record of a process; `close` writes what waits, in the background. */
export type OpenRecorder = (settings: RecorderSettings) => { readonly value: RequestSink; close(): void }

/** The record of a generation, and what of its requests belongs there. */
export interface Recorder extends RequestSink {
  readonly rules: Pick<RecordPlan, "claims" | "headers" | "redact" | "addresses">
  /** Whether the request with this id is recorded. */
  takes(id: string): boolean
}

/** What opening a record needs. */
interface RecorderMaker {
  readonly references: References
  readonly dependencies: { readonly openRecorder?: OpenRecorder | undefined; readonly folder: string }
  attempt<T>(place: string, make: () => T): T | undefined
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** As for the secrets of certificates: 16 random bytes in base64 have 22 characters. */
const secretCharactersMin = 22

/** Opens the record of a plan, or keeps that of the previous plan. A folder that cannot be written refuses no plan. */
export function provisionRecorder(
  maker: RecorderMaker,
  { gateway }: PlanBody,
  previous: { readonly sink: Held<RequestSink> | undefined } | undefined,
): Held<RequestSink> | undefined {
  const { openRecorder, folder } = maker.dependencies
  const record = gateway?.record
  if (record === undefined || openRecorder === undefined) return undefined
  return maker.attempt("gateway", () => {
    const { secret: name } = record.protectedBy
    const secret = maker.references.secrets.get(name) ?? ""
    if (secret.length < secretCharactersMin)
      throw new Error(
        `\`record\`: the secret \`${name}\` has ${secret.length} characters, and an encryption key needs ${secretCharactersMin}; make one with \`openssl rand -base64 32\``,
      )
    const settings = { folder: resolve(folder, record.folder), secret, bytesMax: record.bytesMax }
    return maker.take(previous?.sink, JSON.stringify(settings), () => openRecorder(settings))
  })
}

/** The record of a generation. */
export function recorderOf(sink: RequestSink, rules: RecordPlan): Recorder {
  const below = (rules.sample / 100) * 2 ** 32
  return {
    rules,
    takes: (id) => spread(id) < below,
    write: (request, hidden) => sink.write(request, hidden),
    mark: (text) => sink.mark(text),
  }
}

/** A number from 0 to 2³² − 1 that depends on all characters of an id (FNV-1a, and the finalizer of MurmurHash3). */
function spread(id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
