import { resolve } from "node:path"
import type { PlanBody } from "../../plan/plan.ts"
import type { RecordPlan } from "../../plan/resources.ts"
import { fractionOf } from "../../policies/fraction.ts"
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
  const share = rules.sample / 100
  return {
    rules,
    takes: (id) => fractionOf(id) < share,
    write: (request, hidden) => sink.write(request, hidden),
    mark: (text) => sink.mark(text),
  }
}
