import type { EngineOptions } from "../../runtime/check/engine.ts"

/** The ways an engine may hold a store and go about a question; none may change an answer. */
export const engineWays: readonly (readonly [name: string, options: EngineOptions])[] = [
  ["whole graph", {}],
  ["always searching", { walkSteps: 0 }],
  ["pages", { paged: true }],
]
