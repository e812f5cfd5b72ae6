import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { RouteCounts } from "../../api.ts"
import { get } from "./client.ts"
import { type Rate, rateOf } from "./rates.ts"

const refreshMs = 5_000

/** An answer with counts that is read again and again: the newest one, and the rates between the last two, by the keys of `countsOf`. */
export interface LiveCounts<Answer> {
  readonly newest: Answer | undefined
  readonly rates: ReadonlyMap<string, Rate>
}

/** Reads `path` every 5 s. `first`: the answer that the page has already. */
export function useLiveCounts<Answer extends { readonly bounds: readonly number[] }>(
  first: Answer | undefined,
  path: string,
  countsOf: (answer: Answer | undefined) => ReadonlyMap<string, RouteCounts>,
): LiveCounts<Answer> {
  const state = useSignal<LiveCounts<Answer>>({ newest: undefined, rates: new Map() })
  useEffect(() => {
    state.value = { newest: first, rates: new Map() }
    let before = { at: performance.now(), counts: countsOf(first) }
    const timer = setInterval(async () => {
      const newest = await get<Answer>(path).catch(() => undefined)
      if (newest === undefined) return
      const now = { at: performance.now(), counts: countsOf(newest) }
      const seconds = (now.at - before.at) / 1000
      const rates = [...now.counts].map(
        ([key, counts]) => [key, rateOf(before.counts.get(key), counts, newest.bounds, seconds)] as const,
      )
      state.value = { newest, rates: new Map(rates) }
      before = now
    }, refreshMs)
    return () => clearInterval(timer)
  }, [first, path])
  return state.value
}
