import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import type { EditorHelp, EditorMark, EditorProposal } from "./editor.tsx"
import { WorkerChannel } from "./worker-channel.ts"

/** What the compiler says about the text of a model. */
export interface ModelReading {
  /** Undefined: the text has errors. */
  readonly model: AuthorizationModel | undefined
  readonly findings: readonly (EditorMark & { readonly line: number })[]
  /** Offsets of the definitions of types (`doc`) and relations (`doc#viewer`). */
  readonly places: Readonly<Record<string, number>>
}

/** A tuple of an example; `context`: values under which its condition is true, where they are known. */
export interface DifferenceTuple {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly condition?: string
  readonly context?: Readonly<Record<string, unknown>>
  readonly onlyIn?: "old" | "new"
}

/** Tuples with which `user` has `relation` on `object` in one of two models only. */
export interface DifferenceExample {
  readonly tuples: readonly DifferenceTuple[]
  readonly user: string
  readonly relation: string
  readonly object: string
}

/** What a change means for one relation, with the smallest counterexamples. `shown`: what is known about the part without an example. */
export interface RelationDifference {
  readonly relation: string
  readonly verdict: "same" | "wider" | "narrower" | "incomparable"
  readonly gain?: DifferenceExample
  readonly loss?: DifferenceExample
  readonly shown: "proved" | "without cycles" | "unknown" | { readonly fewerThan: number }
}

/** The difference of two models: relations that only one of them has, and those that they decide in another way. */
export interface ModelDifferences {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly relations: readonly RelationDifference[]
}

/** What the pages ask the worker with the compiler. The ending of `path` says what the text is: `.fga` or `.json`. */
export type DeskRequest =
  | { readonly kind: "read"; readonly path: string; readonly text: string }
  | { readonly kind: "compare"; readonly before: AuthorizationModel; readonly after: AuthorizationModel }
  | {
      readonly kind: "complete" | "hover"
      readonly path: string
      readonly text: string
      readonly offset: number
    }

/** The worker's replies, by the kind of the request. */
export type DeskReply =
  | { readonly kind: "read"; readonly reading: ModelReading }
  | { readonly kind: "compare"; readonly differences: ModelDifferences }
  | { readonly kind: "complete"; readonly items: readonly EditorProposal[] }
  | { readonly kind: "hover"; readonly hover: Awaited<ReturnType<EditorHelp["hover"]>> }

/** A comparison may take seconds, so it has a thread of its own. */
const reader = new WorkerChannel<DeskRequest, DeskReply>("worker")
const comparer = new WorkerChannel<DeskRequest, DeskReply>("worker")
let isComparing = false

/** Compiles the text of a model in the browser. */
export async function readModelText(path: string, text: string): Promise<ModelReading> {
  const reply = await reader.ask({ kind: "read", path, text })
  if (reply.kind !== "read") throw new Error("unexpected reply")
  return reply.reading
}

/** What can be written in the text of a model, and what is known of it: the language service of editors, in the browser. */
export const modelHelp: EditorHelp = {
  async complete(path, text, offset) {
    const reply = await reader.ask({ kind: "complete", path, text, offset })
    return reply.kind === "complete" ? reply.items : []
  },
  async hover(path, text, offset) {
    const reply = await reader.ask({ kind: "hover", path, text, offset })
    return reply.kind === "hover" ? reply.hover : undefined
  },
}

/** Compares two models for all tuples there could be. A comparison that still runs is ended: its promise rejects. */
export async function compareModelPair(
  before: AuthorizationModel,
  after: AuthorizationModel,
): Promise<ModelDifferences> {
  if (isComparing) comparer.stop()
  isComparing = true
  const reply = await comparer.ask({ kind: "compare", before, after })
  isComparing = false
  if (reply.kind !== "compare") throw new Error("unexpected reply")
  return reply.differences
}
